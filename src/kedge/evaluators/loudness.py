"""At which harmonics a sum of coins is heard: everywhere else its characteristic function is nothing.

The size of a fair coin's factor is |cos x| at x = k pi a / P, at most exp(-y^2 / 2) where y is the distance
to the nearest multiple of pi. Of the coins up to a = 3P / 2k that multiple is 0 or pi, so that running sums
of a and a^2 give the sum of their y^2 at once: as a rule it shows that the product of all factors is nothing.
Where it does not, the largest coins are multiplied out, then all.
"""

import math

import numpy as np

from kedge.evaluators.harmonics import FIRST, Circle, Coins, Waves, powers
from kedge.typing import Floats

__all__ = ["loud_harmonics"]

# Harmonics that are worked out at a time: what stays in the processor's cache.
_PIECE = 512
# Factors that are multiplied out first; most harmonics are shown to be nothing by them.
_LARGEST = 48


def loud_harmonics(circle: Circle, coins: Coins, count: int, nothing: float) -> Floats:
    """The harmonics after the first few, up to ``count``, at which a sum may be larger than ``nothing``."""
    k: Floats = np.arange(FIRST + 1.0, count + 1.0)
    sizes = np.sort(np.abs(coins.sizes))
    running = np.zeros((2, len(sizes) + 1))
    np.cumsum([sizes, sizes * sizes], axis=1, out=running[:, 1:])
    sums, squares = running
    turns = k / circle.period
    near, far = np.searchsorted(sizes, np.divide.outer((0.5, 1.5), turns), side="right")
    away = turns * (turns * squares[far] - 2.0 * (sums[far] - sums[near])) + (far - near)
    # |phi|^2 = 1 - 4 c (1 - c) sin^2 x, and sin y >= 2 y / pi.
    rate = 0.5 if coins.chance == 0.5 else 8.0 * coins.chance * (1.0 - coins.chance) / math.pi**2
    k = k[rate * math.pi**2 * away < 1e-6 - math.log(nothing)]
    if not len(k):
        return k
    angles = math.pi / circle.period * sizes[::-1]
    largest, others = angles[:_LARGEST], angles[_LARGEST:]
    loud = []
    for first in range(int(k[0]), int(k[-1]) + 1, _PIECE):
        part = k[(k >= first) & (k < first + _PIECE)]
        at = (part - first).astype(np.int64)
        if not len(part):
            continue
        product = _sizes(powers(largest, first, int(at[-1]) + 1), coins.chance)[at]
        still = np.flatnonzero(product > nothing)
        rest = _sizes(np.exp(1j * np.multiply.outer(others, part[still])), coins.chance)
        loud.append(part[still[product[still] * rest > nothing]])
    return np.concatenate(loud)


def _sizes(halves: Waves, chance: float) -> Floats:
    """The sizes of products of factors, from e^{i x} of each."""
    if chance == 0.5:
        sizes: Floats = np.abs(np.multiply.reduce(halves.real))
    else:
        lost = (4.0 * chance * (1.0 - chance)) * halves.imag**2
        sizes = np.sqrt(np.multiply.reduce(np.maximum(1.0 - lost, 0.0)))
    return sizes
