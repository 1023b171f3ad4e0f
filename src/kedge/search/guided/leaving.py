"""Whether an anchor can do without one of its words: seen, estimated, or not so sure."""

from dataclasses import dataclass
from typing import Literal

from kedge.errors import OutOfQueries
from kedge.evaluators.intervals import mixture_interval
from kedge.results.interval import Interval
from kedge.search.guided.learner import Learner
from kedge.typing import Kept

__all__ = ["Need", "estimate", "needs", "without"]

# Fewer samples than this say little of an anchor, so that the surrogate is heard, or more are asked for.
_FEW = 16
# A word without which the label is predicted to be lost this many times too often is needed, unasked.
_CLEARLY = 2.0
# Samples asked for where neither the pool nor the surrogate can tell.
_ASKED = 24


@dataclass(frozen=True)
class Need:
    """What is known of an anchor without one of its units.

    ``"seen"``: it misses the threshold, at the confidence asked for. ``"estimated"``: it seems to.
    ``"doubtful"``: it may well reach it.
    """

    unit: int
    rest: Kept
    known: Interval
    verdict: Literal["seen", "estimated", "doubtful"]


def without(kept: Kept, unit: int) -> Kept:
    """An anchor with one occurrence of a unit less."""
    at = kept.index(unit)
    return kept[:at] + kept[at + 1 :]


def estimate(learner: Learner, kept: Kept) -> Interval:
    """What the samples asked about so far say of an anchor, or else the surrogate; it proves nothing."""
    _, holds = learner.pool.given(kept)
    n, hits = len(holds), int(holds.sum())
    low, high = mixture_interval(hits, n, learner.goal.delta)
    if n >= _FEW and not learner.vouched:
        return Interval(low, hits / n, high)
    predicted = learner.predicted_loss(kept)
    mean = 1 - predicted if predicted is not None else hits / n if n else 0.5
    return Interval(low, mean, high).within(low, high)


def needs(learner: Learner, kept: Kept) -> tuple[Need, ...]:
    """Leave each word out in turn; asks only where neither the pool nor the surrogate can tell."""
    return tuple(_need(learner, kept, unit) for unit in dict.fromkeys(kept))


def _need(learner: Learner, kept: Kept, unit: int) -> Need:
    rest, threshold = without(kept, unit), learner.goal.threshold
    known = estimate(learner, rest)
    if known.high >= threshold and not learner.vouched:
        predicted = learner.predicted_loss(rest)
        clear = predicted is not None and predicted > _CLEARLY * (1 - threshold)
        if not clear and len(learner.pool.given(rest)[1]) < _ASKED and learner.pool.left > _ASKED:
            try:
                learner.draw(rest, _ASKED)
            except OutOfQueries:
                return Need(unit, rest, known, "estimated" if known.mean < threshold else "doubtful")
            known = estimate(learner, rest)
    if known.high < threshold:
        return Need(unit, rest, known, "seen")
    return Need(unit, rest, known, "estimated" if known.mean < threshold else "doubtful")
