"""Class probabilities of scikit-learn's forests, queried often and with few rows at a time.

``predict_proba`` sets up a parallel call and validates the rows for every tree: some ten
milliseconds, whatever the number of rows. A sampled search queries them thousands of times, with twenty
rows each.
"""

from typing import Any

import numpy as np

from kedge.typing import Floats

__all__ = ["forest_chances", "is_forest"]


def is_forest(estimator: Any) -> bool:
    """Whether this is a forest whose probabilities are the mean of its trees'; no subclass."""
    from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

    return type(estimator) in {ExtraTreesClassifier, RandomForestClassifier} and estimator.n_outputs_ == 1


def forest_chances(forest: Any, x: Any) -> Floats:
    """(n, k) what ``predict_proba`` gives: the trees' class shares, added in their order, over their number.

    Trees compare in single precision, and read dense rows or compressed sparse ones.
    """
    if hasattr(x, "tocsr"):
        rows = x.tocsr().astype(np.float32)
        rows.indices, rows.indptr = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
    else:
        rows = np.ascontiguousarray(x, dtype=np.float32)
    total: Floats = np.zeros((rows.shape[0], len(forest.classes_)))
    for tree in forest.estimators_:
        total += tree.tree_.predict(rows)
    return total / len(forest.estimators_)
