"""How an anchor's precision builds up, word by word."""

from collections.abc import Iterable
from typing import Self

import numpy as np

from kedge.errors import OutOfQueries
from kedge.evaluators import Evaluator
from kedge.evaluators.affordable import enumerable
from kedge.evaluators.enumeration import anchor_precision
from kedge.evaluators.intervals import mixture_interval
from kedge.reading.reading import Reading
from kedge.results.explanation import Step
from kedge.results.interval import Interval
from kedge.typing import Bools, Counts, Floats, Kept

__all__ = ["Steps", "build_up"]

# Samples for each step where the precision is sampled: a standard error below 0.035. The samples of one step
# also say which word comes next.
SAMPLES = 200
# Below the exploration rate ln(1 / 0.05) of a two-sided 95% interval around a precision.
BETA = 3.0
DELTA = 0.05


class Steps(tuple[Step, ...]):  # noqa: SLOT001  (it has one attribute more)
    """The steps, in order, and how many texts were sent to the model for them."""

    queries: int

    def __new__(cls, steps: Iterable[Step], queries: int = 0) -> Self:
        """A tuple of steps, and a count."""
        made = super().__new__(cls, steps)
        made.queries = queries
        return made


def build_up(
    reading: Reading,
    evaluator: Evaluator,
    kept: Kept,
    *,
    ends: tuple[Interval | None, Interval | None] = (None, None),
) -> Steps:
    """The precision with nothing kept, then after each word of an anchor, the most useful first.

    Parameters
    ----------
    reading, evaluator
        The document, and what evaluates anchors of it.
    kept
        The anchor.
    ends
        What is known of the precision with nothing kept and of the anchor's, so that it is not queried again.

    Where precisions are sampled, steps that cannot be judged within the budget are left out.
    """
    if evaluator.sampled:
        steps = _sampled(reading, evaluator, kept, ends)
    else:
        steps = _exact(reading, evaluator, kept)
    return Steps(steps, reading.oracle.queries)


def _exact(reading: Reading, evaluator: Evaluator, kept: Kept) -> list[Step]:
    """At each step the word that raises the precision most is added; of equal ones the first."""
    now: Kept = ()
    steps = [_step(reading, evaluator, now)]
    left = list(kept)
    while left:
        grown = {unit: tuple(sorted((*now, unit))) for unit in left}
        judged = {unit: _step(reading, evaluator, anchor) for unit, anchor in grown.items()}
        unit = max(judged, key=lambda u: (judged[u].precision, -u))
        left.remove(unit)
        now = grown[unit]
        steps.append(judged[unit])
    return steps


def _step(reading: Reading, evaluator: Evaluator, kept: Kept) -> Step:
    known = evaluator([kept]).intervals(BETA)[0]
    if known.in_doubt and enumerable(reading, kept):
        known = anchor_precision(reading, kept)
    return Step(reading.units.anchor(kept).positions, known)


def _sampled(
    reading: Reading, evaluator: Evaluator, kept: Kept, ends: tuple[Interval | None, Interval | None]
) -> list[Step]:
    """One set of samples per step; the word that goes best with them comes next."""

    def step(now: Kept, known: Interval) -> Step:
        return Step(reading.units.anchor(now).positions, known)

    first, last = ends
    rng = np.random.default_rng(len(kept))
    now: Kept = ()
    left = list(kept)
    steps = []
    try:
        while left:
            counts, holds = _samples(reading, evaluator, now, rng)
            known = first if not now and first is not None else _judged(holds)
            steps.append(step(now, known))
            gains = _gains(reading, now, counts, holds)
            unit = max(left, key=lambda u: (gains[u], -u))
            left.remove(unit)
            now = tuple(sorted((*now, unit)))
        if last is None:
            last = _judged(_samples(reading, evaluator, kept, rng)[1])
    except OutOfQueries:
        if not steps and first is not None:
            steps = [step((), first)]
    if last is not None and kept:
        steps.append(step(kept, last))
    return steps


def _samples(
    reading: Reading, evaluator: Evaluator, now: Kept, rng: np.random.Generator
) -> tuple[Counts, Bools]:
    """Samples given what is kept: those that the search drew with nothing kept, else new ones."""
    seen = None if now else evaluator.seen(now)
    if seen is not None and len(seen[0]) >= SAMPLES // 4:
        return seen
    counts = reading.sample(now, SAMPLES, rng)
    return counts, reading.holds(counts)


def _judged(holds: Bools) -> Interval:
    hits = int(np.count_nonzero(holds))
    low, high = mixture_interval(hits, len(holds), DELTA)
    return Interval(low, hits / len(holds), high)


def _gains(reading: Reading, now: Kept, counts: Counts, holds: Bools) -> Floats:
    """(d,) the precision with one occurrence of each unit more: of samples that keep it, by their share."""
    have = reading.units.counts(now)
    free = np.maximum(reading.units.sizes - have, 1)
    share = (counts - have) / free
    gains: Floats = (holds @ share) / np.maximum(share.sum(axis=0), 1e-9)
    return gains
