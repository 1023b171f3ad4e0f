"""Empirical precision: the share of perturbed samples that keep the label."""

from collections.abc import Sequence

import numpy as np

from kedge.precision.estimates import Estimates
from kedge.reading import CELLS, Reading
from kedge.typing import Kept

__all__ = ["Empirical"]


class Empirical:
    """Samples anchors on request and remembers every draw."""

    def __init__(self, reading: Reading, rng: np.random.Generator) -> None:
        self._reading, self._rng = reading, rng
        self._seen: dict[Kept, tuple[int, int]] = {}  # anchor -> (hits, trials)

    def __call__(self, anchors: Sequence[Kept], samples: int = 0) -> Estimates:
        """Draw ``samples`` more for each anchor, then give the share of all draws so far."""
        if samples:
            self._draw(anchors, samples)
        seen = [self._seen.get(kept, (0, 0)) for kept in anchors]
        hits = np.array([h for h, _ in seen], dtype=np.float64)
        trials = np.array([n for _, n in seen], dtype=np.float64)
        mean = np.divide(hits, trials, out=np.full(len(seen), 0.5), where=trials > 0)
        return Estimates(mean, trials, np.zeros(len(seen)))

    def _draw(self, anchors: Sequence[Kept], samples: int) -> None:
        """Ask about many anchors in one go, in pieces of bounded size."""
        step = max(1, CELLS // (samples * len(self._reading.units)))
        for start in range(0, len(anchors), step):
            part = anchors[start : start + step]
            counts = [self._reading.sample(kept, samples, self._rng) for kept in part]
            held = self._reading.holds(np.concatenate(counts)).reshape(len(part), samples)
            for kept, hits in zip(part, held.sum(axis=1).tolist(), strict=True):
                h, n = self._seen.get(kept, (0, 0))
                self._seen[kept] = (h + hits, n + samples)
