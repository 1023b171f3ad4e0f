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
/ P), and all but the first few harmonics are products of so many of them that a few dozen factors show
that the product is nothing.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kedge.model.scores.additive import UNIT
from kedge.results.interval import Interval
from kedge.typing import Floats

__all__ = ["Coins", "Harmonics", "Laws", "Waves", "density_at"]

Complexes = NDArray[np.complex128]
Waves = NDArray[Any]
"""Real for fair coins, else complex."""

# Harmonics that are worked out at a time: what stays in the processor's cache.
_PIECE = 512
# Factors that are multiplied out for every harmonic; most are shown to be nothing by them.
_FIRST = 48


class Coins(NamedTuple):
    """Independent variables that are (n,) sizes with the same chance, and else 0."""

    sizes: Floats
    chance: float = 0.5

    @property
    def squares(self) -> float:
        """The sum of the squared ranges."""
        return float(self.sizes @ self.sizes)

    @property
    def lean(self) -> float:
        """How far the mean of the sum lies below the middle between its ends."""
        return (0.5 - self.chance) * float(self.sizes.sum())


class Laws(NamedTuple):
    """Independent variables of several values: (n, m) values, and the chance of each."""

    values: Floats
    weights: Floats

    @property
    def squares(self) -> float:
        """The sum of the squared ranges."""
        inside = self.weights > 0.0
        spread = np.where(inside, self.values, -np.inf).max(axis=1)
        spread -= np.where(inside, self.values, np.inf).min(axis=1)
        return float(spread @ spread)


@dataclass(frozen=True)
class Harmonics:
    """The first ``count`` harmonics of a circle, and how exactly the functions on them are known.

    Parameters
    ----------
    period
        The circumference.
    count
        How many harmonics.
    target
        The half width of intervals that they are meant for.
    """

    period: float
    count: int
    target: float

    @property
    def nothing(self) -> float:
        """A product of factors below this is not multiplied out: it cannot matter."""
        return 1e-4 * self.target

    @classmethod
    def of(cls, target: float, density: float, squares: float) -> "Harmonics":
        """Enough harmonics for an interval of half width ``target``.

        Parameters
        ----------
        target
            The half width wanted.
        density
            Height of the sum's density at zero, as far as it can be guessed.
        squares
            The sum of the squared ranges of all variables.
        """
        outside = target / 50.0
        period = 2.0 * math.sqrt(0.5 * squares * math.log(1.0 / outside))
        # The half width is about density * period / 2 (K + 1). Few different numbers, so that what depends
        # on them alone is worked out once.
        wanted = max(density * period / (1.8 * target), 16.0)
        return cls(period, math.ceil(2.0 ** (math.ceil(4.0 * math.log2(wanted)) / 4.0)), target)

    def factors(self, coins: Coins) -> Waves:
        """(n, K) the characteristic function of each coin about its middle; real for fair ones."""
        return _about_middle(_powers(self._angles(coins), 1, self.count), coins.chance)

    def characteristic(self, coins: Coins, laws: Laws | None = None) -> Waves:
        """(K,) the characteristic function of a sum, coins about their middles and laws about their means."""
        order = np.argsort(-np.abs(coins.sizes), kind="stable")
        first, others = (Coins(coins.sizes[part], coins.chance) for part in (order[:_FIRST], order[_FIRST:]))
        parts = []
        for start in range(1, self.count + 1, _PIECE):
            count = min(_PIECE, self.count + 1 - start)
            powers = _powers(self._angles(first), start, count)
            product: Waves = np.multiply.reduce(_about_middle(powers, first.chance))
            live = np.flatnonzero(np.abs(product) > self.nothing)
            if len(live):
                more = self._at((live + start).astype(np.float64), others, laws)
                product = product.astype(more.dtype, copy=False)
                product[live] *= more
            parts.append(product)
        return np.concatenate(parts) if len(parts) > 1 else parts[0]

    def _angles(self, coins: Coins) -> Floats:
        """(n,) half of the angle that a coin turns at the first harmonic."""
        angles: Floats = math.pi / self.period * coins.sizes
        return angles

    def _at(self, k: Floats, coins: Coins, laws: Laws | None) -> Waves:
        """The same at some harmonics."""
        angles = np.multiply.outer(self._angles(coins), k)
        waves = np.cos(angles) if coins.chance == 0.5 else np.exp(1j * angles)
        product: Waves = np.multiply.reduce(_about_middle(waves, coins.chance))
        if laws is not None and len(laws.values):
            means = (laws.values * laws.weights).sum(axis=1)
            away = 2.0 * math.pi / self.period * (laws.values - means[:, None])
            waves = np.exp(1j * np.multiply.outer(away, k))
            product = product * np.multiply.reduce(np.einsum("nm,nmk->nk", laws.weights, waves))
        return product

    def tails(
        self,
        phi: Waves,
        means: tuple[Floats, Floats, Floats],
        squares: Floats,
        terms: int,
        lean: Floats | None = None,
    ) -> list[Interval]:
        """Certified intervals for P(sum > 0).

        Parameters
        ----------
        phi
            (r, K) characteristic functions.
        means
            (r,) the mean if everything left open speaks against a positive sum, as it is most likely, and if
            everything speaks for it.
        squares
            (r,) the sums of the squared ranges.
        terms
            How many factors the characteristic functions have, at most: each is rounded.
        lean
            (r,) how far the means lie below what the characteristic functions are about.
        """
        if lean is not None:
            phi = phi * _powers(2.0 * math.pi / self.period * lean, 1, self.count)
        k = self.count
        weights, triangle, seam = _kernel(k)
        half = 0.5 * self.period
        sides, squares = np.stack(means), np.maximum(squares, 1e-300)
        with np.errstate(divide="ignore", over="ignore"):
            outside = np.exp(-2.0 * half * half / squares)
            # One side of the mean is rarer than this, wherever zero is.
            beyond = np.exp(-2.0 * sides * sides / squares)
        turns = np.clip(sides / self.period, -0.5, 0.5)
        waves = _powers((2.0 * math.pi * turns).ravel(), 1, k).reshape(3, *phi.shape) * phi
        middle = 0.5 + turns + waves.imag @ weights
        if np.iscomplexobj(phi):
            middle -= phi.imag @ (seam * weights)
        flat = 1.0 + 2.0 * (phi.real @ (seam * triangle))
        width = (1.0 + 2.0 * (waves.real @ triangle) + flat) / (2.0 * k + 2.0)
        # A factor is off by at most 12 K units, and so is what it is multiplied with; those that were left
        # out are off by what they are. The sums over harmonics weigh an error by 2 + ln K at most.
        off = 12.0 * (terms + 2) * (k + 1) * UNIT + 2.0 * self.nothing
        slack = 1.001 * outside + off * (2.0 + math.log(k)) + 8.0 * k * UNIT
        low, high = middle[0] - width[0] - slack, middle[2] + width[2] + slack
        # Where zero is farther off than one turn reaches, Hoeffding's bound is all there is.
        low = np.where(sides[0] > 0.0, np.maximum(low, 1.0 - 1.001 * beyond[0]), low)
        low = np.where(sides[0] > -half, low, 0.0)
        high = np.where(sides[2] < 0.0, np.minimum(high, 1.001 * beyond[2]), high)
        high = np.where(sides[2] < half, high, 1.0)
        return [
            Interval(min(a, b), m, max(a, b)).within(0.0, 1.0)
            for a, m, b in zip(low.tolist(), middle[1].tolist(), high.tolist(), strict=True)
        ]


def density_at(level: float, deviation: float) -> float:
    """The Gaussian density of a sum at a distance from its mean, in deviations."""
    return math.exp(-0.5 * level * level) / (deviation * math.sqrt(2.0 * math.pi))


def _about_middle(halves: Waves, chance: float) -> Waves:
    """E e^{i u (X - a / 2)} of coins from e^{i u a / 2}: cos + i (2 c - 1) sin."""
    return halves.real if chance == 0.5 else halves.real + (2.0 * chance - 1.0) * 1j * halves.imag


def _powers(angles: Floats, first: int, count: int) -> Complexes:
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


@lru_cache(maxsize=64)
def _kernel(count: int) -> tuple[Floats, Floats, Floats]:
    """Phi_k / (pi k), the triangle 1 - k / (K + 1), and (-1)^k."""
    k = np.arange(1, count + 1, dtype=np.float64)
    t = k / (count + 1)
    phi = math.pi * t * (1.0 - t) / np.tan(math.pi * t) + t
    return phi / (math.pi * k), 1.0 - t, np.where(k % 2 == 0, 1.0, -1.0)
