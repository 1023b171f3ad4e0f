"""What samples that anchors share say of their precision, where a sample costs arithmetic only.

A sample given an anchor follows the law of a longer one where it keeps what that adds: of f free
occurrences of a word that it keeps c of, a given one with probability c / f. So one pool of samples, asked
about once, estimates all anchors that are one or two occurrences longer.
"""

import math
from collections.abc import Callable

import numpy as np

from kedge.evaluators.enumeration import anchor_precision, table_size
from kedge.reading.reading import Reading
from kedge.typing import Bools, Counts, Floats, Kept
from kedge.utils.numerics import pieces

__all__ = ["Estimates", "Pool", "draw_hits", "shortest_estimated"]

# Up to this many samples there are no more than a close look draws.
_FEW = 1 << 14
# Pools hold at most so many numbers, 256 MB: those of very long texts have fewer samples.
_CELLS = 1 << 25
# Pairs are made of so many words, those that are best alone.
_PAIRED = 64


class Pool:
    """Samples given an anchor.

    Parameters
    ----------
    reading
        What is sampled.
    kept
        The anchor.
    n
        How many samples at most.
    rng
        The source of their coins.
    """

    def __init__(self, reading: Reading, kept: Kept, n: int, rng: np.random.Generator) -> None:
        self.kept = kept
        have = reading.units.counts(kept)
        self._free = reading.units.sizes - have
        n = min(n, max(1, _CELLS // len(self._free)))
        self._shares: Floats = np.empty((n, len(self._free)))
        self.held: Bools = np.empty(n, dtype=bool)
        for piece in pieces(n, len(self._free)):
            counts = reading.sample(kept, piece.stop - piece.start, rng)
            self.held[piece] = reading.holds(counts)
            np.divide(counts - have, np.maximum(self._free, 1), out=self._shares[piece])
        self._alone = self._ratios(self.held @ self._shares, self._shares.sum(axis=0))
        self._alone[self._free == 0] = -1.0

    @staticmethod
    def _ratios(hits: Floats, total: Floats) -> Floats:
        share: Floats = np.where(total > 0.5, hits / np.maximum(total, 1e-9), -1.0)
        return share

    def longer(self, step: int, number: int) -> list[tuple[float, Kept]]:
        """The best anchors that are one or two occurrences longer, by their estimates."""
        order = np.argsort(-self._alone, kind="stable")[:_PAIRED]
        order = order[self._free[order] > 0]
        if step == 1:
            return [(float(self._alone[j]), _with(self.kept, j)) for j in order[:number].tolist()]
        shares = self._shares[:, order]
        ratios = self._ratios((shares * self.held[:, None]).T @ shares, shares.T @ shares)
        # Two of the same word: c (c - 1) / (f (f - 1)).
        free = self._free[order]
        own = shares * (shares * free - 1.0) / np.maximum(free - 1, 1)
        ratios[np.diag_indices(len(order))] = np.where(
            free > 1, self._ratios(self.held @ own, own.sum(axis=0)), -1.0
        )
        ratios[np.tril_indices(len(order), -1)] = -1.0
        best = np.argsort(-ratios, axis=None, kind="stable")[:number]
        pairs = [(float(ratios.flat[at]), *divmod(int(at), len(order))) for at in best]
        return [
            (share, _with(self.kept, int(order[i]), int(order[j]))) for share, i, j in pairs if share >= 0
        ]


class Estimates:
    """Shares of samples that keep the label, drawn for one anchor at a time, as many as the threshold needs.

    Where these leave it open and there are few samples in all, every one is looked at.

    Parameters
    ----------
    reading, threshold
        What is sampled, and which side of what is to be known.
    samples
        Samples of a first look; at most eight times as many.
    rng
        The source of their coins.
    """

    def __init__(self, reading: Reading, threshold: float, samples: int, rng: np.random.Generator) -> None:
        self._reading, self._threshold, self._samples, self._rng = reading, threshold, samples, rng
        self._known: dict[Kept, float] = {}

    def __call__(self, kept: Kept) -> float:
        """The share."""
        if kept not in self._known:
            hits = trials = 0
            while trials < 8 * self._samples:
                n = max(self._samples, trials)
                hits += draw_hits(self._reading, kept, n, self._rng)
                trials += n
                share = hits / trials
                error = math.sqrt(max(share * (1.0 - share), 1.0 / trials) / trials)
                if abs(share - self._threshold) > 2.5 * error:
                    break
            else:
                if table_size(self._reading, kept) <= _FEW:
                    share = anchor_precision(self._reading, kept).mean
            self._known[kept] = share
        return self._known[kept]

    def reaches(self, kept: Kept) -> bool:
        """Whether the share is at least the threshold."""
        return self(kept) >= self._threshold


def draw_hits(reading: Reading, kept: Kept, n: int, rng: np.random.Generator) -> int:
    """How many of ``n`` samples keep the label, in pieces of bounded size."""
    hits = 0
    for piece in pieces(n, len(reading.units)):
        counts: Counts = reading.sample(kept, piece.stop - piece.start, rng)
        hits += int(np.count_nonzero(reading.holds(counts)))
    return hits


def shortest_estimated(
    pool: Callable[[Kept], Pool], estimates: Estimates, threshold: float, *, beam: int, checked: int
) -> Kept:
    """The shortest anchor that estimates find: one or two occurrences more at a time, from a few bases."""
    bases: list[Kept] = [()]
    while True:
        pools, following = [pool(base) for base in bases], list[Kept]()
        for step in (1, 2):
            found = {kept: share for p in pools for share, kept in p.longer(step, 2 * checked)}
            best = sorted(found, key=lambda kept: (-found[kept], kept))
            near = [kept for kept in best[:checked] if found[kept] >= threshold - _NEAR]
            reaching = [kept for kept in near if estimates.reaches(kept)]
            if reaching:
                return min(reaching, key=lambda kept: (-estimates(kept), kept))
            following = best[:beam] or following
        if not following:
            return bases[0]  # everything: nothing is longer
        bases = following


# An anchor estimated this far below the threshold by a shared pool is not looked at by itself.
_NEAR = 0.03


def _with(kept: Kept, *units: int) -> Kept:
    return tuple(sorted((*kept, *units)))
