"""How fine a grid must be, and what it costs: shared by every evaluator that adds up on one."""

import math

import numpy as np

from kedge.typing import Floats

__all__ = ["BUDGET", "cell_size", "coarsest_lattice", "pass_cost"]

BUDGET = 3 << 29
"""Cells times operations that one pass over a grid may cost: about half a second."""


def cell_size(target: float, density: float, terms: int) -> float:
    """Cell size for an interval of half width ``target``.

    The half width is the density at the threshold times the leftover's reach: sqrt(7 n h^2 / 12) at
    eta = exp(-14) for n terms rounded by up to h/2 each (`kedge.evaluators.grids.tails`).
    """
    return target / (density * math.sqrt(7.0 * terms / 12.0))


def coarsest_lattice(values: Floats) -> float:
    """The largest power of two that divides every value exactly."""
    grain = math.ldexp(1.0, math.frexp(float(values.max()))[1] - 53)
    divisor = int(np.gcd.reduce((values / grain).astype(np.int64)))
    return grain * (divisor & -divisor)


def pass_cost(terms: int, more: int, widest: float, deviation: float, step: float) -> float:
    """Cells times operations of a pass: halves of halves have narrower distributions.

    ``more`` operations are on the whole distribution, ``widest`` and ``deviation`` are those of the sum.
    """
    operations = min(terms, 28.0 * math.sqrt(terms)) + more
    return operations * min(widest, 17.0 * deviation) / step
