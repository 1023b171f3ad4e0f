"""Certified precision of the top-l anchors of a linear score, many lengths from one calculation."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from kedge.evaluators.grids.cells import coarsest_lattice, pass_cost
from kedge.evaluators.grids.gridsum import GridSum, Variable
from kedge.evaluators.grids.tails import grid_tail, known_extremes
from kedge.evaluators.harmonics import FIRST, Circle, Spectra, Waves, circumference
from kedge.evaluators.laws import Coins
from kedge.evaluators.loudness import is_quiet, loud_harmonics
from kedge.results.interval import Interval
from kedge.search.exact.ladder import Ladder
from kedge.typing import Floats

__all__ = ["Look", "PrefixWaves", "lattice_of", "on_lattice"]

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
        # Each length has one coin more than the one before it.
        pieces = [piece for ladder in ladders for piece in (ladder.drops, ladder.rungs[::-1])]
        coins = np.concatenate(pieces)
        if self._keep != 0.5:  # what is won back, as what is lost
            coins[np.repeat([True, False] * len(ladders), [len(piece) for piece in pieces])] *= -1.0
        self._coins, self._spans = coins, spans
        self._starts, self._ends = [0], [0]
        self._periods: list[float] = []
        self._lengths: list[int] = []
        self._extremes: list[tuple[float, float, float]] = []
        rows: list[tuple[float, float, float, float, int]] = []
        for ladder, (most, least) in zip(ladders, spans, strict=True):
            error, coins_of, all_squares = ladder.error, ladder.coins, ladder.squares
            period = circumference(all_squares, finest / 20.0)
            everything, (heads, squares) = (
                float(ladder.heads[-1]),
                (
                    [*of[least : most + 1].tolist()[::-1], *([0.0] if least else [])]
                    for of in (ladder.heads, ladder.squared_heads)
                ),
            )
            free = self._keep * (ladder.floor + everything) + (1.0 - self._keep) * ladder.bias
            for head, squared in zip(heads, squares, strict=True):
                rows.append(
                    (free + (1.0 - self._keep) * head, error, all_squares - squared, period, coins_of)
                )
                self._extremes.append((ladder.floor + head, ladder.bias + everything, error))
            self._lengths += [*range(most, least - 1, -1), *([0] if least else [])]
            self._periods.append(period)
            self._starts.append(self._starts[-1] + coins_of)
            self._ends.append(len(rows))
        means, error, self._squares, periods, terms = np.array(rows).T
        self._means = np.array([means - error, means, means + error])
        spectra = Spectra(Circle(periods), self._phi(), _NO_MORE, self._means, self._squares, terms)
        self._spectra = spectra
        precisions = [
            1.0 if lowest > error else min(precision, _BELOW)
            for precision, (lowest, _, error) in zip(
                spectra.estimates[1].tolist(), self._extremes, strict=True
            )
        ]
        heard = precisions, spectra.spread[1].tolist()
        self.looks = [
            Look(*span, *(column[a:b] for column in heard))
            for span, (a, b) in zip(spans, pairwise(self._ends), strict=True)
        ]

    def tails(self, counts: Sequence[int], nothing: Sequence[float]) -> list[dict[int, Interval]]:
        """Of each ladder length to certified precision, from so many harmonics; see `Spectra`."""
        loud = self._loud(counts, nothing)
        if len(counts) == 1:
            spectra = self._alone(0, loud[0]) if loud else self._spectra
            bounds = spectra.bounds(counts[0], nothing[0])
        else:
            rows = np.diff(self._ends)
            bounds = self._spectra.bounds(np.repeat(counts, rows), np.repeat(nothing, rows))
            for d, more in loud.items():
                own = self._alone(d, more).bounds(counts[d], nothing[d])
                bounds[:, self._ends[d] : self._ends[d + 1]] = own
        tails = map(known_extremes, map(Interval, *bounds.tolist()), *zip(*self._extremes, strict=True))
        pairs = list(zip(self._lengths, tails, strict=True))
        return [dict(pairs[a:b]) for a, b in pairwise(self._ends)]

    def _loud(self, counts: Sequence[int], nothing: Sequence[float]) -> dict[int, Floats]:
        """Of those ladders that are heard at more harmonics: at which."""
        # What is nothing for the coins that all anchors of a ladder leave free is nothing for any of them.
        common = [self._coins[a : b - most] for a, b, (most, _) in self._each()]
        asked = [0]
        if len(common) > 1:
            often = [len(part) for part in common]
            shares = np.abs(np.concatenate(common)) / np.repeat(self._periods, often)
            few = np.array(counts) <= _TOGETHER
            starts = np.cumsum([0, *often])[:-1]
            quiet = is_quiet(shares, starts, np.where(few, counts, FIRST), np.array(nothing), self._keep)
            asked = np.flatnonzero(~(few & quiet)).tolist()
        found = {}
        for d in asked:
            circle, coins = Circle(self._periods[d]), Coins(common[d], self._keep)
            more = loud_harmonics(circle, coins, counts[d], nothing[d], tried=len(common) > 1)
            if len(more):
                found[d] = more
        return found

    def _each(self) -> "zip[tuple[int, int, tuple[int, int]]]":
        """Where the coins of each ladder begin and end, and its lengths."""
        return zip(self._starts[:-1], self._starts[1:], self._spans, strict=True)

    def _alone(self, d: int, more: Floats) -> Spectra:
        """The anchors of one ladder as sums, heard at more harmonics."""
        rows, coins = slice(self._ends[d], self._ends[d + 1]), slice(self._starts[d], self._starts[d + 1])
        circle = Circle(self._periods[d])
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


class Look(NamedTuple):
    """What is heard of the anchors of one ladder: lengths, and of each its precision by estimate.

    Parameters
    ----------
    longest, least
        The lengths, at the ends.
    precisions
        Those of the lengths, from the longest on, and that of the empty anchor.
    spreads
        How many harmonics a proof of each takes.
    """

    longest: int
    least: int
    precisions: list[float]
    spreads: list[float]

    def reaching(self, threshold: float) -> int:
        """How many of the lengths, from the longest on, reach a threshold by estimate."""
        number = 0
        for precision in self.precisions[: self.longest - self.least + 1]:
            number += precision >= threshold
        return number

    def needed(self, widths: list[float]) -> int:
        """How many harmonics intervals of these half widths take.

        Few different numbers, so that what depends on them alone is worked out once.
        """
        needed = 2.0 * FIRST
        for spread, width in zip(self.spreads, widths, strict=True):
            if spread > needed * width:
                needed = spread / width
        quarters = math.ceil(4.0 * math.log2(0.5 * needed))
        return math.ceil(math.pow(2.0, 0.25 * quarters))


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
