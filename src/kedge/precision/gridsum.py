"""The distribution of a sum of independent whole numbers, by adding shifted copies of itself.

Every operation adds or scales non-negative numbers, so each cell is right to a relative error of a
few units in the last place per variable (`GridSum.error`). A Fourier transform would be faster for
many variables and would have an absolute error instead, fatal in the tails.
"""

import math
from collections.abc import Sequence

import numpy as np

from kedge.typing import Floats

__all__ = ["GridSum"]

# Coins of weight 1/2 are added without the factor; this many of them cannot overflow a double.
_COINS = 512
# Cells further than y from the mean hold at most exp(-2 y^2 / sum of squared ranges) (Hoeffding);
# y^2 = 18 sum of squares leaves 2e-16 a side, far less than any interval's width.
_REACH = 18.0
# How many variables are added between two looks at which cells can be dropped.
_TRIM = 32


class GridSum:
    """Distribution of a sum of independent variables on 0, 1, 2, ...; begins as the constant 0.

    Cells too far out to matter are dropped on the way. What is dropped is missing from `above`
    and from `below` alike, so that ``above(i) <= P(sum >= i) <= 1 - below(i)`` stays true up to
    the relative `error`.

    Parameters
    ----------
    reach
        The largest possible sum.
    widest
        The largest value of any single variable.
    """

    def __init__(self, reach: int, widest: int) -> None:
        # Zeros in front: a shifted copy can be read without looking where the support begins.
        self._pad = widest
        self._now = np.zeros(widest + reach + 1)
        self._new = np.zeros(widest + reach + 1)
        self._now[widest] = 1.0
        self._low, self._high = widest, widest + 1
        self._doublings = 0  # the cells add up to 2^doublings (less what was dropped)
        self._mean, self._squares, self._variables, self._operations = 0.0, 0.0, 0, 0

    def coin(self, size: int) -> None:
        """Add ``size`` times a fair coin."""
        high = self._high + size
        low, now, new = self._low, self._now, self._new
        np.add(now[low:high], now[low - size : high - size], out=new[low:high])
        self._now, self._new, self._high = new, now, high
        self._doublings += 1
        self._account(0.5 * size, size, 1)

    def add(self, values: Sequence[int], weights: Sequence[float]) -> None:
        """Add a variable that takes ``values[i] >= 0`` with probability ``weights[i]``."""
        widest = max(values)
        high = self._high + widest
        low, now, new = self._low, self._now, self._new
        total = new[low:high]
        np.multiply(now[low - values[0] : high - values[0]], weights[0], out=total)
        for value, weight in zip(values[1:], weights[1:], strict=True):
            total += now[low - value : high - value] * weight
        self._now, self._new, self._high = new, now, high
        mean = sum(value * weight for value, weight in zip(values, weights, strict=True))
        self._account(mean, widest - min(values), len(values) + 1)

    def above(self, cell: int) -> float:
        """P(sum >= cell), less what was dropped."""
        first = min(max(cell + self._pad, self._low), self._high)
        return math.ldexp(float(self._now[first : self._high].sum()), -self._doublings)

    def below(self, cell: int) -> float:
        """P(sum < cell), less what was dropped."""
        last = min(max(cell + self._pad, self._low), self._high)
        return math.ldexp(float(self._now[self._low : last].sum()), -self._doublings)

    def cumulative(self, first: int, length: int) -> Floats:
        """(length,) `below` of the cells from ``first`` on, each running sum rounded once per cell."""
        running = np.concatenate([[0.0], np.cumsum(self._now[self._low : self._high])])
        place = np.arange(first, first + length) + self._pad - self._low
        below: Floats = np.ldexp(running[np.clip(place, 0, len(running) - 1)], -self._doublings)
        return below

    def at(self, cell: int) -> float:
        """P(sum = cell), 0 if dropped."""
        place = cell + self._pad
        if not self._low <= place < self._high:
            return 0.0
        return math.ldexp(float(self._now[place]), -self._doublings)

    @property
    def error(self) -> float:
        """Bound on the relative error of `above` and `below`.

        Half a unit in the last place (2^-53) per addition or product; the pairwise sum at the
        end has at most 64 levels and leaves. Doubled for the second-order terms.
        """
        return (self._operations + 64) * 2.0**-52

    def _account(self, mean: float, spread: int, operations: int) -> None:
        self._mean += mean
        self._squares += float(spread) * spread
        self._operations += operations
        self._variables += 1
        if self._variables % _TRIM == 0:
            self._trim()
        if self._variables % _COINS == 0 and self._doublings:
            # A power of two: exact, and what underflows is smaller than any other error.
            self._now[self._low : self._high] *= math.ldexp(1.0, -self._doublings)
            self._doublings = 0

    def _trim(self) -> None:
        reach = math.sqrt(_REACH * self._squares) + 1.0
        centre = self._mean + self._pad
        low = max(self._low, math.floor(centre - reach))
        high = min(self._high, math.ceil(centre + reach) + 1)
        for cells in (self._now, self._new):
            cells[self._low : low] = 0.0
            cells[high : self._high] = 0.0
        self._low, self._high = low, high
