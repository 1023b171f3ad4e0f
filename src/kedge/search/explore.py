"""Exploring: from nothing to a surrogate that predicts the model, or to the end of the pool."""

from dataclasses import dataclass

import numpy as np

from kedge.search.learner import Learner
from kedge.search.pool import Pool
from kedge.search.search import Goal
from kedge.search.ties import settled
from kedge.typing import Counts, Floats, Kept

__all__ = ["Explored", "explore"]

# Rows of the pool for the regression of log-odds: enough equations for every unknown, and some to
# check it with.
_ROWS_PER_UNIT, _ROWS_MORE = 1.3, 16
# The longest pool: beyond it the ranking is rough, and the check of prefixes does the rest.
_LONGEST_POOL = 3000
# Rows with which a gradient is tried before a full pool is paid for.
_GRADIENT_ROWS = 48
# Share of all allowed questions that exploring may use; the proof needs the rest.
_SHARE = 0.6
# An additive model is one whose log-odds are predicted to this share of their spread on rows the
# regression has not seen.
_ADDITIVE = 0.01
# Documents of more units than this learn in fewer, larger rounds: their fits are dear.
_LONG = 300
# So many samples are a hint at the baseline.
_HINT = 20
# Labels say less: rows per unit at most, and how many fits in a row must agree to stop.
_LABELS_PER_UNIT, _LABELS_MORE, _AGREEING = 10, 128, 3


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
    baseline
        Estimated precision with no word kept; None of too few samples.
    """

    learner: Learner
    faithful: bool
    proposal: Kept
    baseline: float | None


def explore(pool: Pool, goal: Goal) -> Explored:
    """Ask about a pool of samples and fit the surrogate to it."""
    learner = Learner(pool, goal)
    faithful = learner.by_odds and _from_odds(learner)
    if not faithful:
        learner.turn_to_labels()
        faithful = _from_labels(learner)
    _, holds = pool.given(())
    proposal = settled(learner, learner.proposal()[0])
    baseline = float(holds.mean()) if len(holds) >= _HINT else None
    return Explored(learner, faithful, proposal, baseline)


def _from_odds(learner: Learner) -> bool:
    """Regress the log-odds on the pool; True if rows held back were then predicted."""
    pool = learner.pool
    rows = int(_ROWS_PER_UNIT * len(pool.reading.units)) + _ROWS_MORE
    rows = max(1, min(rows, _LONGEST_POOL, pool.room, int(_SHARE * pool.left)))
    faithful = False
    for step in (min(rows, _GRADIENT_ROWS), rows) if learner.has_gradient else (rows,):
        pool.draw((), max(1, step - len(pool)))
        back = max(8, len(pool) // 8)
        if len(pool) > 2 * back:
            surrogate = learner.fit(slice(None, -back))
            counts, holds, odds = pool.rows(slice(-back, None))
            wrong = surrogate.holds(counts) != holds
            learner.predicted(wrong)
            faithful = not wrong.any() and _explains(surrogate.scores(counts), odds)
        learner.fit()
        if faithful:
            break
    learner.vouched = faithful
    return faithful


def _explains(scores: Counts, odds: Floats) -> bool:
    """Whether the scores give the log-odds of unseen rows, up to scale and level."""
    x = scores - scores.mean()
    y = odds - odds.mean()
    spread = float(y @ y)
    if spread <= 0 or not x.any():
        return spread <= 0
    left = y - x * float(x @ y) / float(x @ x)
    return bool(left @ left <= _ADDITIVE**2 * spread)


def _from_labels(learner: Learner) -> bool:
    """Ask where the labels say most, until the proposal stands and predictions are good enough."""
    pool, goal = learner.pool, learner.goal
    d = len(pool.reading.units)
    most = min(_LABELS_PER_UNIT * d + _LABELS_MORE, _LONGEST_POOL, pool.room, int(_SHARE * pool.left))
    if not len(pool):
        pool.draw((), min(int(np.clip(d, 32, 256)), max(1, most)))
    last: Kept | None = None
    agreeing = 0
    while True:
        learner.fit(rough=True)
        proposal, loss = learner.proposal(learning=True)
        agreeing = agreeing + 1 if proposal == last else 0
        last = proposal
        # The proof takes about 2 ln(1/delta) error / margin^2 samples: learn on while that is more
        # than half of what was learned from so far.
        margin = max(1 - goal.threshold - loss, 1e-3)
        proof = -2 * np.log(goal.delta) * learner.error / margin**2
        faithful = agreeing >= _AGREEING and (2 * proof <= len(pool) or not learner.surrogate.weights.any())
        if faithful or len(pool) >= most:
            learner.fit()
            return faithful
        # Rounds grow with the pool, so that their number, each with its fit, stays small.
        batch = min(int(np.clip(len(pool) // (5 if d < _LONG else 3), 16, 512)), most - len(pool))
        for kept in (proposal, learner.shorter(proposal)):
            learner.draw(kept, max(1, batch // 6))
        learner.ask_telling(proposal, max(1, batch - batch // 3))
