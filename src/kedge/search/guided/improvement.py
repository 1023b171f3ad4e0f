"""From what was explored to the anchor worth proving: shortest prefix, prune, rivals."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kedge.errors import OutOfQueries
from kedge.evaluators.enumeration import anchor_precision, table_size
from kedge.results.interval import Interval
from kedge.search.guided.exploration import Explored
from kedge.search.guided.learner import Learner
from kedge.search.guided.looking import Look, look_at
from kedge.search.guided.pool import Pool
from kedge.search.strategy import Candidate
from kedge.typing import Kept

__all__ = ["Checked", "Looks", "improve"]

# Samples for the first look at an anchor, and at most.
_FIRST, _MOST = 24, 120
# What a look may cost, as a share of what the word it saves is worth.
_PER_WORD = 0.2
# Standard errors from the threshold at which a look is enough.
_CLEAR = 2.0
# Samples after which asking about every distinct one is worth it.
_FEW = 64
# After a proof that failed, anchors grow by this part of their length.
_STEP = 8
# Words of an anchor are left out one by one, or where it is long, in so many blocks.
_BLOCKS = 12
# How many single words and pairs may challenge a longer anchor.
_RIVALS = 3
# A word that is predicted to lose the label in no more than this part of the cases allowed needs no look.
_SURE = 0.2


@dataclass(frozen=True)
class Checked:
    """The anchor to prove, and what was looked at on the way to it."""

    kept: Kept
    trace: tuple[Candidate, ...] = ()


class Looks:
    """Estimates on demand, each anchor once."""

    def __init__(self, learner: Learner) -> None:
        self._pool, self._goal = learner.pool, learner.goal
        self._learner = learner
        self._known: dict[Kept, Look] = {}

    @property
    def trace(self) -> tuple[Candidate, ...]:
        """What was looked at."""
        return tuple(
            Candidate(k, Interval(x.mean - 2 * x.error, x.mean, x.mean + 2 * x.error).within(0.0, 1.0))
            for k, x in self._known.items()
        )

    def __call__(self, kept: Kept) -> Look:
        """What samples say of an anchor; the surrogate learns from those that had to be asked about."""
        kept = tuple(sorted(kept))
        if kept not in self._known:
            before = len(self._pool)
            self._known[kept] = self._look(kept)
            if len(self._pool) > before:
                self._learner.fit(rough=True)
        return self._known[kept]

    def reaches(self, kept: Kept) -> bool:
        """Whether it seems to reach, by so much that its proof is worth the word it saves."""
        look = self(kept)
        return look.mean >= self._goal.threshold and self._learner.cost(1 - look.mean) <= self._learner.word

    def best(self, otherwise: Kept) -> Kept:
        """The shortest anchor seen to reach, or else the given one."""
        reaching = [kept for kept in self._known if self.reaches(kept)]
        return min(reaching, key=lambda kept: (len(kept), kept), default=otherwise)

    def _look(self, kept: Kept) -> Look:
        pool, learner = self._pool, self._learner
        distinct = table_size(pool.reading, kept) if pool.reading.repeatable else np.inf
        if distinct <= min(_FEW, pool.left):
            return Look(anchor_precision(pool.reading, kept).mean, 0.0, np.inf)
        most = float(np.clip(learner.word * _PER_WORD, 2 * _FIRST, _MOST))
        while True:
            rows = pool.given(kept)
            trials = len(rows.holds)
            last = pool.left <= 0  # what is known by now is told
            if trials >= _FIRST or (last and trials):
                look = look_at(learner, kept, rows)
                clear = abs(look.mean - self._goal.threshold) > _CLEAR * look.error
                if clear or trials >= most or last:
                    return look
            if distinct <= min(trials, pool.left):
                return Look(anchor_precision(pool.reading, kept).mean, 0.0, np.inf)
            pool.draw(kept, _FIRST)


def improve(explored: Explored, tried: Sequence[Kept]) -> Checked:
    """The anchor to prove next; the best known one when no more questions may be asked for it."""
    learner = explored.learner
    looks = Looks(learner)
    kept = explored.proposal
    try:
        if any(set(kept) <= set(one) for one in tried) or len(tried) > 1 or (tried and not learner.learns):
            kept = _longer(looks, learner.order(), tried)
        elif not _is_settled(explored):
            kept = _prefix(looks, learner.order(), max(1, len(kept)), learner.goal.shortest)
            if not explored.faithful:
                rivals = _rivals(learner.pool, len(kept))
                kept = next((rival for rival in rivals if looks.reaches(rival)), kept)
    except OutOfQueries:
        kept = looks.best(kept)
        if kept in tried:
            raise
    return Checked(kept, looks.trace)


def _is_settled(explored: Explored) -> bool:
    """Whether a proposal needs no look: log-odds that are a sum leave no doubt, all others leave some.

    Unless nothing can be shorter and it is predicted to lose the label far less often than it may.
    """
    learner, kept = explored.learner, explored.proposal
    if learner.vouched or not explored.faithful or len(kept) > learner.goal.shortest:
        return learner.vouched
    loss = learner.predicted_loss(kept)
    return loss is not None and loss <= _SURE * (1 - learner.goal.threshold)


def _longer(looks: Looks, order: list[int], tried: Sequence[Kept]) -> Kept:
    """After a proof that failed: the next longer prefix that seems to reach, in growing steps.

    None shorter than what failed is looked for: what seems to reach there is luck.
    """
    length = max(len(one) for one in tried)
    while length < len(order):
        length = min(len(order), length + max(1, length // (_STEP if len(tried) <= 2 else 2)))
        if length == len(order) or looks.reaches(tuple(order[:length])):
            break
    return tuple(sorted(order[:length]))


def _prefix(looks: Looks, order: list[int], start: int, least: int) -> Kept:
    """The shortest prefix that reaches, by doubling away from the predicted length, then halving."""
    total = len(order)

    def reaches(length: int) -> bool:
        return length >= total or looks.reaches(tuple(order[:length]))

    start = min(start, total)
    step = 1
    if reaches(start):
        yes, no = start, least - 1
        while yes - step >= least:
            if reaches(yes - step):
                yes -= step
                step *= 2
            else:
                no = yes - step
                break
    else:
        no, yes = start, total
        while no + step < total:
            if reaches(no + step):
                yes = no + step
                break
            no += step
            step *= 2
    while yes - no > 1:
        middle = (yes + no) // 2
        yes, no = (middle, no) if reaches(middle) else (yes, middle)
    return tuple(sorted(order[:yes]))


def _rivals(pool: Pool, length: int) -> list[Kept]:
    """Shorter anchors that the pool suggests: single words, and pairs (interactions)."""
    counts, holds, _ = pool.given(())
    sizes = pool.reading.units.sizes
    if len(sizes) > 600 or length < 2:
        return []
    there = (counts > 0).astype(np.float32)
    held = there[holds]
    found: list[Kept] = []
    one = (held.sum(axis=0) + 1) / (there.sum(axis=0) + 2)
    found += [(int(j),) for j in np.argsort(-one, kind="stable")[:_RIVALS]]
    if length > 2:
        two = (held.T @ held + 1) / (there.T @ there + 2)
        two[np.tril_indices(len(sizes))] = 0
        best = np.argsort(-two, axis=None, kind="stable")[:_RIVALS]
        found += [tuple(int(x) for x in np.unravel_index(i, two.shape)) for i in best]
    return found
