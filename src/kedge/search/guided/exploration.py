"""Exploring: from nothing to a surrogate that predicts the model, or to the end of the pool."""

from dataclasses import dataclass

import numpy as np

from kedge.evaluators.bets import expected_samples
from kedge.search.guided.learner import Learner
from kedge.search.guided.lessons import ask_telling
from kedge.search.guided.ties import break_near_tie
from kedge.typing import Kept

__all__ = ["Explored", "explore", "explore_further", "proposed"]

# Rows of the pool for the regression of log-odds: enough equations for every unknown, and some to
# check it with.
_ROWS_PER_UNIT, _ROWS_MORE = 1.3, 16
# Rows beyond one per unit that show log-odds to be a sum, where they are.
_CHECKED = 5
# A round is this part of the pool, of longer documents a third of it. Of its questions one in so many, and so
# many at least, are about samples of each of two anchors: they show how well it predicts. The others teach.
_ROUNDS, _LONG_ROUNDS, _SHOWN, _LEAST = 14, 3, 12, 4
# Rows of labels to begin with, and with a prior.
_FIRST, _FIRST_WITH_PRIOR = 20, 12
# A single word that held in so many samples (more in a long document), and is predicted to lose the label
# in no more than this part of the cases that the threshold allows, is taken.
_CLEAN, _CLEAN_LONG, _SURE = 16, 40, 0.2
# A document of more units than this is long: its samples are hardly ever drawn twice.
_SHORT = 30
# The longest pool: beyond it the ranking is rough, and the check of prefixes does the rest.
_LONGEST_POOL = 3000
# Rows with which a prior is tried before a full pool is paid for.
_PRIOR_ROWS = 12
# Log-odds of which this share is explained are a sum, or nearly one.
_NEARLY = 0.98
# After so many rows, log-odds of which a larger pool leaves this part unexplained are no sum.
_TELLS, _LEARNS = 40, 0.85
# Log-odds of which a linear fit predicts this share of the variance say more than labels do.
_EXPLAINS = 0.5
# A surrogate of labels that is wrong more seldom than this leaves what is in doubt to samples of the anchor.
_CLEAR = 0.01
# A pool twice as large that leaves this share of the mistakes, and so many, teaches nothing more.
_STALLS, _POOR = 0.8, 0.05
# Labels that are all the same so far teach nothing; after so many there is nothing to learn.
_ALIKE = 120
# A surrogate that is wrong so seldom is faithful, however little it seems to have settled.
_FAITHFUL = 0.02
# Share of all allowed questions that exploring may use; the proof needs the rest.
_SHARE = 0.6
# Documents of more units than this learn in fewer, larger rounds: their fits are expensive.
_LONG = 700
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
    learner.begin()
    faithful = learner.by_odds and _begin_with_odds(learner)
    if not faithful:
        faithful = _learn(learner)
    return Explored(learner, faithful, proposed(learner))


def explore_further(learner: Learner) -> Explored:
    """After a proof that failed: what its samples and more questions teach."""
    faithful = learner.vouched or _learn(learner)
    return Explored(learner, faithful, proposed(learner))


def proposed(learner: Learner) -> Kept:
    """The prefix that is best to prove, with the best of the words that come close to its last one."""
    return break_near_tie(learner, learner.proposal()[0])


def _begin_with_odds(learner: Learner) -> bool:
    """Regress the log-odds on as many rows as there are unknowns; True if that explains all of them."""
    pool, d = learner.pool, len(learner.pool.reading.units)
    if len(pool) >= d + _CHECKED and learner.fit_vouched():
        return True
    most = max(1, min(_LONGEST_POOL, pool.room, int(_SHARE * pool.left)))
    exact, rows = (min(n, most) for n in (d + _CHECKED, int(_ROWS_PER_UNIT * d) + _ROWS_MORE))
    pool.stand_alone(alone=True)
    left = np.inf
    for step in (*(_doublings(exact) if learner.has_prior else ()), exact, rows):
        if len(pool) < step:
            pool.draw((), step - len(pool))
        if learner.fit_vouched():
            break
        before, left = left, 1 - learner.explained
        if step > _TELLS and learner.explained >= _EXPLAINS and left > _LEARNS * before:
            break  # no sum
        if step < exact and learner.explained >= _EXPLAINS and _will_do(learner, exact):
            break
    if learner.explained < _EXPLAINS:
        learner.turn_to_labels()
    return learner.vouched


def _doublings(last: int) -> list[int]:
    """Rows with which a prior is tried before a full pool is paid for."""
    return [_PRIOR_ROWS << k for k in range(12) if _PRIOR_ROWS << k < last]


def _will_do(learner: Learner, rows: int) -> bool:
    """Whether a full pool costs more than a surrogate that is never wrong saves the proof.

    Log-odds that are hardly explained so far may be a sum or not. Only a full pool tells, unless the first
    word is clearly enough.
    """
    goal, (proposal, loss) = learner.goal, learner.proposal()
    if learner.explained < _NEARLY:
        return len(proposal) <= 1 and loss <= _SURE * (1 - goal.threshold)
    now, then = (expected_samples(goal.threshold, goal.delta, loss, loss, w) for w in (learner.error, 0.0))
    return now - then <= rows - len(learner.pool)


def _learn(learner: Learner) -> bool:
    """Ask where answers say most, until the proposal stands and predictions are good enough."""
    pool, goal = learner.pool, learner.goal
    d = len(pool.reading.units)
    pool.stand_alone(alone=True)
    no_sum = pool.reading.log_odds is not None and not learner.by_odds
    most = (_NO_SUM_PER_UNIT if no_sum else _LABELS_PER_UNIT) * d + _LABELS_MORE
    if learner.by_odds and learner.explained < _NEARLY and d > _SHORT:
        # A larger pool does not make them a sum.
        most = int(_ROWS_PER_UNIT * d) + _ROWS_MORE
    most = min(most, _LONGEST_POOL, pool.room, int(_SHARE * pool.left))
    first = min(_FIRST_WITH_PRIOR if learner.foresees else _FIRST, max(1, most))
    if len(pool) < first:
        pool.draw((), first - len(pool))
    last: list[int] | None = None
    since = 0
    stalled = _Stalled()
    while True:
        learner.fit(rough=True)
        proposal, loss = learner.proposal(learning=True)
        if (words := learner.words_of(proposal)) != last:
            last, since = words, len(pool)
        settled = learner.foresees or learner.error < _CLEAR or len(pool) >= _STANDS * since
        enough = settled and not _unclear(learner, proposal)
        enough = enough and (len(pool) >= _ALIKE if alike(learner) else not _pays(learner, loss))
        # Labels of a sum are foreseen sooner or later, which makes the proof cheap.
        foreseen = learner.error <= 1 - goal.threshold or pool.reading.log_odds is not None
        enough = (enough and foreseen) or _plain(learner, proposal, loss)
        # Labels alone may still tell more; log-odds that are no sum do not become one.
        hopeless = False
        if stalled(len(pool), learner.lately):
            hopeless = pool.reading.log_odds is not None
            learner.mistakes.stall(len(pool))
        if enough or len(pool) >= most or hopeless:
            learner.fit()
            return learner.error <= (1 - goal.threshold if enough else _FAITHFUL)
        # Rounds grow with the pool, so that their number, each with its fit, stays small.
        batch = min(
            int(np.clip(len(pool) // (_ROUNDS if d < _LONG else _LONG_ROUNDS), 16, 512)), most - len(pool)
        )
        part = 2 if learner.by_odds else _SHOWN
        few = max(_LEAST, batch // part)
        for kept in (proposal, learner.shorter(proposal)):
            learner.draw(kept, few)
        if not learner.by_odds:
            ask_telling(learner, proposal, max(1, batch - 2 * few))


def alike(learner: Learner) -> bool:
    """Whether all labels so far are the same, so that nothing was learned of any word."""
    return not learner.surrogate.weights.any()


def _unclear(learner: Learner, proposal: Kept) -> bool:
    """Whether a word less may do, as far as can be told."""
    if len(proposal) < 2 or learner.by_odds or not learner.surrogate.exact:
        return False
    if not _CLEAR <= learner.error < 1:
        return False
    loss = learner.surrogate.loss(learner.shorter(proposal))
    return abs(loss - 1 + learner.goal.threshold) < learner.error


def _plain(learner: Learner, proposal: Kept, loss: float) -> bool:
    """Whether an anchor that cannot be shorter held in all of several samples, and is predicted to."""
    if (
        learner.error > 1 - learner.goal.threshold
        or len(proposal) != 1
        or loss > _SURE * (1 - learner.goal.threshold)
    ):
        return False
    holds = learner.pool.given(proposal).holds
    clean = _CLEAN if len(learner.pool.reading.units) <= _SHORT else _CLEAN_LONG
    return len(holds) >= clean and bool(holds.all())


class _Stalled:
    """Whether a pool that has doubled brought about as many mistakes as before: no sum will do better."""

    def __init__(self) -> None:
        self._then: tuple[int, float] | None = None

    def __call__(self, rows: int, error: float) -> bool:
        if error >= 1 or (self._then is not None and rows < 2 * self._then[0]):
            return False
        before, self._then = self._then, (rows, error)
        return before is not None and error > max(_STALLS * before[1], _POOR)


def _pays(learner: Learner, loss: float) -> bool:
    """Whether a larger pool saves the proof more than it costs."""
    return learner.plan(loss).rows > 0
