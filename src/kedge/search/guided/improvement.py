"""From what was explored to the anchor worth proving: shortest prefix, prune, rivals."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kedge.errors import OutOfQueries
from kedge.evaluators.enumeration import anchor_precision, table_size
from kedge.results.interval import Interval
from kedge.search.guided.exploration import Explored
from kedge.search.guided.learner import Learner
from kedge.search.guided.pool import Pool
from kedge.search.guided.surrogate import Surrogate
from kedge.search.strategy import Candidate
from kedge.typing import Bools, Counts, Kept

__all__ = ["Checked", "improve"]

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


@dataclass(frozen=True)
class Checked:
    """The anchor to prove, and what was looked at on the way to it."""

    kept: Kept
    trace: tuple[Candidate, ...] = ()


@dataclass(frozen=True)
class Look:
    """An estimate of one anchor's precision for the search's own use."""

    mean: float
    error: float
    trials: float

    def reaches(self, threshold: float) -> bool:
        return self.mean >= threshold


@dataclass(frozen=True)
class Tally:
    """Samples of one anchor: how many lost the label, and how many did so against the prediction."""

    trials: int
    lost: int
    worse: int
    better: int

    def look(self, predicted: float | None) -> Look:
        """The better of two estimates: plain, or corrected by the surrogate's known prediction.

        Half a failure more is counted in the error, so that few samples give no certainty.
        """
        n = self.trials
        rate = (self.lost + 0.5) / (n + 1)
        plain = Look(1 - self.lost / n, float(np.sqrt(rate * (1 - rate) / n)), n)
        if predicted is None:
            return plain
        error = float(np.sqrt((self.worse + self.better + 0.5) / (n + 1) / n))
        mean = float(np.clip(1 - predicted - (self.worse - self.better) / n, 0, 1))
        return Look(mean, error, n) if error < plain.error else plain


class Looks:
    """Estimates on demand, each anchor once."""

    def __init__(self, learner: Learner) -> None:
        self._pool, self._goal = learner.pool, learner.goal
        self._learner = learner
        self._known: dict[Kept, Look] = {}

    @property
    def trace(self) -> tuple[Candidate, ...]:
        return tuple(
            Candidate(k, Interval(x.mean - 2 * x.error, x.mean, x.mean + 2 * x.error).within(0.0, 1.0))
            for k, x in self._known.items()
        )

    def __call__(self, kept: Kept) -> Look:
        kept = tuple(sorted(kept))
        if kept not in self._known:
            self._known[kept] = self._look(kept)
        return self._known[kept]

    def reaches(self, kept: Kept) -> bool:
        """Whether it seems to reach, by so much that its proof is worth the word it saves."""
        look = self(kept)
        return look.reaches(self._goal.threshold) and self._learner.cost(1 - look.mean) <= self._learner.word

    def best(self, otherwise: Kept) -> Kept:
        """The shortest anchor seen to reach, or else the given one."""
        reaching = [kept for kept in self._known if self.reaches(kept)]
        return min(reaching, key=lambda kept: (len(kept), kept), default=otherwise)

    def _look(self, kept: Kept) -> Look:
        pool, threshold = self._pool, self._goal.threshold
        distinct = table_size(pool.reading, kept) if pool.reading.repeatable else np.inf
        predicted = self._learner.surrogate.loss(kept) if self._learner.surrogate.exact else None
        if distinct <= min(_FEW, pool.left):
            return Look(anchor_precision(pool.reading, kept).mean, 0.0, np.inf)
        tally = self._tally(*pool.given(kept))
        most = float(np.clip(self._learner.word * _PER_WORD, 2 * _FIRST, _MOST))
        while True:
            last = pool.left <= 0  # what is known by now is told
            if tally.trials >= _FIRST or (last and tally.trials):
                look = tally.look(predicted)
                if abs(look.mean - threshold) > _CLEAR * look.error or tally.trials >= most or last:
                    return look
            if distinct <= min(tally.trials, pool.left):
                return Look(anchor_precision(pool.reading, kept).mean, 0.0, np.inf)
            more = self._tally(*pool.draw(kept, _FIRST))
            tally = Tally(
                tally.trials + more.trials,
                tally.lost + more.lost,
                tally.worse + more.worse,
                tally.better + more.better,
            )

    def _tally(self, counts: Counts, holds: Bools) -> Tally:
        expected = self._learner.surrogate.holds(counts)
        worse, better = int((expected & ~holds).sum()), int((~expected & holds).sum())
        return Tally(len(holds), int((~holds).sum()), worse, better)


def improve(explored: Explored, tried: Sequence[Kept]) -> Checked:
    """The anchor to prove next; the best known one when no more questions may be asked for it."""
    learner = explored.learner
    looks = Looks(learner)
    kept = explored.proposal
    try:
        if tried:
            kept = _longer(looks, learner.order(), tried)
            if learner.pool.reading.log_odds is None:  # labels may have put an idle word first
                shorter = _prune(looks, kept, learner.surrogate)
                kept = kept if shorter in tried else shorter
        elif explored.faithful:
            # Log-odds that are a sum leave no doubt; all others leave some about the shorter anchor.
            while not learner.vouched and len(kept) > 1 and looks.reaches(learner.shorter(kept)):
                kept = learner.shorter(kept)
        else:
            kept = _prefix(looks, learner.order(), max(1, len(kept)), learner.goal.shortest)
            kept = _prune(looks, kept, learner.surrogate)
            rivals = _rivals(learner.pool, len(kept))
            kept = next((rival for rival in rivals if looks.reaches(rival)), kept)
    except OutOfQueries:
        kept = looks.best(kept)
        if kept in tried:
            raise
    return Checked(kept, looks.trace)


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


def _prune(looks: Looks, kept: Kept, surrogate: Surrogate) -> Kept:
    """Leave out what the anchor does not need, the least weighty first; in blocks where it is long."""
    block = max(1, len(kept) // 4)
    while block >= max(1, len(kept) // _BLOCKS):
        at = 0
        ranked = sorted(kept, key=lambda j: (surrogate.weights[j], -j))
        while at < len(ranked) and len(kept) > block:
            out = ranked[at : at + block]
            rest = list(kept)
            for j in out:
                rest.remove(j)
            if looks.reaches(tuple(rest)):
                kept = tuple(rest)
            at += block
        block //= 2
    return kept


def _rivals(pool: Pool, length: int) -> list[Kept]:
    """Shorter anchors that the pool suggests: single words, and pairs (interactions)."""
    counts, holds = pool.given(())
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
