"""The fewest removed words for a decision tree: the nearest leaf with another label; exact."""

import numpy as np

from kedge.model.scores.leaves import LeafBoxes
from kedge.search.flips.cut import Cut
from kedge.typing import Counts

__all__ = ["nearest_leaf"]


def nearest_leaf(boxes: LeafBoxes, sizes: Counts) -> Cut | None:
    """Removals that lead to the nearest leaf without the label; None if no removal leads to one."""
    low, high = boxes.low[~boxes.label], boxes.high[~boxes.label]
    most = np.minimum(np.floor(high), sizes)  # the largest count inside each box
    possible = ((most > low) & (most >= 0)).all(axis=1)
    if not possible.any():
        return None
    removed = (sizes - most[possible]).astype(np.int64)
    return Cut(removed[int(removed.sum(axis=1).argmin())], proven=True)
