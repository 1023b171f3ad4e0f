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

import numpy as np

from kedge.coverage import Bits, CorpusIndex, ones
from kedge.errors import OutOfQueries
from kedge.model.additive import AdditiveScore
from kedge.precision.estimates import Precision
from kedge.reading import Reading
from kedge.search.search import Candidate, Found, Goal, Search
from kedge.typing import Kept, Status

__all__ = ["Covering"]

# Anchors whose precision may be worked out for a proof: about a second or two on a long document.
JUDGED = 2000
# Anchors of each length that a sampled search keeps.
BEAM = 4
UNPROVEN = "The search was cut short: an anchor of larger coverage may exist."


@dataclass(frozen=True)
class Covering:
    """The search, for one corpus; ``shortest`` gives the anchor to start from."""

    index: CorpusIndex
    shortest: Search

    def __call__(self, reading: Reading, precision: Precision, goal: Goal, rng: np.random.Generator) -> Found:
        """Find the anchor of largest coverage."""
        first = self.shortest(reading, precision, goal, rng)
        if first.status == "not_reached" or not first.kept:
            return first
        corpus = _Corpus(self.index, reading)
        task = _Task(reading, precision, goal, corpus, first)
        if not precision([first.kept]).settled[0]:
            return _beam(task)
        score = reading.additive
        proven = _branches(task, score) if score is not None and _one_signed(score) else _best_first(task)
        return task.found(proven=proven)


class _Corpus:
    """Documents that contain what an anchor keeps, as sets of bits."""

    def __init__(self, index: CorpusIndex, reading: Reading) -> None:
        tokens = reading.document.tokens
        self._words = [tokens[group[0]].word for group in reading.units.members]
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
        return len(self._index) if documents is None else ones(documents)

    def _contain(self, word: str, times: int) -> Bits:
        if (word, times) not in self._sets:
            found = self._index.bits(word, times)
            self._sets[word, times] = self.nothing if found is None else found
        return self._sets[word, times]


class _Task:
    """What is searched, the best so far, and what it has cost."""

    def __init__(
        self, reading: Reading, precision: Precision, goal: Goal, corpus: _Corpus, first: Found
    ) -> None:
        self.reading, self.precision, self.goal, self.corpus = reading, precision, goal, corpus
        self.first = first
        self.sizes = reading.units.sizes
        self.judged: dict[Kept, Candidate] = {}
        self.doubt = first.low < goal.threshold
        self.best = Candidate(first.kept, first.mean, first.low, first.high)
        self.count = corpus.count(first.kept)

    def judge(self, kept: Kept) -> Candidate:
        """What is known of an anchor's precision, refined until it is clear whether it reaches."""
        if kept not in self.judged:
            if (tail := getattr(self.precision, "tail", None)) is not None:
                low, mean, high = tail(kept, self.goal.threshold)
            else:
                estimates = self.precision([kept])
                mean = float(estimates.mean[0])
                low, high = (float(x[0]) for x in estimates.bounds(0.0))
            self.judged[kept] = Candidate(kept, mean, low, high)
        return self.judged[kept]

    def reaches(self, kept: Kept) -> bool:
        """Whether an anchor surely reaches the threshold; a case left open casts doubt on any proof."""
        seen = self.judge(kept)
        self.doubt |= seen.low < self.goal.threshold <= seen.high
        return seen.low >= self.goal.threshold

    def worth(self, count: int, length: int) -> bool:
        """Whether an anchor of this coverage and length would be better than the best so far."""
        return (count, -length) > (self.count, -len(self.best.kept))

    def accept(self, kept: Kept, count: int) -> None:
        """Take an anchor that is better."""
        self.best, self.count = self.judge(kept), count

    @property
    def spent(self) -> bool:
        """Whether the search must end."""
        return len(self.judged) >= JUDGED

    def found(self, *, proven: bool, sampled: bool = False) -> Found:
        """The answer."""
        best, first = self.best, self.first
        exact = proven and not self.doubt and best.low >= self.goal.threshold
        status: Status = "estimated" if sampled else "exact" if exact else "certified"
        if status == "certified" and best.low < self.goal.threshold:
            status = first.status  # nothing better was certified
        trace = sorted(self.judged.values(), key=lambda c: (len(c.kept), -c.mean))[:200]
        return replace(
            first,
            kept=best.kept,
            mean=best.mean,
            low=best.low,
            high=best.high,
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
    """Branch and bound; tells whether it went through to the end."""
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
    # Helpful occurrences, the most helpful first: without these the rest soon cannot reach.
    helpful = []
    for unit, table in enumerate(score.tables):
        steps = np.diff(table)
        if len(steps) and steps.max() > 0:
            helpful += [(-float(step), unit, time) for time, step in enumerate(steps, start=1)]
    order = [(unit, time) for _, unit, time in sorted(helpful, key=lambda x: (x[2] > 1, x[0], x[1], x[2]))]
    return _grow(task, (), tuple(order))


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
    """Anchors from the largest coverage down; tells whether it went through to the end."""
    heap: list[tuple[int, int, Kept]] = [(-task.corpus.count((j,)), 1, (j,)) for j in range(len(task.sizes))]
    heapify(heap)
    while heap:
        negative, length, kept = heappop(heap)
        if not task.worth(-negative, length):
            return True
        if len(task.judged) >= task.goal.max_candidates:
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
    beta = float(np.log(1 / goal.delta))
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
            estimates = task.precision(anchors, goal.samples)
            low, high = estimates.bounds(beta)
            for kept, *seen in zip(anchors, estimates.mean, low, high, strict=True):
                task.judged[kept] = Candidate(kept, *map(float, seen))
            for kept in anchors:
                count = task.corpus.count(kept)
                if task.judged[kept].mean >= goal.threshold and task.worth(count, len(kept)):
                    task.accept(kept, count)
            open_ = [kept for kept in anchors if task.judged[kept].mean < goal.threshold]
            beam = sorted(open_, key=lambda kept: (-task.judged[kept].mean, kept))[:BEAM]
    except OutOfQueries:
        pass
    if task.best.kept == task.first.kept:
        return replace(task.first, notes=(*task.first.notes, UNPROVEN))
    return task.found(proven=False, sampled=True)
