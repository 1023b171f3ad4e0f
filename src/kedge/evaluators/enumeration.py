"""Exact precision of every anchor at once, by asking about every possible sample.

The table T[c] = 1{the label holds for counts c} has prod(m_j + 1) entries. Given an anchor a the
count of unit j is a_j + Bin(m_j - a_j, keep), independently, so Prec is T multiplied along each
axis j by the upper-triangular W[a, c] = C(m_j - a, c - a) keep^(c-a) (1-keep)^(m_j-c). With units
of size 1 this is the superset sum over all 2^b masks.
"""

from collections.abc import Sequence
from functools import cached_property
from itertools import chain
from math import prod

import numpy as np

from kedge.evaluators.binomials import binomial
from kedge.evaluators.estimates import Estimates
from kedge.reading.reading import Reading
from kedge.results.interval import Interval
from kedge.typing import Floats, Kept
from kedge.utils.numerics import pieces

__all__ = ["Enumeration", "anchor_precision", "table_size"]

# Sums of fair coins up to this many occurrences are multiples of 2^-50, so that doubles hold them
# exactly.
_EXACT = 50
# More samples than this are not counted any further.
_COUNTLESS = 1 << 62


def table_size(reading: Reading, kept: Kept = ()) -> int:
    """How many distinct samples there are given an anchor: prod(m_j - a_j + 1), or at least 2^62."""
    total = 1
    for free in (reading.units.sizes - reading.units.counts(kept)).tolist():
        total *= free + 1
        if total >= _COUNTLESS:
            return _COUNTLESS
    return total


def anchor_precision(reading: Reading, kept: Kept) -> Interval:
    """Precision of one anchor by asking about all of its samples: exact up to rounding."""
    sure = reading.units.counts(kept)
    left = reading.units.sizes - sure
    # Units that the anchor keeps whole leave nothing to chance, and arrays have 64 axes at most.
    at = np.flatnonzero(left)
    free = left[at].tolist()
    laws = [binomial(m, reading.keep) for m in free]
    shape = tuple(m + 1 for m in free)
    total, kept_label, chance = prod(shape), 0, 0.0
    for piece in pieces(total, len(sure)):
        places = np.arange(piece.start, piece.stop)
        counts = np.tile(sure, (len(places), 1))
        weight = np.ones(len(places))
        for j, law, drawn in zip(at, laws, np.unravel_index(places, shape) if shape else (), strict=True):
            counts[:, j] += drawn
            weight *= law[drawn]
        held = reading.holds(counts)
        kept_label += int(np.count_nonzero(held))
        chance += float(weight[held].sum())
    if kept_label in {0, total}:
        certain = float(kept_label > 0)
        return Interval(certain, certain, certain)
    # Certain is certain, and what is not must not be rounded to it.
    inside = float(np.clip(chance, np.nextafter(0, 1), np.nextafter(1, 0)))
    slack = _rounding(reading, sum(free))
    return Interval(max(0.0, inside - slack), inside, min(1.0, inside + slack))


def _rounding(reading: Reading, coins: int) -> float:
    """How far the precision may be off: nothing for few fair coins.

    Every product and addition is rounded once, and the law's own numbers 8 m times at most.
    """
    if reading.keep == 0.5 and coins <= _EXACT:
        return 0.0
    return (9.0 * float(reading.units.sizes.sum()) + len(reading.units)) * 2.0**-52


def transition(size: int, keep: float) -> Floats:
    """(m+1, m+1) the law of the count of a unit of size m, one row per number kept for sure."""
    w = np.zeros((size + 1, size + 1))
    for a in range(size + 1):
        w[a, a:] = binomial(size - a, keep)
    return w


class Enumeration:
    """Exact precision of any anchor of one reading; the model is asked when the first one is."""

    name = "enumeration"
    sampled = False
    notes = ()

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._shape = shape = tuple(int(m) + 1 for m in reading.units.sizes)
        self._strides = np.array([prod(shape[j + 1 :]) for j in range(len(shape))], dtype=np.int64)

    @cached_property
    def _tables(self) -> tuple[Floats, Floats]:
        """The precision of every anchor, and how far rounding may have moved it."""
        reading, shape = self._reading, self._shape
        total = prod(shape)
        held = np.empty(total, dtype=bool)
        for piece in pieces(total, len(shape)):
            counts = np.unravel_index(np.arange(piece.start, piece.stop), shape)
            held[piece] = reading.holds(np.stack(counts, axis=1))
        chance, always, ever = held.astype(np.float64), held, held
        for j, size in enumerate(shape):
            # View the table as (before, axis j, after): reshaping keeps any number of axes cheap.
            view = (prod(shape[:j]), size, prod(shape[j + 1 :]))
            chance = np.matmul(transition(size - 1, reading.keep), chance.reshape(view))
            always = _from_each_on(np.logical_and, always.reshape(view))
            ever = _from_each_on(np.logical_or, ever.reshape(view))
        # Certain is certain, and what is not must not be rounded to it.
        inner = np.clip(chance.reshape(total), np.nextafter(0, 1), np.nextafter(1, 0))
        certain = always.reshape(total) | ~ever.reshape(total)
        table = np.where(certain, always.reshape(total), inner)
        return table, np.where(certain, 0.0, _rounding(reading, int(reading.units.sizes.sum())))

    def __call__(self, anchors: Sequence[Kept], samples: int = 0) -> Estimates:
        """Look the anchors up."""
        del samples
        # The place of an anchor is the sum of its units' strides: differences of one running sum.
        steps = self._strides[np.fromiter(chain.from_iterable(anchors), dtype=np.int64)]
        ends = np.cumsum([len(kept) for kept in anchors], dtype=np.int64)
        running = np.concatenate([[0], np.cumsum(steps)])
        at = running[ends] - running[np.concatenate([[0], ends[:-1]])]
        table, slack = self._tables
        return Estimates.closed(table[at], slack[at])

    @property
    def every(self) -> Floats:
        """The precision of every anchor there is, the empty one first."""
        return self._tables[0]

    def refine(self, kept: Kept, threshold: float | None = None) -> Interval:
        """The closed form leaves nothing to refine."""
        del threshold
        return self([kept]).intervals(0.0)[0]

    def seen(self, kept: Kept) -> None:
        """Nothing is drawn."""


def _from_each_on(operation: np.ufunc, cube: np.ndarray) -> np.ndarray:
    """Along the middle axis: the operation over all counts from each one on."""
    return operation.accumulate(cube[:, ::-1], axis=1)[:, ::-1]
