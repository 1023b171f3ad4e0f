"""The tail of a score between two sums over words: one characteristic function bounds it from both sides."""

import math
from dataclasses import dataclass

import numpy as np

from kedge.evaluators.binomials import binomial
from kedge.evaluators.harmonics import FIRST, Circle, Spectra
from kedge.evaluators.laws import NO_LAWS, Coins, Laws
from kedge.evaluators.loudness import loud_harmonics
from kedge.results.interval import Interval
from kedge.typing import Counts, Floats

__all__ = ["COARSE", "Between", "WordSums", "count_laws"]

COARSE = 5e-3
"""Half the width of an interval that has nothing to decide."""
# An interval takes this share of the room that there is beside the threshold, down to the finest half width.
_ROOM, _FINE = 0.8, 2e-4
_NO_MORE = np.empty(0)


@dataclass(frozen=True)
class Between:
    """A score that lies between two sums: low + sum_j u_j(M_j) <= score <= high + sum_j u_j(M_j).

    Parameters
    ----------
    parts
        (d, m + 1) u_j(c), with u_j(0) = 0.
    low, high, likely
        The constants of the two sums, and the constant that the score is closest to as a rule.
    spare_low, spare_high
        With at most this probability the lower, the upper sum fails to bound the score.
    slope
        What the sums take of the squared norm.
    """

    parts: Floats
    low: float
    high: float
    likely: float
    spare_low: float = 0.0
    spare_high: float = 0.0
    slope: float = 0.0


@dataclass(frozen=True)
class WordSums:
    """What a sum over words is made of, given an anchor.

    Parameters
    ----------
    sizes, kept
        (d,) occurrences of each word, and how many of them the anchor keeps.
    law
        (d, m + 1) the chances of each word's counts (`count_laws`).
    keep
        Probability that a free occurrence stays.
    error
        Bound on the floating-point error of the score.
    """

    sizes: Counts
    kept: Counts
    law: Floats
    keep: float
    error: float

    def tail(
        self, score: Between, threshold: float | None = None, width: float = COARSE, finest: float = _FINE
    ) -> Interval:
        """Certified interval for P(score > 0).

        Of half the width given, or narrower where that shows the side of a threshold; and wider by what lies
        between the two sums.
        """
        base, coins, laws = self._sum(score.parts)
        lowest, highest = _ends(coins, laws)
        # Our own sums are rounded once per word; the score's error allows for that.
        if not score.spare_low and base + lowest + score.low > self.error:
            return Interval(1.0, 1.0, 1.0)
        if not score.spare_high and base + highest + score.high < -self.error:
            return Interval(0.0, 0.0, 0.0)
        squares = np.array([coins.squares + laws.squares])
        if not squares[0]:
            return self._settled(score, base)
        mean = base + coins.mean + (float(laws.means.sum()) if len(laws.starts) else 0.0)
        sides = (score.low - self.error, score.likely, score.high + self.error)
        means = np.array([[mean + side] for side in sides])
        circle = Circle.around(float(squares[0]), finest / 20.0)

        def heard(more: Floats) -> Spectra:
            phi = circle.characteristic(coins, laws, more)[None]
            return Spectra(circle, phi, more, means, squares, len(self.sizes))

        spectra = heard(_NO_MORE)
        estimates = spectra.estimates[:, 0].tolist()
        if threshold is not None:
            above, below = estimates[0] - score.spare_low, estimates[2] + score.spare_high
            room = _ROOM * max(above - threshold, threshold - below)
            if room > 0.0:  # else no interval can tell
                width = min(width, max(room, finest))
        count = max(math.ceil(0.5 * float(spectra.spread.max()) / width), FIRST)
        more = loud_harmonics(circle, coins, count, 1e-3 * width)
        tail = (heard(more) if len(more) else spectra).tails(count, 1e-3 * width)[0]
        return Interval(tail.low - score.spare_low, tail.mean, tail.high + score.spare_high).within(0.0, 1.0)

    def _sum(self, u: Floats) -> tuple[float, Coins, Laws]:
        """A sum over words: what the anchor brings, words with one free occurrence, words with several."""
        free, each = self.sizes - self.kept, np.arange(len(self.sizes))
        start = u[each, self.kept]
        single, several = np.flatnonzero(free == 1), np.flatnonzero(free > 1)
        coins = Coins(u[single, self.sizes[single]] - start[single], self.keep)
        if not len(several):
            return float(start.sum()), coins, NO_LAWS
        counts = np.arange(u.shape[1])
        there = (counts >= self.kept[several, None]) & (counts <= self.sizes[several, None])
        starts = np.concatenate([[0], np.cumsum(free[several] + 1)[:-1]])
        laws = Laws((u[several] - start[several, None])[there], self.law[several][there], starts)
        return float(start.sum()), coins, laws

    def _settled(self, score: Between, base: float) -> Interval:
        """Nothing is left to chance but on which side of the score the sums lie."""
        sides = (base + score.low, base + score.likely, base + score.high)
        low = float(sides[0] > self.error) - score.spare_low
        high = float(sides[2] >= -self.error) + score.spare_high
        return Interval(low, float(sides[1] > 0.0), high).within(0.0, 1.0)


def _ends(coins: Coins, laws: Laws) -> tuple[float, float]:
    """The least and the largest value of a sum."""
    low, high = float(np.minimum(coins.sizes, 0.0).sum()), float(np.maximum(coins.sizes, 0.0).sum())
    if len(laws.starts):
        low += float(np.minimum.reduceat(laws.values, laws.starts).sum())
        high += float(np.maximum.reduceat(laws.values, laws.starts).sum())
    return low, high


def count_laws(sizes: Counts, kept: Counts, keep: float, width: int) -> Floats:
    """(d, width) the chances of each word's counts given an anchor."""
    pairs = list(zip(sizes.tolist(), kept.tolist(), strict=True))
    known = {pair: row for row, pair in enumerate(dict.fromkeys(pairs))}
    laws = np.zeros((len(known), width))
    for (size, sure), row in known.items():
        laws[row, sure : size + 1] = binomial(size - sure, keep)
    return laws[[known[pair] for pair in pairs]]
