"""Empirical precision: the share of perturbed samples that keep the label."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from kedge.errors import OutOfQueries
from kedge.evaluators.estimates import Estimates
from kedge.reading.reading import Reading
from kedge.results.interval import Interval
from kedge.typing import Bools, Counts, Kept
from kedge.utils.numerics import pieces
from kedge.utils.sentences import Option

__all__ = ["Empirical"]


_NONE: Counts = np.zeros(0, dtype=np.int64)


@dataclass
class Draws:
    """What is known of one anchor: how many samples, how many kept the label, and which they are.

    Rows are ``inherited`` from a shorter anchor or ``drawn`` for this one; the latter no other anchor of its
    length has.
    """

    hits: int = 0
    trials: int = 0
    inherited: Counts = field(default_factory=lambda: _NONE)
    drawn: tuple[Counts, ...] = ()

    def own(self) -> Counts:
        """The drawn rows as one array; they come in many small ones, and every child looks at all of them."""
        if len(self.drawn) > 1:
            self.drawn = (np.concatenate(self.drawn),)
        return self.drawn[0] if self.drawn else _NONE

    def together(self) -> Counts:
        """All rows."""
        return np.concatenate([self.inherited, self.own()]) if len(self.inherited) else self.own()


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
    most
        How many samples it may draw that need no new question, because an equal one was asked about before;
        None for no limit. They do not count as queries, so that nothing else would end a search that
        draws the same few samples over and over.
    """

    name = "samples"
    sampled = True
    notes = ()
    every = None

    def __init__(
        self, reading: Reading, rng: np.random.Generator, *, share: bool = False, most: int | None = None
    ) -> None:
        self._reading, self._rng, self._share = reading, rng, share
        # Samples that may still be drawn, if no question is asked from now on.
        self._room = np.inf if most is None else most - reading.oracle.queries
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

    def refine(self, kept: Kept, threshold: float | None = None) -> Interval:
        """The share of the draws so far; more would be questions."""
        del threshold
        return self([kept]).intervals(0.0)[0]

    def seen(self, kept: Kept) -> tuple[Counts, Bools] | None:
        """The samples drawn for an anchor, where they were kept, and whether the label held."""
        rows = self._draws.get(kept, Draws()).together()
        if not len(rows):
            return None
        return self._pool.counts[:, rows].T.astype(np.int64), self._pool.holds[rows]

    def adopt(self, kept: Kept, counts: Counts, holds: Bools) -> None:
        """Take in samples given an anchor that were drawn and asked about elsewhere."""
        self._add(kept, counts, holds)

    def hand_on(self, anchors: Sequence[Kept]) -> None:
        """Only these hand their samples on from now on, as in the official implementation."""
        for kept in self._draws.keys() - {(), *anchors}:
            self._draws[kept].inherited, self._draws[kept].drawn = _NONE, ()

    def _draw(self, anchors: Sequence[Kept], samples: int) -> None:
        """Ask about many anchors in one go, in pieces of bounded size."""
        for piece in pieces(len(anchors), samples * len(self._reading.units)):
            part = anchors[piece]
            self._room -= samples * len(part)
            if self._room + self._reading.oracle.queries < 0:
                raise OutOfQueries(
                    "Nearly every sample drawn was one that the model had answered already, and more of them "
                    "do not tell the anchors apart; use ",
                    Option("method", "auto"),
                    ", or a smaller ",
                    Option("keep"),
                    ".",
                )
            counts = self._reading.sample_each(part, samples, self._rng)
            held = self._reading.holds(counts).reshape(len(part), samples)
            for kept, drawn, holds in zip(part, np.split(counts, len(part)), held, strict=True):
                self._add(kept, drawn, holds)

    def _add(self, kept: Kept, counts: Counts, holds: Bools) -> None:
        draws = self._draws.setdefault(kept, Draws())
        draws.hits += int(np.count_nonzero(holds))
        draws.trials += len(holds)
        if self._share or not kept:  # samples with nothing kept say what every word does
            draws.drawn += (self._pool.add(counts, holds),)

    def _inherit(self, kept: Kept) -> None:
        """Start a child with the samples of its parents that keep the added occurrence.

        Of the free occurrences of a unit the sample kept some; the added one is among them with
        probability (kept - sure) / (free), which a coin decides. One parent, the best known, hands on
        all that it has, the others what was drawn for them alone: parents have inherited the same
        samples, and no sample counts twice.
        """
        draws = self._draws[kept] = Draws()
        places = [kept.index(unit) for unit in sorted(set(kept))]
        known = [(kept[at], self._draws.get(kept[:at] + kept[at + 1 :])) for at in places]
        parents = sorted(((u, p) for u, p in known if p), key=lambda pair: -len(pair[1].together()))
        for place, (unit, parent) in enumerate(parents):
            rows = parent.own() if place else parent.together()
            sure = kept.count(unit) - 1
            free = int(self._reading.units.sizes[unit]) - sure
            chance = (self._pool.counts[unit, rows].astype(np.float32) - sure) / free
            mine = rows[self._rng.random(len(rows), dtype=np.float32) < chance]
            draws.hits += int(np.count_nonzero(self._pool.holds[mine]))
            draws.trials += len(mine)
            draws.inherited = np.concatenate([draws.inherited, mine])

    def _forget(self, length: int) -> None:
        """Drop the samples of anchors below a length: no child of theirs will be asked for any more."""
        for kept, draws in self._draws.items():
            if len(kept) < length:
                draws.inherited, draws.drawn = _NONE, ()
