"""Whether the numbers of fitted trees are still those that were read: they live in memory of their own.

Reading an ensemble takes longer than an explanation, so that it is done once. A pruned tree, or leaves that
were given other values, are the same objects as before; a checksum of what they hold shows a change.
"""

from typing import Any
from zlib import crc32

import numpy as np

__all__ = ["trees_checksum"]


def trees_checksum(final: Any) -> int:
    """A checksum of the trees of an ensemble as they are now; for other libraries, of how many there are."""
    if hasattr(final, "booster_"):  # LightGBM
        return int(final.booster_.num_trees())
    if hasattr(final, "get_booster"):  # XGBoost
        return int(final.get_booster().num_boosted_rounds())
    if hasattr(final, "tree_count_"):  # CatBoost
        return int(final.tree_count_)
    checksum = crc32(np.asarray(getattr(final, "_baseline_prediction", 0.0)).tobytes())
    for predictor in (one for stage in getattr(final, "_predictors", ()) for one in stage):
        checksum = crc32(predictor.nodes, checksum)
    members = np.ravel(getattr(final, "estimators_", [final])).tolist()
    for tree in (member.tree_ for member in members if hasattr(member, "tree_")):
        held = tree.__getstate__()
        checksum = crc32(held["values"], crc32(held["nodes"], checksum))
    return checksum
