"""The tail of a lead divided by the norm, from the joint law of a sum and the squared norm on a grid.

Write the lead as T + b g(D) with T = N + b D / 2s, a sum over words, and g(D) = sqrt(D) - D / 2s, which is
flat around D = s^2. So a coarse grid for D will do next to a fine one for T. Both are rounded to the
nearest cell, and what is rounded off is bounded by Hoeffding's inequality as on a line
(`kedge.evaluators.grids.tails`).
"""

import math
from dataclasses import dataclass

import numpy as np

from kedge.evaluators.binomials import binomial
from kedge.evaluators.grids.tails import leftover_reach
from kedge.results.interval import Interval
from kedge.typing import Counts, Floats

__all__ = ["Plane"]

Law = tuple[Floats, Floats, Floats]
"""What each count of a word adds to T and to D, and its chance."""

# ln(1/eta) of the bounds on what is rounded off.
_LOG_ETA = 10.0
# Cells times variables that a grid may cost: some 50 milliseconds.
_BUDGET = 1 << 26
# Half the extent of the grid, in standard deviations.
_EXTENT = 4.5


@dataclass(frozen=True)
class Plane:
    """A score T + b g(D), given an anchor.

    Parameters
    ----------
    parts, squares
        (d, m + 1) what each count adds to T and to D.
    sizes, kept
        (d,) occurrences of each word, and how many of them the anchor keeps.
    keep
        Probability that a free occurrence stays.
    bias, middle
        b and s.
    error
        Bound on the floating-point error of the score.
    """

    parts: Floats
    squares: Floats
    sizes: Counts
    kept: Counts
    keep: float
    bias: float
    middle: float
    error: float

    def tail(self, target: float) -> Interval | None:
        """Certified interval for P(score > 0) of about this half width; None where it would take too long."""
        free = self.sizes - self.kept
        laws = [
            (self.parts[j, k : m + 1], self.squares[j, k : m + 1], binomial(m - k, self.keep))
            for j, (k, m) in enumerate(zip(self.kept.tolist(), self.sizes.tolist(), strict=True))
            if m > k
        ]
        fixed = np.flatnonzero(free == 0)
        total = float(self.parts[fixed, self.kept[fixed]].sum())
        norm = float(self.squares[fixed, self.kept[fixed]].sum())
        mean_t, deviation = _moments([(t, w) for t, _, w in laws], total)
        _, spread = _moments([(d, w) for _, d, w in laws], norm)
        if deviation == 0.0 or spread == 0.0:
            return None
        z = min(abs(mean_t + self.bias * self.middle / 2.0) / deviation, 2.5)
        density = math.exp(-0.5 * z * z) / (deviation * math.sqrt(2.0 * math.pi))
        reach = math.sqrt(0.5 * _LOG_ETA * len(laws) / 12.0)
        column = 0.7 * target / (density * reach)
        row = 0.5 * spread / reach
        height, width = math.ceil(_EXTENT * spread / row), math.ceil(_EXTENT * deviation / column)
        if (2 * height + 1) * (2 * width + 1) * sum(len(w) for _, _, w in laws) > _BUDGET:
            return None
        return self._on_cells(laws, (total, norm), (column, row), (width, height))

    def _on_cells(
        self, laws: list[Law], fixed: tuple[float, float], size: tuple[float, float], extent: tuple[int, int]
    ) -> Interval:
        """The same on a grid with cells of this size, and so many of them to each side of the middle."""
        (total, norm), (column, row), (width, height) = fixed, size, extent
        grid = _Grid(height, width)
        rest_t = rest_d = 0.0
        for t, d, weights in laws:
            whole_t, whole_d = np.rint(t / column), np.rint(d / row)
            left_t, left_d = t - whole_t * column, d - whole_d * row
            total += float(left_t @ weights)
            norm += float(left_d @ weights)
            rest_t += float(left_t.max() - left_t.min()) ** 2
            rest_d += float(left_d.max() - left_d.min()) ** 2
            places = zip(whole_d.astype(np.int64).tolist(), whole_t.astype(np.int64).tolist(), strict=True)
            grid.add(list(places), weights.tolist())
        cells = grid.law()
        total += grid.column * column
        norm += grid.row * row
        # What fell off the grid may be on either side; and what is rounded off, of T on one side and of D on
        # two, is larger than its bound with the given chance.
        spare = max(0.0, 1.0 - float(cells.sum())) + 1e-12 + 3.0 * math.exp(-_LOG_ETA)
        off_t = leftover_reach(rest_t, _LOG_ETA) + self.error + 1e-12 * (abs(total) + column * width)
        off_d = leftover_reach(rest_d, _LOG_ETA)
        norms: Floats = norm + row * np.arange(-height, height + 1, dtype=np.float64)
        least, most = self._curve(norms, off_d)
        sides = []
        for shift, side in ((least, -off_t), (most, off_t)):
            # The score is positive iff the column is above this place.
            need = -(total + shift + side) / column + width
            first = np.clip(np.floor(need) + 1 if side < 0 else np.ceil(need), 0, 2 * width + 1)
            running = np.concatenate([np.zeros((len(cells), 1)), np.cumsum(cells[:, ::-1], axis=1)], axis=1)
            last = (2 * width + 1 - first).astype(np.int64)
            sides.append(float(running[np.arange(len(cells)), last].sum()))
        low, high = sides[0] - spare, sides[1] + spare
        return Interval(low, (sides[0] + sides[1]) / 2, high).within(0.0, 1.0)

    def _curve(self, norms: Floats, off: float) -> tuple[Floats, Floats]:
        """The least and the most that b g(D) is while D is this close to the middle of each row."""
        top = self.middle**2

        def curve(norm: Floats) -> Floats:
            clipped = np.maximum(norm, 0.0)
            return self.bias * (np.sqrt(clipped) - clipped / (2.0 * self.middle))

        low, high = norms - off, norms + off
        ends = curve(low), curve(high), curve(np.clip(top, low, high))
        return np.minimum.reduce(ends), np.maximum.reduce(ends)


def _moments(laws: list[tuple[Floats, Floats]], fixed: float) -> tuple[float, float]:
    """Mean and standard deviation of a sum."""
    mean, variance = fixed, 0.0
    for values, weights in laws:
        centre = float(values @ weights)
        mean += centre
        variance += float((values - centre) ** 2 @ weights)
    return mean, math.sqrt(variance)


class _Grid:
    """The law of a sum of independent pairs of whole numbers, on a window that moves along with it."""

    def __init__(self, height: int, width: int) -> None:
        self._now = np.zeros((2 * height + 1, 2 * width + 1))
        self._new = np.zeros_like(self._now)
        self._now[height, width] = 1.0
        self._doublings = 0
        self.row = self.column = 0  # where the middle of the window is
        self._ahead = (0.0, 0.0)  # how far the mean is ahead of it

    def add(self, places: list[tuple[int, int]], weights: list[float]) -> None:
        """Add a variable; what leaves the window is lost."""
        pairs = list(zip(places, weights, strict=True))
        row = self._ahead[0] + sum(weight * place[0] for place, weight in pairs)
        column = self._ahead[1] + sum(weight * place[1] for place, weight in pairs)
        height, width = self._now.shape
        # The window moves along with one of the values: the one that keeps the mean in its middle.
        stays = min(places, key=lambda at: ((row - at[0]) / height) ** 2 + ((column - at[1]) / width) ** 2)
        if len(places) == 2 and weights[0] == weights[1]:
            moves = places[0] if stays is places[1] else places[1]
            np.copyto(self._new, self._now)
            self._shifted(moves[0] - stays[0], moves[1] - stays[1], 1.0)
            self._doublings += 1
        else:
            self._new.fill(0.0)
            for place, weight in pairs:
                if weight > 1e-18:
                    self._shifted(place[0] - stays[0], place[1] - stays[1], weight)
        self._now, self._new = self._new, self._now
        self._ahead = (row - stays[0], column - stays[1])
        self.row += stays[0]
        self.column += stays[1]

    def _shifted(self, down: int, right: int, weight: float) -> None:
        rows, columns = self._now.shape
        if abs(down) >= rows or abs(right) >= columns:
            return
        to = (slice(max(down, 0), rows + min(down, 0)), slice(max(right, 0), columns + min(right, 0)))
        of = (slice(max(-down, 0), rows + min(-down, 0)), slice(max(-right, 0), columns + min(-right, 0)))
        part = self._now[of]
        self._new[to] += part if weight == 1.0 else weight * part

    def law(self) -> Floats:
        """The chances of the cells of the window."""
        return np.ldexp(self._now, -self._doublings)
