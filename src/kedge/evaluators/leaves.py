"""Exact precision of a decision tree: the sum of its leaves' probabilities.

A leaf is a box low_j < c_j <= high_j and the counts are independent, so given an anchor a

    P(leaf) = prod_j P(low_j < a_j + Bin(m_j - a_j, keep) <= high_j),

and the precision is the sum over the leaves with the explained label.
"""

from collections.abc import Sequence

import numpy as np

from kedge.evaluators.binomials import binomial
from kedge.evaluators.estimates import Estimates
from kedge.model.scores.leaves import LeafBoxes
from kedge.reading.reading import Reading
from kedge.results.interval import Interval
from kedge.typing import Bools, Counts, Floats, Kept
from kedge.utils.numerics import pieces

__all__ = ["LeafChances", "Leaves"]

# Anchors times leaves that are multiplied at a time.
_CELLS = 1 << 18


class LeafChances:
    """For each unit the tree asks about, and each number kept of it, the chance of each leaf's side.

    Parameters
    ----------
    boxes
        The leaves.
    sizes
        (d,) occurrences of each unit.
    keep
        Probability that a free occurrence stays.

    Attributes
    ----------
    asked
        The units some leaf asks about; no other can matter.
    factors
        For each of them an (m_j + 1, L) array.
    slack
        How far rounding may have moved a precision that is not certain: nothing for few fair coins, whose
        chances are doubles. Otherwise the law of a unit is right to 8 m_j roundings, a side adds up m_j of
        its numbers, and leaves are multiplied and added up.
    """

    def __init__(self, boxes: LeafBoxes, sizes: Counts, keep: float) -> None:
        possible = np.isfinite(boxes.low) & (boxes.low >= 0)
        possible |= np.isfinite(boxes.high) & (boxes.high < sizes)
        self.asked = [int(j) for j in np.flatnonzero(possible.any(axis=0))]
        self.label = boxes.label
        self.factors = [_factor(boxes.low[:, j], boxes.high[:, j], int(sizes[j]), keep) for j in self.asked]
        coins = int(sizes[self.asked].sum())
        fair = keep == 0.5 and coins <= 50
        self.slack = 0.0 if fair else (9.0 * coins + 2.0 * len(self.asked) + len(self.label) + 4) * 2.0**-52
        self._possible = [_possible(boxes.low[:, j], boxes.high[:, j], int(sizes[j])) for j in self.asked]

    def precision(self, kept: Counts) -> Floats:
        """(n,) the precision of anchors that keep (n, u) occurrences of the units asked about."""
        found = np.empty(len(kept))
        for piece in pieces(len(kept), len(self.label), _CELLS):
            part = kept[piece]
            chance = np.ones((len(part), len(self.label)))
            possible = np.ones((len(part), len(self.label)), dtype=bool)
            for j, factor in enumerate(self.factors):
                chance *= factor[part[:, j]]
                possible &= self._possible[j][part[:, j]]
            held, lost = chance[:, self.label].sum(axis=1), chance[:, ~self.label].sum(axis=1)
            # The leaves are all there is: what is rounded off is shared out. Certain is certain, and
            # what is not must not be rounded to it.
            share = np.clip(held / (held + lost), np.nextafter(0, 1), np.nextafter(1, 0))
            share[~possible[:, ~self.label].any(axis=1)] = 1.0
            share[~possible[:, self.label].any(axis=1)] = 0.0
            found[piece] = share
        return found

    def known(self, precision: float) -> Interval:
        """What is known of a precision worked out: certain is certain, else rounding is left open."""
        if precision in {0.0, 1.0}:
            return Interval.exactly(precision)
        least, most = float(np.nextafter(0, 1)), float(np.nextafter(1, 0))
        return Interval(precision - self.slack, precision, precision + self.slack).within(least, most)


def _possible(low: Floats, high: Floats, size: int) -> Bools:
    """(m + 1, L): whether a leaf can be reached by some count from each a on."""
    counts = np.arange(size + 1)
    inside = (counts[:, None] > low) & (counts[:, None] <= high)
    reached: Bools = np.logical_or.accumulate(inside[::-1], axis=0)[::-1]
    return reached


def _factor(low: Floats, high: Floats, size: int, keep: float) -> Floats:
    """(m + 1, L): P(low < a + Bin(m - a, keep) <= high) for every a and every leaf."""
    counts = np.arange(size + 1)
    inside = (counts[:, None] > low) & (counts[:, None] <= high)  # (m + 1, L)
    law = np.zeros((size + 1, size + 1))
    for a in range(size + 1):
        law[a, a:] = binomial(size - a, keep)
    factor: Floats = law @ inside
    # A side that is certain has chance one, not one less a rounding.
    factor[(law @ ~inside) == 0] = 1.0
    return factor


class Leaves:
    """Exact precision of any anchor of a reading whose model is a decision tree."""

    name = "leaves"
    sampled = False
    notes = ()
    every = None

    def __init__(self, reading: Reading) -> None:
        if reading.leaves is None:
            raise TypeError("The model is not known to be a decision tree.")
        self.chances = LeafChances(reading.leaves, reading.units.sizes, reading.keep)
        self._units = reading.units

    def __call__(self, anchors: Sequence[Kept], samples: int = 0) -> Estimates:
        """Multiply and add."""
        del samples
        asked = self.chances.asked
        counts = [self._units.counts(kept)[asked] for kept in anchors]
        table = np.array(counts, dtype=np.int64).reshape(len(anchors), len(asked))
        mean = self.chances.precision(table)
        return Estimates.closed(mean, np.where((mean > 0) & (mean < 1), self.chances.slack, 0.0))

    def refine(self, kept: Kept, threshold: float | None = None) -> Interval:
        """The closed form leaves nothing to refine."""
        del threshold
        return self.chances.known(float(self([kept]).mean[0]))

    def seen(self, kept: Kept) -> None:
        """Nothing is drawn."""
