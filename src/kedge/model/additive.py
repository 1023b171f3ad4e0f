"""A score that is a sum of one function per word."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kedge.typing import Bools, Counts, Floats

__all__ = ["AdditiveScore"]


@dataclass(frozen=True)
class AdditiveScore:
    """score(c) = bias + sum_j tables[j][c_j]; the explained label holds iff it is positive.

    ``tables[j]`` has m_j + 1 entries and starts with 0. ``strict`` decides whom a score of exactly
    zero belongs to: the label holds iff score > 0 (strict), or iff score >= 0.
    """

    bias: float
    tables: tuple[Floats, ...]
    strict: bool = True

    @cached_property
    def linear(self) -> bool:
        """Whether every table is a constant times the count."""
        return all(
            bool(np.all(table == table[min(1, len(table) - 1)] * np.arange(len(table))))
            for table in self.tables
        )

    def score(self, counts: Counts) -> Floats:
        """(n,) the score of each row of counts."""
        total = np.full(len(counts), self.bias)
        for j, table in enumerate(self.tables):
            total += table[counts[:, j]]
        return total

    def holds(self, counts: Counts) -> Bools:
        """(n,) whether the explained label holds."""
        score = self.score(counts)
        held: Bools = score > 0 if self.strict else score >= 0
        return held
