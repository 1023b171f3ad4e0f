"""Among the anchors that reach the threshold, the one of largest coverage: the original problem.

Coverage never grows when an anchor does. So anchors can be looked at from the largest coverage down
(`_best_first`): the first that reaches the threshold is the answer. Where keeping more of a word
never lowers the precision (an additive score with a positive word, by coupling the coins), branches
are also cut that could not reach the threshold with every word that coverage still allows
(`_branches`), which makes long documents possible. A sampled precision gives no proof: there a beam
of the most precise anchors grows while a larger coverage is possible, as in Ribeiro et al. 2018.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush
from typing import Protocol

import numpy as np

from kedge.errors import OutOfQueries
from kedge.model.scores.additive import AdditiveScore
from kedge.reading.reading import Reading
from kedge.results.interval import Interval
from kedge.search.strategy import Candidate, Found, Goal, Strategy
from kedge.typing import Bits, Kept, Status
from kedge.utils.bitsets import count_bits

__all__ = ["Covering"]

# Anchors whose precision may be worked out for a proof: about a second or two on a long document.
JUDGED = 2000
# Anchors of a closed form that may be looked at from the largest coverage down, each a lookup.
_CANDIDATES = 200_000
# Anchors of each length that a sampled search keeps.
BEAM = 4
# Samples per anchor there.
_SAMPLES = 100
# A trace is for looking at: no more anchors than this.
_TRACE = 200
UNPROVEN = "The search was cut short: an anchor of larger coverage may exist."


class Index(Protocol):
    """Which documents of a corpus contain a word so many times, as sets of bits."""

    def __len__(self) -> int:
        """The number of documents."""
        ...

    def bits(self, word: str, times: int) -> Bits | None:
        """The documents that contain a word at least ``times`` times; None if none do."""
        ...


@dataclass(frozen=True)
class Covering:
    """The anchor of largest coverage in one corpus, from what another strategy finds."""

    index: Index
    shortest: Strategy

    def __call__(self, reading: Reading, goal: Goal, rng: np.random.Generator) -> Found:
        """Find the anchor of largest coverage."""
        first = self.shortest(reading, goal, rng)
        if first.status == "not_reached" or not first.kept:
            return first
        corpus = _Corpus(self.index, reading)
        task = _Task(reading, goal, corpus, first)
        if not first.evaluator([first.kept]).settled[0]:
            return _beam(task)
        score = reading.additive
        proven = _branches(task, score) if score is not None and _one_signed(score) else _best_first(task)
        return task.found(proven=proven)


class _Corpus:
    """Documents that contain what an anchor keeps, as sets of bits."""

    def __init__(self, index: Index, reading: Reading) -> None:
        self._words = reading.units.words(reading.document)
        self._index = index
        self._sets: dict[tuple[str, int], Bits] = {}
        self.nothing = np.zeros((len(index) + 63) // 64, dtype=np.uint64)

    def documents(self, kept: Kept) -> Bits | None:
        """The documents that contain the anchor's words; None: all of them."""
        both: Bits | None = None
        for word, times in Counter(self._words[unit] for unit in kept).items():
            here = self._contain(word, times)
            both = here if both is None else both & here
        return both

    def count(self, kept: Kept) -> int:
        """How many documents contain the anchor's words."""
        documents = self.documents(kept)
        return len(self._index) if documents is None else count_bits(documents)

    def _contain(self, word: str, times: int) -> Bits:
        if (word, times) not in self._sets:
            found = self._index.bits(word, times)
            self._sets[word, times] = self.nothing if found is None else found
        return self._sets[word, times]


class _Task:
    """What is searched, the best so far, and what it has cost."""

    def __init__(self, reading: Reading, goal: Goal, corpus: _Corpus, first: Found) -> None:
        self.reading, self.goal, self.corpus = reading, goal, corpus
        self.first, self.precision = first, first.evaluator
        self.sizes = reading.units.sizes
        self.judged: dict[Kept, Candidate] = {}
        self.doubt = first.interval.low < goal.threshold
        self.best = Candidate(first.kept, first.interval)
        self.count = corpus.count(first.kept)

    def judge(self, kept: Kept) -> Interval:
        """What is known of an anchor's precision, refined until it is clear whether it reaches."""
        if kept not in self.judged:
            self.judged[kept] = Candidate(kept, self.precision.refine(kept, self.goal.threshold))
        return self.judged[kept].interval

    def reaches(self, kept: Kept) -> bool:
        """Whether an anchor surely reaches the threshold; a case left open casts doubt on any proof."""
        known = self.judge(kept)
        self.doubt |= known.splits(self.goal.threshold)
        return known.low >= self.goal.threshold

    def worth(self, count: int, length: int) -> bool:
        """Whether an anchor of this coverage and length would be better than the best so far."""
        return (count, -length) > (self.count, -len(self.best.kept))

    def accept(self, kept: Kept, count: int) -> None:
        """Take an anchor that is better."""
        self.best, self.count = Candidate(kept, self.judge(kept)), count

    @property
    def spent(self) -> bool:
        """Whether the search must end."""
        return len(self.judged) >= JUDGED

    def found(self, *, proven: bool, sampled: bool = False) -> Found:
        """The answer."""
        best, first = self.best, self.first
        reached = best.interval.low >= self.goal.threshold
        exact = proven and not self.doubt and reached
        status: Status = "estimated" if sampled else "exact" if exact else "certified"
        if status == "certified" and not reached:
            status = first.status  # nothing better was certified
        trace = sorted(self.judged.values(), key=lambda c: (len(c.kept), -c.interval.mean))[:_TRACE]
        return replace(
            first,
            kept=best.kept,
            interval=best.interval,
            status=status,
            trace=tuple(trace),
            selection=None,
            notes=first.notes if exact else (*first.notes, UNPROVEN),
        )


def _one_signed(score: AdditiveScore) -> bool:
    """Whether each word either never hurts or never helps, however often it is kept."""
    if score.linear:
        return True
    steps = [np.diff(table) for table in score.tables]
    return all((s >= 0).all() or (s <= 0).all() for s in steps)


def _branches(task: _Task, score: AdditiveScore) -> bool:
    """Branch and bound; returns whether it went through to the end."""
    # A word that never helps can only be an anchor alone: with another word beside it, leaving it
    # out lowers neither precision nor coverage.
    singles = sorted(
        ((task.corpus.count((j,)), j) for j in range(len(task.sizes))), key=lambda x: (-x[0], x[1])
    )
    for count, unit in singles:
        if not task.worth(count, 1):
            break
        if task.reaches((unit,)):
            task.accept((unit,), count)
            break
    return _grow(task, (), _most_helpful_first(score))


def _most_helpful_first(score: AdditiveScore) -> tuple[tuple[int, int], ...]:
    """Helpful occurrences as (unit, how many of it): without the best ones the rest soon cannot reach.

    The occurrences of a unit stay in order, whatever their steps: only an anchor that keeps the first
    can keep the second, and the steps of a straight line differ in their last bits.
    """
    helpful = []
    for unit, table in enumerate(score.tables):
        steps = np.diff(table)
        if len(steps) and steps.max() > 0:
            helpful += [(time > 1, -float(step), unit) for time, step in enumerate(steps, start=1)]
    seen: Counter[int] = Counter()
    order = []
    for _, _, unit in sorted(helpful):
        seen[unit] += 1
        order.append((unit, seen[unit]))
    return tuple(order)


def _grow(task: _Task, kept: Kept, rest: Sequence[tuple[int, int]]) -> bool:
    """All anchors that add to ``kept`` some of the ``rest``; False when cut short."""
    allowed = []
    for unit, time in rest:
        # What keeping it (and its earlier occurrences) costs, whatever else is kept.
        more = tuple(sorted((*kept, *(unit,) * (time - kept.count(unit)))))
        count = task.corpus.count(more)
        if task.worth(count, len(more)):
            allowed.append((unit, time))
    for at, (unit, time) in enumerate(allowed):
        if task.spent:
            return False
        everything = tuple(sorted((*kept, *(u for u, _ in allowed[at:]))))
        if task.judge(everything).high < task.goal.threshold:
            return True  # nor can any later branch reach: it has still less to choose from
        if time != kept.count(unit) + 1:
            continue  # the first occurrence comes first
        grown = tuple(sorted((*kept, unit)))
        count = task.corpus.count(grown)
        if not task.worth(count, len(grown)):
            continue  # a better anchor was found since
        if task.reaches(grown):
            task.accept(grown, count)
        elif not _grow(task, grown, allowed[at + 1 :]):
            return False
    return True


def _best_first(task: _Task) -> bool:
    """Anchors from the largest coverage down; returns whether it went through to the end."""
    heap: list[tuple[int, int, Kept]] = [(-task.corpus.count((j,)), 1, (j,)) for j in range(len(task.sizes))]
    heapify(heap)
    while heap:
        negative, length, kept = heappop(heap)
        if not task.worth(-negative, length):
            return True
        if len(task.judged) >= _CANDIDATES:
            return False
        if task.reaches(kept):
            task.accept(kept, -negative)
            continue
        for unit in range(kept[-1], len(task.sizes)):
            if kept.count(unit) < task.sizes[unit]:
                grown = (*kept, unit)
                count = task.corpus.count(grown)
                if task.worth(count, length + 1):
                    heappush(heap, (-count, length + 1, grown))
    return True


def _beam(task: _Task) -> Found:
    """A beam of the most precise anchors, as long as a larger coverage is possible."""
    goal = task.goal
    beam: list[Kept] = [()]
    try:
        while beam:
            grown = {
                tuple(sorted((*kept, unit)))
                for kept in beam
                for unit in range(len(task.sizes))
                if kept.count(unit) < task.sizes[unit]
            }
            anchors = sorted(kept for kept in grown if task.worth(task.corpus.count(kept), len(kept)))
            if not anchors:
                break
            known = task.precision(anchors, _SAMPLES).intervals(goal.rate)
            task.judged |= {kept: Candidate(kept, seen) for kept, seen in zip(anchors, known, strict=True)}
            for kept in anchors:
                count = task.corpus.count(kept)
                if task.judged[kept].interval.mean >= goal.threshold and task.worth(count, len(kept)):
                    task.accept(kept, count)
            open_ = [kept for kept in anchors if task.judged[kept].interval.mean < goal.threshold]
            beam = sorted(open_, key=lambda kept: (-task.judged[kept].interval.mean, kept))[:BEAM]
    except OutOfQueries:
        pass
    if task.best.kept == task.first.kept:
        return replace(task.first, notes=(*task.first.notes, UNPROVEN))
    return task.found(proven=False, sampled=True)
