"""KL-LUCB: which arms of a bandit have the highest means (Kaufmann & Kalyanakrishnan 2013).

As the official implementation has it, to the last tie: where many anchors are equally good, which of them it
returns is decided by the grid its bounds lie on and by the order its sort leaves equal means in.
"""

from collections.abc import Sequence
from math import log, sqrt

import numpy as np

from kedge.evaluators.estimates import Estimates, Evaluator
from kedge.evaluators.intervals import ONE, kl_upper_one
from kedge.typing import Counts, Floats, Kept

__all__ = ["best_arms"]

# A bound is found by halving the way from the mean to Pinsker's bound so often, and is the upper end.
_HALVINGS = 16
_STEP = 2.0**-_HALVINGS
# A mean of 0 is taken for this.
_LEAST = 1e-7
# Roundings of a bound that decides whether it is looked at more closely.
_SLACK = 1e-9


def exploration_rate(arms: int, step: int, delta: float) -> float:
    """The rate beta(t, delta) of the theorem, with its constants alpha = 1.1 and k = 405.5."""
    level = np.log(405.5 * arms * step**1.1 / delta)
    return float(level + np.log(level))


def best_arms(
    precision: Evaluator,
    anchors: Sequence[Kept],
    top: int,
    *,
    delta: float,
    tolerance: float,
    batch: int,
) -> list[int]:
    """Indices of the ``top`` anchors of highest precision, lowest of them first.

    Samples the two critical arms, the lowest bound inside and the highest bound outside, until they
    are ``tolerance`` apart at most, or until sampling them can change nothing any more.
    """
    estimates = precision(anchors)
    unseen = [a for a, n in zip(anchors, estimates.trials, strict=True) if n == 0]
    if unseen:
        precision(unseen, 1)
        estimates = precision(anchors)
    if top >= len(anchors):
        return list(range(len(anchors)))
    mean, trials, slack = estimates.mean.copy(), estimates.trials.copy(), estimates.slack.copy()
    step = 1
    while True:
        order = scalar_order(mean)
        inside, outside = order[-top:], order[:-top]
        rate = exploration_rate(len(anchors), step, delta)
        upper, high = highest(Estimates(mean[outside], trials[outside], slack[outside]), rate)
        # A lower bound is the upper bound of the opposite.
        lower, low = highest(Estimates(1 - mean[inside], trials[inside], slack[inside]), rate)
        critical = [int(inside[lower]), int(outside[upper])]
        if np.isinf(trials[critical]).all() or high - (1 - low) <= tolerance:
            return [int(i) for i in inside]
        # Only the two that were sampled have changed: an evaluator is not called for the others.
        drawn = precision([anchors[i] for i in critical], batch)
        mean[critical], trials[critical], slack[critical] = drawn.mean, drawn.trials, drawn.slack
        step += 1


def scalar_order(values: Floats) -> Counts:
    """Indices that sort, equal values as the scalar sort of numpy leaves them.

    It is what the official implementation was made and used with: numpy 1.25 brought other sorts for
    processors that have vector instructions, but none for long doubles. Up to 16 values keep their order.
    """
    order: Counts = np.argsort(values.astype(np.longdouble), kind="quicksort")
    return order


def highest(estimates: Estimates, rate: float) -> tuple[int, float]:
    """The first arm with the highest upper bound, and the bound.

    The bound of an arm is above q when q is below its mean or trials * KL(mean, q) < rate. So one
    bound, computed, shows at once which arms have a higher one; few need computing.
    """
    from scipy.special import xlogy

    mean, trials = estimates.mean, estimates.trials
    if not np.isfinite(trials).all():
        bound = estimates.upper(rate)
        place = int(np.argmax(bound))
        return place, float(bound[place])
    if len(mean) == 1:
        return 0, _halved(float(mean[0]), float(trials[0]), rate)
    miss = 1 - mean
    entropy = xlogy(mean, mean) + xlogy(miss, miss)

    def needed(q: Floats | float) -> Floats:
        """(k,) the rate at which the bound of each arm is q; negative where it is above q anyway."""
        rates: Floats = trials * (entropy - mean * np.log(q) - miss * np.log1p(-q))
        return np.where(mean >= q, -1.0, rates)

    # The last point of the grid before 1.
    one = (needed(np.minimum(1 - miss * _STEP, ONE)) <= rate) & (mean + np.sqrt(rate / trials / 2) >= 1)
    if one.any():
        return int(np.argmax(one)), 1.0
    rates, at, q = needed(ONE), -1, ONE
    for _ in range(len(mean)):  # each round has a higher bound, but for rounding
        if (best := int(np.argmin(rates))) == at:
            break
        at, q = best, kl_upper_one(float(mean[best]), float(trials[best]), rate)
        rates = needed(min(q, ONE))
    close = np.flatnonzero(needed(max(q - _STEP - _SLACK, _STEP)) <= rate)
    bounds = [_halved(float(mean[k]), float(trials[k]), rate) for k in close]
    place = int(np.argmax(bounds))
    return int(close[place]), bounds[place]


def _halved(mean: float, trials: float, rate: float) -> float:
    """The upper bound of one arm as the official implementation halves its way to it."""
    if mean >= 1:
        return 1.0
    level, p = rate / trials, max(mean, _LEAST)
    low, high = mean, min(1.0, mean + sqrt(level / 2))
    entropy = p * log(p) + (1 - p) * log(1 - p)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if entropy - p * log(middle) - (1 - p) * log(1 - middle) > level:
            high = middle
        else:
            low = middle
    return high
