"""The pool: every sample the search has asked about, shared by all its questions.

Rows drawn given an anchor also follow the law given any anchor that extends it, where they happen
to keep what it adds. So one pool estimates many anchors at once. What was chosen by looking at the
pool is flattered by it: estimates guide, they never prove.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from kedge.errors import OutOfQueries
from kedge.reading.fresh import FreshSamples
from kedge.reading.reading import Reading
from kedge.typing import Bools, Counts, Floats, Kept
from kedge.utils.numerics import pieces
from kedge.utils.sentences import Option

__all__ = ["Pool", "Rows"]

# The pool holds at most this many counts, so that very long documents have a short one.
_CELLS_HELD = 1 << 24


class Rows(NamedTuple):
    """Samples, whether each kept the label, and its log-odds (NaN for a model without them)."""

    counts: Counts
    holds: Bools
    odds: Floats

    def plus(self, more: "Rows") -> "Rows":
        """These and some more."""
        counts, holds = np.concatenate([self.counts, more.counts]), np.concatenate([self.holds, more.holds])
        return Rows(counts, holds, np.concatenate([self.odds, more.odds]))

    def where(self, chosen: Bools) -> "Rows":
        """Some of them."""
        return Rows(self.counts[chosen], self.holds[chosen], self.odds[chosen])


@dataclass
class Stream:
    """The samples of one anchor that may prove it, in the order they were drawn, and their answers."""

    counts: Counts
    holds: Bools

    def __len__(self) -> int:
        return len(self.holds)


@dataclass
class Pool:
    """Samples and the model's answers, in the order they were asked.

    Parameters
    ----------
    reading, rng
        Whom the questions go to, and what draws those of the search: the same ones under every seed.
    limit
        The number of model queries at which the search must stop.
    reserve
        How many of them are kept back for now.
    seed, proofs
        What the fresh samples of a proof follow from: a seed, or what draws them where a hash cannot.
    """

    reading: Reading
    rng: np.random.Generator
    limit: float
    reserve: int = 0
    seed: int = 0
    proofs: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    _counts: list[Counts] = field(default_factory=list)
    _holds: list[Bools] = field(default_factory=list)
    _odds: list[Floats] = field(default_factory=list)
    _given: list[Kept | None] = field(default_factory=list)
    _streams: dict[Kept, Stream] = field(default_factory=dict)
    _shared: int = 0
    _joint: list[Rows] = field(default_factory=list)
    _proving: list[bool] = field(default_factory=list)
    _alone: bool = False

    def __len__(self) -> int:
        return sum(len(self._holds[i]) for i in self._at)

    def stand_alone(self, *, alone: bool) -> None:
        """Whether fresh samples are left aside, so that what is learned is the same under every seed."""
        self._alone = alone

    @property
    def _at(self) -> list[int]:
        """The parts of the pool that count."""
        return [i for i, proving in enumerate(self._proving) if not (proving and self._alone)]

    @property
    def room(self) -> int:
        """How many more rows the pool may hold."""
        return max(0, _CELLS_HELD // len(self.reading.units) - sum(len(h) for h in self._holds))

    @property
    def left(self) -> int:
        """How many more questions the search may ask."""
        return int(self.limit - self.reading.oracle.queries) - self.reserve

    def draw(self, kept: Kept, n: int) -> tuple[Counts, Bools]:
        """Ask about ``n`` samples given an anchor, or as many as are left; none left is an error."""
        return self.ask(self.reading.sample(kept, self._affordable(n), self.rng), kept)

    def fresh(self, kept: Kept, start: int, n: int) -> tuple[Counts, Bools]:
        """Ask about the samples ``start``, ``start + 1``, ... given an anchor, that all can draw again.

        Each anchor has a stream of its own, so that one chosen by all that was seen before meets samples
        that nobody has seen. Those that were asked about already cost nothing.
        """
        stream = self._stream(kept)
        missing = start + n - len(stream)
        if missing > 0 and (self.left > 0 or len(stream) <= start):
            shared = 0 if kept else self._shared  # those of the empty anchor went through a unit's stream
            rows = self._next(kept, len(stream) + shared, self._affordable(missing))
            self._extend(stream, *self.ask(rows, kept, proving=True))
        return stream.counts[start : start + n], stream.holds[start : start + n]

    def fresh_through(self, unit: int, n: int) -> Bools:
        """Answers about ``n`` fresh samples with nothing kept that share what they can with a unit's own.

        A coin decides whether a sample keeps the unit; those that do are the next samples of the unit's
        stream, so that the proof of that anchor need not ask about them again.
        """
        n = self._affordable(n)
        rows = self._next((), len(self._stream(())) + self._shared, n)
        self._shared += n
        mine = self._keeps(rows[:, unit], 0, 1, int(self.reading.units.sizes[unit]))
        kept, shared = rows[:0], np.zeros(0, dtype=bool)
        if mine.any():
            kept, shared = self.fresh((unit,), len(self._stream((unit,))), int(mine.sum()))
        alone = np.zeros(0, dtype=bool)
        if not mine.all():
            _, alone = self.ask(rows[~mine], proving=True)
        holds = np.concatenate([shared, alone])
        counts = np.concatenate([kept, rows[~mine]])
        self._joint.append(Rows(counts.astype(self._small), holds, self.reading.answers(counts)[1]))
        return holds

    def seen(self, kept: Kept) -> Bools:
        """The answers about an anchor's stream so far."""
        return self._streams[kept].holds if kept in self._streams else np.zeros(0, dtype=bool)

    def _stream(self, kept: Kept) -> Stream:
        if kept not in self._streams:
            none = np.zeros((0, len(self.reading.units)), dtype=np.int64)
            self._streams[kept] = Stream(none, np.zeros(0, dtype=bool))
        return self._streams[kept]

    def _next(self, kept: Kept, start: int, n: int) -> Counts:
        samples = FreshSamples.of(self.reading, kept, self.seed)
        return self.reading.sample(kept, n, self.proofs) if samples is None else samples.rows(start, n)

    @staticmethod
    def _extend(stream: Stream, counts: Counts, holds: Bools) -> None:
        stream.counts = np.concatenate([stream.counts, counts])
        stream.holds = np.concatenate([stream.holds, holds])

    def _affordable(self, n: int) -> int:
        if self.left <= 0:
            asked = self.reading.oracle.queries
            raise OutOfQueries(
                f"Nothing was proved within {asked} {'query' if asked == 1 else 'queries'}; raise ",
                Option("max_queries"),
                ".",
            )
        return min(n, self.left)

    def ask(
        self, counts: Counts, given: Kept | None = None, *, proving: bool = False
    ) -> tuple[Counts, Bools]:
        """Ask about some samples; ``given`` names the anchor whose law they follow, if any."""
        counts = counts[: self._affordable(len(counts))]
        parts = [self.reading.answers(counts[piece]) for piece in pieces(*counts.shape)]
        holds = np.concatenate([p[0] for p in parts])
        if len(holds) <= self.room:
            self._counts.append(counts.astype(self._small))
            self._holds.append(holds)
            self._odds.append(np.concatenate([p[1] for p in parts]))
            self._given.append(given)
            self._proving.append(proving)
        return counts, holds

    def unseen(self, counts: Counts) -> Counts:
        """The rows, each once, that were not asked about yet."""
        small = np.ascontiguousarray(counts.astype(self._small))
        new = {row.tobytes(): i for i, row in enumerate(small[::-1])}
        for i in self._at:
            for row in self._counts[i]:
                new.pop(row.tobytes(), None)
        return counts[::-1][sorted(new.values(), reverse=True)]

    def everything(self) -> tuple[Counts, Bools]:
        """All rows that are held, whatever they were asked for."""
        return np.concatenate(self._counts), np.concatenate(self._holds)

    @property
    def _small(self) -> np.dtype[Any]:
        """The smallest type that holds every count."""
        return np.min_scalar_type(int(self.reading.units.sizes.max()))

    def rows(self, part: slice = slice(None)) -> tuple[Counts, Bools, Floats]:
        """Counts (in a small type), answers and log-odds of all rows, or of some."""
        counts, holds, odds = (
            np.concatenate([parts[i] for i in self._at]) for parts in (self._counts, self._holds, self._odds)
        )
        return counts[part], holds[part], odds[part]

    def given(self, kept: Kept) -> Rows:
        """The rows that follow the law given an anchor.

        Rows drawn given a part of it count where they keep the rest. A row that keeps c of the f
        free occurrences of a unit keeps some particular r of them with probability
        C(c, r) / C(f, r); for units of size 1 that is 0 or 1, and no coin is needed.
        """
        want = self.reading.units.counts(kept)
        found = [Rows(np.zeros((0, len(want)), dtype=self._small), np.zeros(0, dtype=bool), np.zeros(0))]
        for i in self._at:
            rows, given = Rows(self._counts[i], self._holds[i], self._odds[i]), self._given[i]
            if given is None:
                continue
            have = self.reading.units.counts(given)
            if (have > want).any():
                continue
            units = np.flatnonzero(want > have)
            keeps = np.ones(len(rows.holds), dtype=bool)
            for j in units:
                size = int(self.reading.units.sizes[j])
                keeps &= self._keeps(rows.counts[:, j], int(have[j]), int(want[j]), size)
            found.append(rows.where(keeps))
        if not kept and not self._alone:
            found += self._joint
        return Rows(
            np.concatenate([rows.counts for rows in found]),
            np.concatenate([rows.holds for rows in found]),
            np.concatenate([rows.odds for rows in found]),
        )

    def _keeps(self, counts: Counts, have: int, want: int, size: int) -> Bools:
        """Where the next ``want - have`` occurrences of a unit are among those a row keeps."""
        from scipy.special import comb

        chance = comb(counts.astype(np.float64) - have, want - have) / comb(size - have, want - have)
        if size - have == 1:
            return chance > 0
        mine: Bools = self.proofs.random(len(counts)) < chance
        return mine
