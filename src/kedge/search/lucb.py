"""KL-LUCB: which arms of a bandit have the highest means (Kaufmann & Kalyanakrishnan 2013)."""

from collections.abc import Sequence

import numpy as np

from kedge.precision.estimates import Estimates, Precision
from kedge.typing import Kept

__all__ = ["best_arms"]


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
        # A lower bound is the upper bound of the opposite: one call for both costs half as much.
        sided = mean.copy()
        sided[inside] = 1 - mean[inside]
        bound = Estimates(sided, trials, slack).upper(rate)
        low, high = 1 - bound[inside], bound[outside]
        critical = [int(inside[np.argmin(low)]), int(outside[np.argmax(high)])]
        if np.isinf(trials[critical]).all() or high.max() - low.min() <= tolerance:
            return [int(i) for i in inside]
        # Only the two that were sampled have changed: an evaluator is not asked about the others.
        drawn = precision([anchors[i] for i in critical], batch)
        mean[critical], trials[critical], slack[critical] = drawn.mean, drawn.trials, drawn.slack
        step += 1
