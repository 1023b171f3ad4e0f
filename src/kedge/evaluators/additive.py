"""Exact precision of an additive score: the tail of a sum of independent bounded variables.

Given an anchor that keeps a_j occurrences of unit j, the score is bias + sum_j s_j(a_j + B_j) with
independent B_j ~ Bin(m_j - a_j, keep), and the precision is the probability that it is positive.
Few combinations are all added up; more are met in the middle or put on a grid, which leaves a
certified interval that shrinks with the grid (`kedge.evaluators.grids.tails`).
"""

import math
from collections.abc import Sequence

import numpy as np

from kedge.evaluators.estimates import Estimates
from kedge.evaluators.grids.cells import BUDGET, cell_size, coarsest_lattice, pass_cost
from kedge.evaluators.grids.gridsum import GridSum, Variable
from kedge.evaluators.grids.sums import Free, all_sums, free_part, middle, moments
from kedge.evaluators.grids.tails import grid_tail, known_extremes
from kedge.model.scores.additive import AdditiveScore
from kedge.reading.reading import Reading
from kedge.results.interval import UNKNOWN, Interval
from kedge.typing import Counts, Kept

__all__ = ["Additive", "additive_tail"]

# Up to this many combinations of counts are all added up: well under a millisecond.
ALL = 1 << 14
# Two halves of at most `ALL` combinations each are met in the middle: a few milliseconds.
HALVES = ALL * ALL
# Up to this many free occurrences of a linear unit are better rounded one by one (squared ranges
# m h^2 / 12 on average) than as a whole (up to h^2).
SINGLE = 12


def additive_tail(
    score: AdditiveScore,
    kept: Counts,
    keep: float = 0.5,
    *,
    threshold: float | None = None,
    width: float | None = None,
    budget: int = BUDGET,
) -> Interval:
    """Certified interval for the precision of an anchor.

    Parameters
    ----------
    score
        The model's score for the explained label.
    kept
        (d,) occurrences of each unit the anchor keeps.
    keep
        Probability that an occurrence outside the anchor stays.
    threshold
        Refine until the interval lies on one side of it: all of it at or above, or all below.
    width
        Refine until the interval is no wider. Without either, the first grid's interval.
    budget
        Cells times variables that the finest grid may cost.

    Returns
    -------
    Interval
        The interval may stay open at ``threshold`` when the probability is too close to it, or
        when so much mass lies where only the model's own rounding decides.
    """
    free = free_part(score, kept, keep)
    if not free.values:
        return _certain(score, free.base)
    error = score.error + score.added_up(len(score.sizes))
    highest = free.base + sum(float(v.max()) for v in free.values)
    if free.base > error or highest < -error:
        return known_extremes(UNKNOWN, free.base, highest, error)
    if free.states <= ALL:
        return all_sums(free, error, strict=score.strict)
    if width is not None and free.states <= HALVES:
        return middle(free, error, strict=score.strict)
    best, settled = _refine(score, free, error, threshold, width, budget)
    if not settled and free.states <= HALVES:
        return middle(free, error, strict=score.strict)
    return known_extremes(best, free.base, highest, error)


def _refine(
    score: AdditiveScore,
    free: Free,
    error: float,
    threshold: float | None,
    width: float | None,
    budget: int,
) -> tuple[Interval, bool]:
    """Refine the grid until the interval is what was asked for; also says whether it is."""
    target = _first_target(free, threshold, width)
    best = UNKNOWN
    while True:
        step, lattice = _step(score, free, target)
        if best is not UNKNOWN and _cost(free, step) > budget:
            return best, False
        tail = _on_grid(free, step, error, strict=score.strict, narrow=width)
        best = Interval(max(best.low, tail.low), tail.mean, min(best.high, tail.high))
        if lattice or not (best.splits(threshold) or (width is not None and best.width > width)):
            return best, True
        if free.states <= HALVES:
            return best, False  # meeting in the middle is quicker than a finer grid
        target /= 8.0


def _certain(score: AdditiveScore, value: float) -> Interval:
    """Nothing is left to chance."""
    if abs(value) <= 2.0 * score.error and score.error > 0.0:
        return Interval(0.0, float(value > 0.0), 1.0)
    held = float(value > 0.0 or (value == 0.0 and not score.strict))
    return Interval(held, held, held)


def _first_target(free: Free, threshold: float | None, width: float | None) -> float:
    """The half width to aim at first: a third of the Gaussian distance to the threshold."""
    target = 5e-3 if width is None else min(5e-3, 0.4 * width)
    if threshold is not None:
        mean, deviation = moments(free)
        guess = 0.5 * math.erfc(-mean / deviation / math.sqrt(2.0))
        target = min(target, max(abs(guess - threshold) / 3.0, 2e-4))
    return target


def _step(score: AdditiveScore, free: Free, target: float) -> tuple[float, bool]:
    """Cell size for a half width of about ``target``, and whether it is the score's own lattice."""
    mean, deviation = moments(free)
    z = min(abs(mean) / deviation, 2.5)
    density = math.exp(-0.5 * z * z) / (deviation * math.sqrt(2.0 * math.pi))
    terms = sum(len(v) - 1 if len(v) <= SINGLE + 1 else SINGLE for v in free.values)
    step = cell_size(target, density, terms)
    if score.exact:
        lattice = coarsest_lattice(np.concatenate(free.values))
        if lattice >= step / 16.0:
            return lattice, True
    return step, False


def _cost(free: Free, step: float) -> float:
    _, deviation = moments(free)
    widest = sum(float(v.max()) for v in free.values)
    return pass_cost(sum(len(v) for v in free.values), 64, widest, deviation, step)


def _on_grid(free: Free, step: float, error: float, *, strict: bool, narrow: float | None) -> Interval:
    base, squares = free.base, 0.0
    variables: list[Variable] = []
    for value, weight, slope in zip(free.values, free.weights, free.slopes, strict=True):
        if not math.isnan(slope) and len(value) <= SINGLE + 1:
            size = round(abs(slope) / step)
            rest = abs(slope) - size * step
            coins = len(value) - 1
            chance = free.keep if slope > 0 else 1.0 - free.keep
            base += coins * rest * chance
            squares += coins * rest * rest
            variables += [size if chance == 0.5 else ((0, size), (1.0 - chance, chance))] * coins
            continue
        whole = np.rint(value / step)
        rests = value - whole * step
        base += float(rests @ weight)
        squares += float(rests.max() - rests.min()) ** 2
        # Counts too unlikely to matter are dropped; what is dropped stays inside the interval.
        likely = weight > 1e-18
        variables.append((whole[likely].astype(np.int64).tolist(), weight[likely].tolist()))
    grid = GridSum.of(variables)
    log_eta = 14.0 if narrow is None else max(14.0, math.log(100.0 / narrow))
    return grid_tail(grid, step, base, squares, error=error, strict=strict, log_eta=log_eta)


class Additive:
    """Exact precision of any anchor of a reading whose score is additive."""

    name = "convolution"
    sampled = False
    notes = ()
    every = None

    def __init__(self, reading: Reading) -> None:
        if reading.additive is None:
            raise TypeError("The model's score is not known to be a sum over words.")
        self._score, self._keep, self._units = reading.additive, reading.keep, reading.units
        self._known: dict[Kept, Interval] = {}

    def refine(self, kept: Kept, threshold: float | None = None) -> Interval:
        """The certified interval of one anchor, refined until it lies on one side of a threshold."""
        known = self._known.get(kept)
        if known is None or known.splits(threshold):
            counts = self._units.counts(kept)
            known = additive_tail(self._score, counts, self._keep, threshold=threshold)
            self._known[kept] = known
        return known

    def __call__(self, anchors: Sequence[Kept], samples: int = 0) -> Estimates:
        """Middle and half width of each anchor's interval."""
        del samples
        tails = [self.refine(kept) for kept in anchors]
        low, high = np.array([t.low for t in tails]), np.array([t.high for t in tails])
        return Estimates.closed((low + high) / 2, (high - low) / 2)

    def seen(self, kept: Kept) -> None:
        """Nothing is drawn."""
