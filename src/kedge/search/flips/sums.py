"""The fewest removed words for scores that are sums over words: exact.

Of a linear score the best k occurrences to remove are those of largest weight. Where the weight of an
occurrence depends on how many there are, the best k are found for every k at once, unit by unit: the most
that k removals can take is max_r (most that k - r take from the units before + what r take here). A label of
several classes is lost to the rival whose lead needs fewest removals; to reach one given class, all of its
leads must be won, which is branch and bound.
"""

from collections.abc import Callable, Sequence

import numpy as np

from kedge.model.scores.additive import UNIT, AdditiveScore
from kedge.search.flips.cut import Cut
from kedge.typing import Bools, Counts, Floats

__all__ = ["Lost", "lose_any_lead", "lose_sum", "win_all_leads"]

Lost = Callable[[Counts], Bools]
"""Rows of counts to whether the label is lost; the model itself is queried where rounding decides."""

# Nodes of the branch and bound before the proof is given up: about a second.
_NODES = 100_000


def lose_sum(score: AdditiveScore, lost: Lost) -> Cut | None:
    """The fewest removals that make the score no longer positive; None if there are none."""
    best, pick = _most(score)
    full = float(score.score(score.sizes[None])[0])
    # Our sums are rounded as the model's are; between these two only the model itself decides.
    error = 2.0 * score.error + 4.0 * (len(score.sizes) + 8) * UNIT * score.magnitude
    left = full - best
    maybe, surely = np.flatnonzero(left <= error), np.flatnonzero(left < -error)
    if not len(maybe):
        return None
    last = int(surely[0]) if len(surely) else len(left) - 1
    for k in range(int(maybe[0]), last + 1):
        removed = pick(k)
        if bool(lost((score.sizes - removed)[None])[0]):
            return Cut(removed, proven=k == int(maybe[0]))
    return None


def lose_any_lead(leads: Sequence[AdditiveScore], lost: Lost) -> Cut | None:
    """The fewest removals after which some rival is ahead."""
    found = [cut for lead in leads if (cut := lose_sum(lead, lost)) is not None]
    best = min(found, key=len, default=None)
    if best is None:
        return None
    return Cut(best.removed, proven=all(one.proven or len(one) > len(best) for one in found))


def _most(score: AdditiveScore) -> tuple[Floats, Callable[[int], Counts]]:
    """(b + 1,) the most that k removals take from the score; and which these are."""
    sizes = score.sizes
    if score.slopes is not None:
        owners = np.repeat(np.arange(len(sizes)), sizes)
        order = np.argsort(-score.slopes[owners], kind="stable")
        taken = np.append(0.0, np.cumsum(score.slopes[owners][order]))
        return taken, lambda k: np.bincount(owners[order[:k]], minlength=len(sizes)).astype(np.int64)
    best, picks = np.zeros(1), []
    for table in score.tables:
        gains = table[-1] - table[::-1]  # what r removals take
        options = np.full((len(gains), len(best) + len(gains) - 1), -np.inf)
        for r, gain in enumerate(gains):
            options[r, r : r + len(best)] = best + gain
        picks.append(options.argmax(axis=0))
        best = options.max(axis=0)

    def pick(k: int) -> Counts:
        removed = np.zeros(len(sizes), dtype=np.int64)
        for j in range(len(sizes) - 1, -1, -1):
            removed[j] = picks[j][k]
            k -= int(removed[j])
        return removed

    return best, pick


def win_all_leads(leads: Sequence[AdditiveScore], lost: Lost) -> Cut | None:
    """The fewest removals after which every one of these linear leads is won; None if none was found."""
    slopes = np.array([lead.slopes for lead in leads], dtype=np.float64)
    sizes = leads[0].sizes
    now = np.array([float(lead.score(lead.sizes[None])[0]) for lead in leads])
    # What is a tie but for rounding may be won: the model is queried. If it is not, ties count as lost.
    error = max(2.0 * lead.error + 1e-12 * lead.magnitude for lead in leads)
    owners = np.repeat(np.arange(len(sizes)), sizes)
    gains = -slopes[:, owners]  # (c, b) what removing an occurrence does to each lead
    for doubt, provable in ((error, True), (-error, False)):
        chosen, whole = _fewest(now + doubt, gains, owners)
        if chosen is not None:
            removed = np.bincount(owners[chosen], minlength=len(sizes)).astype(np.int64)
            if bool(lost((sizes - removed)[None])[0]):
                return Cut(removed, proven=provable and whole)
    return None


def _fewest(now: Floats, gains: Floats, owners: Counts) -> tuple[list[int] | None, bool]:
    """The fewest occurrences that win every lead, and whether it is certain that fewer do not."""
    greedy = _greedy(now, gains)
    for k in range(1, gains.shape[1] + 1 if greedy is None else len(greedy)):
        chosen, whole = _exactly(k, now, gains, owners)
        if chosen is not None:
            return chosen, True
        if not whole:
            return greedy, False
    return greedy, True


def _greedy(now: Floats, gains: Floats) -> list[int] | None:
    """Occurrences removed one by one, each for the largest fall of what is still missing; then pruned."""
    chosen: list[int] = []
    left = set(range(gains.shape[1]))
    state = now.copy()
    while (state <= 0).any():
        missing = np.minimum(state, 0).sum()
        at = sorted(left)
        after = np.minimum(state[:, None] + gains[:, at], 0).sum(axis=0)
        if not at or after.max() <= missing:
            return None
        one = at[int(after.argmax())]
        chosen.append(one)
        left.remove(one)
        state += gains[:, one]
    for one in list(chosen):
        if (state - gains[:, one] > 0).all():
            chosen.remove(one)
            state -= gains[:, one]
    return chosen


def _exactly(k: int, now: Floats, gains: Floats, owners: Counts) -> tuple[list[int] | None, bool]:
    """Some k occurrences that win every lead, and whether the search for them was complete."""
    weight = np.maximum(-now, 0.0) + 1e-12
    order = np.argsort(-(weight @ gains), kind="stable")
    gains, owners = gains[:, order], owners[order]
    b = gains.shape[1]
    # (q, c, b + 1) the most that q removals from each place on can bring each lead.
    reach = np.zeros((k + 1, len(now), b + 1))
    for i in range(b - 1, -1, -1):
        reach[0, :, i] = 0.0
        reach[1:, :, i] = np.maximum(reach[1:, :, i + 1], reach[:-1, :, i + 1] + gains[:, i])
    nodes = 0
    stack: list[tuple[int, tuple[int, ...], Floats]] = [(0, (), now)]
    while stack:
        i, chosen, state = stack.pop()
        left = k - len(chosen)
        if not left:
            if (state > 0).all():
                return [int(order[x]) for x in chosen], True
            continue
        if b - i < left or (state + reach[left, :, i] <= 0).any():
            continue
        nodes += 1
        if nodes > _NODES:
            return None, False
        later = i + 1
        while later < b and owners[later] == owners[i]:
            later += 1  # occurrences of a word are alike: leaving one means leaving the rest
        stack.append((later, chosen, state))
        stack.append((i + 1, (*chosen, i), state + gains[:, i]))
    return None, True
