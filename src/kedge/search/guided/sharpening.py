"""Learning more about an anchor, before its proof and during it, while that saves more than it costs."""

from kedge.search.guided.learner import Learner
from kedge.search.guided.lessons import ask_telling
from kedge.typing import Kept

__all__ = ["sharpen"]

# A round of questions, as a share of the pool, and at least; one in so many shows how well it predicts.
_ROUND, _LEAST, _SHOWN = 4, 16, 6
# Share of all queries left that a round may take.
_SHARE = 0.6


def sharpen(learner: Learner, kept: Kept, lost: float | None = None) -> None:
    """Ask what the plan for a proof says should be asked before it.

    ``lost`` is how often the label is lost given the anchor, where samples say so; else it is predicted.
    """
    pool = learner.pool
    while not learner.vouched and learner.surrogate.exact and learner.error < 1:
        plan = learner.plan(learner.surrogate.loss(kept)) if lost is None else learner.plan(lost, seen=True)
        more = int(min(plan.rows, max(len(pool) // _ROUND, _LEAST)))
        if not more or plan.cost > learner.word or more > min(pool.room, _SHARE * pool.left):
            break
        if learner.by_odds:
            pool.draw((), more)
        else:
            shown = max(1, more // _SHOWN)
            learner.draw(kept, shown)
            ask_telling(learner, kept, more - shown)
        learner.fit()
        lost = None
