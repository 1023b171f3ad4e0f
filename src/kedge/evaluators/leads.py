"""Certified precision of a label that leads its rivals, with and without the l2 norm.

Over one rival the label leads iff N + b sqrt(D) > 0, where N = sum_j w_j x_j(M_j), b is the intercept and
D = sum_j x_j(M_j)^2. The root is concave: it lies below each of its tangents, and above a chord while D is
between the chord's ends. A tangent and a chord of the same slope 1 / 2s have s in the middle of the ends'
roots, and

    D / 2s + sqrt(lo hi) / 2s  <=  sqrt(D)  <=  D / 2s + s / 2     (the left side for lo <= D <= hi),

so the lead lies between two sums over words that differ by a constant: one convolution bounds its tail from
both sides. They differ by b (sqrt(hi) - sqrt(lo))^2 / 8s, of second order in how far D strays; how often it
leaves its interval is bounded by Chernoff's inequality. Without a norm, or without an intercept, both sums
are the lead itself.
"""

import math
from functools import cached_property

import numpy as np

from kedge.evaluators.grids.plane import Plane
from kedge.evaluators.wordsums import COARSE, Between, WordSums, count_laws
from kedge.model.scores.leads import Leads
from kedge.results.interval import Interval
from kedge.typing import Counts, Floats

__all__ = ["Lead"]


class Lead:
    """The lead over one rival, given any anchor.

    Parameters
    ----------
    leads, rival
        Whose lead over whom.
    keep
        Probability that a free occurrence stays.
    outside
        How often the norm may leave the range in which the lower or the upper sum holds; 0: never.
    """

    def __init__(self, leads: Leads, rival: int, keep: float, outside: float = 1e-3) -> None:
        self.leads, self.keep, self.outside = leads, keep, outside
        self.bias = float(leads.bias[rival])
        self.parts = leads.parts(rival)
        self.error = leads.error * leads.largest
        self.curved = leads.normed and self.bias != 0.0

    def tail(self, kept: Counts, threshold: float | None = None, width: float = COARSE) -> Interval:
        """Certified interval for P(lead > 0) given an anchor."""
        law = self._law(kept)
        sums = WordSums(self.leads.sizes, kept, law, self.keep, self.error)
        return sums.tail(self.around(kept, law), threshold, width)

    def guess(self, kept: Counts) -> float:
        """P(lead > 0) if the sums around it were Gaussian: where to look, never what to claim."""
        law, score = self._law(kept), self.at_rest
        means = (law * score.parts).sum(axis=1)
        variance = float((law * score.parts**2).sum() - means @ means)
        mean = float(means.sum()) + score.likely
        return 0.5 * math.erfc(-mean / math.sqrt(2.0 * max(variance, 1e-300)))

    def _law(self, kept: Counts) -> Floats:
        """(d, m + 1) the chances of each word's counts given an anchor."""
        law = self.resting
        if not kept.any():
            return law
        law = law.copy()
        at = np.flatnonzero(kept)
        law[at] = count_laws(self.leads.sizes[at], kept[at], self.keep, law.shape[1])
        return law

    @cached_property
    def resting(self) -> Floats:
        """(d, m + 1) the chances of each word's counts when nothing is kept."""
        return count_laws(self.leads.sizes, self.nothing, self.keep, self.parts.shape[1])

    def finer(self, kept: Counts, target: float, known: Interval) -> Interval:
        """A narrower interval than the one that is known, where it can be had in reasonable time."""
        if not self.curved:
            tail: Interval | None = self.tail(kept, None, target)
        else:
            score, leads = self.around(kept, self._law(kept)), self.leads
            middle = self.bias / (2.0 * score.slope)
            plane = Plane(
                score.parts, leads.squares, leads.sizes, kept, self.keep, self.bias, middle, self.error
            )
            tail = plane.tail(target)
        if tail is None:
            return known
        return Interval(max(known.low, tail.low), tail.mean, min(known.high, tail.high))

    @cached_property
    def nothing(self) -> Counts:
        """The empty anchor."""
        return np.zeros(len(self.leads.sizes), dtype=np.int64)

    @cached_property
    def _cells(self) -> tuple[Counts, Counts, Floats]:
        """The counts that words can have as places in a table, where each word's begin, and their squares.

        Most words occur once, and one of them many times: most of the table is empty.
        """
        sizes, squares = self.leads.sizes, self.leads.squares
        places = np.flatnonzero(np.arange(squares.shape[1]) <= sizes[:, None])
        starts = np.cumsum(sizes + 1) - (sizes + 1)
        return places, starts, squares.ravel()[places]

    def expected(self, parts: Floats) -> tuple[Floats, Floats]:
        """(d, r) the means of what each word brings, and of its square, when nothing is kept."""
        places, starts, _ = self._cells
        law, values = self.resting.ravel()[places, None], parts.reshape(-1, parts.shape[-1])[places]
        weighed = law * values
        return np.add.reduceat(weighed, starts), np.add.reduceat(weighed * values, starts)

    def _norms(self, law: Floats, log_eta: float) -> tuple[float, float, float]:
        places, starts, squares = self._cells
        return _range(law.ravel()[places], squares, starts, log_eta)

    def norm_range(self, log_eta: float) -> tuple[float, float]:
        """Ends that the squared norm passes with a chance of exp(-log_eta) each, when nothing is kept."""
        low, high, _ = self._norms(self.resting, log_eta)
        return max(low, 0.0), high

    @cached_property
    def at_rest(self) -> Between:
        """The two sums around the lead when nothing is kept."""
        return self.around(self.nothing, self.resting)

    def around(self, kept: Counts, law: Floats) -> Between:
        """The two sums around the lead, given an anchor."""
        if not self.curved:
            return Between(self.parts, self.bias, self.bias, self.bias)
        squares, sizes = self.leads.squares, self.leads.sizes
        each = np.arange(len(kept))
        lowest, highest = float(squares[each, kept].sum()), float(squares[each, sizes].sum())
        # Without any sample outside, the range is all there is.
        low, high, variance = self._norms(law, math.log(2.0 / max(self.outside, 1e-300)))
        low, high = (max(low, lowest), min(high, highest)) if self.outside else (lowest, highest)
        roots = math.sqrt(low), math.sqrt(high)
        middle = (roots[0] + roots[1]) / 2.0
        slope = self.bias / (2.0 * middle)
        tangent, chord = self.bias * middle / 2.0, slope * roots[0] * roots[1]
        likely = tangent - self.bias * variance / (8.0 * middle**3)
        parts = self.parts + slope * squares
        # A sample with no word left has no norm.
        empty = 0.0 if kept.any() else (1.0 - self.keep) ** int(sizes.sum())
        if self.bias < 0.0:
            return Between(parts, tangent, chord, likely, empty, self.outside + empty, slope)
        return Between(parts, chord, tangent, likely, self.outside + empty, empty, slope)


def _range(law: Floats, squares: Floats, starts: Counts, log_eta: float) -> tuple[float, float, float]:
    """Ends that the squared norm passes with a chance of exp(-log_eta) each (Chernoff), and its variance.

    From the counts that each word can have, one word after another.
    """
    means = np.add.reduceat(law * squares, starts)
    often = np.diff(starts, append=len(law))
    centred = np.where(law > 0.0, squares - np.repeat(means, often), 0.0)
    variance = float((law * centred * centred).sum())
    mean = float(means.sum())
    if variance == 0.0:
        return mean, mean, 0.0
    rate = math.sqrt(2.0 * log_eta / variance)
    ends = []
    for sign in (-1.0, 1.0):
        with np.errstate(over="ignore"):
            growth = np.exp(sign * rate * centred)
        exponent = float(np.log(np.add.reduceat(law * growth, starts)).sum())
        ends.append(mean + sign * (1 + 1e-9) * (log_eta + exponent) / rate)
    return ends[0], ends[1], variance
