"""Algorithm 1 on a short document of a model that can only be asked: exact, with few questions.

The precision of an anchor is the share of the texts containing it that keep the label. An anchor is
out as soon as enough of them are known to lose it; only the answer's own texts must all be known. So
the anchor that may still be the best is asked about until it is known to be, or another may be
better.
"""

import numpy as np

from kedge.precision.estimates import Precision
from kedge.reading import Reading
from kedge.search.search import Candidate, Found, Goal
from kedge.typing import Bools, Counts, Kept

__all__ = ["lazy"]

# Texts asked about at random first: a hint at the baseline, and at which words matter.
_FIRST = 24
# Texts per question: few, so that none is wasted; some, for a model that works in batches.
_BATCH = 32


def lazy(reading: Reading, precision: Precision, goal: Goal, rng: np.random.Generator) -> Found:
    """The shortest anchor that reaches the threshold, the most precise of its length.

    For units of one occurrence, each kept with probability 1/2, so that all texts weigh the same.
    """
    del precision  # the texts are the evaluator
    if reading.keep != 0.5 or (reading.units.sizes != 1).any():
        raise TypeError("This search counts texts, which must all weigh the same.")
    texts = _Texts(reading)
    first = texts.ask(rng.choice(len(texts.kept), min(_FIRST, len(texts.kept)), replace=False))
    trace: list[Candidate] = []
    for length in range(0 if goal.allow_empty else 1, texts.width + 1):
        anchors = _in_order(texts.of_length(length), goal, rng)
        while True:
            # Of those that may be the best, the one that wins a tie.
            leader = int(anchors[texts.losses()[anchors].argmin()])
            low, high = texts.bounds(leader)
            if low == high or high < goal.threshold:
                break
            texts.ask_telling(leader)
        trace += [Candidate(texts.units(a), sum(texts.bounds(a)) / 2, *texts.bounds(a)) for a in anchors]
        if low >= goal.threshold:
            break
    baseline = _baseline(texts, goal.threshold, float(first.mean()))
    return Found(texts.units(leader), low, low, high, "exact", tuple(trace), baseline=baseline)


def _baseline(texts: "_Texts", threshold: float, hint: float) -> float:
    """The precision with no word kept: on the right side of the threshold, and exact if it reaches it.

    Below it the first texts, drawn at random, give a hint, within what all others say for certain.
    """
    low, high = texts.bounds(0)
    while low < high and high >= threshold:
        texts.ask_telling(0)
        low, high = texts.bounds(0)
    return float(np.clip(hint, low, high))


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
        self._reading = reading
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

    def bounds(self, anchor: int) -> tuple[float, float]:
        """The precision of an anchor if all open texts lose the label, and if all keep it."""
        inside = self._containing(anchor)
        lost, still_open = (int(np.count_nonzero(inside & which)) for which in (self._lost, self._open))
        total = int(np.count_nonzero(inside))
        return (total - lost - still_open) / total, (total - lost) / total

    def ask(self, at: Counts) -> Bools:
        """Whether these texts keep the label."""
        holds = self._reading.holds(self.kept[at])
        self._open[at] = False
        self._lost[at] = ~holds
        return holds

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
