"""The distribution of a sum of independent whole numbers, by adding shifted copies of itself.

Every such operation adds or scales non-negative numbers, so each cell is right to a relative error
of a few units in the last place per variable (`GridSum.error`). Many variables are split into
halves whose distributions are narrower, and these are convolved, large ones by Fourier transforms;
their absolute error is bounded and taken off every probability that is reported.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kedge.typing import Floats

__all__ = ["GridSum", "Variable"]

Variable = int | tuple[Sequence[int], Sequence[float]]
"""A fair coin that brings 0 or this many cells; or values and their probabilities."""


# Coins of weight 1/2 are added without the factor; this many of them cannot overflow a double.
_COINS = 512
# Cells further than y from the mean hold at most exp(-2 y^2 / sum of squared ranges) (Hoeffding);
# y^2 = 18 sum of squares leaves 2e-16 a side, far less than any interval's width.
_REACH = 18.0
# How many variables are added between two looks at which cells can be dropped.
_TRIM = 32
# Up to this many variables are added one by one; more are split. (512 to 1,024 are equally fast.)
_LEAF = 768
# Products of lengths up to which two distributions are convolved directly.
_DIRECT = 1 << 18


@dataclass(frozen=True)
class _Law:
    """Probabilities of the cells from ``first`` on, and what `GridSum` keeps account of."""

    cells: Floats
    first: int
    mean: float
    squares: float
    operations: int
    absolute: float


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
        self._mean, self._squares, self._waiting, self._operations = 0.0, 0.0, 0, 0
        self._absolute = 0.0

    @classmethod
    def of(cls, variables: Sequence[Variable], reach: int = 0, widest: int = 0) -> "GridSum":
        """The sum of many variables, with room for more: up to ``reach``, ``widest`` at a time."""
        law = _law(variables)
        total = sum(map(_most, variables))
        grid = cls(total + reach, max([widest, *map(_most, variables)]))
        grid._low = grid._pad + law.first
        grid._high = grid._low + len(law.cells)
        grid._now[grid._pad] = 0.0
        grid._now[grid._low : grid._high] = law.cells
        grid._mean, grid._squares = law.mean, law.squares
        grid._operations, grid._absolute = law.operations, law.absolute
        return grid

    def coin(self, size: int) -> None:
        """Add ``size`` times a fair coin."""
        self.coins([size])

    def coins(self, sizes: Sequence[int]) -> None:
        """Add fair coins of these sizes."""
        for start in range(0, len(sizes), _TRIM):
            part = sizes[start : start + _TRIM]
            low, high, now, new = self._low, self._high, self._now, self._new
            for size in part:
                high += size
                np.add(now[low:high], now[low - size : high - size], out=new[low:high])
                now, new = new, now
            self._now, self._new, self._high = now, new, high
            self._doublings += len(part)
            self._account(0.5 * sum(part), sum([size * size for size in part]), len(part), len(part))

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
        self._account(mean, (widest - min(values)) ** 2, len(values) + 1, 1)

    def include(self, variable: Variable) -> None:
        """Add a variable of either kind."""
        if isinstance(variable, int):
            self.coin(variable)
        else:
            self.add(*variable)

    def above(self, cell: int) -> float:
        """P(sum >= cell), less what was dropped."""
        first = min(max(cell + self._pad, self._low), self._high)
        total = math.ldexp(float(self._now[first : self._high].sum()), -self._doublings)
        return max(total - self._absolute, 0.0)

    def below(self, cell: int) -> float:
        """P(sum < cell), less what was dropped."""
        last = min(max(cell + self._pad, self._low), self._high)
        total = math.ldexp(float(self._now[self._low : last].sum()), -self._doublings)
        return max(total - self._absolute, 0.0)

    def cumulative(self, first: int, length: int) -> Floats:
        """(length,) `below` of the cells from ``first`` on, each running sum rounded once per cell."""
        running = np.concatenate([[0.0], np.cumsum(self._now[self._low : self._high])])
        place = np.arange(first, first + length) + self._pad - self._low
        below: Floats = np.ldexp(running[np.clip(place, 0, len(running) - 1)], -self._doublings)
        return np.maximum(below - self._absolute, 0.0)

    def at(self, cell: int) -> float:
        """P(sum = cell), 0 if dropped."""
        place = cell + self._pad
        if not self._low <= place < self._high:
            return 0.0
        return math.ldexp(float(self._now[place]), -self._doublings)

    def law(self) -> "_Law":
        """The distribution itself, as a part of a larger sum."""
        cells = np.ldexp(self._now[self._low : self._high], -self._doublings)
        first = self._low - self._pad
        return _Law(cells, first, self._mean, self._squares, self._operations, self._absolute)

    @property
    def error(self) -> float:
        """Bound on the relative error of `above` and `below`.

        Half a unit in the last place (2^-53) per addition or product; the pairwise sum at the
        end has at most 64 levels and leaves. Doubled for the second-order terms.
        """
        return (self._operations + 64) * 2.0**-52

    def _account(self, mean: float, squares: float, operations: int, variables: int) -> None:
        self._mean += mean
        self._squares += float(squares)
        self._operations += operations
        self._waiting += variables
        if self._waiting >= _TRIM:
            self._waiting = 0
            self._trim()
        if self._doublings >= _COINS:
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


def _most(variable: Variable) -> int:
    return variable if isinstance(variable, int) else max(variable[0])


def _law(variables: Sequence[Variable]) -> _Law:
    """The distribution of a sum: one by one for few variables, else of two halves."""
    if len(variables) > _LEAF:
        middle = len(variables) // 2
        return _convolve(_law(variables[:middle]), _law(variables[middle:]))
    most = [_most(variable) for variable in variables]
    grid = GridSum(sum(most), max(most, default=0))
    for variable in variables:
        if not isinstance(variable, int):
            grid.add(*variable)  # while the distribution is narrow: they take longer than coins
    grid.coins([variable for variable in variables if isinstance(variable, int)])
    return grid.law()


def _convolve(a: _Law, b: _Law) -> _Law:
    """The distribution of the sum of two independent sums, without its farthest tails."""
    n = len(a.cells) + len(b.cells) - 1
    absolute = a.absolute + b.absolute
    operations = a.operations + b.operations
    if len(a.cells) * len(b.cells) <= _DIRECT:
        cells = np.convolve(a.cells, b.cells)
        operations += min(len(a.cells), len(b.cells))  # a cell is a sum of that many products
    else:
        from scipy import fft

        size = fft.next_fast_len(n, real=True)
        cells = fft.irfft(fft.rfft(a.cells, size) * fft.rfft(b.cells, size), size)[:n]
        cells = np.maximum(cells, 0.0)
        # A transform of length N is off by at most about 6 u log2 N of the vector's norm (Higham,
        # section 24.1), and both norms are at most 1; three transforms and a product, twice over
        # for safety. A sum of n cells is off by at most sqrt(n) times the norm of the error.
        absolute += 48.0 * 2.0**-53 * math.log2(size) * math.sqrt(n)
    mean, squares = a.mean + b.mean, a.squares + b.squares
    reach, first = math.sqrt(_REACH * squares) + 1.0, a.first + b.first
    low = max(0, math.floor(mean - reach) - first)
    high = min(n, math.ceil(mean + reach) + 1 - first)
    return _Law(cells[low:high], first + low, mean, squares, operations, absolute)
