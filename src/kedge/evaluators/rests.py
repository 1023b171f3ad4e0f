"""What a sum over words does without one of them: P(rest of the score + x > 0), for each unit left out.

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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kedge.evaluators.additive import ALL, additive_tail
from kedge.evaluators.binomials import binomial
from kedge.evaluators.grids.cells import coarsest_lattice
from kedge.model.scores.additive import UNIT, AdditiveScore, LinearTables
from kedge.typing import Counts, Floats
from kedge.utils.numerics import pieces

__all__ = ["Tails", "left_out"]

Turns = NDArray[np.complex128]
"""Numbers of size 1, or their means: exp(i x) at several frequencies."""

# The half width to aim at, and the most frequencies that may be spent on it.
_TARGET, _MOST = 2.5e-4, 1 << 15
# What lies beyond half a period has at most the probability 2 exp(-_BEYOND): 2e-7.
_BEYOND = 16.0
# Frequencies at which the characteristic function is at most this are dropped; what they may bring is
# counted. So many units are looked at between two rounds of dropping.
_FAINT, _ROUND = 1e-7, 4
# From so many frequencies on, exp(i n x) is made of products of two such numbers each.
_FINE = 64


@dataclass(frozen=True)
class Tails:
    """The probability that the score is positive, for each count of one unit: middles and half widths."""

    means: Floats
    widths: Floats


def left_out(score: AdditiveScore, keep: float) -> Iterator[tuple[int, Tails]]:
    """Each unit whose count changes the score, with what the others do; in order."""
    units = [j for j in range(len(score.sizes)) if np.ptp(score.tables[j]) > 0]
    states = math.prod(len(score.tables[j]) for j in units) if len(units) <= 64 else math.inf
    if states <= ALL or not units:
        for j in units:
            yield j, _summed(score, j, keep)
        return
    tables = [score.tables[j] for j in units]
    laws = [binomial(len(table) - 1, keep) for table in tables]
    yield from zip(units, _Waves.of(score, tables, laws).tails(), strict=True)


def _summed(score: AdditiveScore, unit: int, keep: float) -> Tails:
    tables: Sequence[Floats]
    if isinstance(score.tables, LinearTables):  # known to be linear, the rest is so without a look at it
        tables = LinearTables(np.delete(score.tables.slopes, unit), np.delete(score.tables.sizes, unit))
    else:
        tables = tuple(score.tables[j] for j in range(len(score.sizes)) if j != unit)
    none = np.zeros(len(tables), dtype=np.int64)
    found = [
        additive_tail(AdditiveScore(score.bias + float(x), tables, score.strict, score.error), none, keep)
        for x in score.tables[unit]
    ]
    return Tails(np.array([t.mean for t in found]), np.array([t.width / 2 for t in found]))


@dataclass(frozen=True)
class _Waves:
    """A sum of independent variables at the frequencies of one period.

    Parameters
    ----------
    bias
        The constant part, moved off a tie where the values lie on a lattice.
    tables, laws
        Values and probabilities of each variable.
    period, degree
        P and N.
    slack
        What rounding, and what lies beyond half a period, add to every half width.
    """

    bias: float
    tables: Sequence[Floats]
    laws: Sequence[Floats]
    period: float
    degree: int
    slack: float

    @classmethod
    def of(cls, score: AdditiveScore, tables: Sequence[Floats], laws: Sequence[Floats]) -> "_Waves":
        """The period that holds the sum, and the degree that the half width aimed at needs."""
        bias, lattice = score.bias, 0.0
        if score.exact:
            lattice = coarsest_lattice(np.abs(np.concatenate([[bias], *tables])))
            bias += -lattice / 2 if score.strict else lattice / 2
        means = [float(t @ w) for t, w in zip(tables, laws, strict=True)]
        squares = [float((t - m) ** 2 @ w) for t, m, w in zip(tables, means, laws, strict=True)]
        ranges = [float(np.ptp(t)) for t in tables]
        centre, widest = abs(bias + math.fsum(means)), max(ranges)
        surely = abs(bias) + math.fsum(float(np.abs(t).max()) for t in tables)
        likely = centre + widest + math.sqrt(0.5 * _BEYOND * math.fsum(r * r for r in ranges))
        deviation = math.sqrt(math.fsum(squares))
        z = min(max(centre - widest, 0.0) / deviation, 2.5)
        density = math.exp(-0.5 * z * z) / (deviation * math.sqrt(2.0 * math.pi))
        period = 2.0 * min(1.001 * surely, likely)
        degree = min(max(math.ceil(0.5 * period * density / _TARGET), 64), _MOST)
        if lattice:
            # Whole cells: every value is then where the Fejer kernel of this degree is zero.
            cells = 2 * math.ceil(period / lattice / 2)
            if 2 * cells <= _MOST:
                period, degree = cells * lattice, 2 * cells * math.ceil(degree / (2 * cells)) - 1
        error = score.error + (0.0 if score.exact else 2.0 * (len(score.sizes) + 8) * UNIT * score.magnitude)
        # The slope of both polynomials times the error of the score; then the rounding of angles, of
        # products over units, and of sums.
        slack = (2.0 + math.pi) * degree / period * error
        slack += 16.0 * UNIT * (degree * (1.0 + surely / period) + len(tables) * (2.0 + math.log(degree)))
        slack += 0.0 if period >= 2.0 * surely else 2.0 * math.exp(-_BEYOND)
        return cls(bias, tables, laws, period, degree, slack)

    def tails(self) -> Iterator[Tails]:
        """For each variable the tails of all the others plus each of its values."""
        numbers = np.arange(1, self.degree + 1)
        share = numbers / (self.degree + 1)
        jump = np.pi * share * (1 - share) / np.tan(np.pi * share) + share
        odd = np.where(numbers % 2 == 1, 2.0 / (np.pi * numbers) * jump, 0.0)
        even = np.where(numbers % 2 == 0, 2.0 * (1 - share) / (self.degree + 1), 0.0)
        loud, lost = self._loud(odd + even)
        means = [np.full(len(table), 0.5) for table in self.tables]
        widths = [np.full(len(table), 1.0 / (self.degree + 1) + lost + self.slack) for table in self.tables]
        for part in pieces(len(loud), sum(map(len, self.tables))):
            now = loud[part]
            turns = [np.array([_turns(self._angle(x), now) for x in table.tolist()]) for table in self.tables]
            rest = _all_but_one(
                [np.einsum("c,cn->n", law, turn) for law, turn in zip(self.laws, turns, strict=True)]
            )
            rest *= _turns(self._angle(self.bias), now)
            for j, turn in enumerate(turns):
                # Not by BLAS, whose threads cost more than they bring on rows as short as these.
                means[j] += np.einsum("cn,n->c", turn, rest[j] * odd[now - 1]).imag
                widths[j] += np.einsum("cn,n->c", turn, rest[j] * even[now - 1]).real
        for mean, width in zip(means, widths, strict=True):
            yield Tails(np.clip(mean, 0.0, 1.0), np.clip(width, 0.0, 1.0))

    def _angle(self, value: float) -> float:
        """How far a value turns the wave of frequency 1."""
        return 2.0 * math.pi / self.period * value

    def _loud(self, weights: Floats) -> tuple[Counts, float]:
        """Frequencies at which the sum without any one unit may be loud, and what the others may bring.

        Two-valued units and sums of equal coins show how loud they are in one cosine: the squared size of
        1 - p + p exp(i x) is 1 - 2 p (1 - p) (1 - cos x).
        """
        known = [_coin(table, law) for table, law in zip(self.tables, self.laws, strict=True)]
        coins = sorted((coin for coin in known if coin is not None), reverse=True)
        loud, lost = np.arange(1, self.degree + 1), 0.0
        whole, without = np.ones((2, self.degree))
        for start in range(0, len(coins), _ROUND):
            for size, spread, often in coins[start : start + _ROUND]:
                louder = 1.0 - 2.0 * spread * (1.0 - _turns(self._angle(size), loud).real)
                if often > 1:
                    louder *= louder
                # The loudest of the sums without one unit: an earlier one, or this one.
                without = np.maximum(without * louder, whole)
                whole *= louder
            faint = without <= _FAINT**2
            lost += float(np.sqrt(np.maximum(without[faint], 0.0)) @ weights[loud[faint] - 1])
            loud, whole, without = loud[~faint], whole[~faint], without[~faint]
        return loud, lost


def _turns(angle: float, numbers: Counts) -> Turns:
    """exp(i n angle) for whole numbers n > 0 in rising order."""
    if len(numbers) < _FINE * 8:
        direct: Turns = np.exp(1j * angle * numbers)
        return direct
    fine = np.exp(1j * angle * np.arange(_FINE))
    coarse = np.exp(1j * (angle * _FINE) * np.arange(numbers[-1] // _FINE + 1))
    found: Turns = np.multiply.outer(coarse, fine).ravel()[numbers]
    return found


def _coin(table: Floats, law: Floats) -> tuple[float, float, int] | None:
    """A unit as equal coins: size of a step, p (1 - p), and how many there are; None for any other."""
    steps = np.diff(table)
    moved = np.flatnonzero(steps)
    if len(moved) == 1:
        chance = float(law[: moved[0] + 1].sum())
        return abs(float(steps[moved[0]])), chance * (1.0 - chance), 1
    if not np.array_equal(table, table[1] * np.arange(len(table))):
        return None
    keep = float(law @ np.arange(len(table))) / (len(table) - 1)
    return abs(float(table[1])), keep * (1.0 - keep), len(table) - 1


def _all_but_one(waves: Sequence[Turns]) -> Turns:
    """(d, n) for each variable the product of the others."""
    before, after = np.ones((2, len(waves), len(waves[0])), dtype=np.complex128)
    for j in range(1, len(waves)):
        np.multiply(before[j - 1], waves[j - 1], out=before[j])
        np.multiply(after[-j], waves[-j], out=after[-j - 1])
    product: Turns = before * after
    return product
