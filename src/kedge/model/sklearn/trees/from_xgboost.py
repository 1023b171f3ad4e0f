"""XGBoost's trees: they compare in single precision, and what is missing goes its own way."""

from typing import Any

import numpy as np

from kedge.model.scores.cutting import RawTree
from kedge.model.sklearn.trees.boosted import Boosted, names_of, single_bound, start_of

__all__ = ["xgboost_trees"]


def xgboost_trees(final: Any, *, dense: bool) -> Boosted | None:
    """XGBoost's own format: single-precision conditions x < c, and where a missing value goes."""
    import json

    from scipy.sparse import csr_matrix

    booster = final.get_booster()
    learner = json.loads(bytes(booster.save_raw("json")))["learner"]
    boosting = learner["gradient_booster"]
    if boosting["name"] != "gbtree" or not learner["objective"]["name"].startswith(
        ("binary:logistic", "multi:")
    ):
        return None
    groups = max(int(learner["learner_model_param"]["num_class"]), 1)
    model = boosting["model"]
    raw = list(zip(model["trees"], model["tree_info"], strict=True))
    if getattr(final, "early_stopping_rounds", None) is not None:
        rounds = int(model["gbtree_model_param"].get("num_parallel_tree", 1)) * groups
        raw = raw[: (int(final.best_iteration) + 1) * rounds]
    trees = [_tree(tree, int(group), groups, dense=dense) for tree, group in raw]
    if any(tree is None for tree in trees):
        return None
    known = [tree for tree in trees if tree is not None]
    zeros = csr_matrix((1, int(learner["learner_model_param"]["num_feature"])))
    margin = final.predict(zeros.toarray() if dense else zeros, output_margin=True)
    return Boosted(known, start_of(known, margin), names_of(final), rounding=1e-5)


def _tree(tree: dict[str, Any], group: int, groups: int, *, dense: bool) -> RawTree | None:
    if tree.get("categories_nodes"):
        return None
    left = np.array(tree["left_children"])
    condition = np.array(tree["split_conditions"], dtype=np.float32)
    value = np.zeros((len(left), groups))
    value[:, group] = condition
    below = np.nextafter(condition, np.float32(-np.inf)).astype(np.float64)
    default = np.array(tree["default_left"], dtype=bool)
    return RawTree(
        np.where(left < 0, -1, tree["split_indices"]).tolist(),
        single_bound(below).tolist(),
        (condition > 0 if dense else default).tolist(),
        left.tolist(),
        list(tree["right_children"]),
        value,
    )
