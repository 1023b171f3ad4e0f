"""Which anchors of a length can be the best, where words cannot be ranked for certain: a partial order.

Take an anchor that keeps an occurrence of word j and not one of word i. Swap them, and couple their two
coins as one coin X: with X = 1 nothing changes; with X = 0 the count of i is one more and that of j one
less than before. If the score does not fall then, whatever the other coins, word i *dominates* j, and some
best anchor that keeps j keeps all of i. For a lead N + b sqrt(D) with both occurrences missing at squared
norm E, word i brings

    w_i dx_i + b (sqrt(E + dx_i^2) - sqrt(E)),

which depends on E only through the norm: a small share of it. So each word has an interval of what it can
bring while E stays in its range, and i dominates j when the intervals are apart. As a rule all but a few
words are ordered.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from kedge.evaluators.leads import Lead, range_norms
from kedge.typing import Counts, Floats, Kept

__all__ = ["Dominance", "prepare_orders"]

# ln(1/eta): with a chance of 2 eta the norm leaves its range, and a swap may then lower the score.
_LOG_ETA = 12.0


@dataclass(frozen=True)
class Dominance:
    """What an occurrence of each word can bring to a lead.

    Parameters
    ----------
    least, most
        (d,) the ends of what one more occurrence of a word brings.
    sizes
        Occurrences of each word.
    slack
        Bound on what the swaps and additions that turn a best anchor into one of `candidates`, at most
        twice the length, can cost where the norm leaves its range.
    """

    least: Floats
    most: Floats
    sizes: Counts
    slack: float

    @classmethod
    def of(cls, lead: Lead, length: int) -> "Dominance":
        """For anchors of a length."""
        cells, sizes = lead.cells, lead.leads.sizes
        least, most = _steps(cells.parts, sizes)
        if not lead.curved:
            return cls(least, most, sizes, 0.0)
        thin, thick = _steps(cells.squares, sizes)
        low, high = lead.norm_range(_LOG_ETA)
        # An anchor adds to the norm; the two words that are swapped may be missing from it.
        tops = np.sort(np.repeat(thick, np.minimum(sizes, length)))[::-1]
        high += float(tops[:length].sum())
        low = max(low - float(tops[:2].sum()), 0.0)
        # What a step of the squared norm does to the norm falls with E and grows with the step.
        little = lead.bias * (np.sqrt(high + thin) - math.sqrt(high))
        much = lead.bias * (np.sqrt(low + thick) - math.sqrt(low))
        slack = 4.0 * length * math.exp(-_LOG_ETA)
        return cls(least + np.minimum(little, much), most + np.maximum(little, much), sizes, slack)

    def candidates(self, length: int, limit: int) -> list[Kept] | None:
        """Anchors of a length, one of which is a best one of at most that length; None if they are too many.

        Adding an occurrence that can only help never hurts, so a best anchor is as long as it may be: None,
        too, where fewer occurrences than ``length`` are sure to help.
        """
        sizes = self.sizes
        first = int(self.least.argmax())
        others = np.maximum(self.most[:first].max(initial=0.0), self.most[first + 1 :].max(initial=0.0))
        if length == 1 and self.least[first] > others:
            return [(first,)]  # it helps for sure, and dominates all others
        if int(sizes[self.least >= 0.0].sum()) < length:
            return None
        # Where one of word i is left out, none that it dominates is kept: so many of it are kept for certain.
        not_below = _running(self.most, sizes, self.least, "left") - sizes
        certain = np.clip(length - not_below, 0, sizes)
        # Where one of word j is kept, all that dominate it are kept.
        ahead = _running(self.least, sizes, self.most, "right")
        often = np.clip(length - ahead, 0, sizes)
        # Those of the largest middles are between the two, so that there is room for the rest.
        free = length - int(certain.sum())
        undecided = np.flatnonzero(often > certain)
        choices = [range(int(n) + 1) for n in (often - certain)[undecided]]
        sure = np.repeat(np.arange(len(sizes)), certain).tolist()
        found: list[Kept] = []
        for numbers in _summing(choices, free):
            more = np.repeat(undecided, numbers).tolist()
            found.append(tuple(sorted(sure + more)))
            if len(found) > limit:
                return None
        return found


def prepare_orders(leads: Sequence[Lead]) -> None:
    """Work out together what the orders of several leads need."""
    if curved := [lead for lead in leads if lead.curved]:
        range_norms(curved, _LOG_ETA)


def _steps(values: Floats, sizes: Counts) -> tuple[Floats, Floats]:
    """(d,) the least and the most that one more occurrence of a word adds, from the values of its counts."""
    ends = np.cumsum(sizes + 1) - 1
    steps = np.delete(np.diff(values), ends[:-1])  # what lies between two words is none
    starts = ends - np.arange(len(sizes)) - sizes
    return np.minimum.reduceat(steps, starts), np.maximum.reduceat(steps, starts)


def _running(ends: Floats, sizes: Counts, marks: Floats, side: Literal["left", "right"]) -> Counts:
    """For each mark how many occurrences have their end at it or above ("left"), or above it ("right")."""
    order = np.argsort(ends, kind="stable")
    total = np.concatenate([np.cumsum(sizes[order][::-1])[::-1], [0]])
    counted: Counts = total[np.searchsorted(ends[order], marks, side=side)]
    return counted


def _summing(choices: list[range], total: int) -> Iterator[tuple[int, ...]]:
    """One number from each range, adding up to a total for which there is room."""
    if not choices:
        yield ()
        return
    first, *rest = choices
    room = sum(len(r) - 1 for r in rest)
    for number in range(min(first[-1], total), max(0, total - room) - 1, -1):
        for others in _summing(rest, total - number):
            yield (number, *others)
