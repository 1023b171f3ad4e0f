"""From a distribution on a grid to a certified interval for P(score > 0).

A sum of independent values v is written as h * (whole number) + leftover: the whole numbers are
added up exactly by `GridSum`, and the leftover is a sum R of independent terms of small range, so
by Hoeffding P(R - E R > s) <= exp(-2 s^2 / sum of squared ranges), and likewise below. Hence for
every s

    P(grid part + E R > s) - eta <= P(score > 0) <= P(grid part + E R > -s) + eta.

Rounding to the nearest cell makes the width grow with the square root of the number of terms, not
with their number.
"""

import math
from typing import Protocol

from kedge.results.interval import Interval

__all__ = ["Law", "grid_tail", "known_extremes", "leftover_reach"]


def known_extremes(tail: Interval, lowest: float, highest: float, error: float) -> Interval:
    """A tail, given the lowest and the highest score there is: certain, impossible, or neither.

    A probability is 1 only when even the lowest score is positive; this is how a threshold of 1 is
    settled, which no interval with any width could do.
    """
    if lowest > error:
        return Interval(1.0, 1.0, 1.0)
    if highest < -error:
        return Interval(0.0, 0.0, 0.0)
    if lowest < -error and tail.high == 1.0:
        return tail.clearly_uncertain()
    return tail


def leftover_reach(squares: float, log_eta: float) -> float:
    """The s with exp(-2 s^2 / squares) = exp(-log_eta)."""
    return math.sqrt(0.5 * squares * log_eta)


class Law(Protocol):
    """The distribution of a whole number of cells."""

    @property
    def error(self) -> float:
        """Bound on the relative error of `above` and `below`."""
        ...

    def above(self, cell: int) -> float:
        """P(sum >= cell), or less."""
        ...

    def below(self, cell: int) -> float:
        """P(sum < cell), or less."""
        ...

    def at(self, cell: int) -> float:
        """P(sum = cell)."""
        ...


def grid_tail(
    grid: Law,
    step: float,
    base: float,
    squares: float,
    *,
    error: float,
    strict: bool,
    log_eta: float = 14.0,
) -> Interval:
    """Certified interval for P(base + step * grid + leftover > 0).

    Parameters
    ----------
    grid, step
        The grid part of the score is ``step * grid``.
    base
        Constant part of the score, the mean of the leftover included.
    squares
        Sum of the squared ranges of the leftover's terms; 0 when the grid is the score.
    error
        Bound on the floating-point error of the score, the model's and ours together. With
        ``squares == error == 0`` the arithmetic is exact and ``strict`` settles a tie.
    log_eta
        ln(1/eta). 14 gives eta = 8e-7, small against any interval a decision needs.
    """
    zero = -base / step  # the score is positive iff the grid is above this
    if squares == 0.0 and error == 0.0:
        first = math.floor(zero) + 1 if strict else math.ceil(zero)
        low, high = grid.above(first), 1.0 - grid.below(first)
        slack = grid.error
        return _tail(low * (1 - slack), low, _rounded_up(high + slack * (1.0 - high)))
    eta = math.exp(-log_eta) if squares > 0.0 else 0.0
    # The last term: `zero` and the comparison with it are themselves rounded.
    reach = (leftover_reach(squares, log_eta) + error) / step + 1e-12 * (1.0 + abs(zero))
    slack = grid.error
    low = grid.above(math.floor(zero + reach) + 1) * (1.0 - slack) - eta
    high = _rounded_up(1.0 - (grid.below(math.ceil(zero - reach)) * (1.0 - slack) - eta))
    # Best estimate: the mass of a cell spread evenly over it.
    cell = math.floor(zero + 0.5)
    mean = grid.above(cell + 1) + grid.at(cell) * (cell + 0.5 - zero)
    return _tail(low, mean, high)


def _rounded_up(high: float) -> float:
    """An upper end computed as one less what is lost: two operations, each off by half a unit at the most."""
    return math.nextafter(high, math.inf)


def _tail(low: float, mean: float, high: float) -> Interval:
    return Interval(low, mean, high).within(0.0, 1.0)
