"""Empirical precision: the share of perturbed samples that keep the label."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kedge.precision.estimates import Estimates
from kedge.reading import CELLS, Reading
from kedge.typing import Bools, Counts, Kept

__all__ = ["Empirical"]


@dataclass
class Draws:
    """What is known of one anchor: how many samples, how many kept the label, and which they are."""

    hits: int = 0
    trials: int = 0
    rows: tuple[Counts, ...] = ()

    def together(self) -> Counts:
        """All rows as one piece; they come in many small ones, and every child looks at all."""
        if len(self.rows) > 1:
            self.rows = (np.concatenate(self.rows),)
        return self.rows[0]


class Pool:
    """Samples that anchors share, each stored once, in as few bytes as the largest count needs.

    ``counts`` is (d, room): a child looks at one unit in many samples.
    """

    def __init__(self, sizes: Counts) -> None:
        self.counts = np.empty((len(sizes), 256), dtype=np.min_scalar_type(int(sizes.max())))
        self.holds = np.empty(256, dtype=bool)
        self._used = 0

    def add(self, counts: Counts, holds: Bools) -> Counts:
        """Store samples; gives the rows they are at."""
        start, stop = self._used, self._used + len(holds)
        if stop > len(self.holds):
            more = max(stop, 2 * len(self.holds))
            old, old_holds = self.counts, self.holds
            self.counts = np.empty((len(old), more), dtype=old.dtype)
            self.holds = np.empty(more, dtype=bool)
            self.counts[:, :start], self.holds[:start] = old[:, :start], old_holds[:start]
        self.counts[:, start:stop], self.holds[start:stop] = counts.T, holds
        self._used = stop
        return np.arange(start, stop)


class Empirical:
    """Samples anchors on request and remembers every draw.

    Parameters
    ----------
    reading, rng
        What is sampled, and by which randomness.
    share
        An anchor starts with those samples of its parents (one occurrence less) that happen to keep
        the occurrence it adds, as in the official implementation. Given the parent, they follow the
        law of the child.
    """

    def __init__(self, reading: Reading, rng: np.random.Generator, *, share: bool = False) -> None:
        self._reading, self._rng, self._share = reading, rng, share
        self._draws: dict[Kept, Draws] = {}
        self._pool = Pool(reading.units.sizes)

    def __call__(self, anchors: Sequence[Kept], samples: int = 0) -> Estimates:
        """Draw ``samples`` more for each anchor, then give the share of all draws so far."""
        if self._share and (new := [kept for kept in anchors if kept not in self._draws]):
            self._forget(min(len(kept) for kept in new) - 1)
            for kept in new:
                self._inherit(kept)
        if samples:
            self._draw(anchors, samples)
        seen = [self._draws.get(kept, Draws()) for kept in anchors]
        hits = np.array([draws.hits for draws in seen], dtype=np.float64)
        trials = np.array([draws.trials for draws in seen], dtype=np.float64)
        mean = np.divide(hits, trials, out=np.full(len(seen), 0.5), where=trials > 0)
        return Estimates(mean, trials, np.zeros(len(seen)))

    def seen(self, kept: Kept) -> tuple[Counts, Bools]:
        """The samples drawn for an anchor, where they were kept, and whether the label held."""
        draws = self._draws.get(kept, Draws())
        rows = draws.together() if draws.rows else np.zeros(0, dtype=np.int64)
        return self._pool.counts[:, rows].T.astype(np.int64), self._pool.holds[rows]

    def _draw(self, anchors: Sequence[Kept], samples: int) -> None:
        """Ask about many anchors in one go, in pieces of bounded size."""
        step = max(1, CELLS // (samples * len(self._reading.units)))
        for start in range(0, len(anchors), step):
            part = anchors[start : start + step]
            counts = self._reading.sample_each(part, samples, self._rng)
            held = self._reading.holds(counts).reshape(len(part), samples)
            for kept, drawn, holds in zip(part, np.split(counts, len(part)), held, strict=True):
                self._add(kept, drawn, holds)

    def _add(self, kept: Kept, counts: Counts, holds: Bools) -> None:
        draws = self._draws.setdefault(kept, Draws())
        draws.hits += int(np.count_nonzero(holds))
        draws.trials += len(holds)
        if self._share:
            draws.rows += (self._pool.add(counts, holds),)

    def _inherit(self, kept: Kept) -> None:
        """Start a child with the samples of its parents that keep the added occurrence.

        Of the free occurrences of a unit the sample kept some; the added one is among them with
        probability (kept - sure) / (free), which a coin decides.
        """
        draws = self._draws[kept] = Draws()
        for unit in set(kept):
            at = kept.index(unit)
            sure = kept.count(unit) - 1
            free = int(self._reading.units.sizes[unit]) - sure
            parent = self._draws.get(kept[:at] + kept[at + 1 :])
            if parent is None or not parent.rows:
                continue
            rows = parent.together()
            chance = (self._pool.counts[unit, rows].astype(np.float32) - sure) / free
            mine = rows[self._rng.random(len(rows), dtype=np.float32) < chance]
            draws.hits += int(np.count_nonzero(self._pool.holds[mine]))
            draws.trials += len(mine)
            draws.rows += (mine,)

    def _forget(self, length: int) -> None:
        """Drop the samples of anchors below a length: no child of theirs will be asked for any more."""
        for kept, draws in self._draws.items():
            if len(kept) < length:
                draws.rows = ()
