"""What a sum over words does without one of them: P(rest of the score + x > 0), for each unit left out.

Combinations of counts are met in the middle while these are few; beyond that the sum is looked at through
its waves (``waves.py``).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kedge.evaluators.variables import Variables
from kedge.evaluators.waves import Waves
from kedge.model.scores.additive import UNIT, AdditiveScore
from kedge.typing import Floats

__all__ = ["Rests", "left_out"]

# Up to so many combinations of each half of the units are met in the middle: some milliseconds.
_HALF = 1 << 15


@dataclass(frozen=True, eq=False)
class Rests:
    """The probability that the score is positive, for each count of each unit: middles and half widths."""

    variables: Variables
    means: Floats
    widths: Floats


def left_out(score: AdditiveScore, keep: float) -> Rests:
    """For each unit whose count changes the score, what the others do."""
    variables = Variables.of(score, keep)
    halves = _halves(variables)
    means, widths = (
        Waves.of(score, variables).tails() if halves is None else _met(score, variables, halves, keep)
    )
    return Rests(variables, np.clip(means, 0.0, 1.0), np.clip(widths, 0.0, 1.0))


def _halves(variables: Variables) -> tuple[list[int], list[int]] | None:
    """Variables in two groups with about as many combinations each; None where they are too many."""
    if len(variables) > 1 and float(np.log2(variables.lengths).sum()) > 2 * math.log2(_HALF):
        return None
    halves: tuple[list[int], list[int]] = ([], [])
    sizes = [1, 1]
    for i in np.argsort(-variables.lengths, kind="stable").tolist():
        side = int(sizes[1] < sizes[0])
        halves[side].append(i)
        sizes[side] *= int(variables.lengths[i])
    return halves if max(sizes) <= _HALF or len(variables) == 1 else None


def _met(
    score: AdditiveScore, variables: Variables, halves: tuple[list[int], list[int]], keep: float
) -> tuple[Floats, Floats]:
    """Each combination of one half is looked up among those of the other, sorted.

    That gives the chance of every combination of one half; what a count of one of its units leaves of it is
    a mean over the other units, one after the other.
    """
    error = score.error + score.added_up(len(score.sizes))
    values, laws = variables.each(variables.values), variables.each(variables.laws)
    both = [_Combined.of([values[i] for i in half], [laws[i] for i in half]) for half in halves]
    slack = 0.0
    if keep != 0.5 or len(variables.values) - len(variables) > 50:
        # Else chances are multiples of 2^-50, which are added without rounding.
        slack = (8.0 * len(variables.values) + 2.0 * sum(len(half.sums) for half in both)) * UNIT
    means, widths = np.zeros((2, len(variables.values)))
    middles, doubts = variables.each(means), variables.each(widths)  # parts of these, to be filled in
    for half, mine, others in zip(halves, both, both[::-1], strict=True):
        tails, unsure = others.tails(mine.sums + score.bias, error, strict=score.strict)
        for i, mean in zip(half, mine.left_out(tails), strict=True):
            middles[i][:] = mean
        if unsure.any():
            for i, doubt in zip(half, mine.left_out(unsure), strict=True):
                doubts[i][:] = doubt
    return means, widths + slack


@dataclass(frozen=True, eq=False)
class _Combined:
    """All sums of a few independent variables, the first of which varies fastest.

    ``chances[i]`` are the probabilities of the combinations of those before the i-th; at last of all.
    """

    laws: Sequence[Floats]
    sums: Floats
    chances: list[Floats]

    @classmethod
    def of(cls, values: Sequence[Floats], laws: Sequence[Floats]) -> "_Combined":
        """Add them up."""
        sums, chances = np.zeros(1), [np.ones(1)]
        for value, law in zip(values, laws, strict=True):
            sums = np.add.outer(value, sums).ravel()
            chances.append(np.multiply.outer(law, chances[-1]).ravel())
        return cls(laws, sums, chances)

    def tails(self, plus: Floats, error: float, *, strict: bool) -> tuple[Floats, Floats]:
        """The probability that the sum and a number are positive; and what only rounding decides of it."""
        order = np.argsort(self.sums, kind="stable")
        sums, tail = self.sums[order], np.append(np.cumsum(self.chances[-1][order][::-1])[::-1], 0.0)
        if error == 0.0:
            means = tail[np.searchsorted(sums, -plus, side="right" if strict else "left")]
            return means, np.zeros(1)
        # Between these only the model's own rounding decides.
        high = tail[np.searchsorted(sums, -plus - error, side="left")]
        low = tail[np.searchsorted(sums, error - plus, side="right")]
        return (low + high) / 2, (high - low) / 2

    def left_out(self, numbers: Floats) -> list[Floats]:
        """The mean of a number for every combination, given each value of each variable."""
        found = []
        for law, before in zip(self.laws[::-1], self.chances[-2::-1], strict=True):
            numbers = numbers.reshape(len(law), len(before))
            found.append(numbers @ before)
            numbers = law @ numbers
        return found[::-1]
