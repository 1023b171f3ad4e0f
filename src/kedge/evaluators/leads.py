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
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from kedge.evaluators.binomials import binomial, binomial_laws
from kedge.evaluators.grids.plane import Plane
from kedge.evaluators.wordsums import COARSE, Between, WordSums
from kedge.model.scores.leads import Leads
from kedge.results.interval import Interval
from kedge.typing import Counts, Floats

__all__ = ["Lead", "lead_tails", "range_norms"]

# Counts of words that are worked out at a time: some megabytes.
_CELLS = 1 << 14


@dataclass(frozen=True)
class Cells:
    """What words can bring to a lead, for each count that they can have, word by word.

    Parameters
    ----------
    parts, squares
        (n,) what a count adds to the lead before the norm, and to the squared norm.
    law
        (n,) its chance.
    often
        (w,) how many counts each word can have.
    """

    parts: Floats
    squares: Floats
    law: Floats
    often: Counts

    @cached_property
    def starts(self) -> Counts:
        """(w,) where the counts of each word begin."""
        return np.cumsum(self.often) - self.often


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
        self.leads, self.rival, self.keep, self.outside = leads, rival, keep, outside
        self.bias = float(leads.bias[rival])
        self.error = leads.error * leads.largest
        self.curved = leads.normed and self.bias != 0.0
        self.ranges: dict[float, tuple[float, float]] = {}

    def tail(self, kept: Counts, threshold: float | None = None, width: float = COARSE) -> Interval:
        """Certified interval for P(lead > 0) given an anchor."""
        return lead_tails([(self, kept)], threshold, width)[0]

    def guess(self, kept: Counts) -> float:
        """P(lead > 0) if the sums around it were Gaussian: where to look, never what to claim."""
        cells, rest = self.given(kept), self.at_rest
        values = cells.parts + rest.slope * cells.squares
        means = np.add.reduceat(cells.law * values, cells.starts)
        variance = float(cells.law @ (values * values) - means @ means)
        mean = float(means.sum()) + rest.likely
        return 0.5 * math.erfc(-mean / math.sqrt(2.0 * max(variance, 1e-300)))

    @cached_property
    def cells(self) -> Cells:
        """What words can bring when nothing is kept."""
        leads = self.leads
        x, sizes = leads.cells, leads.sizes
        law = binomial_laws(sizes, self.keep)
        parts = np.repeat(leads.weights[:, self.rival], sizes + 1) * x
        return Cells(parts, x * x, law, sizes + 1)

    def given(self, kept: Counts) -> Cells:
        """What words can bring given an anchor."""
        cells, sizes = self.cells, self.leads.sizes
        at = np.flatnonzero(kept)
        if not len(at):
            return cells
        law, there = cells.law.copy(), np.ones(len(cells.law), dtype=bool)
        for start, sure, size in zip(
            cells.starts[at].tolist(), kept[at].tolist(), sizes[at].tolist(), strict=True
        ):
            there[start : start + sure] = False
            law[start + sure : start + size + 1] = binomial(size - sure, self.keep)
        return Cells(cells.parts[there], cells.squares[there], law[there], cells.often - kept)

    def finer(self, kept: Counts, target: float, known: Interval) -> Interval:
        """A narrower interval than the one that is known, where it can be had in reasonable time."""
        if not self.curved:
            tail: Interval | None = self.tail(kept, None, target)
        else:
            leads = self.leads
            slope = float(_around([(self, kept)], self.given(kept), np.array([len(kept)]))[1][0])
            parts = leads.parts(self.rival) + slope * leads.squares
            middle = self.bias / (2.0 * slope)
            plane = Plane(parts, leads.squares, leads.sizes, kept, self.keep, self.bias, middle, self.error)
            tail = plane.tail(target)
        if tail is None:
            return known
        return Interval(max(known.low, tail.low), tail.mean, min(known.high, tail.high))

    def norm_range(self, log_eta: float) -> tuple[float, float]:
        """Ends that the squared norm passes with a chance of exp(-log_eta) each, when nothing is kept."""
        if log_eta not in self.ranges:
            range_norms([self], log_eta)
        return self.ranges[log_eta]

    @cached_property
    def at_rest(self) -> "Rest":
        """The sums around the lead when nothing is kept."""
        nothing = np.zeros_like(self.leads.sizes)
        score, slope = _around([(self, nothing)], self.cells, np.array([len(nothing)]))
        return Rest(float(slope[0]), float(score.likely[0]))


class Rest(NamedTuple):
    """What the sums around a lead take of the squared norm, and their constant as it is most likely."""

    slope: float
    likely: float


def range_norms(leads: Sequence[Lead], log_eta: float) -> None:
    """Work out the range of the norm of several leads together, each for its `Lead.norm_range`."""
    cells, words = _beside([lead.cells for lead in leads])
    low, high, _ = _range(cells, words, log_eta)
    for lead, *ends in zip(leads, np.maximum(low, 0.0).tolist(), high.tolist(), strict=True):
        lead.ranges[log_eta] = ends[0], ends[1]


def lead_tails(
    asked: Sequence[tuple[Lead, Counts]], threshold: float | None = None, width: float = COARSE
) -> list[Interval]:
    """Certified intervals for P(lead > 0), of several leads given an anchor each.

    All with the same chance that an occurrence stays, and the same that the norm leaves its range.
    """
    found, at = list[Interval](), 0
    while at < len(asked):
        end, room = at + 1, _CELLS - len(asked[at][0].leads.cells)
        while end < len(asked) and (room := room - len(asked[end][0].leads.cells)) >= 0:
            end += 1
        found += _beside_each_other(asked[at:end], threshold, width)
        at = end
    return found


def _beside_each_other(
    asked: Sequence[tuple[Lead, Counts]], threshold: float | None, width: float
) -> list[Interval]:
    """The same, all at a time."""
    cells, words = _beside([lead.given(kept) for lead, kept in asked])
    score, slope = _around(asked, cells, words)
    values = cells.parts + np.repeat(np.repeat(slope, words), cells.often) * cells.squares
    for (lead, kept), *rest in zip(asked, slope.tolist(), score.likely.tolist(), strict=True):
        if not kept.any():
            vars(lead).setdefault("at_rest", Rest(*rest))  # where the cached property would put it
    error = np.array([lead.error for lead, _ in asked])
    sums = WordSums(values, cells.law, cells.often, words, asked[0][0].keep, error)
    return sums.tails(score, threshold, width)


def _beside(each: Sequence[Cells]) -> tuple[Cells, Counts]:
    """The words of several documents one after another, and how many words each has."""
    words = np.array([len(one.often) for one in each])
    if len(each) == 1:
        return each[0], words
    joined = (
        np.concatenate([getattr(one, name) for one in each]) for name in ("parts", "squares", "law", "often")
    )
    return Cells(*joined), words


def _around(asked: Sequence[tuple[Lead, Counts]], cells: Cells, words: Counts) -> tuple[Between, Floats]:
    """The two sums around each lead, given an anchor; and what they take of the squared norm."""
    keep, outside = asked[0][0].keep, asked[0][0].outside
    bias = np.array([lead.bias for lead, _ in asked])
    curved = np.array([lead.curved for lead, _ in asked])
    none = np.zeros(len(bias))
    if not curved.any():
        return Between(bias, bias, bias, none, none), none
    firsts = np.cumsum(words) - words
    ends = cells.starts, cells.starts + cells.often - 1
    lowest, highest = (np.add.reduceat(cells.squares[end], firsts) for end in ends)
    # Without any sample outside, the range is all there is.
    low, high, variance = _range(cells, words, math.log(2.0 / max(outside, 1e-300)))
    low, high = (np.maximum(low, lowest), np.minimum(high, highest)) if outside else (lowest, highest)
    roots = np.sqrt(low), np.sqrt(high)
    middle = (roots[0] + roots[1]) / 2.0
    slope = np.where(curved, bias, 0.0) / (2.0 * middle)
    tangent = np.where(curved, bias * middle / 2.0, bias)
    chord = np.where(curved, slope * roots[0] * roots[1], bias)
    likely = np.where(curved, tangent - bias * variance / (8.0 * middle**3), bias)
    # A sample with no word left has no norm.
    empty = np.where(
        curved, [0.0 if k.any() else (1.0 - keep) ** int(lead.leads.sizes.sum()) for lead, k in asked], 0.0
    )
    often = np.where(curved, outside + empty, 0.0)
    down = bias < 0.0
    score = Between(
        np.where(down, tangent, chord),
        np.where(down, chord, tangent),
        likely,
        np.where(down, empty, often),
        np.where(down, often, empty),
    )
    return score, slope


def _range(cells: Cells, words: Counts, log_eta: float) -> tuple[Floats, Floats, Floats]:
    """Ends that each squared norm passes with a chance of exp(-log_eta) each (Chernoff), and its variance."""
    law, starts, firsts = cells.law, cells.starts, np.cumsum(words) - words
    means: Floats = np.add.reduceat(law * cells.squares, starts)
    centred = np.where(law > 0.0, cells.squares - np.repeat(means, cells.often), 0.0)
    variance: Floats = np.add.reduceat(law * centred * centred, starts[firsts])
    mean: Floats = np.add.reduceat(means, firsts)
    rate = np.sqrt(2.0 * log_eta / np.where(variance > 0.0, variance, 1.0))
    turned = np.repeat(rate, np.add.reduceat(cells.often, firsts)) * centred
    ends = []
    for sign in (-1.0, 1.0):
        with np.errstate(over="ignore"):
            growth = np.exp(sign * turned)
        exponent: Floats = np.add.reduceat(np.log(np.add.reduceat(law * growth, starts)), firsts)
        end = mean + sign * (1 + 1e-9) * (log_eta + exponent) / rate
        ends.append(np.where(variance > 0.0, end, mean))
    return ends[0], ends[1], variance
