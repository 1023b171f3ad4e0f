"""A sum of many words through its waves: its tail without each of them, all worked out together.

The probability is read off the characteristic function of the sum, which is a product over units: leaving one
out is the product of the others. For a sum S within half a period P/2 of zero, 1{S > 0} is a square wave;
Vaaler's trigonometric polynomials of degree N (Bulletin of the AMS 12, 1985, theorem 18) are off from each of
its two jumps by at most a Fejer kernel, whose mean they give as well. So

    P(S > 0) = 1/2 + sum over odd n of 2 J(n / (N + 1)) Im f(2 pi n / P) / (pi n), up to
    1 / (N + 1) (1 + 2 sum over even n of (1 - n / (N + 1)) Re f(2 pi n / P)),

with f the characteristic function and J(u) = pi u (1 - u) cot(pi u) + u: a certified interval whose half
width is the density at zero times P / 2N. Where many words come and go, f is tiny at all but a few dozen of
these frequencies; a few words show that, and only what is left is worked out for every word.
"""

import math
from dataclasses import dataclass

import numpy as np

from kedge.evaluators.grids.cells import coarsest_lattice
from kedge.evaluators.variables import Variables
from kedge.model.scores.additive import UNIT, AdditiveScore
from kedge.typing import Counts, Floats
from kedge.utils.numerics import pieces

__all__ = ["Waves"]

# The half width to aim at, and the most frequencies that may be spent on it.
_TARGET, _MOST = 2.5e-4, 1 << 15
# What lies beyond half a period has at most the probability 2 exp(-_BEYOND): 2e-7.
_BEYOND = 16.0
# Frequencies at which the characteristic function is at most this are dropped; what they may bring is
# counted.
_FAINT = 1e-7
# So many numbers are worked out at a time: two megabytes of complex ones.
_CELLS = 1 << 17


@dataclass(frozen=True, eq=False)
class Waves:
    """A sum of independent variables at the frequencies of one period.

    Parameters
    ----------
    bias
        The constant part, moved off a tie where the values lie on a lattice.
    variables
        What is added.
    period, degree
        P and N.
    slack
        What rounding, and what lies beyond half a period, add to every half width.
    """

    bias: float
    variables: Variables
    period: float
    degree: int
    slack: float

    @classmethod
    def of(cls, score: AdditiveScore, variables: Variables) -> "Waves":
        """The period that holds the sum, and the degree that the half width aimed at needs."""
        bias, lattice, values, starts = score.bias, 0.0, variables.values, variables.starts
        if score.exact:
            lattice = coarsest_lattice(np.abs(np.append(values, bias)))
            bias += -lattice / 2 if score.strict else lattice / 2
        means = np.add.reduceat(values * variables.laws, starts)
        squares = (values - np.repeat(means, variables.lengths)) ** 2 * variables.laws
        ranges = np.maximum.reduceat(values, starts) - np.minimum.reduceat(values, starts)
        centre, widest = abs(bias + float(means.sum())), float(ranges.max())
        surely = abs(bias) + float(np.maximum.reduceat(np.abs(values), starts).sum())
        likely = centre + widest + math.sqrt(0.5 * _BEYOND * float((ranges**2).sum()))
        deviation = math.sqrt(float(squares.sum()))
        z = min(max(centre - widest, 0.0) / deviation, 2.5)
        density = math.exp(-0.5 * z * z) / (deviation * math.sqrt(2.0 * math.pi))
        # A little more than the bounds, which are rounded sums.
        period = 2.002 * min(surely, likely)
        degree = min(max(math.ceil(0.5 * period * density / _TARGET), 64), _MOST)
        if lattice:
            # Whole cells: every value is then where the Fejer kernel of this degree is zero.
            cells = 2 * math.ceil(period / lattice / 2)
            if 2 * cells <= _MOST:
                period, degree = cells * lattice, 2 * cells * math.ceil(degree / (2 * cells)) - 1
        error = score.error + score.added_up(len(score.sizes))
        # The slope of both polynomials times the error of the score; then the rounding of angles, of
        # products over units, and of sums.
        slack = (2.0 + math.pi) * degree / period * error
        slack += 16.0 * UNIT * (degree * (1.0 + surely / period) + len(values) * (2.0 + math.log(degree)))
        slack += 0.0 if period >= 2.0 * surely else 2.0 * math.exp(-_BEYOND)
        return cls(bias, variables, period, degree, slack)

    def tails(self) -> tuple[Floats, Floats]:
        """(v,) for each value of each variable, the tail of all the others plus it: middle, half width."""
        numbers = np.arange(1, self.degree + 1)
        share = numbers / (self.degree + 1)
        jump = np.pi * share * (1 - share) / np.tan(np.pi * share) + share
        odd = np.where(numbers % 2 == 1, 2.0 / (np.pi * numbers) * jump, 0.0)
        even = np.where(numbers % 2 == 0, 2.0 * (1 - share) / (self.degree + 1), 0.0)
        loud, lost = self._loud(odd + even)
        variables, turn = self.variables, 2j * math.pi / self.period
        means = np.full(len(variables.values), 0.5)
        widths = np.full(len(variables.values), 1.0 / (self.degree + 1) + lost + self.slack)
        for part in pieces(len(loud), len(variables.values), _CELLS):
            now = loud[part]
            turns = np.exp(np.multiply.outer(turn * now, variables.values))
            rest = _all_but_one(np.add.reduceat(turns * variables.laws, variables.starts, axis=1))
            rest *= np.exp(turn * self.bias * now)[:, None]
            turns *= np.repeat(rest, variables.lengths, axis=1)
            means += odd[now - 1] @ turns.imag
            widths += even[now - 1] @ turns.real
        return means, widths

    def _loud(self, weights: Floats) -> tuple[Counts, float]:
        """Frequencies at which the sum without any one unit may be loud, and what the others may bring.

        Two-valued units and sums of equal coins show how loud they are in one cosine: the squared size of
        1 - p + p exp(i x) is 1 - 2 p (1 - p) (1 - cos x).
        """
        steps, spreads, often = _coins(self.variables)
        loud, lost, seen = np.arange(1, self.degree + 1), 0.0, 0
        whole, loudest = np.zeros((2, self.degree))  # logarithms: of the product, of its smallest factor
        while seen < len(steps) and len(loud):
            now = slice(seen, seen + max(1, _CELLS // len(loud)))
            angles = np.multiply.outer(2.0 * math.pi / self.period * steps[now], loud)
            squared = 1.0 - 2.0 * spreads[now, None] * (1.0 - np.cos(angles))
            logs = often[now, None] * np.log(np.maximum(squared, 1e-300))
            whole += logs.sum(axis=0)
            loudest = np.minimum(loudest, logs.min(axis=0))
            without = np.exp((whole - loudest) / 2)
            faint = without <= _FAINT
            lost += float(without[faint] @ weights[loud[faint] - 1])
            loud, whole, loudest, seen = loud[~faint], whole[~faint], loudest[~faint], now.stop
        return loud, lost


def _coins(variables: Variables) -> tuple[Floats, Floats, Counts]:
    """Units that are equal coins, the largest first: size of a step, p (1 - p), and how many there are."""
    found = []
    for which, places in variables.alike():
        values, laws = variables.values[places], variables.laws[places]
        steps = np.diff(values, axis=1)
        # One step among all counts: a coin that has come up when the count is beyond it.
        single = np.count_nonzero(steps, axis=1) == 1
        at = np.argmax(steps != 0, axis=1)
        below = np.cumsum(laws, axis=1)[np.arange(len(which)), at]
        # Or as many equal coins as there are occurrences.
        equal = ~single & (values == values[:, 1:2] * np.arange(values.shape[1])).all(axis=1)
        keep = laws @ np.arange(values.shape[1]) / (values.shape[1] - 1)
        step = np.where(single, steps[np.arange(len(which)), at], values[:, 1])
        chance = np.where(single, below, keep)
        coins = np.where(single, 1, values.shape[1] - 1)
        told = single | equal
        found.append((np.abs(step)[told], (chance * (1 - chance))[told], coins[told]))
    steps, spreads, often = (np.concatenate(parts) for parts in zip(*found, strict=True))
    order = np.argsort(-steps, kind="stable")
    return steps[order], spreads[order], often[order]


def _all_but_one(waves: Floats) -> Floats:
    """(n, d) for each variable the product of the others."""
    before, after = np.ones((2, *waves.shape), dtype=np.complex128)
    np.cumprod(waves[:, :-1], axis=1, out=before[:, 1:])
    after[:, :-1] = np.cumprod(waves[:, :0:-1], axis=1)[:, ::-1]
    product: Floats = before * after
    return product
