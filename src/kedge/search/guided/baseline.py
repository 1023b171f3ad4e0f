"""The baseline comes first: it is asked whether any word is needed at all.

Half of all long documents keep their label whatever is removed. A glance at a few rows of the pool dismisses
most of the others, at no cost; where it does not, fresh samples prove it.
"""

from dataclasses import dataclass

from kedge.evaluators.bets import Bets, Round
from kedge.results.interval import Interval
from kedge.search.guided.learner import Learner

__all__ = ["Baseline", "look_at_baseline"]

# Samples of the first look, and of a round after it.
_FIRST, _ROUND = 20, 24
_FIRST_WITH_PRIOR = 12
# Samples of a glance, and glances at most.
_GLANCE, _GLANCES = 8, 3
# A document of fewer units than this needs a word as a rule: all glances are taken, if so many questions are
# left.
_SHORT, _ROOM = 30, 200
# A baseline may well be proved if it is expected to lose the label this many times too often at most.
_LIKELY = 2.0
# A baseline worth proving loses the label this seldom, as a share of what the threshold allows. Rather than
# prove one in more samples than this, the search goes on: a word is cheaper.
_WORTH, _MOST = 0.6, 160
# Samples that a baseline worth proving would show with a smaller probability than this dismiss it.
_UNLIKELY = 0.1


@dataclass(frozen=True)
class Baseline:
    """What the samples with nothing kept say; ``word`` is the unit through whose stream some were drawn."""

    bets: Bets
    interval: Interval
    proved: bool
    word: int | None = None


def look_at_baseline(learner: Learner) -> Baseline:
    """Sample with nothing kept until that is proved to be enough, or seems not to be."""
    pool, goal = learner.pool, learner.goal
    bets, proved, first = Bets(), False, _FIRST
    word: int | None = None
    likely = False
    if learner.foresees:
        first = _FIRST_WITH_PRIOR
        learner.fit()
        likely = learner.surrogate.loss(()) <= _LIKELY * (1 - goal.threshold)
        if likely and not goal.allow_empty:
            word = learner.order()[0]
    if not likely and not _promising(glance := _glance(learner), learner):
        return _told(glance, learner, proved=False)
    while not proved and _promising(bets, learner):
        needed = bets.still_needed(goal.threshold, goal.delta, 0.0)
        if bets.trials and pool.left < needed:
            break
        size = min(needed, _ROUND) if bets.trials else first
        if bets.trials and not goal.allow_empty and word is None:
            learner.fit()
            word = learner.order()[0]  # before the first sample of its stream
        holds = pool.fresh((), bets.trials, size)[1] if word is None else pool.fresh_through(word, size)
        bets = bets.plus(Round(int(holds.sum()), int((~holds).sum())))
        proved = bets.proves(goal.threshold, goal.delta)
    return _told(bets, learner, proved=proved, word=word)


def _glance(learner: Learner) -> Bets:
    """A few samples of the search's own, the same under every seed: they dismiss most documents."""
    bets, pool = Bets(), learner.pool
    short = len(pool.reading.units) < _SHORT and pool.left >= _ROOM
    while bets.trials < _GLANCES * _GLANCE and _promising(bets, learner):
        _, holds = pool.draw((), _GLANCE)
        bets = bets.plus(Round(int(holds.sum()), int((~holds).sum())))
        if holds.all() and not short:
            break
    return bets


def _told(bets: Bets, learner: Learner, *, proved: bool, word: int | None = None) -> Baseline:
    low, high = bets.low(learner.goal.delta), bets.high(learner.goal.delta)
    return Baseline(bets, Interval(low, bets.mean, max(low, high)).within(low, high), proved, word)


def _promising(bets: Bets, learner: Learner) -> bool:
    """Whether a baseline worth proving may well show these samples."""
    from scipy.stats import binom

    goal = learner.goal
    lost = sum(r.worse for r in bets.rounds)
    if bets.trials >= _MOST:
        return False
    if lost and learner.foresees and not goal.allow_empty:
        return False  # a word that is foreseen takes fewer samples than what makes up for a failure
    return bool(binom.sf(lost - 1, bets.trials, _WORTH * (1 - goal.threshold)) >= _UNLIKELY)
