"""Algorithm 1 of the paper: exhaustive p-Anchors, for any evaluation function p.

A1 = the anchors with p >= 1 - eps, A2 = the shortest of A1, A3 = the largest p of A2, one of A3.
Lengths are searched from the shortest on, so that only the size of A1 ever needs all of them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import comb, prod
from typing import ClassVar

import numpy as np

from kedge.errors import OutOfQueries
from kedge.evaluators.affordable import COUNT_BUDGET, enumerable, few_texts
from kedge.evaluators.enumeration import table_size
from kedge.evaluators.estimates import Evaluator
from kedge.reading.reading import Reading
from kedge.results.interval import UNKNOWN, Interval
from kedge.search.knobs import check_at_least, check_evaluator, evaluator_obstacle, make_evaluator
from kedge.search.strategy import (
    Candidate,
    EvaluatorName,
    Found,
    Goal,
    Selection,
    best_candidates,
)
from kedge.search.ties import break_tie
from kedge.typing import Counts, Kept, Status
from kedge.utils.sentences import Option, Sentence

__all__ = ["Exhaustive", "anchors_of_length", "search_all"]

# Two closed-form precisions closer than this are a tie: it is the rounding of the transform.
_TIE = 1e-12
# A1 is counted when there are at most this many anchors in all.
_COUNTED = 1 << 14


@dataclass(frozen=True)
class Exhaustive:
    """Algorithm 1: every anchor of every length, shortest first, until a length has one that reaches.

    Parameters
    ----------
    evaluator
        ``"auto"`` (the most exact there is), ``"exact"``, ``"gaussian"`` or ``"empirical"``.
    samples
        Samples per anchor where the precision is sampled.
    max_candidates
        Give up rather than look at more anchors than this.
    shortlist
        If a length has more than ``max_candidates`` anchors, look only at those made of the words that are
        best on their own, as many words as fit, and say so. Without it, give up there.
    """

    evaluator: EvaluatorName = "auto"
    samples: int = 100
    max_candidates: int = 200_000
    shortlist: bool = False

    name: ClassVar = "exhaustive"
    ignores: ClassVar = frozenset[str]()

    def __post_init__(self) -> None:
        check_evaluator(self, ("auto", "exact", "gaussian", "empirical"))
        check_at_least("samples", self.samples)
        check_at_least("max_candidates", self.max_candidates)

    def obstacle(self, reading: Reading) -> str | None:
        """Any anchor can be looked at, but the model may not have the evaluator."""
        return evaluator_obstacle(self.evaluator, reading)

    def suits(self, reading: Reading) -> bool:
        """Where querying every sample costs no more than the guided search."""
        if self.evaluator == "gaussian":
            return table_size(reading) <= COUNT_BUDGET
        return enumerable(reading) and (reading.counted or few_texts(reading, 1.0))

    def __call__(self, reading: Reading, goal: Goal, rng: np.random.Generator) -> Found:
        """Look at all of them."""
        return search_all(reading, make_evaluator(self.evaluator, reading, rng), goal, rng, self)


def search_all(
    reading: Reading,
    precision: Evaluator,
    goal: Goal,
    rng: np.random.Generator,
    knobs: Exhaustive | None = None,
) -> Found:
    """Algorithm 1 with a given evaluator."""
    knobs = knobs or Exhaustive()
    sizes, beta = reading.units.sizes, goal.rate
    trace: list[Candidate] = []
    looked_at, settled = 0, True
    best: Candidate | None = None
    notes: list[str] = list(precision.notes)
    ranked = np.arange(len(sizes))
    why = Sentence(
        f"There are more than {knobs.max_candidates} anchors to look at; raise ",
        Option("max_candidates"),
        " or use ",
        Option("method", "auto"),
        ".",
    )
    for length in range(goal.shortest, int(sizes.sum()) + 1):  # pragma: no branch  (all kept reach)
        units = np.arange(len(sizes))
        if knobs.shortlist:
            units = np.sort(ranked[: _count_fitting(sizes[ranked], length, knobs.max_candidates)])
            if int(sizes[units].sum()) < length:
                break
            if len(units) < len(sizes):
                notes.append(
                    f"Of length {length} only anchors made of the {len(units)} best of {len(sizes)} words, "
                    "by the precision of each alone, were looked at."
                )
                settled = False
        else:
            looked_at += number_of_length(sizes, length)
            if looked_at > knobs.max_candidates:
                break
        anchors = [tuple(units[list(kept)].tolist()) for kept in anchors_of_length(sizes[units], length)]
        try:
            estimates = precision(anchors, knobs.samples)
        except OutOfQueries as error:
            why = error.sentence
            break
        if length == 1:
            ranked = units[np.argsort(-estimates.mean, kind="stable")]
        seen = best_candidates(anchors, estimates, beta)
        trace += seen
        best = max([best, *seen], key=lambda c: c.interval.mean) if best else seen[0]
        reached = np.flatnonzero(estimates.mean >= goal.threshold)
        if len(reached):
            top = float(estimates.mean[reached].max())
            tied = tuple(anchors[i] for i in reached if estimates.mean[i] >= top - _TIE)
            kept = break_tie(tied, goal, rng, reading)
            low, high = (float(x[anchors.index(kept)]) for x in estimates.bounds(beta))
            exact = settled and bool(estimates.settled.all()) and low >= goal.threshold
            selection = Selection(_count_reaching(precision, goal, sizes), len(reached), tied)
            status: Status = "exact" if exact else "estimated"
            known = Interval(low, top, high)
            return Found(kept, known, status, precision, tuple(trace), selection, notes=tuple(notes))
        settled &= bool(estimates.settled.all()) and bool((estimates.upper(beta) < goal.threshold).all())
    best = best or Candidate((), UNKNOWN)
    return Found(best.kept, best.interval, "not_reached", precision, tuple(trace), notes=(*notes, why))


def _count_fitting(sizes: Counts, length: int, most: int) -> int:
    """How many of the first words give at most ``most`` anchors of a length, by bisection."""
    if number_of_length(sizes, length) <= most:
        return len(sizes)
    low, high = 0, len(sizes)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if number_of_length(sizes[:middle], length) <= most else (low, middle)
    return low


def _count_reaching(precision: Evaluator, goal: Goal, sizes: Counts) -> int | None:
    """The size of A1, where all anchors are few and cost nothing more to evaluate."""
    if prod(int(m) + 1 for m in sizes) > _COUNTED:
        return None
    if (every := precision.every) is not None:
        return int(np.count_nonzero(every[goal.shortest :] >= goal.threshold))
    anchors = [a for n in range(goal.shortest, int(sizes.sum()) + 1) for a in anchors_of_length(sizes, n)]
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
