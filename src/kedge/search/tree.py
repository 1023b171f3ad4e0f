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

import numpy as np

from kedge.precision.estimates import Precision
from kedge.precision.leaves import LeafChances, Leaves
from kedge.reading import Reading
from kedge.search.search import Candidate, Found, Goal, Selection, pick
from kedge.typing import Counts, Floats, Kept, Status

__all__ = ["tree"]

# Open branches times leaves: 256 MB of doubles at the most, and about a second.
_BUDGET = 1 << 25
# A trace is for looking at: no more anchors than this.
_TRACE = 200
# Two precisions closer than this are a tie: it is rounding.
_TIE = 1e-12


@dataclass(frozen=True)
class Level:
    """All anchors of one length that may reach a bar, with their precision."""

    kept: Counts
    precision: Floats


def tree(reading: Reading, precision: Precision, goal: Goal, rng: np.random.Generator) -> Found:
    """Shortest anchors first; all of a length that could reach the threshold at once."""
    if not isinstance(precision, Leaves):
        raise TypeError("The search of decision trees needs the precision of its leaves.")
    chances, sizes = precision.chances, reading.units.sizes
    asked = sizes[chances.asked]
    baseline = float(chances.precision(np.zeros((1, len(asked)), dtype=np.int64))[0])
    notes: tuple[str, ...] = ()
    if goal.allow_empty and baseline >= goal.threshold:
        return Found((), baseline, baseline, baseline, "exact", baseline=baseline)
    others = sorted(set(range(len(sizes))) - set(chances.asked))
    for length in range(1, max(1, int(asked.sum())) + 1):
        level = _level(chances, asked, length, goal.threshold)
        if level is None:
            notes = (f"There are too many anchors of {length} words to look at all of them.",)
            break
        reached = [(_units(chances, k), float(p)) for k, p in zip(level.kept, level.precision, strict=True)]
        if length == 1 and baseline >= goal.threshold:
            # No word is needed, so one that the tree does not ask about is as good as none.
            reached += [((j,), baseline) for j in others]
        if reached:
            top = max(p for _, p in reached)
            tied = tuple(sorted(kept for kept, p in reached if p >= top - _TIE))
            trace = tuple(Candidate(kept, p, p, p) for kept, p in reached[:_TRACE])
            selection = Selection(None, len(reached), tied)
            return Found(pick(tied, goal, rng), top, top, top, "exact", trace, selection, baseline)
    row, value = _greedy(chances, asked, goal.threshold)
    status: Status = "certified" if value >= goal.threshold else "not_reached"
    return Found(_units(chances, row), value, value, value, status, baseline=baseline, notes=notes)


def _units(chances: LeafChances, row: Counts) -> Kept:
    return tuple(np.repeat(chances.asked, row).tolist())


def _level(chances: LeafChances, sizes: Counts, length: int, bar: float) -> Level | None:
    """All anchors of ``length`` with precision at least ``bar``; None if there are too many."""
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
    reached = (precision >= bar) & (kept.sum(axis=1) == length)
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


def _greedy(chances: LeafChances, sizes: Counts, bar: float) -> tuple[Counts, float]:
    """Keep what helps most, one occurrence at a time, until the bar is reached."""
    kept = np.zeros(len(sizes), dtype=np.int64)
    value = float(chances.precision(kept[None])[0])
    while (value < bar or not kept.any()) and (open_ := np.flatnonzero(kept < sizes)).size:
        tries = np.repeat(kept[None], len(open_), axis=0)
        tries[np.arange(len(open_)), open_] += 1
        values = chances.precision(tries)
        kept, value = tries[int(values.argmax())], float(values.max())
    return kept, value
