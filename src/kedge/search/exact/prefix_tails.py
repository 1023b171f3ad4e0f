"""Certified precision of the top-l anchors of a linear score, many lengths from one calculation."""

import math
from functools import cached_property

import numpy as np

from kedge.evaluators.grids.cells import coarsest_lattice, pass_cost
from kedge.evaluators.grids.gridsum import GridSum, Variable
from kedge.evaluators.grids.tails import grid_tail, known_extremes
from kedge.evaluators.harmonics import FIRST, Circle, Coins, Spectra, Waves
from kedge.evaluators.loudness import loud_harmonics
from kedge.results.interval import Interval
from kedge.search.exact.ladder import Ladder
from kedge.typing import Floats

__all__ = ["PrefixWaves", "lattice_of", "on_lattice"]

_NO_MORE = np.empty(0)


class PrefixWaves:
    """The top-l anchors of some neighbouring lengths, and the empty one, as sums on a circle.

    Parameters
    ----------
    ladder
        Whose anchors.
    finest
        The half width of the finest interval that they are meant for.
    longest, least
        The lengths, at the ends.
    """

    def __init__(self, ladder: Ladder, finest: float, longest: int, least: int) -> None:
        self._ladder, self.finest, self.longest, self.least = ladder, finest, longest, least
        self._circle = Circle.around(ladder.squares, finest / 20.0)
        self.lengths = [*range(longest, least - 1, -1), *([0] if least else [])]
        rungs, keep = ladder.rungs, ladder.keep
        # Each length has one coin more than the one before it.
        self._coins = Coins(np.concatenate([-ladder.drops, rungs[::-1]]), keep)
        self._heads = ladder.heads[self.lengths]
        means = ladder.bias + self._coins.mean + (1.0 - keep) * self._heads
        self._means = np.array([means - ladder.error, means, means + ladder.error])
        self._squares = ladder.squares - ladder.squared_heads[self.lengths]
        self._spectra = self._heard(_NO_MORE)

    def _heard(self, more: Floats) -> Spectra:
        """The anchors as sums, with what is heard of them."""
        return Spectra(self._circle, self._phi(more), more, self._means, self._squares, self._ladder.coins)

    @cached_property
    def precisions(self) -> list[float]:
        """The precision of each anchor: estimates, as a rule all but exact."""
        lowest, error, below = self._ladder.floor, self._ladder.error, math.nextafter(1.0, 0.0)
        rows = zip(self._spectra.estimates[1].tolist(), self._heads.tolist(), strict=True)
        return [1.0 if lowest + kept > error else min(precision, below) for precision, kept in rows]

    def reaching(self, threshold: float) -> int:
        """How many of the lengths, from the longest on, reach a threshold by estimate."""
        return sum(precision >= threshold for precision in self.precisions[: self.longest - self.least + 1])

    def needed(self, widths: list[float]) -> int:
        """How many harmonics intervals of these half widths take.

        Few different numbers, so that what depends on them alone is worked out once.
        """
        spreads: list[float] = self._spectra.spread[1].tolist()
        needed = max(0.5 * spread / width for spread, width in zip(spreads, widths, strict=True))
        quarters = math.ceil(4.0 * math.log2(max(needed, FIRST)))
        return math.ceil(math.pow(2.0, 0.25 * quarters))

    def tails(self, count: int, nothing: float) -> dict[int, Interval]:
        """Length to certified precision, from so many harmonics; see `Spectra` for ``nothing``."""
        # What is nothing for the coins that all these anchors leave free is nothing for any of them.
        common = self._coins.sizes[: self._ladder.coins - self.longest]
        more = loud_harmonics(self._circle, Coins(common, self._coins.chance), count, nothing)
        tails = (self._heard(more) if len(more) else self._spectra).tails(count, nothing)
        rows = zip(self.lengths, tails, self._heads.tolist(), strict=True)
        return {length: _possible(self._ladder, tail, kept) for length, tail, kept in rows}

    def _phi(self, more: Floats) -> Waves:
        """(r, h) the characteristic functions."""
        factors, coins = self._circle.factors(self._coins, more), self._ladder.coins
        rows = [np.multiply.reduce(factors[: coins - self.longest])]
        for factor in factors[coins - self.longest : coins - self.least]:
            rows.append(rows[-1] * factor)
        if self.least:
            rows.append(rows[-1] * np.multiply.reduce(factors[coins - self.least :]))
        return np.array(rows)


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
            found[length] = _possible(ladder, tail, float(heads[length]))
            looking = found[length].high >= stop
    return found


def lattice_of(ladder: Ladder, budget: float) -> float | None:
    """The largest power of two that divides all coefficients; None if adding up on it costs too much."""
    coins: Floats = np.concatenate([ladder.drops, ladder.rungs])
    step = coarsest_lattice(coins)
    deviation = 0.5 * ladder.squares**0.5
    cost = pass_cost(len(coins), len(ladder.rungs), float(coins.sum()), deviation, step)
    return step if cost <= budget else None


def _possible(ladder: Ladder, tail: Interval, kept: float) -> Interval:
    """A tail, given the least and the largest score there is with some coefficients kept."""
    highest = ladder.bias + float(ladder.heads[-1])
    return known_extremes(tail, ladder.floor + kept, highest, ladder.error)
