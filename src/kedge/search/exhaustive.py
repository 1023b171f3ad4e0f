"""Algorithm 1 of the paper: exhaustive p-Anchors, for any evaluation function p.

A1 = the anchors with p >= 1 - eps, A2 = the shortest of A1, A3 = the largest p of A2, one of A3.
Lengths are searched from the shortest on, so that only the size of A1 ever needs all of them.
"""

from collections.abc import Iterator
from math import comb, prod

import numpy as np

from kedge.errors import OutOfQueries
from kedge.precision.enumeration import Enumeration
from kedge.precision.estimates import Precision
from kedge.reading import Reading
from kedge.search.search import Candidate, Found, Goal, Selection, candidates, pick
from kedge.typing import Counts, Kept, Status

__all__ = ["anchors_of_length", "exhaustive"]

# Two closed-form precisions closer than this are a tie: it is the rounding of the transform.
_TIE = 1e-12
# A1 is counted when there are at most this many anchors in all.
_COUNTED = 1 << 14


def exhaustive(reading: Reading, precision: Precision, goal: Goal, rng: np.random.Generator) -> Found:
    """Every anchor of every length, shortest first, until a length has one that reaches the goal."""
    sizes = reading.units.sizes
    beta = float(np.log(1 / goal.delta))
    trace: list[Candidate] = []
    looked_at, settled = 0, True
    best: Candidate | None = None
    notes: list[str] = []
    ranked = np.arange(len(sizes))
    why = (
        f"There are more than {goal.max_candidates} anchors to look at; raise max_candidates or use "
        "method='auto'."
    )
    for length in range(0 if goal.allow_empty else 1, int(sizes.sum()) + 1):
        units = np.arange(len(sizes))
        if goal.shortlist:
            units = np.sort(ranked[: _fitting(sizes[ranked], length, goal.max_candidates)])
            if int(sizes[units].sum()) < length:
                break
            if len(units) < len(sizes):
                notes.append(
                    f"Of length {length} only anchors made of the {len(units)} best of {len(sizes)} words, "
                    "by "
                    "the precision of each alone, were looked at."
                )
                settled = False
        else:
            looked_at += number_of_length(sizes, length)
            if looked_at > goal.max_candidates:
                break
        anchors = [tuple(units[list(kept)].tolist()) for kept in anchors_of_length(sizes[units], length)]
        try:
            estimates = precision(anchors, goal.samples)
        except OutOfQueries as error:
            why = str(error)
            break
        if length == 1:
            ranked = units[np.argsort(-estimates.mean, kind="stable")]
        seen = candidates(anchors, estimates, beta)
        trace += seen
        best = max([best, *seen], key=lambda c: c.mean) if best else seen[0]
        reached = np.flatnonzero(estimates.mean >= goal.threshold)
        if len(reached):
            top = estimates.mean[reached].max()
            tied = tuple(anchors[i] for i in reached if estimates.mean[i] >= top - _TIE)
            kept = pick(tied, goal, rng)
            low, high = (float(x[anchors.index(kept)]) for x in estimates.bounds(beta))
            exact = settled and bool(estimates.settled.all()) and low >= goal.threshold
            selection = Selection(_count_reaching(precision, goal, sizes), len(reached), tied)
            status: Status = "exact" if exact else "estimated"
            return Found(kept, float(top), low, high, status, tuple(trace), selection, notes=tuple(notes))
        _, high_all = estimates.bounds(beta)
        settled &= bool(estimates.settled.all()) and bool((high_all < goal.threshold).all())
    if best is None:
        best = Candidate((), 0.5, 0.0, 1.0)
    return Found(best.kept, best.mean, best.low, best.high, "not_reached", tuple(trace), notes=(*notes, why))


def _fitting(sizes: Counts, length: int, most: int) -> int:
    """How many of the first words give at most ``most`` anchors of a length, by bisection."""
    if number_of_length(sizes, length) <= most:
        return len(sizes)
    low, high = 0, len(sizes)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if number_of_length(sizes[:middle], length) <= most else (low, middle)
    return low


def _count_reaching(precision: Precision, goal: Goal, sizes: Counts) -> int | None:
    """The size of A1, where all anchors are few and cost nothing more to evaluate."""
    if prod(int(m) + 1 for m in sizes) > _COUNTED:
        return None
    shortest = 0 if goal.allow_empty else 1
    if isinstance(precision, Enumeration):
        return int(np.count_nonzero(precision.every[shortest:] >= goal.threshold))
    anchors = [a for n in range(shortest, int(sizes.sum()) + 1) for a in anchors_of_length(sizes, n)]
    estimates = precision(anchors)
    if not estimates.settled.all():
        return None
    return int((estimates.mean >= goal.threshold).sum())


def anchors_of_length(sizes: Counts, length: int) -> Iterator[Kept]:
    """All anchors of a length in unit space, in lexicographic order.

    >>> list(anchors_of_length(np.array([2, 1]), 2))
    [(0, 0), (0, 1)]
    """
    room = np.concatenate([np.cumsum(sizes[::-1])[::-1], [0]]).tolist()

    def extend(unit: int, left: int) -> Iterator[Kept]:
        if left == 0:
            yield ()
            return
        for first in range(unit, len(sizes)):
            if room[first] < left:
                return
            for count in range(min(int(sizes[first]), left), 0, -1):
                for rest in extend(first + 1, left - count):
                    yield (first,) * count + rest

    return extend(0, length)


def number_of_length(sizes: Counts, length: int) -> int:
    """How many anchors of a length there are: a coefficient of prod_j (1 + x + ... + x^m_j)."""
    if sizes.max(initial=0) <= 1:
        return comb(len(sizes), length)
    ways = [1] + [0] * length
    for size in sizes.tolist():
        ways = [sum(ways[max(0, n - size) : n + 1]) for n in range(length + 1)]
    return ways[length]
