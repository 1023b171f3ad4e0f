"""A score given an anchor: what is fixed, what is left to chance, and its sums where these are few."""

import math
from dataclasses import dataclass

import numpy as np

from kedge.evaluators.binomials import binomial
from kedge.model.scores.additive import UNIT, AdditiveScore
from kedge.results.interval import Interval
from kedge.typing import Bools, Counts, Floats

__all__ = ["Free", "all_sums", "free_part", "middle", "moments"]


@dataclass(frozen=True)
class Free:
    """The random part of a score given an anchor: base + sum of independent variables.

    ``values[i]`` are the values of the i-th variable (the smallest is 0, moved into ``base``) and
    ``weights[i]`` their probabilities; ``slopes[i]`` is the value of one occurrence where the
    variable is linear in the count, else NaN.
    """

    base: float
    values: list[Floats]
    weights: list[Floats]
    slopes: list[float]
    keep: float

    @property
    def states(self) -> int:
        """How many combinations of counts there are."""
        return math.prod(len(v) for v in self.values)


def free_part(score: AdditiveScore, kept: Counts, keep: float) -> Free:
    """What is left to chance when ``kept[j]`` occurrences of each unit j are kept."""
    base, values, weights, slopes = score.bias, [], [], []
    linear = score.slopes
    for j, size in enumerate(score.sizes.tolist()):
        table = score.tables[j][int(kept[j]) :]
        lowest = float(table.min())
        base += lowest
        if len(table) == 1 or lowest == float(table.max()):
            continue
        values.append(table - lowest)
        weights.append(binomial(size - int(kept[j]), keep))
        slopes.append(math.nan if linear is None else float(linear[j]))
    return Free(base, values, weights, slopes, keep)


def _sums(values: list[Floats], weights: list[Floats]) -> tuple[Floats, Floats]:
    """All sums of one value per variable, with their probabilities."""
    sums, chances = np.zeros(1), np.ones(1)
    for value, weight in zip(values, weights, strict=True):
        sums = np.add.outer(value, sums).ravel()
        chances = np.multiply.outer(weight, chances).ravel()
    return sums, chances


def all_sums(free: Free, error: float, *, strict: bool) -> Interval:
    """P(score > 0) by adding up every combination of counts."""
    sums, chances = _sums(free.values, free.weights)
    scores = sums + free.base
    held = (scores > 0.0) if strict else (scores >= 0.0)
    mean = _chance(held, chances)
    low, high = mean, mean
    if error > 0.0 and (near := np.abs(scores) <= error).any():
        # Here only the model's own rounding decides.
        low, high = _chance(held & ~near, chances), _chance(held | near, chances)
    if low == high == 1.0 or (free.keep == 0.5 and sum(len(v) - 1 for v in free.values) <= 50):
        return Interval(low, mean, high)  # chances are multiples of 2^-50: doubles hold their sums exactly
    slack = 9.0 * sum(len(v) for v in free.values) * UNIT
    return Interval(max(low - slack, 0.0), mean, min(high + slack, 1.0))


def _chance(held: Bools, chances: Floats) -> float:
    """The chance of some outcomes: 1 for all of them and for no fewer, whatever rounding says."""
    if held.all():
        return 1.0
    return min(float(chances[held].sum()), math.nextafter(1.0, 0.0))


def middle(free: Free, error: float, *, strict: bool) -> Interval:
    """Meet in the middle: sort one half's sums, look up what each of the other half's needs."""
    order = np.argsort([len(v) for v in free.values])[::-1]
    halves: tuple[list[int], list[int]] = ([], [])
    sizes = [1, 1]
    for i in order.tolist():
        side = int(sizes[1] < sizes[0])
        halves[side].append(i)
        sizes[side] *= len(free.values[i])
    left, right = (_sums([free.values[i] for i in half], [free.weights[i] for i in half]) for half in halves)
    by = np.argsort(left[0], kind="stable")
    sums, tail = left[0][by], np.append(np.cumsum(left[1][by][::-1])[::-1], 0.0)
    need = -(right[0] + free.base)

    def chance(bound: Floats, side: str) -> float:
        first = np.searchsorted(sums, bound, side=side)  # type: ignore[call-overload]
        return float(right[1] @ tail[first])

    mean = chance(need, "right" if strict else "left")
    if error == 0.0:
        low = high = mean
    else:
        low, high = chance(need + error, "right"), chance(need - error, "left")
    # The running sum is sequential: one rounding per entry.
    slack = (len(tail) + len(right[0])) * 2.0 * UNIT
    return Interval(max(0.0, low - slack), min(mean, 1.0), min(1.0, high + slack))


def moments(free: Free) -> tuple[float, float]:
    """Mean and standard deviation of the score."""
    mean, variance = free.base, 0.0
    for value, weight in zip(free.values, free.weights, strict=True):
        centre = float(value @ weight)
        mean += centre
        variance += float((value - centre) ** 2 @ weight)
    return mean, math.sqrt(variance)
