"""At which harmonics a sum of coins is heard: everywhere else its characteristic function is nothing.

The size of a fair coin's factor is |cos x| at x = k pi a / P, at most exp(-y^2 / 2) where y is the distance
to the nearest multiple of pi. Up to k = (j + 1/2) P / a that is one of 0, pi, ..., j pi; so each coin has a
few harmonics at which its nearest multiple changes, and counting up over them gives the sum of all y^2 at
every harmonic at once: as a rule it shows that the product of all factors is nothing. Where it does not,
more multiples are looked at; then blocks of neighbours with small coins, which hardly turn within one; then
the largest coins are multiplied out, then all.
"""

import math
from collections.abc import Iterator
from functools import cache

import numpy as np

from kedge.evaluators.harmonics import FIRST, Circle, Waves, powers
from kedge.evaluators.laws import Coins
from kedge.model.scores.additive import UNIT
from kedge.typing import Bools, Counts, Floats

__all__ = ["is_quiet", "loud_harmonics"]

# Harmonics that are worked out at a time: what stays in the processor's cache.
_PIECE = 512
# Factors that are multiplied out first; most harmonics are shown to be nothing by them.
_LARGEST = 48
# Multiples of pi that are looked at first, and then; farther ones count as if they were met.
_NEAR, _FAR = 2, 8
# More harmonics than this are looked at in blocks first: of so many each, with so many small coins at most,
# which turn by at most so much within one.
_MANY, _BLOCK, _SMALL, _STEP = 512, 16, 128, 0.4
_NONE: Floats = np.empty(0)


def loud_harmonics(
    circle: Circle, coins: Coins, count: int, nothing: float, *, tried: bool = False
) -> Floats:
    """The harmonics after the first few, up to ``count``, at which a sum may be larger than ``nothing``.

    ``tried`` says that the sum is not known to be quiet everywhere (`is_quiet`).
    """
    if count == FIRST:
        return _NONE
    shares: Floats = np.abs(coins.sizes) / circle.period
    enough = _enough(coins.chance, nothing)
    for multiples in (_FAR,) if tried else (_NEAR, _FAR):
        quiet = _away(shares, count - FIRST, multiples) >= enough
        if quiet.all():
            return _NONE
    angles = math.pi * np.sort(shares)[::-1]
    k: Floats = np.flatnonzero(~quiet).astype(np.float64) + (FIRST + 1.0)
    if len(k) > _MANY:
        k = k[_in_loud_blocks(k, angles, coins.chance, nothing)]
    return np.concatenate([_NONE, *_multiplied_out(k, angles, coins.chance, nothing)])


def _in_loud_blocks(k: Floats, angles: Floats, chance: float, nothing: float) -> Bools:
    """Whether each harmonic is in a block of neighbours one of which may be loud.

    A factor's size changes by at most |x - y| from x to y: it is |cos| or sqrt(1 - a sin^2), whose slope
    a |sin cos| / sqrt(cos^2 + (1 - a) sin^2) is at most |sin|. So at all harmonics of a block it is at most
    what it is in the middle and half the block's length times the angle: little, for small coins.
    """
    block = ((k - k[0]) // _BLOCK).astype(np.int64)
    small = angles[angles <= _STEP / _BLOCK][:_SMALL]
    middle, total = k[0] + 0.5 * (_BLOCK - 1), int(block[-1]) + 1
    slack = (0.5 * (_BLOCK - 1)) * small[:, None]
    table = _parts(powers(_BLOCK * small, 0, min(_PIECE, total)))
    loud = [
        _sizes(np.exp(1j * (middle + _BLOCK * first) * small), table, chance, slack) > nothing
        for first in range(0, total, _PIECE)
    ]
    in_loud: Bools = np.concatenate(loud)[block]
    return in_loud


def _multiplied_out(k: Floats, angles: Floats, chance: float, nothing: float) -> Iterator[Floats]:
    """Those of some harmonics at which a sum is loud: by the largest factors, then by all."""
    if not len(k):
        return
    largest, others = angles[:_LARGEST], angles[_LARGEST:]
    # e^{i (first + j) x} = e^{i first x} e^{i j x}: the second is the same for every piece.
    table = _parts(powers(largest, 0, min(_PIECE, int(k[-1] - k[0]) + 1)))
    begin = 0
    while begin < len(k):
        first = int(k[begin])
        end = int(np.searchsorted(k, first + _PIECE))
        part, begin = k[begin:end], end
        product = _sizes(np.exp(1j * first * largest), table, chance)[(part - first).astype(np.int64)]
        still = np.flatnonzero(product > nothing)
        alone = _parts(np.exp(1j * np.multiply.outer(others, part[still])))
        rest = _sizes(np.ones(len(others)), alone, chance)
        yield part[still[product[still] * rest > nothing]]


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
    quiet: Bools = np.bincount(heard, minlength=len(counts)) == 0
    return quiet


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
    k = np.arange(FIRST + 1.0, FIRST + later + 1.0)
    return _added_up(shares, k, table[:, -1:] - table[:, 1:-1], multiples)


def _each_away(shares: Floats, starts: Counts, later: Counts) -> Floats:
    """The same of several sums, one after another."""
    often, blocks = np.diff(starts, append=len(shares)), later + 1
    ends = np.cumsum(blocks)
    firsts = ends - blocks
    table = _counted_up(shares, np.repeat(later, often), np.repeat(firsts, often), int(ends[-1]), _NEAR)
    here = np.arange(1, int(later.sum()) + 1)
    here += np.repeat(np.arange(len(later)), later)  # each block has one place more
    k = (here - np.repeat(firsts, later)).astype(np.float64) + FIRST
    return _added_up(shares, k, table[:, np.repeat(ends, later)] - table[:, here], _NEAR)


def _added_up(shares: Floats, k: Floats, parts: Floats, multiples: int) -> Floats:
    """The sums of (k s - j)^2 from their parts, less what the rounding of running sums may have added."""
    squares, sums, wholes = parts
    terms = (multiples + 1) * len(shares)
    largest = k * (k * float(shares @ shares) + 4.0 * multiples * float(shares.sum()))
    largest += 2.0 * multiples**2 * len(shares)
    away: Floats = k * (k * squares - 2.0 * sums) + wholes - 4.0 * (terms + 8) * UNIT * largest
    return away


def _counted_up(
    shares: Floats, later: int | Counts, first: int | Counts, total: int, multiples: int
) -> Floats:
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
    """Where the nearest whole number changes, and by how much it and its square grow, from the end."""
    j = np.arange(multiples + 1.0)
    steps, jumps = np.full(len(j), -1.0), -2.0 * j - 1.0
    steps[-1], jumps[-1] = multiples, multiples**2
    return j[:, None] + 0.5, steps[:, None], jumps


def _parts(waves: Waves) -> tuple[Floats, Floats]:
    """Cosines and sines, each together in memory."""
    return np.ascontiguousarray(waves.real), np.ascontiguousarray(waves.imag)


def _sizes(start: Waves, table: tuple[Floats, Floats], chance: float, slack: Floats | None = None) -> Floats:
    """The sizes of products of factors, from e^{i x} of each: one row of a table times a start.

    With some slack for each factor, they are bounds.
    """
    (cosines, sines), real, imaginary = table, start.real[:, None], start.imag[:, None]
    if chance == 0.5:
        turned = real * cosines
        turned -= imaginary * sines
        sizes: Floats = np.abs(turned, out=turned)
    else:
        lost = (4.0 * chance * (1.0 - chance)) * (real * sines + imaginary * cosines) ** 2
        sizes = np.sqrt(np.maximum(1.0 - lost, 0.0))
    if slack is not None:
        sizes += slack
        np.minimum(sizes, 1.0, out=sizes)
    product: Floats = np.multiply.reduce(sizes)
    return product
