"""KL-LUCB: which arms of a bandit have the highest means (Kaufmann & Kalyanakrishnan 2013)."""

from collections.abc import Sequence

import numpy as np

from kedge.precision.estimates import Estimates, Precision
from kedge.precision.intervals import ONE, kl_upper_one
from kedge.typing import Floats, Kept

__all__ = ["best_arms"]

# Bounds closer than this, relative to the rate, are the same: the first arm has it.
_SAME = 1e-8


def exploration_rate(arms: int, step: int, delta: float) -> float:
    """The rate beta(t, delta) of the theorem, with its constants alpha = 1.1 and k = 405.5."""
    level = np.log(405.5 * arms * step**1.1 / delta)
    return float(level + np.log(level))


def best_arms(
    precision: Precision,
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
        order = np.argsort(mean, kind="stable")
        inside, outside = order[-top:], order[:-top]
        rate = exploration_rate(len(anchors), step, delta)
        upper, high = highest(Estimates(mean[outside], trials[outside], slack[outside]), rate)
        # A lower bound is the upper bound of the opposite.
        lower, low = highest(Estimates(1 - mean[inside], trials[inside], slack[inside]), rate)
        critical = [int(inside[lower]), int(outside[upper])]
        if np.isinf(trials[critical]).all() or high - (1 - low) <= tolerance:
            return [int(i) for i in inside]
        # Only the two that were sampled have changed: an evaluator is not asked about the others.
        drawn = precision([anchors[i] for i in critical], batch)
        mean[critical], trials[critical], slack[critical] = drawn.mean, drawn.trials, drawn.slack
        step += 1


def highest(estimates: Estimates, rate: float) -> tuple[int, float]:
    """The first arm with the highest upper bound, and the bound.

    The bound of an arm is above q when q is below its mean or trials * KL(mean, q) < rate. So one
    bound, computed, tells at once which arms have a higher one; few need computing.
    """
    from scipy.special import xlogy

    mean, trials = estimates.mean, estimates.trials
    if len(mean) == 1 and np.isfinite(trials[0]):
        return 0, kl_upper_one(float(mean[0]), float(trials[0]), rate)
    if not np.isfinite(trials).all():
        bound = estimates.upper(rate)
        place = int(np.argmax(bound))
        return place, float(bound[place])
    miss = 1 - mean
    entropy = xlogy(mean, mean) + xlogy(miss, miss)

    def needed(q: float) -> Floats:
        """(k,) the rate at which the bound of each arm is q; negative where it is above q anyway."""
        rates: Floats = trials * (entropy - mean * np.log(q) - miss * np.log1p(-q))
        return np.where(mean >= q, -1.0, rates)

    rates = needed(ONE)
    if (rates <= rate).any():
        return int(np.argmax(rates <= rate)), 1.0
    at, q = -1, ONE
    for _ in range(len(mean)):  # each round has a higher bound, but for rounding
        if (best := int(np.argmin(rates))) == at:
            break
        at, q = best, kl_upper_one(float(mean[best]), float(trials[best]), rate)
        rates = needed(min(q, ONE))
    return int(np.argmax(rates <= rates[at] * (1 + _SAME))), q
