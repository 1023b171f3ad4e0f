"""At which harmonics a sum of coins is heard: everywhere else its characteristic function is nothing.

The size of a fair coin's factor is |cos x| at x = k pi a / P, at most exp(-y^2 / 2) where y is the distance
to the nearest multiple of pi. Up to k = (j + 1/2) P / a that is one of 0, pi, ..., j pi; so each coin has a few
harmonics at which its nearest multiple changes, and counting up over them gives the sum of all y^2 at every
harmonic at once: as a rule it shows that the product of all factors is nothing. Where it does not, more
multiples are looked at; then the largest coins are multiplied out, then all.
"""

import math
from functools import cache

import numpy as np

from kedge.evaluators.harmonics import FIRST, Circle, Coins, Waves, powers
from kedge.typing import Bools, Counts, Floats

__all__ = ["is_quiet", "loud_harmonics"]

# Harmonics that are worked out at a time: what stays in the processor's cache.
_PIECE = 512
# Factors that are multiplied out first; most harmonics are shown to be nothing by them.
_LARGEST = 48
# Multiples of pi that are looked at first, and then; farther ones count as if they were met.
_NEAR, _FAR = 1, 8
_NONE: Floats = np.empty(0)


def loud_harmonics(circle: Circle, coins: Coins, count: int, nothing: float) -> Floats:
    """The harmonics after the first few, up to ``count``, at which a sum may be larger than ``nothing``."""
    if count == FIRST:
        return _NONE
    shares, enough = np.abs(coins.sizes) / circle.period, _enough(coins.chance, nothing)
    for multiples in (_NEAR, _FAR):
        quiet = _away(shares, count - FIRST, multiples) >= enough
        if quiet.all():
            return _NONE
    k: Floats = np.flatnonzero(~quiet) + (FIRST + 1.0)
    angles = math.pi * np.sort(shares)[::-1]
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


def is_quiet(shares: Floats, starts: Counts, counts: Counts, nothing: Floats, chance: float) -> Bools:
    """Which of several sums are sure to be at most ``nothing`` at all harmonics after the first few.

    Parameters
    ----------
    shares
        The sizes of the coins of all sums, each as a share of its circle.
    starts
        Where the coins of each sum begin.
    counts, nothing
        Of each sum, as for `loud_harmonics`.
    chance
        That of every coin.
    """
    later = counts - FIRST
    away = _each_away(shares, starts, later)
    enough = np.repeat([_enough(chance, least) for least in nothing.tolist()], later)
    heard = np.repeat(np.arange(len(counts)), later)[away < enough]
    return np.bincount(heard, minlength=len(counts)) == 0


def _enough(chance: float, nothing: float) -> float:
    """The sum of squared distances, in half turns, at which the product of all factors is nothing."""
    # |phi|^2 = 1 - 4 c (1 - c) sin^2 x, and sin y >= 2 y / pi.
    rate = 0.5 if chance == 0.5 else 8.0 * chance * (1.0 - chance) / math.pi**2
    return (1e-6 - math.log(nothing)) / (rate * math.pi**2)


def _away(shares: Floats, later: int, multiples: int) -> Floats:
    """(later,) at least the sum of the squared distances at the harmonics after the first few, in half turns.

    At harmonic k a coin is (k s - j)^2 away, j being the nearest whole number; coins that are nearer to one
    beyond ``multiples`` count nothing.
    """
    table = _counted_up(shares, later, 0, later + 1, multiples)
    squares, sums, wholes = table[:, -1:] - table[:, 1:-1]
    k = np.arange(FIRST + 1.0, FIRST + later + 1.0)
    away: Floats = k * (k * squares - 2.0 * sums) + wholes
    return away


def _each_away(shares: Floats, starts: Counts, later: Counts) -> Floats:
    """The same of several sums, one after another."""
    often, blocks = np.diff(starts, append=len(shares)), later + 1
    ends = np.cumsum(blocks)
    firsts = ends - blocks
    table = _counted_up(shares, np.repeat(later, often), np.repeat(firsts, often), int(ends[-1]), _NEAR)
    k = np.arange(1, int(later.sum()) + 1)
    here = k + np.repeat(np.arange(len(later)), later)  # each block has one place more
    k = here - np.repeat(firsts, later) + float(FIRST)
    squares, sums, wholes = table[:, np.repeat(ends, later)] - table[:, here]
    away: Floats = k * (k * squares - 2.0 * sums) + wholes
    return away


def _counted_up(shares: Floats, later: int | Counts, first: int | Counts, total: int, multiples: int) -> Floats:
    """(3, total + 1) running sums, by the harmonic up to which a whole number is a coin's nearest.

    (k s - j)^2 = k^2 s^2 - 2 k s j + j^2: of s^2, of s times the growth of j, and of the growth of j^2.
    """
    halves, steps, jumps = _growth(multiples)
    upto = halves / np.maximum(shares, 1e-300) - FIRST
    place = np.minimum(np.maximum(upto, 0.0), later).astype(np.int64) + first
    table = np.zeros((3, total + 1))
    table[0, 1:] = np.bincount(place[-1], shares * shares, total)
    flat = place.ravel()
    table[1, 1:] = np.bincount(flat, (steps * shares).ravel(), total)
    table[2, 1:] = np.bincount(flat, np.repeat(jumps, len(shares)), total)
    return np.cumsum(table, axis=1, out=table)


@cache
def _growth(multiples: int) -> tuple[Floats, Floats, Floats]:
    """Where the nearest whole number changes, and by how much it and its square grow, counted from the end."""
    j = np.arange(multiples + 1.0)
    steps, jumps = np.full(len(j), -1.0), -2.0 * j - 1.0
    steps[-1], jumps[-1] = multiples, multiples**2
    return j[:, None] + 0.5, steps[:, None], jumps


def _sizes(halves: Waves, chance: float) -> Floats:
    """The sizes of products of factors, from e^{i x} of each."""
    if chance == 0.5:
        sizes: Floats = np.abs(np.multiply.reduce(halves.real))
    else:
        lost = (4.0 * chance * (1.0 - chance)) * halves.imag**2
        sizes = np.sqrt(np.multiply.reduce(np.maximum(1.0 - lost, 0.0)))
    return sizes
