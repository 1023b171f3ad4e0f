"""A bound on the precision of all anchors of r occurrences, for an additive score.

An anchor is chosen before the coins fall. A chooser who may pick the number kept of each unit after
seeing the units before it can only do better, and that value is a recursion on a grid:

    V[i][r](t) = max_a  E V[i + 1][r - a](t - s_i(a + Bin(m_i - a, keep))),

the largest chance that the units from i on bring more than t when r occurrences may still be kept.
The end of the recursion, V[n][r], is the chance that all other units, of which nothing is kept,
bring more than t. Every rounding is upwards, so V is a bound for every anchor below a branch.
"""

import math
from collections.abc import Sequence

import numpy as np

from kedge.evaluators.grids.gridsum import GridSum
from kedge.evaluators.grids.tails import leftover_reach
from kedge.typing import Floats

__all__ = ["Option", "Reach"]

# ln(1/eta) of the bound on the leftover of the other units' grid: eta = 8e-7 is added to V.
_LOG_ETA = 14.0

Option = tuple[Floats, Floats]
"""Values (>= 0) and probabilities of one unit, for one number kept."""


class Reach:
    """The bound V, for all numbers of units decided and of occurrences left.

    Parameters
    ----------
    options
        For each unit that may be kept, in the order of the decisions, its options a = 0, 1, ...
    others
        Values and probabilities of every other unit.
    need
        What all units together must exceed (values are counted from 0).
    most
        The largest number of occurrences to keep.
    step
        Size of a cell.
    """

    def __init__(
        self,
        options: Sequence[Sequence[Option]],
        others: Sequence[Option],
        need: float,
        most: int,
        step: float,
    ) -> None:
        self.step = step
        self.cells = [[_upwards(option, step) for option in unit] for unit in options]
        # The need in cells, rounded down; cell k of V stands for a remaining need of k cells.
        self.need = math.floor(need / step - 1e-9)
        end = _others(others, step, max(self.need + 1, 1))
        self.values = [[end] * (most + 1)]
        for unit in reversed(self.cells):
            self.values.insert(0, [self._best(unit, r) for r in range(most + 1)])

    def _best(self, unit: Sequence[tuple[list[int], list[float]]], r: int) -> Floats:
        """One step of the recursion."""
        best: Floats | None = None
        for a, (values, weights) in enumerate(unit[: r + 1]):
            after = self.values[0][r - a]
            total = np.zeros(len(after))
            for value, weight in zip(values, weights, strict=True):
                total += weight * shifted(after, value)
            best = total if best is None else np.maximum(best, total)
        assert best is not None  # noqa: S101  (keeping nothing is always an option)
        return np.minimum(best, 1.0)

    def bound(self, decided: Floats, unit: int, left: int) -> float:
        """Most precision below a branch; ``decided`` is the law of the decided units in cells."""
        value = self.values[unit][left]
        reached = min(len(decided), max(self.need + 1, 0))
        total = float(decided[reached:].sum())  # more than needed already
        if reached:
            total += float(decided[:reached] @ value[self.need - np.arange(reached)])
        return min(1.0, total * (1 + 1e-12))

    def extended(self, decided: Floats, unit: int, a: int) -> Floats:
        """The law of the decided units with one more."""
        values, weights = self.cells[unit][a]
        total = np.zeros(len(decided) + max(values))
        for value, weight in zip(values, weights, strict=True):
            total[value : value + len(decided)] += weight * decided
        last = max(self.need + 1, 0)  # all that is more than needed goes into one cell
        if len(total) > last + 1:
            total[last] += total[last + 1 :].sum()
            total = total[: last + 1]
        return total


def shifted(value: Floats, cells: int) -> Floats:
    """V(t - v) on the cells of t: below a need of zero cells the chance counts as one."""
    if cells == 0:
        return value
    moved = np.ones_like(value)
    if cells < len(value):
        moved[cells:] = value[:-cells]
    return moved


def _upwards(option: Option, step: float) -> tuple[list[int], list[float]]:
    """Values in cells, rounded up: a bound may promise too much, never too little."""
    cells = np.ceil(option[0] / step).astype(np.int64)
    return cells.tolist(), option[1].tolist()


def _others(others: Sequence[Option], step: float, length: int) -> Floats:
    """(length,) bound on the chance that the other units bring more than k cells."""
    rounded = [np.rint(values / step).astype(np.int64) for values, _ in others]
    if not others:
        # Nothing brings nothing: not more than 0, but a need rounded down may be less than it was.
        return np.append(1.0, np.zeros(length - 1))
    grid = GridSum(sum(int(r.max()) for r in rounded), max(int(r.max()) for r in rounded))
    mean = squares = 0.0
    for (values, weights), cells in zip(others, rounded, strict=True):
        rest = values - cells * step
        mean += float(rest @ weights)
        squares += float(rest.max() - rest.min()) ** 2
        grid.add(cells.tolist(), weights.tolist())
    shift = (mean + leftover_reach(squares, _LOG_ETA)) / step
    eta = math.exp(-_LOG_ETA) if squares else 0.0
    # More than k cells, less the leftover, rounded down.
    first = math.floor(-shift - 1e-9)
    # 1e-10: the running sum of up to a million cells is rounded once per cell.
    bound: Floats = np.minimum(1.0, 1.0 - grid.cumulative(first, length) + eta + grid.error + 1e-10)
    return bound
