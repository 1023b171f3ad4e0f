"""What a sum over words is made of, as flat arrays: documents have up to a hundred thousand words."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kedge.evaluators.binomials import binomial
from kedge.model.scores.additive import AdditiveScore, LinearTables
from kedge.typing import Counts, Floats

__all__ = ["Variables"]


@dataclass(frozen=True, eq=False)
class Variables:
    """Independent variables, the values of one after those of the other.

    Parameters
    ----------
    units
        (u,) the unit of the score that each variable is: those whose count changes it.
    lengths
        (u,) how many values each has: one for every count.
    values, laws
        (v,) all values, and their probabilities.
    """

    units: Counts
    lengths: Counts
    values: Floats
    laws: Floats

    @classmethod
    def of(cls, score: AdditiveScore, keep: float) -> "Variables":
        """What each unit adds to a score while its occurrences come and go."""
        if isinstance(score.tables, LinearTables):
            units = np.flatnonzero((score.tables.slopes != 0) & (score.sizes > 0))
            lengths = score.sizes[units] + 1
            counts = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
            values = np.repeat(score.tables.slopes[units], lengths) * counts
        else:
            tables = score.tables
            units = np.array([j for j in range(len(tables)) if np.ptp(tables[j]) > 0], dtype=np.int64)
            lengths = score.sizes[units] + 1
            values = np.concatenate([np.zeros(0), *(tables[j] for j in units.tolist())])
        laws = np.concatenate([np.zeros(0), *(binomial(n - 1, keep) for n in lengths.tolist())])
        return cls(units, lengths, values, laws)

    def __len__(self) -> int:
        return len(self.units)

    @cached_property
    def starts(self) -> Counts:
        """(u,) where the values of each begin."""
        starts: Counts = np.cumsum(self.lengths) - self.lengths
        return starts

    def each(self, numbers: Floats) -> list[Floats]:
        """Numbers for all values, split by variable."""
        starts, lengths = self.starts.tolist(), self.lengths.tolist()
        return [numbers[start : start + length] for start, length in zip(starts, lengths, strict=True)]

    def alike(self) -> Iterator[tuple[Counts, Counts]]:
        """Variables with equally many values, (k,), and where these are, (k, length)."""
        for length in np.unique(self.lengths).tolist():
            which = np.flatnonzero(self.lengths == length)
            yield which, self.starts[which, None] + np.arange(length)
