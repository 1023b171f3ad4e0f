"""A score that is a sum of one function per unit: bias + sum_j s_j(count of unit j)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import overload

import numpy as np

from kedge.typing import Bools, Counts, Floats

__all__ = ["UNIT", "AdditiveScore", "LinearTables", "NormalisedScore"]

UNIT = 2.0**-53
"""Unit roundoff of double precision: one operation is off by at most this share of its result."""


@dataclass(frozen=True, eq=False)
class LinearTables(Sequence[Floats]):
    """The tables c -> c * slope of a linear score, each built on first use.

    Parameters
    ----------
    slopes
        Change of the score per kept occurrence, shape (d,).
    sizes
        Number of occurrences m_j of each unit, shape (d,).
    """

    slopes: Floats
    sizes: Counts

    def __len__(self) -> int:
        return len(self.slopes)

    @overload
    def __getitem__(self, index: int) -> Floats: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Floats, ...]: ...
    def __getitem__(self, index: int | slice) -> Floats | tuple[Floats, ...]:
        if isinstance(index, slice):
            return tuple(self[j] for j in range(len(self))[index])
        table: Floats = self.slopes[index] * np.arange(self.sizes[index] + 1, dtype=np.float64)
        return table


@dataclass(frozen=True, eq=False)
class AdditiveScore:
    """score(c) = bias + sum_j tables[j][c_j]; the explained label holds iff the score is positive.

    Parameters
    ----------
    bias
        The score of the counts that are all zero.
    tables
        ``tables[j][c]`` for c = 0..m_j, with ``tables[j][0] == 0``.
    strict
        True: the label holds iff score > 0. False: iff score >= 0. A tie is not a detail: with
        whole-number coefficients, or no intercept, it has real probability.
    rounding
        Bound on the distance between ``score`` in real arithmetic and the number the model
        computes and compares. Within it of zero only the model itself knows the label. 0 says
        that the model's arithmetic makes no error. None: the model adds up exactly these table
        entries in double precision, and the bound is worked out from them (`error`).
    """

    bias: float
    tables: Sequence[Floats]
    strict: bool = True
    rounding: float | None = None

    @classmethod
    def from_slopes(
        cls,
        bias: float,
        slopes: Floats,
        sizes: Counts,
        *,
        strict: bool,
        rounding: float | None = None,
        magnitude: float | None = None,
    ) -> "AdditiveScore":
        """Make the linear score bias + sum_j slopes[j] * c_j; ``magnitude`` if it is known already."""
        score = cls(bias, LinearTables(slopes, sizes), strict, rounding)
        if magnitude is not None:
            vars(score)["magnitude"] = magnitude  # where the cached property would put it
        return score

    @cached_property
    def slopes(self) -> Floats | None:
        """Slopes of a linear score, None for any other."""
        if isinstance(self.tables, LinearTables):
            return self.tables.slopes
        slopes = np.array([table[1] if len(table) > 1 else 0.0 for table in self.tables])
        for slope, table in zip(slopes, self.tables, strict=True):
            if not np.array_equal(table, slope * np.arange(len(table))):
                return None
        return slopes

    @property
    def linear(self) -> bool:
        """True when every table is c * slope."""
        return self.slopes is not None

    @cached_property
    def sizes(self) -> Counts:
        """Number of occurrences of each unit, shape (d,)."""
        if isinstance(self.tables, LinearTables):
            return self.tables.sizes
        return np.array([len(table) - 1 for table in self.tables], dtype=np.int64)

    @cached_property
    def magnitude(self) -> float:
        """|bias| + sum_j max_c |tables[j][c]|: no partial sum is larger."""
        if isinstance(self.tables, LinearTables):
            return abs(self.bias) + float(np.abs(self.tables.slopes) @ self.tables.sizes)
        return abs(self.bias) + sum(float(np.abs(table).max()) for table in self.tables)

    @cached_property
    def exact(self) -> bool:
        """True when neither the model nor a sum of table entries in doubles makes any error.

        Whole multiples of g = 2^(e - 53), where magnitude < 2^e, are added without rounding in
        any order. Whole-number coefficients on counts (Perceptron) are such multiples.
        """
        if self.rounding is not None and self.rounding > 0:
            return False
        if not math.isfinite(self.magnitude):
            return False
        # One bit of room: `magnitude` itself is a rounded sum.
        grain = math.ldexp(1.0, math.frexp(self.magnitude)[1] + 1 - 53)
        if grain == 0.0 or not (self.bias / grain).is_integer():
            return False
        if isinstance(self.tables, LinearTables):
            return all((slope / grain).is_integer() for slope in self.tables.slopes.tolist())
        return all((value / grain).is_integer() for t in self.tables for value in t.tolist())

    @cached_property
    def error(self) -> float:
        """Bound on |model's own float score - score|: 0 when exact.

        A sum of n rounded products in any order is off by at most about (n + 1) u times the sum
        of the absolute terms (Higham, Accuracy and Stability, section 4.2); the factor 2 and the
        few extra terms pay for the second-order terms and for the rounding in `magnitude`.
        """
        if self.exact:
            return 0.0
        if self.rounding is not None:
            return self.rounding
        return self.added_up(len(self.tables))

    def added_up(self, terms: int) -> float:
        """The same bound on a sum of our own of so many of the score's terms, whatever the model does."""
        return 0.0 if self.exact else 2.0 * (terms + 8) * UNIT * self.magnitude

    def score(self, counts: Counts) -> Floats:
        """(n,) the score of each row of counts."""
        if self.slopes is not None:
            linear: Floats = counts @ self.slopes + self.bias
            return linear
        total = np.full(len(counts), self.bias)
        for j, table in enumerate(self.tables):
            total += table[counts[:, j]]
        return total

    def holds(self, counts: Counts) -> Bools:
        """(n,) whether the explained label holds."""
        score = self.score(counts)
        held: Bools = score > 0 if self.strict else score >= 0
        return held


@dataclass(frozen=True, eq=False)
class NormalisedScore:
    """A linear score divided by the l2 norm of the weighted counts.

    bias + sum_j slopes[j] c_j / sqrt(sum_j (scale[j] c_j)^2), the fraction being 0 when nothing is
    kept; the explained label holds iff it is positive.
    """

    bias: float
    slopes: Floats
    scale: Floats
