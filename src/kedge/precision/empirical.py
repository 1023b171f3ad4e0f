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
    """What is known of one anchor: how many samples, how many kept the label, and the samples."""

    hits: int = 0
    trials: int = 0
    samples: tuple[tuple[Counts, Bools], ...] = ()


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
        # Samples are kept for sharing in as few bytes as the largest count needs.
        self._small = np.min_scalar_type(int(reading.units.sizes.max()))

    def __call__(self, anchors: Sequence[Kept], samples: int = 0) -> Estimates:
        """Draw ``samples`` more for each anchor, then give the share of all draws so far."""
        if self._share:
            for kept in anchors:
                if kept not in self._draws:
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
        samples = self._draws.get(kept, Draws()).samples
        if not samples:
            return np.zeros((0, len(self._reading.units)), dtype=np.int64), np.zeros(0, dtype=bool)
        return np.concatenate([s[0] for s in samples]), np.concatenate([s[1] for s in samples])

    def _draw(self, anchors: Sequence[Kept], samples: int) -> None:
        """Ask about many anchors in one go, in pieces of bounded size."""
        step = max(1, CELLS // (samples * len(self._reading.units)))
        for start in range(0, len(anchors), step):
            part = anchors[start : start + step]
            counts = [self._reading.sample(kept, samples, self._rng) for kept in part]
            held = self._reading.holds(np.concatenate(counts)).reshape(len(part), samples)
            for kept, drawn, holds in zip(part, counts, held, strict=True):
                self._add(kept, drawn, holds)

    def _add(self, kept: Kept, counts: Counts, holds: Bools) -> None:
        draws = self._draws.setdefault(kept, Draws())
        draws.hits += int(holds.sum())
        draws.trials += len(holds)
        if self._share:
            draws.samples += ((counts.astype(self._small), holds),)

    def _inherit(self, kept: Kept) -> None:
        """Start a child with the samples of its parents that keep the added occurrence.

        Of the free occurrences of a unit the sample kept some; the added one is among them with
        probability (kept - sure) / (free), which a coin decides.
        """
        self._draws[kept] = Draws()
        for unit in set(kept):
            at = kept.index(unit)
            sure = kept.count(unit) - 1
            free = int(self._reading.units.sizes[unit]) - sure
            for counts, holds in self._draws.get(kept[:at] + kept[at + 1 :], Draws()).samples:
                chance = (counts[:, unit].astype(np.float64) - sure) / free
                mine = self._rng.random(len(counts)) < chance
                if mine.any():
                    self._add(kept, counts[mine], holds[mine])
        for old in [k for k in self._draws if len(k) < len(kept) - 1]:
            self._draws[old].samples = ()  # no child of theirs will be asked for any more
