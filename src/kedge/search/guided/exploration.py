"""Exploring: from nothing to a surrogate that predicts the model, or to the end of the pool."""

from dataclasses import dataclass

import numpy as np

from kedge.evaluators.bets import expected_samples
from kedge.search.guided.learner import Learner
from kedge.search.guided.ties import break_near_tie
from kedge.typing import Kept

__all__ = ["Explored", "explore"]

# Rows of the pool for the regression of log-odds: enough equations for every unknown, and some to
# check it with.
_ROWS_PER_UNIT, _ROWS_MORE = 1.3, 16
# Rows beyond one per unit that show log-odds to be a sum, where they are.
_CHECKED = 5
# Rows of labels to begin with, and with a prior.
_FIRST, _FIRST_WITH_PRIOR = 20, 12
# A single word that held in so many samples, and is predicted to lose the label in no more than this part of
# the cases that the threshold allows, is taken.
_CLEAN, _SURE = 16, 0.2
# The longest pool: beyond it the ranking is rough, and the check of prefixes does the rest.
_LONGEST_POOL = 3000
# Rows with which a prior is tried before a full pool is paid for.
_PRIOR_ROWS = 12
# Log-odds of which this share is explained may be additive.
_NEARLY = 0.9
# Log-odds of which a linear fit predicts this share of the variance say more than labels do.
_EXPLAINS = 0.5
# By how much the label may be lost more often than predicted, as a share of the wrong predictions.
_DOUBT = 0.25
# A pool twice as large that leaves this share of the mistakes, and so many, teaches nothing more.
_STALLS, _POOR = 0.8, 0.05
# Share of all allowed questions that exploring may use; the proof needs the rest.
_SHARE = 0.6
# Documents of more units than this learn in fewer, larger rounds: their fits are expensive.
_LONG = 300
# Labels say less: rows per unit at most, and how much larger than when it was first made the pool must be
# for a proposal to stand.
_LABELS_PER_UNIT, _LABELS_MORE, _STANDS = 10, 128, 1.5
# Where log-odds are known and are no sum, neither is what the labels follow: more rows do not mend that.
_NO_SUM_PER_UNIT = 2


@dataclass(frozen=True)
class Explored:
    """What exploring gives.

    Parameters
    ----------
    learner
        The surrogate, ready to learn more.
    faithful
        Whether it predicted samples it had not seen as well as the proof will need.
    proposal
        The anchor it proposes: the shortest prefix of its ranking predicted to reach the threshold.
    """

    learner: Learner
    faithful: bool
    proposal: Kept


def explore(learner: Learner) -> Explored:
    """Ask about samples and fit the surrogate to them."""
    faithful = learner.by_odds and _begin_with_odds(learner)
    if not faithful:
        faithful = _learn(learner)
    return Explored(learner, faithful, break_near_tie(learner, learner.proposal()[0]))


def _begin_with_odds(learner: Learner) -> bool:
    """Regress the log-odds on as many rows as there are unknowns; True if that explains all of them."""
    pool, d = learner.pool, len(learner.pool.reading.units)
    if len(pool) >= d + _CHECKED and learner.fit_vouched():
        return True
    most = max(1, min(_LONGEST_POOL, pool.room, int(_SHARE * pool.left)))
    exact, rows = (min(n, most) for n in (d + _CHECKED, int(_ROWS_PER_UNIT * d) + _ROWS_MORE))
    pool.stand_alone(alone=True)
    few = min(exact, _PRIOR_ROWS)
    for step, after in ((few, exact), (exact, 0), (rows, rows))[0 if learner.has_prior else 1 :]:
        if len(pool) < step:
            pool.draw((), step - len(pool))
        if learner.fit_vouched():
            break
        if after and learner.explained >= _EXPLAINS and not _full_pays(learner, after):
            break
    if learner.explained < _EXPLAINS:
        learner.turn_to_labels()
    return learner.vouched


def _full_pays(learner: Learner, rows: int) -> bool:
    """Whether a proof with a surrogate that is never wrong saves more than a full pool costs.

    It does where words are many that nearly decide, and log-odds that are nearly explained may well be a sum.
    """
    goal, (_, loss) = learner.goal, learner.proposal()
    if learner.explained < _NEARLY:
        return False
    now, then = (expected_samples(goal.threshold, goal.delta, loss, loss, w) for w in (learner.error, 0.0))
    return now - then > rows - len(learner.pool)


def _learn(learner: Learner) -> bool:
    """Ask where answers say most, until the proposal stands and predictions are good enough."""
    pool, goal = learner.pool, learner.goal
    d = len(pool.reading.units)
    pool.stand_alone(alone=True)
    no_sum = pool.reading.log_odds is not None and not learner.by_odds
    most = (_NO_SUM_PER_UNIT if no_sum else _LABELS_PER_UNIT) * d + _LABELS_MORE
    most = min(most, _LONGEST_POOL, pool.room, int(_SHARE * pool.left))
    first = min(_FIRST_WITH_PRIOR if learner.foresees else _FIRST, max(1, most))
    if len(pool) < first:
        pool.draw((), first - len(pool))
    last: Kept | None = None
    since = 0
    stalled = _Stalled()
    while True:
        learner.fit(rough=True)
        proposal, loss = learner.proposal(learning=True)
        if proposal != last:
            last, since = proposal, len(pool)
        settled = learner.foresees or len(pool) >= _STANDS * since
        enough = settled and (not learner.surrogate.weights.any() or not _pays(learner, loss))
        # Labels of a sum are foreseen sooner or later, which makes the proof cheap.
        foreseen = learner.error <= 1 - goal.threshold or pool.reading.log_odds is not None
        enough = (enough and foreseen) or _plain(learner, proposal, loss)
        # Labels alone may still tell more; log-odds that are no sum do not become one.
        hopeless = pool.reading.log_odds is not None and stalled(len(pool), learner.error)
        if enough or len(pool) >= most or hopeless:
            learner.fit()
            return enough and learner.error <= 1 - goal.threshold
        # Rounds grow with the pool, so that their number, each with its fit, stays small.
        batch = min(int(np.clip(len(pool) // (5 if d < _LONG else 3), 16, 512)), most - len(pool))
        part = 2 if learner.by_odds else 6
        for kept in (proposal, learner.shorter(proposal)):
            learner.draw(kept, max(1, batch // part))
        if not learner.by_odds:
            learner.ask_telling(proposal, max(1, batch - batch // 3))


def _plain(learner: Learner, proposal: Kept, loss: float) -> bool:
    """Whether an anchor that cannot be shorter held in all of several samples, and is predicted to."""
    if len(proposal) != 1 or loss > _SURE * (1 - learner.goal.threshold):
        return False
    _, holds = learner.pool.given(proposal)
    return len(holds) >= _CLEAN and bool(holds.all())


class _Stalled:
    """Whether a pool that has doubled brought about as many mistakes as before: no sum will do better."""

    def __init__(self) -> None:
        self._then: tuple[int, float] | None = None

    def __call__(self, rows: int, error: float) -> bool:
        if error >= 1 or (self._then is not None and rows < 2 * self._then[0]):
            return False
        before, self._then = self._then, (rows, error)
        return before is not None and error > _STALLS * before[1] and error > _POOR


def _pays(learner: Learner, loss: float) -> bool:
    """Whether a pool twice as large, with half the mistakes, saves the proof more than it costs."""
    goal, wrong = learner.goal, learner.error
    if wrong >= 1:
        return True  # nothing was predicted yet
    now, then = (
        expected_samples(goal.threshold, goal.delta, loss + _DOUBT * w, loss, w) for w in (wrong, wrong / 2)
    )
    return now > then + len(learner.pool)
