"""The exact search of decision trees: branch and bound over the words the tree asks about.

No other word can matter, so an anchor is a number kept of each unit asked about. Units are decided
one after the other, all branches at once. With r occurrences left to keep among the units still
open, no anchor below a branch gives a leaf more than

    decided part x up[i][r],   up[i][r] = max_a factor_i[a] up[i + 1][r - a],

nor less than the same with min; so its precision is at most the sum over the leaves with the
label, and at most one minus the least of the others. Branches that cannot reach the threshold, or
the best anchor so far, are cut.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kedge.evaluators.leaves import LeafChances, Leaves
from kedge.reading.reading import Reading
from kedge.search.pruning import prune
from kedge.search.strategy import Candidate, Found, Goal, Selection
from kedge.search.ties import break_tie
from kedge.typing import Counts, Floats, Kept, Status

__all__ = ["Tree"]

# Open branches times leaves: 256 MB of doubles at the most, and about a second.
_BUDGET = 1 << 25
# A trace is for looking at: no more anchors than this.
_TRACE = 200
# Two precisions closer than this are a tie: it is rounding.
_TIE = 1e-12
_AT_THE_THRESHOLD = (
    "A shorter anchor has the threshold for its precision, but for rounding, and was not taken."
)


@dataclass(frozen=True)
class Level:
    """All anchors of one length that may reach a bar, with their precision."""

    kept: Counts
    precision: Floats


@dataclass(frozen=True)
class Tree:
    """Exact for decision trees on word counts, and for rules."""

    name: ClassVar = "tree"
    ignores: ClassVar = frozenset[str]()

    def obstacle(self, reading: Reading) -> str | None:
        """The leaves must be known."""
        return None if reading.leaves is not None else "needs a decision tree on word counts, or a rule"

    def suits(self, reading: Reading) -> bool:
        """Nothing is quicker."""
        del reading
        return True

    def __call__(self, reading: Reading, goal: Goal, rng: np.random.Generator) -> Found:
        """Shortest anchors first; all of a length that could reach the threshold at once."""
        leaves = Leaves(reading)
        chances, sizes = leaves.chances, reading.units.sizes
        asked = sizes[chances.asked]
        baseline = chances.known(float(chances.precision(np.zeros((1, len(asked)), dtype=np.int64))[0]))
        notes: tuple[str, ...] = ()
        if goal.allow_empty and baseline.low >= goal.threshold:
            return Found((), baseline, "exact", leaves, baseline=baseline)
        # A shorter anchor at the threshold itself, but for rounding: it may or may not reach.
        doubt = goal.allow_empty and baseline.splits(goal.threshold)
        others = sorted(set(range(len(sizes))) - set(chances.asked))
        for length in range(1, max(1, int(asked.sum())) + 1):  # pragma: no branch  (all kept reach)
            level = _level(chances, asked, length, goal.threshold)
            if level is None:
                notes = (f"There are too many anchors of {length} words to look at all of them.",)
                break
            found = [
                Candidate(_units(chances, k), chances.known(float(p)))
                for k, p in zip(level.kept, level.precision, strict=True)
            ]
            if length == 1:
                # Where no word is needed, one that the tree does not ask about is as good as none.
                found += [Candidate((j,), baseline) for j in others]
            reached = [one for one in found if one.interval.low >= goal.threshold]
            if reached:
                top = max(one.interval.mean for one in reached)
                tied = tuple(sorted(one.kept for one in reached if one.interval.mean >= top - _TIE))
                status: Status = "certified" if doubt else "exact"
                best = break_tie(tied, goal, rng, reading)
                return Found(
                    best,
                    # Its own: one that ties with it, but for rounding, may be certain where it is not.
                    next(one.interval for one in reached if one.kept == best),
                    status,
                    leaves,
                    tuple(reached[:_TRACE]),
                    Selection(None, len(reached), tied),
                    baseline,
                    notes=(_AT_THE_THRESHOLD,) if doubt else (),
                )
            doubt |= any(one.interval.splits(goal.threshold) for one in found)
        kept = _units(chances, _greedy(chances, asked, goal.threshold))
        kept = prune(kept, lambda less: leaves.refine(less).low >= goal.threshold)
        known = leaves.refine(kept)
        return Found(kept, known, "certified", leaves, baseline=baseline, notes=notes, irreducible=True)


def _units(chances: LeafChances, row: Counts) -> Kept:
    return tuple(np.repeat(chances.asked, row).tolist())


def _level(chances: LeafChances, sizes: Counts, length: int, bar: float) -> Level | None:
    """All anchors of ``length`` that may have a precision of at least ``bar``; None if there are too many."""
    up, down = _reach(chances, sizes, length)
    held, lost = chances.label, ~chances.label
    parts = np.ones((1, len(held)))
    kept = np.zeros((1, len(sizes)), dtype=np.int64)
    left = np.array([length])
    room = np.concatenate([np.cumsum(sizes[::-1])[::-1], [0]])
    for i, factor in enumerate(chances.factors):
        rows, numbers = [], []
        for a in range(min(int(sizes[i]), length) + 1):
            # All that is left must still find a place.
            fits = np.flatnonzero((left >= a) & (left - a <= room[i + 1]))
            rows.append(fits)
            numbers.append(np.full(len(fits), a))
        row, number = np.concatenate(rows), np.concatenate(numbers)
        if len(row) * len(held) > _BUDGET:
            return None
        parts = parts[row] * factor[number]
        kept = kept[row]
        kept[:, i] = number
        left = left[row] - number
        most = np.einsum("nl,nl->n", parts[:, held], up[i + 1][left][:, held])
        least = np.einsum("nl,nl->n", parts[:, lost], down[i + 1][left][:, lost])
        # 1e-9: the bound is rounded, and a branch at the bar itself must stay.
        open_ = np.minimum(most, 1.0 - least) >= bar - 1e-9
        parts, kept, left = parts[open_], kept[open_], left[open_]
    precision = chances.precision(kept)
    reached = (precision >= bar - chances.slack) & (kept.sum(axis=1) == length)
    return Level(kept[reached], precision[reached])


def _reach(chances: LeafChances, sizes: Counts, length: int) -> tuple[list[Floats], list[Floats]]:
    """For each number of units decided and of occurrences left: most and least of each leaf."""
    ones = np.ones((length + 1, len(chances.label)))
    up, down = [ones], [ones]
    for factor, size in zip(chances.factors[::-1], sizes[::-1].tolist(), strict=True):
        most, least = np.empty_like(ones), np.empty_like(ones)
        for r in range(length + 1):
            a = np.arange(min(r, size) + 1)
            most[r] = (factor[a] * up[0][r - a]).max(axis=0)
            least[r] = (factor[a] * down[0][r - a]).min(axis=0)
        up.insert(0, most)
        down.insert(0, least)
    return up, down


def _greedy(chances: LeafChances, sizes: Counts, bar: float) -> Counts:
    """Keep what helps most, one occurrence at a time, until the bar is reached: all of them do."""
    kept = np.zeros(len(sizes), dtype=np.int64)
    value = float(chances.precision(kept[None])[0])
    while value < bar or not kept.any():
        open_ = np.flatnonzero(kept < sizes)
        tries = np.repeat(kept[None], len(open_), axis=0)
        tries[np.arange(len(open_)), open_] += 1
        values = chances.precision(tries)
        kept, value = tries[int(values.argmax())], float(values.max())
    return kept
