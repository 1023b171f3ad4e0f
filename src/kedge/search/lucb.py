"""KL-LUCB: which arms of a bandit have the highest means (Kaufmann & Kalyanakrishnan 2013)."""

from collections.abc import Sequence

import numpy as np

from kedge.precision.estimates import Precision
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
    step = 1
    while True:
        order = np.argsort(estimates.mean, kind="stable")
        inside, outside = order[-top:], order[:-top]
        low, high = estimates.bounds(exploration_rate(len(anchors), step, delta))
        weakest = inside[np.argmin(low[inside])]
        strongest = outside[np.argmax(high[outside])]
        settled = estimates.settled[weakest] and estimates.settled[strongest]
        if settled or high[strongest] - low[weakest] <= tolerance:
            return [int(i) for i in inside]
        precision([anchors[weakest], anchors[strongest]], batch)
        estimates = precision(anchors)
        step += 1
