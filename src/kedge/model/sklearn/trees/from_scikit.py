"""scikit-learn's forests and boosted trees.

Random forests and extra trees average their trees' class shares; gradient boosting adds its trees' values to
a first score. Trees compare single-precision features with double-precision thresholds, histogram trees
compare in double precision.
"""

from typing import Any

import numpy as np

from kedge.model.scores.cutting import RawTree
from kedge.model.sklearn.trees.boosted import Boosted, names_of, single_bound
from kedge.typing import Floats

__all__ = ["forest", "gradient_boosting", "histogram_boosting", "lone_tree"]


def _raw(tree: Any, value: Floats) -> RawTree:
    """A tree of scikit-learn."""
    threshold = tree.threshold.astype(np.float64)
    return RawTree(
        np.where(tree.children_left < 0, -1, tree.feature).tolist(),
        single_bound(threshold).tolist(),
        (threshold >= 0.0).tolist(),
        tree.children_left.tolist(),
        tree.children_right.tolist(),
        value,
    )


def forest(final: Any) -> Boosted | None:
    """A random forest, or extra trees; None with several outputs."""
    if final.n_outputs_ != 1:
        return None
    trees = [_raw(e.tree_, e.tree_.value[:, 0, :]) for e in final.estimators_]
    names = names_of(final)
    # The trees' shares are added in their order and divided by their number; the first largest wins.
    return Boosted(trees, np.zeros(len(names)), names, float(len(trees)), exact=True)


def lone_tree(final: Any) -> Boosted | None:
    """A decision tree; None with several outputs."""
    if final.n_outputs_ != 1:
        return None
    names = names_of(final)
    return Boosted([_raw(final.tree_, final.tree_.value[:, 0, :])], np.zeros(len(names)), names, exact=True)


def gradient_boosting(final: Any) -> Boosted | None:
    """Gradient boosting; None where its first score depends on the features."""
    from scipy.sparse import csr_matrix
    from sklearn.dummy import DummyClassifier

    if final.init_ != "zero" and type(final.init_) is not DummyClassifier:
        return None
    zero = csr_matrix(np.zeros((1, int(final.n_features_in_)), dtype=np.float32))
    start = final._raw_predict_init(zero)[0]  # noqa: SLF001
    stages = final.estimators_
    trees = []
    for stage in stages:
        for k, regressor in enumerate(stage):
            value = np.zeros((regressor.tree_.node_count, stages.shape[1]))
            value[:, k] = final.learning_rate * regressor.tree_.value[:, 0, 0]
            trees.append(_raw(regressor.tree_, value))
    return Boosted(trees, np.asarray(start, dtype=np.float64), names_of(final))


def histogram_boosting(final: Any) -> Boosted | None:
    """Histogram boosting; None where a column holds categories."""
    start = np.asarray(final._baseline_prediction, dtype=np.float64).reshape(-1)  # noqa: SLF001
    trees = []
    for stage in final._predictors:  # noqa: SLF001
        for k, predictor in enumerate(stage):
            nodes = predictor.nodes
            if nodes["is_categorical"].any():
                return None
            value = np.zeros((len(nodes), len(start)))
            value[:, k] = nodes["value"]
            bound = nodes["num_threshold"].astype(np.float64)
            trees.append(
                RawTree(
                    np.where(nodes["is_leaf"], -1, nodes["feature_idx"].astype(np.int64)).tolist(),
                    bound.tolist(),
                    (bound >= 0.0).tolist(),
                    nodes["left"].astype(np.int64).tolist(),
                    nodes["right"].astype(np.int64).tolist(),
                    value,
                )
            )
    return Boosted(trees, start, names_of(final))
