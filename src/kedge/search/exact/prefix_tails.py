"""Certified precision of the top-l anchors of a linear score, many lengths from one calculation."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from kedge.evaluators.grids.cells import coarsest_lattice, pass_cost
from kedge.evaluators.grids.gridsum import GridSum, Variable
from kedge.evaluators.grids.tails import grid_tail, known_extremes
from kedge.evaluators.harmonics import FIRST, Circle, Spectra, Waves
from kedge.evaluators.laws import Coins
from kedge.evaluators.loudness import is_quiet, loud_harmonics
from kedge.results.interval import Interval
from kedge.search.exact.ladder import Ladder
from kedge.typing import Counts, Floats

__all__ = ["Looks", "PrefixWaves", "lattice_of", "on_lattice"]

# Ladders with more harmonics than this are looked at one by one, for what a table of them would take.
_TOGETHER = 4096
_NO_MORE = np.empty(0)
_BELOW = math.nextafter(1.0, 0.0)


class PrefixWaves:
    """The top-l anchors of some neighbouring lengths, and the empty one, as sums on a circle.

    Of one ladder or of several, which are worked out beside each other: a few calls for all of them.

    Parameters
    ----------
    ladders
        Whose anchors; all with the same chance that an occurrence stays.
    finest
        The half width of the finest interval that they are meant for.
    spans
        The lengths of each, at the ends: the longest, the least.
    """

    def __init__(self, ladders: Sequence[Ladder], finest: float, spans: Sequence[tuple[int, int]]) -> None:
        self._ladders, self.finest, self._keep = ladders, finest, ladders[0].keep
        all_squares = np.array([ladder.squares for ladder in ladders])
        self._periods: Floats = np.asarray(Circle.around(all_squares, finest / 20.0).period)
        # Each length has one coin more than the one before it.
        pieces = [piece for ladder in ladders for piece in (ladder.drops, ladder.rungs[::-1])]
        coins = np.concatenate(pieces)
        if self._keep != 0.5:  # what is won back, as what is lost
            coins[np.repeat([True, False] * len(ladders), [len(piece) for piece in pieces])] *= -1.0
        number = np.array([ladder.coins for ladder in ladders])
        self._coins, self._spans = coins, spans
        self._starts = np.cumsum([0, *number])
        most, least = np.array(spans).T
        rows = most - least + 1 + (least > 0)
        self._rows = np.cumsum([0, *rows])
        lengths = np.repeat(self._rows[:-1] + most, rows) - np.arange(self._rows[-1])
        lengths[self._rows[1:][least > 0] - 1] = 0
        self._lengths, self._of = lengths, np.repeat(np.arange(len(ladders)), rows)
        # Heads of all ladders one after the other: those of each begin with nothing and end with everything.
        ends = np.cumsum([len(ladder) + 1 for ladder in ladders])
        at = np.repeat(ends - [len(ladder) + 1 for ladder in ladders], rows) + lengths
        all_heads = np.concatenate([ladder.heads for ladder in ladders])
        heads, everything = all_heads[at], all_heads[ends - 1]
        floor, bias, error = np.array([(one.floor, one.bias, one.error) for one in ladders]).T
        # The least and the largest score there is with a head kept.
        self._lowest, self._highest = floor[self._of] + heads, (bias + everything)[self._of]
        self._error = error[self._of]
        free = self._keep * (floor + everything) + (1.0 - self._keep) * bias
        means = free[self._of] + (1.0 - self._keep) * heads
        self._means = np.array([means - self._error, means, means + self._error])
        self._squares = all_squares[self._of] - np.concatenate([one.squared_heads for one in ladders])[at]
        circle = Circle(self._periods[self._of])
        terms = number[self._of]
        self._spectra = Spectra(circle, self._phi(), _NO_MORE, self._means, self._squares, terms)
        sure = self._lowest > self._error
        precisions = np.where(sure, 1.0, np.minimum(self._spectra.estimates[1], _BELOW))
        self.looks = Looks(most, least, self._rows[:-1], precisions, self._spectra.spread[1])

    def tails(self, counts: Counts, nothing: Floats) -> list[dict[int, Interval]]:
        """Of each ladder length to certified precision, from so many harmonics; see `Spectra`."""
        loud = self._loud(counts, nothing)
        bounds = self._spectra.bounds(counts[self._of], nothing[self._of])
        for d, more in loud.items():
            own = self._alone(d, more).bounds(int(counts[d]), float(nothing[d]))
            bounds[:, self._rows[d] : self._rows[d + 1]] = own
        # What is certain, impossible, or neither; see `known_extremes`.
        unclear = (self._lowest < -self._error) & (bounds[2] == 1.0)
        bounds = np.where(unclear, np.minimum(bounds, _BELOW), bounds)
        bounds[:, self._highest < -self._error] = 0.0
        bounds[:, self._lowest > self._error] = 1.0
        pairs = list(zip(self._lengths.tolist(), map(Interval, *bounds.tolist()), strict=True))
        ends = self._rows.tolist()
        return [dict(pairs[a:b]) for a, b in pairwise(ends)]

    def _loud(self, counts: Counts, nothing: Floats) -> dict[int, Floats]:
        """Of those ladders that are heard at more harmonics: at which."""
        # What is nothing for the coins that all anchors of a ladder leave free is nothing for any of them.
        common = [self._coins[a : b - most] for a, b, (most, _) in self._each()]
        often = [len(part) for part in common]
        shares = np.abs(np.concatenate(common)) / np.repeat(self._periods, often)
        few = counts <= _TOGETHER
        starts = np.cumsum([0, *often])[:-1]
        quiet = few & is_quiet(shares, starts, np.where(few, counts, FIRST), nothing, self._keep)
        found = {}
        for d in np.flatnonzero(~quiet).tolist():
            circle, coins = Circle(float(self._periods[d])), Coins(common[d], self._keep)
            more = loud_harmonics(circle, coins, int(counts[d]), float(nothing[d]))
            if len(more):
                found[d] = more
        return found

    def _each(self) -> "zip[tuple[int, int, tuple[int, int]]]":
        """Where the coins of each ladder begin and end, and its lengths."""
        return zip(self._starts[:-1].tolist(), self._starts[1:].tolist(), self._spans, strict=True)

    def _alone(self, d: int, more: Floats) -> Spectra:
        """The anchors of one ladder as sums, heard at more harmonics."""
        rows, coins = slice(self._rows[d], self._rows[d + 1]), slice(self._starts[d], self._starts[d + 1])
        circle = Circle(float(self._periods[d]))
        factors = circle.factors(Coins(self._coins[coins], self._keep), more).T
        most, least = self._spans[d]
        phi = _multiplied(factors, [(0, factors.shape[1], (most, least))])
        terms = self._ladders[d].coins
        return Spectra(circle, phi, more, self._means[:, rows], self._squares[rows], terms)

    def _phi(self) -> Waves:
        """(r, h) the characteristic functions."""
        circle = Circle(np.repeat(self._periods, np.diff(self._starts)))
        return _multiplied(circle.factors(Coins(self._coins, self._keep), _NO_MORE).T, list(self._each()))


def _multiplied(factors: Waves, each: list[tuple[int, int, tuple[int, int]]]) -> Waves:
    """(r, h) products of the factors of coins: of those common to all lengths, with one more, and so on."""
    starts: list[int] = []
    ranks: list[int] = []
    for first, end, (most, least) in each:
        own = [first, *range(end - most, end - least)] + ([end - least] if least else [])
        starts += own
        ranks += range(len(own))
    parts: Waves = np.multiply.reduceat(factors, starts, axis=1)
    # Where every coin may be kept nothing is common, and the product of nothing is 1.
    parts[:, [k for k in range(len(starts) - 1) if starts[k] == starts[k + 1]]] = 1.0
    if len(each) == 1:
        return np.ascontiguousarray(np.multiply.accumulate(parts, axis=1).T)
    rank = np.array(ranks)
    ladder = np.cumsum(rank == 0) - 1
    wide = np.ones((len(factors), len(each), max(ranks) + 1), dtype=parts.dtype)
    wide[:, ladder, rank] = parts
    return np.ascontiguousarray(np.multiply.accumulate(wide, axis=2)[:, ladder, rank].T)


class Looks(NamedTuple):
    """What is heard of the anchors of some ladders: lengths, and of each its precision by estimate.

    Parameters
    ----------
    longest, least
        The lengths of each ladder, at the ends.
    first
        Where its precisions begin: those of its lengths, from the longest on, and that of the empty anchor.
    precisions, spreads
        By estimate, and how many harmonics a proof takes.
    """

    longest: Counts
    least: Counts
    first: Counts
    precisions: Floats
    spreads: Floats

    def of(self, d: int) -> "Looks":
        """One of the ladders."""
        end = int(self.first[d + 1]) if d + 1 < len(self.first) else len(self.precisions)
        rows = slice(int(self.first[d]), end)
        one = slice(d, d + 1)
        first = np.zeros(1, dtype=np.int64)
        return Looks(self.longest[one], self.least[one], first, self.precisions[rows], self.spreads[rows])

    @property
    def rows(self) -> Counts:
        """How many anchors of each ladder were looked at."""
        return self.longest - self.least + 1 + (self.least > 0)

    def reaching(self, threshold: float) -> Counts:
        """How many of the lengths, from the longest on, reach a threshold by estimate."""
        reach = self.precisions >= threshold
        reach[(self.first + self.rows - 1)[self.least > 0]] = False
        number: Counts = np.add.reduceat(reach.astype(np.int64), self.first)
        return number

    def needed(self, widths: Floats) -> Counts:
        """How many harmonics intervals of these half widths take, rounded up to a quarter of an octave."""
        needed = np.maximum.reduceat(0.5 * self.spreads / widths, self.first)
        quarters = np.ceil(4.0 * np.log2(np.maximum(needed, FIRST)))
        return np.ceil(np.exp2(0.25 * quarters)).astype(np.int64)


def on_lattice(ladder: Ladder, step: float, lengths: range, stop: float) -> dict[int, Interval]:
    """The same where every coefficient is a multiple of ``step``: the tails have no width but rounding's."""
    coins = np.concatenate([ladder.drops, ladder.rungs[::-1]])
    sizes = (coins / step).astype(np.int64).tolist()
    heads, n, down = ladder.heads, ladder.coins, len(ladder.drops)
    variables: list[Variable] = sizes
    if ladder.keep != 0.5:
        chances = [1.0 - ladder.keep] * down + [ladder.keep] * (n - down)
        variables = [((0, size), (1.0 - c, c)) for size, c in zip(sizes, chances, strict=True)]
    # What stays free in every anchor looked at is added up at once, the rest one by one.
    start = max(n - lengths.start, 1)
    grid = GridSum.of(variables[: start - 1], sum(sizes[start - 1 :]), max(sizes))
    found: dict[int, Interval] = {}
    looking = True
    for k, variable in enumerate(variables[start - 1 :], start=start):
        grid.include(variable)
        length = n - k
        if (looking and length in lengths) or length == 0:
            base = ladder.floor + float(heads[length])
            tail = grid_tail(grid, step, base, 0.0, error=ladder.error, strict=ladder.strict)
            found[length] = known_extremes(tail, base, ladder.bias + float(heads[-1]), ladder.error)
            looking = found[length].high >= stop
    return found


def lattice_of(ladder: Ladder, budget: float) -> float | None:
    """The largest power of two that divides all coefficients; None if adding up on it costs too much."""
    coins: Floats = np.concatenate([ladder.drops, ladder.rungs])
    step = coarsest_lattice(coins)
    deviation = 0.5 * ladder.squares**0.5
    cost = pass_cost(len(coins), len(ladder.rungs), float(coins.sum()), deviation, step)
    return step if cost <= budget else None
