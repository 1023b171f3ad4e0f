"""The pool: every sample the search has asked about, shared by all its questions.

Rows drawn given an anchor also follow the law given any anchor that extends it, where they happen
to keep what it adds. So one pool estimates many anchors at once. What was chosen by looking at the
pool is flattered by it: estimates guide, they never prove.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import comb

from kedge.errors import OutOfQueries
from kedge.reading import CELLS, Reading
from kedge.typing import Bools, Counts, Floats, Kept

__all__ = ["Pool"]

# The pool holds at most this many counts, so that very long documents have a short one.
_CELLS_HELD = 1 << 24


@dataclass
class Pool:
    """Samples and the model's answers, in the order they were asked.

    Parameters
    ----------
    reading, rng
        Whom the questions go to, and what draws them.
    limit
        The number of model queries at which the search must stop.
    reserve
        How many of them are kept back for now.
    """

    reading: Reading
    rng: np.random.Generator
    limit: float
    reserve: int = 0
    _counts: list[Counts] = field(default_factory=list)
    _holds: list[Bools] = field(default_factory=list)
    _odds: list[Floats] = field(default_factory=list)
    _given: list[Kept | None] = field(default_factory=list)

    def __len__(self) -> int:
        return sum(len(h) for h in self._holds)

    @property
    def room(self) -> int:
        """How many more rows the pool may hold."""
        return max(0, _CELLS_HELD // len(self.reading.units) - len(self))

    @property
    def left(self) -> int:
        """How many more questions the search may ask."""
        return int(self.limit - self.reading.oracle.queries) - self.reserve

    def draw(self, kept: Kept, n: int) -> tuple[Counts, Bools]:
        """Ask about ``n`` samples given an anchor, or as many as are left; none left is an error."""
        return self.ask(self.reading.sample(kept, self._affordable(n), self.rng), kept)

    def _affordable(self, n: int) -> int:
        if self.left <= 0:
            asked = self.reading.oracle.queries
            raise OutOfQueries(
                f"Nothing was proved with {asked} question{'s' * (asked != 1)}, as many as allowed; raise "
                "max_queries."
            )
        return min(n, self.left)

    def ask(self, counts: Counts, given: Kept | None = None) -> tuple[Counts, Bools]:
        """Ask about some samples; ``given`` names the anchor whose law they follow, if any."""
        counts = counts[: self._affordable(len(counts))]
        rows = max(1, CELLS // counts.shape[1])
        parts = [self._answers(counts[i : i + rows]) for i in range(0, len(counts), rows)]
        holds = np.concatenate([p[0] for p in parts])
        if len(holds) <= self.room:
            self._counts.append(counts.astype(self._small))
            self._holds.append(holds)
            self._odds.append(np.concatenate([p[1] for p in parts]))
            self._given.append(given)
        return counts, holds

    def _answers(self, counts: Counts) -> tuple[Bools, Floats]:
        if self.reading.answers is not None:
            return self.reading.answers(counts)
        holds = self.reading.holds(counts)
        odds = self.reading.log_odds
        return holds, np.full(len(holds), np.nan) if odds is None else odds(counts)

    def unseen(self, counts: Counts) -> Counts:
        """The rows, each once, that were not asked about yet."""
        small = np.ascontiguousarray(counts.astype(self._small))
        new = {row.tobytes(): i for i, row in enumerate(small[::-1])}
        for rows in self._counts:
            for row in rows:
                new.pop(row.tobytes(), None)
        return counts[::-1][sorted(new.values(), reverse=True)]

    @property
    def _small(self) -> np.dtype[Any]:
        """The smallest type that holds every count."""
        return np.min_scalar_type(int(self.reading.units.sizes.max()))

    def rows(self, part: slice = slice(None)) -> tuple[Counts, Bools, Floats]:
        """Counts (in a small type), answers and log-odds of all rows, or of some."""
        counts, holds = np.concatenate(self._counts), np.concatenate(self._holds)
        return counts[part], holds[part], np.concatenate(self._odds)[part]

    def given(self, kept: Kept) -> tuple[Counts, Bools]:
        """The rows that follow the law given an anchor.

        Rows drawn given a part of it count where they keep the rest. A row that keeps c of the f
        free occurrences of a unit keeps some particular r of them with probability
        C(c, r) / C(f, r); for units of size 1 that is 0 or 1, and no coin is needed.
        """
        want = self.reading.units.counts(kept)
        counts, holds = [np.zeros((0, len(want)), dtype=self._small)], [np.zeros(0, dtype=bool)]
        for rows, held, given in zip(self._counts, self._holds, self._given, strict=True):
            if given is None:
                continue
            have = self.reading.units.counts(given)
            if (have > want).any():
                continue
            units = np.flatnonzero(want > have)
            mine = np.ones(len(rows), dtype=bool)
            for j in units:
                mine &= self._keeps(rows[:, j], int(have[j]), int(want[j]), int(self.reading.units.sizes[j]))
            counts.append(rows[mine])
            holds.append(held[mine])
        return np.concatenate(counts), np.concatenate(holds)

    def _keeps(self, counts: Counts, have: int, want: int, size: int) -> Bools:
        """Where the next ``want - have`` occurrences of a unit are among those a row keeps."""
        chance = comb(counts.astype(np.float64) - have, want - have) / comb(size - have, want - have)
        if size - have == 1:
            return chance > 0
        mine: Bools = self.rng.random(len(counts)) < chance
        return mine
