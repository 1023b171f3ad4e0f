"""Ties: which of several words that are about as good completes an anchor.

The noise of the surrogate must not choose, or another seed would give another answer. Where log-odds
were regressed the surrogate tells words apart by the precision they give; where it learned from
labels, near ties are decided by duels. What stays tied goes to the first in the text.
"""

import numpy as np

from kedge.search.guided.learner import Learner
from kedge.typing import Kept

__all__ = ["break_near_tie"]

# Predicted precisions closer than this are tied.
_TIED = 5e-4
# A surrogate learned from labels may err by this much about the precision of a near tie, but a tie must not
# cost more than this share of the margin that the proof needs, or of what the surrogate gets wrong.
_NEAR, _SHARE = 6e-3, 0.2
# How many words may stand in for the last one of a proposal.
_RIVALS = 5
# A duel: pairs of samples asked about in a round, samples of which they are the nearest to the change,
# rounds at most, and the lead that ends it. (For a linear model any lead is decisive.)
_PAIRS, _CHOICES, _ROUNDS, _LEAD = 16, 400, 4, 2


def break_near_tie(learner: Learner, kept: Kept) -> Kept:
    """Exchange the least weighty word of a proposal for the best one, ties in the order of the text."""
    surrogate, goal = learner.surrogate, learner.goal
    if not kept or not surrogate.exact:
        return kept
    weights = surrogate.weights
    rest = learner.shorter(kept)
    last = next(j for j in kept if rest.count(j) < kept.count(j))
    if weights[last] <= 0 or (not learner.vouched and surrogate.loss(()) <= 1 - goal.threshold):
        return kept  # any word will do, or none is needed: not worth a question
    room = surrogate.sizes - np.bincount(np.asarray(rest, dtype=np.int64), minlength=len(weights))
    strong = np.flatnonzero((room > 0) & (2 * weights >= weights[last]))
    rivals = sorted(strong.tolist(), key=lambda j: -int(weights[j]))[:_RIVALS]
    losses = surrogate.exchanges(rest, sorted({last, *rivals}))
    least = min(losses.values())
    near = least + min(_NEAR, _SHARE * max(1 - goal.threshold - least, learner.error))
    if learner.vouched:
        # A tie must not cost the margin that the proof needs.
        tie = min(_TIED, 0.1 * max(1 - goal.threshold - least, 0.0))
        best = min(j for j, loss in losses.items() if loss <= least + tie)
    elif learner.foresees:
        # The prior is the same whatever was drawn.
        best = learner.expected_best(j for j, loss in losses.items() if loss <= near)
    else:
        best = _champion(learner, rest, sorted(j for j, loss in losses.items() if loss <= near))
    return tuple(sorted((*rest, best)))


def _champion(learner: Learner, rest: Kept, rivals: list[int]) -> int:
    """The word that wins its duels, the first in the text where nobody wins."""
    best = rivals[0]
    for rival in rivals[1:]:
        if _beats(learner, rest, rival, best):
            best = rival
    return best


def _beats(learner: Learner, rest: Kept, one: int, other: int) -> bool:
    """Whether ``one`` wins its duel against ``other``; the surrogate learns from every round."""
    lead = 0
    for _ in range(_ROUNDS):
        lead += _wins(learner, rest, one, other)
        if abs(lead) >= _LEAD:
            break
        learner.fit(rough=True)
    return lead > 0


def _wins(learner: Learner, rest: Kept, one: int, other: int) -> int:
    """How many more samples hold with ``one`` in place of ``other`` than the other way round.

    The samples are alike but for the two words, and as near as the surrogate can tell to the place
    where the label changes. For a linear model every difference speaks for the larger weight, so
    that a single one decides.
    """
    pool, surrogate = learner.pool, learner.surrogate
    free = learner.pool.reading.units.sizes
    rows = pool.reading.sample(rest, min(_CHOICES, max(_PAIRS, (1 << 18) // len(free))), pool.rng)
    sure = pool.reading.units.counts(rest)
    first, second = rows.copy(), rows.copy()
    first[:, one], first[:, other] = sure[one] + 1, sure[other]
    second[:, one], second[:, other] = sure[one], sure[other] + 1
    middle = np.abs(surrogate.scores(first) + surrogate.scores(second))
    nearest = np.argsort(middle, kind="stable")[:_PAIRS]
    pairs = np.concatenate([first[nearest], second[nearest]])
    if pool.left < len(pairs):
        return 0
    _, holds = pool.ask(pairs)
    half = len(nearest)
    return int(holds[:half].sum()) - int(holds[half:].sum())
