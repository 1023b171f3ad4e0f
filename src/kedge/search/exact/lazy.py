"""Algorithm 1 on a short document of a model that can only be asked: exact, with few questions.

The precision of an anchor is the share of the texts containing it that keep the label. An anchor is
out as soon as enough of them are known to lose it; only the answer's own texts must all be known. So
the anchor that may still be the best is asked about until it is known to be, or another may be
better.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kedge.evaluators.affordable import enumerable, few_texts
from kedge.evaluators.enumeration import Enumeration, table_size
from kedge.reading.oracle import ASKED_AGAIN
from kedge.reading.reading import Reading
from kedge.results.interval import Interval
from kedge.search.strategy import Candidate, Found, Goal
from kedge.search.ties import break_tie
from kedge.typing import Bools, Counts, Kept

__all__ = ["Lazy", "ask_the_rest", "still_to_ask"]

# Texts asked about at random first: a hint at the baseline, and at which words matter.
_FIRST = 24
# The share of all texts that this asks about, on documents of seven or eight words.
_SHARE = 0.6
# Texts per call: few, so that none is wasted, but several, for models that work in batches.
_BATCH = 32


@dataclass(frozen=True)
class Lazy:
    """Exact for a few words of a model that can only be asked, with as few texts as it takes."""

    name: ClassVar = "lazy"
    ignores: ClassVar = frozenset[str]()

    def obstacle(self, reading: Reading) -> str | None:
        """All texts must weigh the same, and there must be few enough of them."""
        if reading.counted or reading.keep != 0.5 or (reading.units.sizes != 1).any():
            return "counts masked texts, which must all weigh the same: a model asked about texts, keep=0.5"
        return None if enumerable(reading) else "may ask about every masked text, which are too many here"

    def suits(self, reading: Reading) -> bool:
        """The guided search may ask fewer."""
        return few_texts(reading, _SHARE)

    def __call__(self, reading: Reading, goal: Goal, rng: np.random.Generator) -> Found:
        """The shortest anchor that reaches the threshold, the most precise of its length."""
        texts = _Texts(reading)
        first = texts.ask(rng.choice(len(texts.kept), min(_FIRST, len(texts.kept)), replace=False))
        return _shortest(texts, goal, rng, float(first.mean()))


def still_to_ask(reading: Reading, asked: Counts) -> float:
    """About how many questions an exact answer takes after some others; infinite where it cannot be had."""
    if Lazy().obstacle(reading) is not None:
        return np.inf
    return _SHARE * (table_size(reading) - len(np.unique(asked, axis=0))) + ASKED_AGAIN


def ask_the_rest(
    reading: Reading, goal: Goal, rng: np.random.Generator, known: tuple[Counts, Bools], hint: float
) -> Found:
    """The same as ``Lazy`` where much was asked already; ``hint`` is an estimate of the baseline."""
    texts = _Texts(reading)
    texts.learn(*known)
    return _shortest(texts, goal, rng, hint)


def _shortest(texts: "_Texts", goal: Goal, rng: np.random.Generator, hint: float) -> Found:
    trace: list[Candidate] = []
    for length in range(goal.shortest, texts.width + 1):  # pragma: no branch  (all kept reach)
        anchors = _in_order(texts.of_length(length), goal, rng)
        while True:
            leader = _leader(texts, anchors, goal, rng)
            known = texts.bounds(leader)
            if not known.width or known.high < goal.threshold:
                break
            texts.ask_telling(leader)
        trace += [Candidate(texts.units(a), texts.bounds(a)) for a in anchors]
        if known.low >= goal.threshold:
            break
    baseline = _baseline(texts, goal.threshold, hint)
    kept, evaluator = texts.units(leader), Enumeration(texts.reading)
    return Found(kept, known, "exact", evaluator, tuple(trace), baseline=baseline, asked=texts.asked())


def _baseline(texts: "_Texts", threshold: float, hint: float) -> Interval:
    """The precision with no word kept: on the right side of the threshold, and exact if it reaches it.

    Below it the first texts, drawn at random, give a hint, within what all others say for certain.
    """
    while texts.bounds(0).width and texts.bounds(0).high >= threshold:
        texts.ask_telling(0)
    known = texts.bounds(0)
    return Interval(known.low, hint, known.high).within(known.low, known.high)


def _leader(texts: "_Texts", anchors: Counts, goal: Goal, rng: np.random.Generator) -> int:
    """Of the anchors that may be the best, the one that wins a tie.

    To compare them, the model is queried with each alone: the text that contains it and nothing else, which
    is likely to lose the label, so that the query is seldom wasted.
    """
    while True:
        losses = texts.losses()[anchors]
        best = anchors[losses == losses.min()]
        if goal.ties != "strongest" or texts.reading.log_odds is None or len(best) == 1:
            return int(best[0])
        if not len(unseen := texts.unknown(best)):
            break
        texts.ask(unseen)
    kept = {texts.units(anchor): int(anchor) for anchor in best}
    return kept[break_tie(list(kept), goal, rng, texts.reading)]


def _in_order(anchors: Counts, goal: Goal, rng: np.random.Generator) -> Counts:
    """Anchors such that the first of several equally good ones is the one to take."""
    if goal.ties == "random":
        return rng.permutation(anchors)
    return anchors[::-1] if goal.ties == "last" else anchors


class _Texts:
    """All texts that masking makes of a document, numbered by the units they keep, and what is known.

    The first unit is the highest bit of the number. An anchor has the number of the text that keeps
    nothing else; the texts that contain it are those with all of its bits.
    """

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.width = len(reading.units)
        self.kept: Counts = np.arange(1 << self.width)[:, None] >> np.arange(self.width)[::-1] & 1
        self._open = np.ones(len(self.kept), dtype=bool)
        self._lost = np.zeros(len(self.kept), dtype=bool)

    def of_length(self, length: int) -> Counts:
        """The anchors of so many units, those of the first units first."""
        return np.flatnonzero(self.kept.sum(axis=1) == length)[::-1]

    def units(self, anchor: int) -> Kept:
        """The units that an anchor keeps."""
        return tuple(np.flatnonzero(self.kept[anchor]).tolist())

    def losses(self) -> Counts:
        """For every anchor, how many of the texts containing it are known to lose the label."""
        total = self._lost.astype(np.int64)
        for bit in range(self.width):
            without, having = np.moveaxis(total.reshape(-1, 2, 1 << bit), 1, 0)
            without += having
        return total

    def bounds(self, anchor: int) -> Interval:
        """The precision of an anchor if all open texts lose the label, and if all keep it."""
        inside = self._containing(anchor)
        lost, still_open = (int(np.count_nonzero(inside & which)) for which in (self._lost, self._open))
        total = int(np.count_nonzero(inside))
        low, high = (total - lost - still_open) / total, (total - lost) / total
        return Interval(low, (low + high) / 2, high)

    def unknown(self, at: Counts) -> Counts:
        """Those of some texts whose answers are not known yet."""
        return at[self._open[at]]

    def ask(self, at: Counts) -> Bools:
        """Whether these texts keep the label."""
        holds = self.reading.holds(self.kept[at])
        self._note(at, holds)
        return holds

    def learn(self, kept: Counts, holds: Bools) -> None:
        """What is known of some texts already."""
        self._note(kept.astype(np.int64) @ (1 << np.arange(self.width)[::-1]), holds)

    def _note(self, at: Counts, holds: Bools) -> None:
        self._open[at] = False
        self._lost[at] = ~holds

    def asked(self) -> tuple[Counts, Bools]:
        """The texts that were asked about, and whether each kept the label."""
        return self.kept[~self._open], ~self._lost[~self._open]

    def ask_telling(self, anchor: int) -> None:
        """Ask some open texts that contain the anchor, first those likely to lose the label."""
        known = ~self._open
        centred = self.kept - 0.5
        influence = centred[known].T @ (np.mean(self._lost[known]) - self._lost[known])
        at = np.flatnonzero(self._containing(anchor) & self._open)
        self.ask(at[np.argsort(centred[at] @ influence, kind="stable")[:_BATCH]])

    def _containing(self, anchor: int) -> Bools:
        inside: Bools = (np.arange(len(self.kept)) & anchor) == anchor
        return inside
