"""LightGBM's trees: they compare in double precision; what is absent from a sparse row is zero."""

from typing import Any

import numpy as np

from kedge.model.scores.cutting import RawTree
from kedge.model.sklearn.trees.boosted import Boosted, names_of, start_of

__all__ = ["lightgbm_trees"]


def lightgbm_trees(final: Any) -> Boosted | None:
    """LightGBM; None for objectives and kinds of trees whose labels are not the largest sum."""
    booster = final.booster_
    dumped = booster.dump_model()
    # Forests are averaged, and other objectives squash scores in ways that may tie.
    known = dumped.get("objective", "").split(" ")[0] in {"binary", "multiclass"}
    if not known or dumped["average_output"] or booster.params.get("linear_tree"):
        return None
    groups = int(dumped["num_tree_per_iteration"])
    trees = []
    for number, one in enumerate(dumped["tree_info"]):
        tree = _tree(one["tree_structure"], number % groups, groups)
        if tree is None:
            return None
        trees.append(tree)
    zeros = np.zeros((1, int(dumped["max_feature_idx"]) + 1))
    start = start_of(trees, booster.predict(zeros, raw_score=True))
    return Boosted(trees, start, names_of(final))


def _tree(root: dict[str, Any], group: int, groups: int) -> RawTree | None:
    """One tree: x <= threshold goes left, and zero its own way where it means missing."""
    nodes, at = [root], {id(root): 0}
    for node in nodes:  # grows while it is gone through
        for child in (node.get("left_child"), node.get("right_child")):
            if child is not None:
                at[id(child)] = len(nodes)
                nodes.append(child)
    inner = [node for node in nodes if "split_feature" in node]
    if any(node["decision_type"] != "<=" for node in inner):
        return None  # categories
    value = np.zeros((len(nodes), groups))
    value[:, group] = [node.get("leaf_value", 0.0) for node in nodes]
    bounds = [float(node.get("threshold", 0.0)) for node in nodes]
    return RawTree(
        [int(node.get("split_feature", -1)) for node in nodes],
        bounds,
        [
            bool(node["default_left"]) if node.get("missing_type") == "Zero" else bound >= 0.0
            for node, bound in zip(nodes, bounds, strict=True)
        ],
        [at[id(node["left_child"])] if "left_child" in node else -1 for node in nodes],
        [at[id(node["right_child"])] if "right_child" in node else -1 for node in nodes],
        value,
    )
