"""Exact precision of every anchor at once, by asking about every possible sample.

The table T[c] = 1{the label holds for counts c} has prod(m_j + 1) entries. Given an anchor a the
count of unit j is a_j + Bin(m_j - a_j, keep), independently, so Prec is T multiplied along each
axis j by the upper-triangular W[a, c] = C(m_j - a, c - a) keep^(c-a) (1-keep)^(m_j-c) (THEORY
section 7). With units of size 1 this is the superset sum over all 2^b masks.
"""

from collections.abc import Sequence
from math import prod

import numpy as np
from scipy.special import comb

from kedge.precision.estimates import Estimates
from kedge.reading import CELLS, Reading
from kedge.typing import Bools, Counts, Floats, Kept

__all__ = ["Enumeration", "table_size"]


def table_size(reading: Reading) -> int:
    """How many distinct samples there are: prod(m_j + 1)."""
    return prod(int(m) + 1 for m in reading.units.sizes)


def transition(size: int, keep: float) -> Floats:
    """(m+1, m+1) the law of the count of a unit of size m, one row per number kept for sure."""
    a, c = np.mgrid[: size + 1, : size + 1]
    free, drawn = size - a, np.maximum(c - a, 0)
    law = comb(free, drawn) * keep**drawn * (1 - keep) ** np.maximum(free - drawn, 0)
    w: Floats = np.where(c >= a, law, 0.0)
    return w


class Enumeration:
    """Exact precision of any anchor of one reading; the model is asked on construction."""

    def __init__(self, reading: Reading) -> None:
        shape = tuple(int(m) + 1 for m in reading.units.sizes)
        total = prod(shape)
        table = np.empty(total)
        rows = max(1, CELLS // len(shape))
        for start in range(0, total, rows):
            flat = np.arange(start, min(start + rows, total))
            counts = np.stack(np.unravel_index(flat, shape), axis=1)
            table[flat] = reading.holds(counts)
        self._holds = np.packbits(table > 0)
        for j, size in enumerate(shape):
            # View the table as (before, axis j, after): reshaping keeps any number of axes cheap.
            cube = table.reshape(prod(shape[:j]), size, prod(shape[j + 1 :]))
            table = np.matmul(transition(size - 1, reading.keep), cube)
        self._table = table.reshape(total)
        self._strides = np.array([prod(shape[j + 1 :]) for j in range(len(shape))], dtype=np.int64)

    def holds(self, counts: Counts) -> Bools:
        """(n,) whether the label holds, from what was asked: one bit for every possible sample."""
        at = counts @ self._strides
        held: Bools = (self._holds[at >> 3] >> (7 - (at & 7)) & 1).astype(bool)
        return held

    def __call__(self, anchors: Sequence[Kept], samples: int = 0) -> Estimates:
        """Look the anchors up."""
        del samples
        at = [sum(self._strides[list(kept)], start=0) for kept in anchors]
        return Estimates.closed(self._table[np.array(at, dtype=np.int64)])
