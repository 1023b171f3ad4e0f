"""The tail of a score between two sums over words: one convolution bounds it from both sides."""

import math
from dataclasses import dataclass

import numpy as np

from kedge.evaluators.binomials import binomial
from kedge.evaluators.grids.cells import cell_size
from kedge.evaluators.grids.gridsum import GridSum, Variable
from kedge.evaluators.grids.tails import grid_tail
from kedge.results.interval import Interval
from kedge.typing import Counts, Floats

__all__ = ["Between", "WordSums", "count_laws"]

# Half widths of the intervals that the first grid aims at.
_COARSE, _FINE = 5e-3, 5e-4
# The chance that a bound on what is rounded off fails, as in `grid_tail`.
_ETA = math.exp(-14.0)
# What may be rounded off because occurrences of a word differ, against what the grid rounds off (1 / 12).
_BENT = 0.01


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
    strict
        Whether a score of zero loses the label.
    """

    sizes: Counts
    kept: Counts
    law: Floats
    keep: float
    error: float
    strict: bool

    def tail(self, score: Between, threshold: float | None = None, fineness: float = 1.0) -> Interval:
        """Certified interval for P(score > 0), as fine as seeing the side of a threshold takes, in reason."""
        u, free, kept = score.parts, self.sizes - self.kept, self.kept
        each = np.arange(len(free))
        least = np.where(self.law > 0.0, u, np.inf).min(axis=1)
        most = np.where(self.law > 0.0, u, -np.inf).max(axis=1)
        # Our own sums are rounded once per word; the score's error allows for that.
        if not score.spare_low and float(least.sum()) + score.low > self.error:
            return Interval(1.0, 1.0, 1.0)
        if not score.spare_high and float(most.sum()) + score.high < -self.error:
            return Interval(0.0, 0.0, 0.0)
        means = (self.law * u).sum(axis=1)
        variance = float((self.law * u * u).sum() - means @ means)
        step = _step(float(means.sum()) + score.likely, variance, int(free.sum()), threshold) / fineness
        # An occurrence more brings about the same, whichever it is: what differs is rounded off, if it is
        # little.
        start = u[each, kept]
        slope = (u[each, self.sizes] - start) / np.maximum(free, 1)
        line = start[:, None] + slope[:, None] * (np.arange(u.shape[1]) - kept[:, None])
        bend = np.where(self.law > 0.0, u - line, 0.0)
        bent = (bend.max(axis=1) - bend.min(axis=1)) ** 2
        order = np.argsort(bent, kind="stable")
        straight = np.zeros(len(free), dtype=bool)
        straight[order] = np.cumsum(bent[order]) <= _BENT * float(free.sum()) * step * step
        base, bends = float(start.sum()), float(bent[straight].sum())
        base += float((self.law[straight] * bend[straight]).sum())
        coins = np.repeat(np.where(straight, slope, 0.0), free)
        up = coins > 0.0
        base += float(coins[~up].sum())
        coins = np.abs(coins)
        cells = np.rint(coins / step)
        rests = coins - cells * step
        squares = float(rests @ rests)
        base += float(rests[up].sum()) * self.keep + float(rests[~up].sum()) * (1.0 - self.keep)
        variables: list[Variable] = []
        for j in np.flatnonzero(~straight & (free > 0)).tolist():
            values, weights = u[j, kept[j] : self.sizes[j] + 1] - least[j], binomial(int(free[j]), self.keep)
            whole = np.rint(values / step)
            rest = values - whole * step
            base += float(least[j] - start[j]) + float(rest @ weights)
            squares += float(rest.max() - rest.min()) ** 2
            likely = weights > 1e-18  # what is dropped stays inside the interval
            variables.append((whole[likely].astype(np.int64).tolist(), weights[likely].tolist()))
        sizes = cells.astype(np.int64).tolist()
        if self.keep == 0.5:
            variables += [size for size in sizes if size]
        else:
            chances = np.where(up, self.keep, 1.0 - self.keep).tolist()
            variables += [((0, size), (1.0 - c, c)) for size, c in zip(sizes, chances, strict=True) if size]
        # What is rounded off a word's coins and how it bends are not independent: each sum has a bound of its
        # own, and a chance of its own to be larger.
        squares = (math.sqrt(squares) + math.sqrt(bends)) ** 2
        spare = _ETA if bends else 0.0
        grid = GridSum.of(variables)
        known = {
            side: grid_tail(grid, step, base + side, squares, error=self.error, strict=self.strict)
            for side in {score.low, score.likely, score.high}
        }
        low, high = (
            known[score.low].low - score.spare_low - spare,
            known[score.high].high + score.spare_high + spare,
        )
        return Interval(low, known[score.likely].mean, high).within(0.0, 1.0)


def _step(mean: float, variance: float, terms: int, threshold: float | None) -> float:
    """Cell size that tells the Gaussian guess from the threshold."""
    deviation = math.sqrt(max(variance, 1e-300))
    target = _COARSE
    if threshold is not None:
        guess = 0.5 * math.erfc(-mean / deviation / math.sqrt(2.0))
        target = min(target, max(abs(guess - threshold) / 3.0, _FINE))
    z = min(abs(mean) / deviation, 2.5)
    density = math.exp(-0.5 * z * z) / (deviation * math.sqrt(2.0 * math.pi))
    return cell_size(target, density, max(terms, 1))


def count_laws(sizes: Counts, kept: Counts, keep: float, width: int) -> Floats:
    """(d, width) the chances of each word's counts given an anchor."""
    law = np.zeros((len(sizes), width))
    pairs = np.stack([sizes, kept], axis=1)
    for size, sure in {(s, k) for s, k in pairs.tolist()}:
        rows = (sizes == size) & (kept == sure)
        law[rows, sure : size + 1] = binomial(size - sure, keep)
    return law
