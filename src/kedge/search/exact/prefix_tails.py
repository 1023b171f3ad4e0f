"""Certified precision of the top-l anchors of a linear score, many lengths from one calculation."""

from collections.abc import Sequence

import numpy as np

from kedge.evaluators.grids.cells import coarsest_lattice, pass_cost
from kedge.evaluators.grids.gridsum import GridSum, Variable
from kedge.evaluators.grids.tails import grid_tail, known_extremes
from kedge.evaluators.harmonics import Coins, Harmonics, Waves
from kedge.results.interval import Interval
from kedge.search.exact.ladder import Ladder
from kedge.typing import Floats

__all__ = ["by_harmonics", "lattice_of", "on_lattice"]

# Lengths that are looked at together: as a rule the answer is among the first.
_AT_ONCE = 6


def by_harmonics(ladder: Ladder, harmonics: Harmonics, lengths: range, stop: float) -> dict[int, Interval]:
    """Certified precision of the top-l anchors for l in ``lengths`` (falling), and for l = 0.

    Once an interval lies below ``stop`` the shorter lengths are not looked at any more.
    """
    keep, rungs, drops = ladder.keep, ladder.rungs, ladder.drops
    heads, squares = _running(rungs), _running(rungs * rungs)
    means = ladder.bias + heads + keep * (heads[-1] - heads - float(drops.sum()))
    ranges = float(drops @ drops) + squares[-1] - squares
    found: dict[int, Interval] = {}

    def bound(at: Sequence[int], phi: Waves) -> list[Interval]:
        mean, lean = means[at], None
        if keep != 0.5:
            lean = (0.5 - keep) * (heads[-1] - heads[at] - float(drops.sum()))
        sides = (mean - ladder.error, mean, mean + ladder.error)
        tails = harmonics.tails(phi, sides, ranges[at], ladder.coins, lean)
        return [_possible(ladder, tail, float(heads[length])) for tail, length in zip(tails, at, strict=True)]

    length, last = lengths.start, lengths.stop + 1
    phi = harmonics.characteristic(Coins(np.concatenate([-drops, rungs[length:]]), keep))
    while length >= last:
        # Each length has one factor more than the one before it.
        at = [*range(length, max(length - _AT_ONCE, last - 1), -1)]
        factors = harmonics.factors(Coins(rungs[max(at[-1] - 1, 0) : length][::-1], keep))
        falling = np.multiply.accumulate(np.concatenate([phi[None], factors]))
        length, phi = at[-1] - 1, falling[-1]
        rows = falling[: len(at)]
        if not found and at[-1] > 0:
            nothing = phi * harmonics.characteristic(Coins(rungs[:length], keep)) if length else phi
            at, rows = [0, *at], np.concatenate([nothing[None], rows])
        known = dict(zip(at, bound(at, rows), strict=True))
        if 0 in known:
            found[0] = known[0]
        for one in at:
            found[one] = known[one]
            if one and known[one].high < stop:
                return found
    return found


def on_lattice(ladder: Ladder, step: float, lengths: range, stop: float) -> dict[int, Interval]:
    """The same where every coefficient is a multiple of ``step``: the tails have no width but rounding's."""
    coins = np.concatenate([ladder.drops, ladder.rungs[::-1]])
    sizes = (coins / step).astype(np.int64).tolist()
    heads, n, down = _running(ladder.rungs), ladder.coins, len(ladder.drops)
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
    highest = ladder.bias + float(ladder.rungs.sum())
    return known_extremes(tail, ladder.floor + kept, highest, ladder.error)


def _running(values: Floats) -> Floats:
    """(n + 1,) the sums of the first values."""
    running: Floats = np.concatenate([[0.0], np.cumsum(values)])
    return running
