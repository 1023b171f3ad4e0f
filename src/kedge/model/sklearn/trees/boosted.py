"""The trees of an ensemble as they were fitted, and the bounds that answer their questions exactly."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kedge.model.model import python_label
from kedge.model.scores.cutting import RawTree
from kedge.typing import Floats, Label

__all__ = ["Boosted", "names_of", "single_bound", "start_of"]

# Scores of boosted trees closer than this share of what was added up are left to the model itself.
_CLOSE = 1e-12


@dataclass(frozen=True)
class Boosted:
    """The trees of an ensemble, and how their sum becomes a label.

    Parameters
    ----------
    trees
        All trees, in the order in which they are added up.
    start
        (k,) the scores before the first tree; one score of two classes is against zero.
    classes
        The labels.
    divisor
        What the sums are divided by before they are compared.
    exact
        Whether the sum, made in this order in double precision, is the model's own to the last bit.
    rounding
        Else: scores closer than this share of what was added up are left to the model itself.
    """

    trees: list[RawTree]
    start: Floats
    classes: list[Label]
    divisor: float = 1.0
    exact: bool = False
    rounding: float = _CLOSE


def names_of(final: Any) -> list[Label]:
    """The labels of an estimator."""
    return [python_label(c) for c in final.classes_.tolist()]


def start_of(trees: Sequence[RawTree], margin: Any) -> Floats:
    """(k,) the scores before the first tree, from the model's own scores of a row of zeros."""
    total: Floats = np.asarray(margin, dtype=np.float64).reshape(-1)
    for tree in trees:
        node = 0
        while tree.feature[node] >= 0:
            node = tree.left[node] if tree.zero_left[node] else tree.right[node]
        total = total - tree.value[node]
    return total


def single_bound(threshold: Floats) -> Floats:
    """The largest doubles that, rounded to single precision, are at most the thresholds."""
    below = threshold.astype(np.float32)
    below = np.where(below.astype(np.float64) > threshold, np.nextafter(below, np.float32(-np.inf)), below)
    above = np.nextafter(below, np.float32(np.inf))
    middle = (below.astype(np.float64) + above.astype(np.float64)) / 2.0
    # Half way between the two, rounding goes to the even one.
    back = middle.astype(np.float32).astype(np.float64) <= threshold
    bound: Floats = np.where(back, middle, np.nextafter(middle, -np.inf))
    return bound
