"""From what was explored to the anchor worth proving: shortest prefix, prune, rivals."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kedge.search.certify import exact_precision
from kedge.search.explore import Explored
from kedge.search.pool import Pool, support
from kedge.search.search import Candidate, Goal
from kedge.search.surrogate import Surrogate
from kedge.typing import Kept

__all__ = ["Checked", "improve"]

# Samples for the first look at an anchor, and at most.
_FIRST, _MOST = 32, 384
# Standard errors from the threshold at which a look is enough.
_CLEAR = 2.0
# Samples after which asking about every distinct one is worth it.
_FEW = 64
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


class Looks:
    """Estimates on demand, each anchor once."""

    def __init__(self, pool: Pool, surrogate: Surrogate, goal: Goal) -> None:
        self._pool, self._surrogate, self._goal = pool, surrogate, goal
        self._known: dict[Kept, Look] = {}

    @property
    def trace(self) -> tuple[Candidate, ...]:
        return tuple(
            Candidate(k, x.mean, max(0.0, x.mean - 2 * x.error), min(1.0, x.mean + 2 * x.error))
            for k, x in self._known.items()
        )

    def __call__(self, kept: Kept) -> Look:
        kept = tuple(sorted(kept))
        if kept not in self._known:
            self._known[kept] = self._look(kept)
        return self._known[kept]

    def reaches(self, kept: Kept) -> bool:
        return self(kept).reaches(self._goal.threshold)

    def _look(self, kept: Kept) -> Look:
        pool, threshold = self._pool, self._goal.threshold
        distinct = support(pool.reading, kept) if pool.reading.repeatable else np.inf
        foreseen = self._surrogate.loss(kept) if self._surrogate.exact else None
        if distinct <= min(_FEW, pool.left):
            return Look(exact_precision(pool.reading, kept), 0.0, np.inf)
        while True:
            counts, holds = pool.given(kept)
            n = len(holds)
            if n >= _FIRST:
                look = self._estimate(counts, holds, foreseen)
                if abs(look.mean - threshold) > _CLEAR * look.error or n >= _MOST:
                    return look
            if distinct <= min(n, pool.left):
                return Look(exact_precision(pool.reading, kept), 0.0, np.inf)
            pool.draw(kept, max(_FIRST - n, _FIRST))

    def _estimate(self, counts: np.ndarray, holds: np.ndarray, foreseen: float | None) -> Look:
        """The better of two estimates: plain, or corrected by the surrogate's known prediction."""
        n = len(holds)
        lost = float(1 - holds.mean())
        plain = (lost * n + 0.5) / (n + 1)  # half a failure more: no certainty from few samples
        plain_variance = plain * (1 - plain)
        if foreseen is None:
            return Look(1 - lost, float(np.sqrt(plain_variance / n)), n)
        y = (~holds).astype(float) - (~self._surrogate.holds(counts)).astype(float)
        variance = (float((y**2).sum()) + 0.5) / (n + 1)
        if variance < plain_variance:
            return Look(float(np.clip(1 - foreseen - y.mean(), 0, 1)), float(np.sqrt(variance / n)), n)
        return Look(1 - lost, float(np.sqrt(plain_variance / n)), n)


def improve(explored: Explored, tried: Sequence[Kept]) -> Checked:
    """The anchor to prove next."""
    learner = explored.learner
    pool, goal = learner.pool, learner.goal
    order = learner.order()
    looks = Looks(pool, learner.surrogate, goal)
    if explored.faithful and not tried:
        kept = explored.proposal
        if not learner.by_odds:  # labels leave some doubt about the shorter one
            while len(kept) > 1 and looks.reaches(shorter := learner.shorter(kept)):
                kept = shorter
        return Checked(kept, looks.trace)
    if tried:
        length = len(tried[-1])
        while length < len(order):
            length += 1 if len(tried) == 1 else max(1, length // 2)
            kept = tuple(sorted(order[:length]))
            if looks.reaches(kept):
                break
        kept = tuple(sorted(order[: min(length, len(order))]))
        return Checked(kept, looks.trace)
    kept = _prefix(looks, order, max(1, len(explored.proposal)), 0 if goal.allow_empty else 1)
    kept = _pruned(looks, kept, learner.surrogate)
    for rival in _rivals(pool, len(kept)):
        if looks.reaches(rival):
            kept = rival
            break
    return Checked(kept, looks.trace)


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


def _pruned(looks: Looks, kept: Kept, surrogate: Surrogate) -> Kept:
    """Leave out what the anchor does not need, the least weighty first; in blocks while it is long."""
    block = max(1, len(kept) // 4)
    while block:
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
    """Shorter anchors that the pool speaks for: single words, and pairs (interactions)."""
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

