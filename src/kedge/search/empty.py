"""The precision with no word kept, and with it whether the label needs any.

Known without sampling error where the model can be read or every sample is known. Elsewhere fresh samples
are bet on, one round after the other, until "no word is needed" is proved or ruled out: a claim of its
own, beside that about the anchor, and wrong with probability at most delta.
"""

import numpy as np

from kedge.errors import OutOfQueries
from kedge.evaluators import Additive, Empirical, Evaluator, Leaves
from kedge.evaluators.affordable import enumerable
from kedge.evaluators.bets import Bets, Round
from kedge.evaluators.enumeration import anchor_precision
from kedge.evaluators.leading import Leading
from kedge.reading.fresh import FreshSamples
from kedge.reading.reading import Reading
from kedge.results.interval import Interval
from kedge.search.strategy import Found, Goal

__all__ = ["baseline_of", "empty_precision"]

# A first look, which detects a baseline far below the threshold: most are, or hold in every sample.
_LOOK = 24
# Samples that a proof may take: queries are expensive, arithmetic is not.
_ASKED, _COMPUTED = 250, 1 << 16
# Questions are not spent on a baseline at the threshold that would show these samples more seldom than this.
_UNLIKELY = 0.1
# An interval this wide has its mean from so many samples: a standard error below 0.02. A look that costs
# arithmetic only has as many: a proof would do with 67, whose share says little of the precision.
_VAGUE, _GUESS = 0.05, 1000
# Samples at a time, at most: a look after each few that are queried.
_ROUND, _ASKED_AT_ONCE = 1 << 12, 48


def baseline_of(reading: Reading, found: Found, goal: Goal, rng: np.random.Generator) -> Interval | None:
    """The baseline beside an answer: what the search knows of it, or more where that leaves it open.

    None where too few queries are left.
    """
    known, evaluator = found.baseline, found.evaluator
    if evaluator.sampled:
        if known is not None:
            return known  # a search that looked has spent what is worth it; the rest is an estimate
        seen = evaluator.seen(())
        start = Bets() if seen is None else Bets((Round(int(seen[1].sum()), int((~seen[1]).sum())),))
        return _sampled(reading, goal, rng, start, evaluator)
    if known is None or known.splits(goal.threshold):
        known = evaluator.refine((), goal.threshold)
    return _told(reading, _decided(reading, known, goal), rng)


def empty_precision(reading: Reading, goal: Goal, rng: np.random.Generator) -> tuple[Interval | None, bool]:
    """The baseline of a reading, as exactly as the model and the queries left allow.

    And whether it is free of sampling error, however wide.
    """
    if reading.leaves is not None:
        return Leaves(reading).refine((), goal.threshold), True
    if reading.additive is not None:
        return _decided(reading, Additive(reading).refine((), goal.threshold), goal), True
    if enumerable(reading):
        return anchor_precision(reading, ()), True
    if reading.leads is not None:
        known = Leading(reading, goal.threshold).refine((), goal.threshold)
        if not known.splits(goal.threshold):
            return known, True
    return _sampled(reading, goal, rng, Bets()), False


def _told(reading: Reading, known: Interval, rng: np.random.Generator) -> Interval:
    """A wide interval with a mean that says something: samples, where they cost arithmetic only.

    What bounds the precision from both sides may leave much open, and has no best guess of its own.
    """
    if known.width <= _VAGUE or not reading.algebra:
        return known
    share = float(np.mean(reading.holds(reading.sample((), _GUESS, rng))))
    return Interval(known.low, share, known.high).within(known.low, known.high)


def _decided(reading: Reading, known: Interval, goal: Goal) -> Interval:
    """Where rounding decides, the model's own answers do."""
    if known.splits(goal.threshold) and reading.counted and enumerable(reading):
        return anchor_precision(reading, ())
    return known


def _sampled(
    reading: Reading, goal: Goal, rng: np.random.Generator, bets: Bets, evaluator: Evaluator | None = None
) -> Interval | None:
    """Samples until the side of the threshold is clear, beside those seen; None of too few to say anything.

    The answers are handed to the evaluator of the search, where that remembers samples. A first look draws
    the samples that a search would draw, so that one that follows need not query them again.
    """
    most = bets.trials + (_COMPUTED if reading.algebra else _ASKED)
    fresh = None if reading.algebra or bets.trials else FreshSamples.of(reading, (), goal.seed)
    look = _GUESS if reading.algebra else _LOOK
    wanted = max(look, bets.still_needed(goal.threshold, goal.delta, 0.0)) if bets.trials else look
    while bets.trials < most:
        at_once = _ROUND if reading.algebra else _ASKED_AT_ONCE
        n = int(min(wanted, most - bets.trials, at_once, reading.oracle.remaining))
        if n < min(wanted, look):  # not worth a look
            break
        try:
            counts = reading.sample((), n, rng) if fresh is None else fresh.rows(bets.trials, n)
            holds = reading.holds(counts)
        except OutOfQueries:
            break
        if isinstance(evaluator, Empirical):
            evaluator.adopt((), counts, holds)
        held = int(np.count_nonzero(holds))
        bets = bets.plus(Round(held, n - held))
        settled = bets.proves(goal.threshold, goal.delta) or bets.high(goal.delta) < goal.threshold
        if settled or not (reading.algebra or _may_reach(bets, goal.threshold)):
            break
        wanted = max(look, bets.still_needed(goal.threshold, goal.delta, 0.0))
    if not bets.trials:
        return None
    low, high = bets.low(goal.delta), bets.high(goal.delta)
    return Interval(low, bets.mean, max(low, high)).within(low, max(low, high))


def _may_reach(bets: Bets, threshold: float) -> bool:
    """Whether a baseline at the threshold may well show these samples."""
    from scipy.stats import binom

    lost = sum(r.worse for r in bets.rounds)
    return bool(binom.sf(lost - 1, bets.trials, 1 - threshold) >= _UNLIKELY)
