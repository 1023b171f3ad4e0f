"""Exact precision of a score that is a sum over windows of neighbours, such as n-grams of words.

Given an anchor the score is a polynomial in independent coins. Weights are rounded to the nearest cell of a
grid, the law of the rounded score is one pass along the text (`grids/links.py`), and what was rounded off, R,
changes by at most c_i when coin i changes, so that by McDiarmid's inequality
P(R - E R > s) <= exp(-2 s^2 / sum c_i^2): Hoeffding's bound for sums is the case without neighbours, and
the interval is made as there (`kedge.evaluators.grids.tails`).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kedge.evaluators.estimates import Estimates
from kedge.evaluators.grids.cells import coarsest_lattice
from kedge.evaluators.grids.links import Grid, Links
from kedge.evaluators.grids.tails import grid_tail, known_extremes
from kedge.reading.reading import Reading
from kedge.results.interval import UNKNOWN, Interval
from kedge.typing import Bools, Counts, Floats, Kept

__all__ = ["Chained", "Rounded", "deviation", "links_kept", "rounded"]

# Up to this many free links all samples are added up.
_ALL = 12
# Cells per standard deviation of the score: at first, and at the most.
_FIRST, _FINEST = 128, 1 << 15
# States times cells times links that one pass may take: about half a second.
_BUDGET = 1 << 28


@dataclass(frozen=True, eq=False)
class _Cells:
    """The law of a grid as `grid_tail` asks for it."""

    law: Floats
    origin: int
    rounded: float

    @property
    def error(self) -> float:
        """Bound on the relative error of the chances."""
        return self.rounded

    def above(self, cell: int) -> float:
        """P(sum >= cell)."""
        return float(self.law[max(cell + self.origin, 0) :].sum())

    def below(self, cell: int) -> float:
        """P(sum < cell)."""
        return float(self.law[: max(cell + self.origin, 0)].sum())

    def at(self, cell: int) -> float:
        """P(sum = cell)."""
        place = cell + self.origin
        return float(self.law[place]) if 0 <= place < len(self.law) else 0.0


@dataclass(frozen=True, eq=False)
class Rounded:
    """Weights as whole numbers of cells, and what is left over of each."""

    links: Links
    step: float
    cells: Floats
    rest: Floats

    def leftover(self, kept: Bools, keep: float) -> tuple[float, float]:
        """Mean of what is left over of the score given an anchor, and the sum of its squared changes."""
        mean = float(self.rest @ self.links.chances(kept, keep))
        low, high = self.links.influence(self.rest, kept)
        change = np.maximum(np.abs(low), np.abs(high))[~kept]
        return mean, float(change @ change)


def rounded(links: Links, step: float) -> Rounded:
    """The weights in cells of this size, each rounded to the nearest."""
    cells = np.rint(links.weights / step)
    return Rounded(links, step, cells, links.weights - cells * step)


def deviation(links: Links, kept: Bools, keep: float) -> tuple[float, float]:
    """Mean, and a bound on the standard deviation of the score (Efron and Stein)."""
    mean = links.score.bias + float(links.weights @ links.chances(kept, keep))
    low, high = links.influence(links.weights, kept)
    change = ((np.abs(low) + np.abs(high)) / 2)[~kept]
    return mean, math.sqrt(keep * (1 - keep) * float(change @ change))


def links_kept(links: Links, counts: Counts) -> Bools:
    """(e,) the links that an anchor keeps: the first occurrences of each unit."""
    sizes = links.score.sizes
    rank = np.arange(len(links)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    kept: Bools = rank < counts[links.unit]
    return kept


class Chained:
    """Exact precision of any anchor of a reading whose score is a sum over windows."""

    name = "passes"
    sampled = False
    notes = ()
    every = None

    def __init__(self, reading: Reading) -> None:
        if reading.chain is None:
            raise TypeError("The model's score is not known to be a sum over windows of words.")
        self.links, self.keep = Links.of(reading.chain), reading.keep
        self._units = reading.units
        self._known: dict[Kept, Interval] = {}

    def refine(self, kept: Kept, threshold: float | None = None) -> Interval:
        """The certified interval of one anchor, refined until it lies on one side of a threshold."""
        known = self._known.get(kept)
        if known is None or known.splits(threshold):
            at = links_kept(self.links, self._units.counts(kept))
            known = self._known[kept] = self._tail(at, threshold)
        return known

    def __call__(self, anchors: Sequence[Kept], samples: int = 0) -> Estimates:
        """Middle and half width of each anchor's interval."""
        del samples
        tails = [self.refine(kept) for kept in anchors]
        low, high = np.array([t.low for t in tails]), np.array([t.high for t in tails])
        return Estimates.closed((low + high) / 2, (high - low) / 2)

    def seen(self, kept: Kept) -> None:
        """Nothing is drawn."""

    def spread(self, kept: Kept) -> tuple[Bools, float, float]:
        """The links that an anchor keeps, and mean and deviation of the score given it."""
        at = links_kept(self.links, self._units.counts(kept))
        return at, *deviation(self.links, at, self.keep)

    def _tail(self, kept: Bools, threshold: float | None) -> Interval:
        links = self.links
        free = int(np.count_nonzero(~kept))
        if free <= _ALL:
            return self._all(kept)
        _, scale = deviation(links, kept, self.keep)
        tail, per = UNKNOWN, _FIRST
        states = 1 << links.span
        while True:
            step = scale / per if scale else 1.0
            lattice = self.lattice
            if lattice is not None and lattice >= step / 16.0:
                step = lattice
            found = self._on_grid(kept, step)
            tail = Interval(max(tail.low, found.low), found.mean, min(tail.high, found.high))
            wide = threshold is None and tail.width > 4e-3
            if not (wide or tail.splits(threshold)) or step == lattice:
                break
            per *= 4
            cells = float(np.abs(links.weights).sum()) / (scale / per)
            if per > _FINEST or cells * states * len(links) > _BUDGET:
                break
        if tail.high > 1 - 1e-6 or tail.low < 1e-6:
            tail = known_extremes(tail, *links.extremes(kept), links.score.error)
        return tail

    def _on_grid(self, kept: Bools, step: float) -> Interval:
        links = self.links
        cut = rounded(links, step)
        grid = Grid(links, np.rint(links.gains(cut.cells)).astype(np.int64), self.keep)
        mean, squares = cut.leftover(kept, self.keep)
        # Each cell of each link's law is a sum of a few products: doubled, as in `GridSum`.
        error = ((2 << links.span) * len(links) + 64) * 2.0**-52
        cells = _Cells(grid.law(kept), grid.origin, error)
        exactly = squares == 0.0 and links.score.exact
        return grid_tail(
            cells,
            step,
            links.score.bias + mean,
            squares,
            error=0.0 if exactly else links.score.error,
            strict=links.score.strict,
        )

    @cached_property
    def lattice(self) -> float | None:
        """The size of a cell that leaves nothing over, where the score has one."""
        score = self.links.score
        values = np.abs(self.links.weights)
        return coarsest_lattice(values) if score.exact and values.max(initial=0.0) > 0 else None

    def _all(self, kept: Bools) -> Interval:
        """Every sample of few links."""
        links, score = self.links, self.links.score
        free = np.flatnonzero(~kept)
        coins = np.arange(1 << len(free))[:, None] >> np.arange(len(free)) & 1
        rows = np.tile(kept.astype(np.int64), (len(coins), 1))
        rows[:, free] = coins
        chance = self.keep**coins * (1 - self.keep) ** (1 - coins)
        weight = np.prod(chance, axis=1)
        counts = np.zeros((len(rows), len(score.sizes)), dtype=np.int64)
        np.add.at(counts.T, links.unit, rows.T)
        values = score.score(counts)
        held = values > 0 if score.strict else values >= 0
        sure, may = held, held
        if not score.exact:
            sure, may = values > score.error, values >= -score.error
        ends = [_total(weight, sure), _total(weight, held), _total(weight, may)]
        slack = 0.0 if self.keep == 0.5 else 8.0 * len(free) * 2.0**-52
        low = ends[0] if ends[0] in {0.0, 1.0} else max(0.0, ends[0] - slack)
        high = ends[2] if ends[2] in {0.0, 1.0} else min(1.0, ends[2] + slack)
        return Interval(low, ends[1], high).within(0.0, 1.0)


def _total(weight: Floats, held: Bools) -> float:
    """The chance of some samples: 1 for all of them and for no fewer, whatever rounding says."""
    if held.all():
        return 1.0
    return min(float(weight[held].sum()), math.nextafter(1.0, 0.0))
