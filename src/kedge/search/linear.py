"""The exact search of linear scores, as a search like any other."""

import numpy as np

from kedge.precision.enumeration import Enumeration, table_size
from kedge.precision.estimates import Precision
from kedge.reading import Reading
from kedge.search.exhaustive import exhaustive
from kedge.search.ranked import ALL_COINS, Ranked, search_ranked
from kedge.search.search import Candidate, Found, Goal
from kedge.typing import Kept, Status

__all__ = ["linear"]

# Scores that only the model's own rounding can decide are put to the model, all samples of them,
# up to this many: a fraction of a second.
_ASKED = 1 << 14


def linear(reading: Reading, precision: Precision, goal: Goal, rng: np.random.Generator) -> Found:
    """Sort by coefficient, then find the shortest prefix that reaches the goal; proven."""
    del precision  # the ladder knows every precision that can matter
    if reading.additive is None or not reading.additive.linear:
        raise TypeError("method='ranked' needs a model whose score is linear in the word counts.")
    found = search_ranked(reading.additive, goal.threshold, keep=reading.keep, allow_empty=goal.allow_empty)
    rounded = found.ladder.coins <= ALL_COINS and any(tail.in_doubt for tail in found.looked.values())
    if rounded and table_size(reading) <= min(_ASKED, reading.oracle.remaining):
        # Some sample scores zero but for rounding. The ranking theorem speaks of real arithmetic;
        # here the model's own answers decide, and every anchor counts.
        return exhaustive(reading, Enumeration(reading), goal, rng)
    status: Status = "exact" if found.proven else "certified" if found.reached else "not_reached"
    notes: tuple[str, ...] = ()
    if not found.proven and found.reached:
        notes = ("A shorter anchor comes so close to the threshold that it could not be ruled out.",)
    kept = found.kept if goal.ties == "first" else _other_tie(found, goal, rng)
    return Found(
        kept,
        found.tail.mean,
        found.tail.low,
        found.tail.high,
        status,
        trace=tuple(
            Candidate(found.top(length), tail.mean, tail.low, tail.high)
            for length, tail in sorted(found.looked.items())
            if length >= (0 if goal.allow_empty else 1) and length <= len(found.ladder)
        ),
        baseline=found.baseline.mean,
        notes=notes,
    )


def _other_tie(found: Ranked, goal: Goal, rng: np.random.Generator) -> Kept:
    """Occurrences of the smallest coefficient kept can be exchanged for equal ones left out."""
    ladder, length = found.ladder, len(found.kept)
    if not 0 < length <= len(ladder):
        return found.kept
    equal = np.flatnonzero(ladder.rungs == ladder.rungs[length - 1])
    sure = int(equal[0])
    wanted = length - sure
    drawn = equal[-wanted:] if goal.ties == "last" else rng.choice(equal, size=wanted, replace=False)
    return tuple(sorted([*ladder.owners[:sure].tolist(), *ladder.owners[drawn].tolist()]))
