r"""The tail of a sum of independent variables from its characteristic function, certified.

Wind the real line around a circle of circumference P, the middle of the sum opposite the seam. What falls
outside one turn is rare (Hoeffding), and inside it "the sum is positive" is an arc, whose indicator is a
sum of two sawtooth waves. Vaaler's polynomial of degree K is so close to the sawtooth psi that

    |psi*(x) - psi(x)| <= F(x) / (2K + 2),    F(x) = sum_{|k| <= K} (1 - |k| / (K + 1)) e^{2 pi i k x}

everywhere (Vaaler, "Some extremal functions in Fourier analysis", 1985, theorem 18). The expectations of
psi* and of F are finite sums over phi_k, the characteristic function of the sum at the first K harmonics,
so that for a sum S with mean mu and t = mu / P

    P(S > 0) = 1/2 + t + sum_k Phi_k / (pi k) Im((e^{2 pi i k t} - (-1)^k) phi_k)   up to
               (E F(at zero) + E F(at the seam)) / (2K + 2) + P(outside one turn).

No grid, no rounding of coefficients: twice as many harmonics halve the width. A coin is a factor cos(k pi a
/ P). As a rule only the first few harmonics are *heard*: at all others the product of these factors is
nothing (`kedge.evaluators.loudness` shows which), so that they cost nothing and the first few tell the
probability, and how many harmonics its proof takes, in advance.
"""

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kedge.evaluators.laws import Coins, Laws
from kedge.model.scores.additive import UNIT
from kedge.results.interval import Interval
from kedge.typing import Counts, Floats

__all__ = ["FIRST", "Circle", "Spectra", "Waves", "circumference", "powers"]

Complexes = NDArray[np.complex128]
Waves = NDArray[Any]
"""Real for fair coins, else complex."""

FIRST = 16
"""Harmonics at which every sum is worked out: a sum of many words is heard at about ten."""
_FIRST = np.arange(1.0, FIRST + 1.0)
# As good as infinitely many harmonics.
_ENDLESS = 1 << 40


def circumference(squares: float | Floats, outside: float) -> Any:
    """A sum of variables with these squared ranges leaves one turn of such a circle that seldom."""
    root = math.sqrt if isinstance(squares, float) else np.sqrt
    return 2.0 * root(0.5 * squares * math.log(1.0 / outside))


@dataclass(frozen=True)
class Circle:
    """A circle that sums are wound around, and their characteristic functions at its harmonics.

    Functions are given at the first `FIRST` harmonics, then at those in ``more``; about the means.

    Parameters
    ----------
    period
        The circumference; of several circles, one for each coin or sum.
    """

    period: float | Floats

    def factors(self, coins: Coins, more: Floats) -> Waves:
        """(n, h) the characteristic function of each coin; real for fair ones."""
        angles: Floats = math.pi / self.period * coins.sizes
        if coins.chance == 0.5:
            first: Waves = _cosines(angles)
            return np.vstack([first, np.cos(np.multiply.outer(more, angles))]).T if len(more) else first.T
        lean = powers((1.0 - 2.0 * coins.chance) * angles, 1, FIRST)
        waves = _unfair(powers(angles, 1, FIRST), coins.chance) * lean
        if len(more):
            steps = np.multiply.outer(angles, more)
            late = _unfair(np.exp(1j * steps), coins.chance) * np.exp(1j * (1.0 - 2.0 * coins.chance) * steps)
            waves = np.hstack([waves, late])
        return waves

    def characteristic(self, coins: Coins, laws: Laws, more: Floats) -> Waves:
        """(h,) the characteristic function of a sum."""
        product: Waves = np.multiply.reduce(self.factors(coins, more))
        if len(laws.starts):
            angles = 2.0 * math.pi / self.period * laws.away
            waves = np.hstack([powers(angles, 1, FIRST), np.exp(1j * np.multiply.outer(angles, more))])
            each = np.add.reduceat(laws.weights[:, None] * waves, laws.starts)
            product = product * np.multiply.reduce(each)
        return product


class Spectra:
    """Some sums on a circle.

    Parameters
    ----------
    circle
        The circle, or that of each sum.
    phi
        (r, h) their characteristic functions, as a circle gives them.
    more
        Harmonics after the first few at which they are given.
    means
        (3, r) means: if everything left open speaks against a positive sum, as it is most likely, and if
        everything speaks for it.
    squares
        (r,) sums of the squared ranges.
    terms
        How many factors a characteristic function has, at most: each is rounded. Of all, or of each.

    Every sum is worked out by itself, to the last bit: whatever others are beside it.
    """

    def __init__(
        self, circle: Circle, phi: Waves, more: Floats, means: Floats, squares: Floats, terms: int | Counts
    ) -> None:
        self._more, self._terms, self._half = more, terms, 0.5 * circle.period
        self._means, self._squares = means, np.maximum(squares, 1e-30 * circle.period * circle.period)
        self._uneven = np.iscomplexobj(phi)
        turns = np.minimum(np.maximum(means / circle.period, -0.5), 0.5)
        angles = (2.0 * math.pi * turns).ravel()
        waves = powers(angles, 1, FIRST)
        if len(more):
            waves = np.hstack([waves, np.exp(1j * np.multiply.outer(angles, more))])
        waves = waves.reshape(*turns.shape, -1) * phi
        self._start, self._across, self._along, self._seam = 0.5 + turns, waves.imag, waves.real, phi

    def _chances(self, weights: Floats, seam: Floats) -> Floats:
        """(3, r) what a polynomial says of the chance that each sum is positive."""
        chances: Floats = self._start + np.add.reduce(self._across * weights, axis=-1)
        if self._uneven:
            chances -= np.add.reduce(self._seam.imag * (seam * weights), axis=-1)
        return chances

    def _spread(self, triangle: Floats, seam: Floats) -> Floats:
        """(3, r) how far off it may be, times 2K + 2."""
        along = np.add.reduce(self._along * triangle, axis=-1)
        spread: Floats = 2.0 * along + (
            2.0 + 2.0 * np.add.reduce(self._seam.real * (seam * triangle), axis=-1)
        )
        return spread

    @cached_property
    def estimates(self) -> Floats:
        """(3, r) the chance that each sum is positive, from endlessly many harmonics, if no more is heard."""
        weights, _, seam = _kernel(_ENDLESS, self._more)
        return np.minimum(np.maximum(self._chances(weights, seam), 0.0), 1.0)

    @cached_property
    def spread(self) -> Floats:
        """(3, r) so many harmonics as half of this divided by the half width of an interval prove it."""
        _, triangle, seam = _kernel(_ENDLESS, self._more)
        return np.maximum(self._spread(triangle, seam), 0.0)

    def tails(self, count: int | Counts, nothing: float | Floats) -> list[Interval]:
        """Certified intervals for the chance that each sum is positive; see `bounds`."""
        return list(map(Interval, *self.bounds(count, nothing).tolist()))

    def bounds(self, count: int | Counts, nothing: float | Floats) -> Floats:
        """(3, r) the lower ends of certified intervals, the chances as they are most likely, the upper ends.

        Parameters
        ----------
        count
            How many harmonics the intervals rest on; where only the first few are heard, it may be a number
            for each sum.
        nothing
            No characteristic function is larger than this at a harmonic at which it is not given; likewise.
        """
        weights, triangle, seam = _kernel(count, self._more)
        middle, half, sides = self._chances(weights, seam), self._half, self._means
        outside = np.exp(-2.0 * half * half / self._squares)
        # One side of the mean is rarer than this, wherever zero is.
        beyond = 1.001 * np.exp(-2.0 * sides * sides / self._squares)
        each, all_of_them = _unheard(count, nothing)
        slack = 1.001 * outside + ((self._terms + 2) * each + all_of_them)
        width = self._spread(triangle, seam) / (2.0 * count + 2.0) + slack
        low, high = middle[0] - width[0], middle[2] + width[2]
        # Where zero is farther off than one turn reaches, Hoeffding's bound is all there is.
        bottom = np.where(sides[0] > -half, low, 0.0)
        bottom = np.where(sides[0] > 0.0, np.maximum(low, 1.0 - beyond[0]), bottom)
        top = np.where(sides[2] < half, high, 1.0)
        top = np.where(sides[2] < 0.0, np.minimum(high, beyond[2]), top)
        low, high = np.maximum(bottom, 0.0), np.minimum(np.maximum(bottom, top), 1.0)
        return np.array([low, np.minimum(np.maximum(self.estimates[1], low), high), high])


def _unheard(count: int | Counts, nothing: float | Floats) -> tuple[Any, Any]:
    """How far off a chance may be: for each factor, and besides.

    A factor is off by at most 12 K units, or by 16 k^2 of the first few; and so is what it is multiplied
    with. The sums over harmonics weigh an error by 2 + ln K at most.
    """
    weigh = 2.0 + np.log(count)
    each = np.maximum(12.0 * (count + 1), 16.0 * FIRST**2) * UNIT * weigh
    return each, 2.0 * nothing * weigh + 8.0 * count * UNIT


def powers(angles: Floats, first: int, count: int) -> Complexes:
    """(n, count) e^{i k angle} for k = first, first + 1, ...: each half of the table from the one before.

    A product of complex numbers is off by less than 3 units; e^{i k angle} by less than 10 k.
    """
    table = np.empty((len(angles), count), dtype=np.complex128)
    table[:, 0] = np.exp(1j * first * angles)
    step = np.exp(1j * angles)
    done = 1
    while done < count:
        more = min(done, count - done)
        np.multiply(table[:, :more], step[:, None], out=table[:, done : done + more])
        step = step * step
        done += more
    return table


def _cosines(angles: Floats) -> Floats:
    """(FIRST, n) cos(k angle) for the first few k: cos (n + j)x = 2 cos nx cos jx - cos (n - j)x.

    Each is off by less than 16 k^2 units.
    """
    table = np.empty((FIRST + 1, len(angles)))
    table[0] = 1.0
    np.cos(angles, out=table[1])
    done = 1
    while done < FIRST:
        new = table[done + 1 : 2 * done + 1]
        np.multiply(table[1 : done + 1], 2.0 * table[done], out=new)
        new -= table[done - 1 :: -1]
        done *= 2
    return table[1:]


def _unfair(halves: Waves, chance: float) -> Waves:
    """E e^{i u (X - a / 2)} of coins from e^{i u a / 2}: cos + i (2 c - 1) sin."""
    return halves.real + (2.0 * chance - 1.0) * 1j * halves.imag


def _kernel(count: int | Counts, more: Floats) -> tuple[Floats, Floats, Floats]:
    """What the polynomial of a degree makes of the first few harmonics, and of some more.

    (h,) of one degree, (r, h) of several.
    """
    if not isinstance(count, int):
        return _vaaler(_FIRST, count[:, None])
    return _vaaler(np.concatenate([_FIRST, more]), count) if len(more) else _first_kernel(count)


@lru_cache(maxsize=128)
def _first_kernel(count: int) -> tuple[Floats, Floats, Floats]:
    return _vaaler(_FIRST, count)


def _vaaler(k: Floats, count: int | Counts) -> tuple[Floats, Floats, Floats]:
    """Phi_k / (pi k), the triangle 1 - k / (K + 1), and (-1)^k."""
    t = k / (count + 1)
    phi = math.pi * t * (1.0 - t) / np.tan(math.pi * t) + t
    return phi / (math.pi * k), 1.0 - t, np.where(k % 2 == 0, 1.0, -1.0)
