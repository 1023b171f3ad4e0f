"""The strategy for linear scores: sort by coefficient, take the shortest prefix that reaches; exact."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kedge.evaluators import Additive, Enumeration
from kedge.evaluators.enumeration import table_size
from kedge.reading.reading import Reading
from kedge.results.lazy import LazySequence
from kedge.search.exact.prefixes import Ranking, shortest_prefix
from kedge.search.exact.waves import ALL_COINS, begin_together
from kedge.search.exhaustive import search_all
from kedge.search.strategy import Candidate, Found, Goal
from kedge.typing import Kept, Status

__all__ = ["Ranked"]

# Scores that only the model's own rounding can decide are put to the model, all samples of them,
# up to this many: a fraction of a second.
_ASKED = 1 << 14


@dataclass(frozen=True)
class Ranked:
    """Exact for models whose score is linear in the word counts."""

    name: ClassVar = "ranked"
    ignores: ClassVar = frozenset[str]()

    def obstacle(self, reading: Reading) -> str | None:
        """The score must be linear."""
        if reading.additive is not None and reading.additive.linear:
            return None
        return "needs a model whose score is linear in the word counts"

    def suits(self, reading: Reading) -> bool:
        """Nothing is quicker."""
        del reading
        return True

    def begin(self, readings: Sequence[Reading], goal: Goal) -> None:
        """The first steps for many documents, taken together."""
        scores = [reading.additive for reading in readings if reading.additive is not None]
        begun = begin_together(scores, goal.threshold, keep=readings[0].keep, allow_empty=goal.allow_empty)
        for reading, one in zip(readings, begun, strict=True):
            reading.begun[self, goal.threshold, goal.shortest] = one

    def __call__(self, reading: Reading, goal: Goal, rng: np.random.Generator) -> Found:
        """Sort by coefficient, then find the shortest prefix that reaches the goal; proven."""
        score = reading.additive
        assert score is not None  # noqa: S101  (no obstacle)
        found = shortest_prefix(
            score,
            goal.threshold,
            keep=reading.keep,
            allow_empty=goal.allow_empty,
            begun=reading.begun.get((self, goal.threshold, goal.shortest)),
        )
        rounded = found.ladder.coins <= ALL_COINS and any(tail.in_doubt for tail in found.looked.values())
        if rounded and table_size(reading) <= min(_ASKED, reading.oracle.remaining):
            # Some sample scores zero but for rounding. The ranking theorem speaks of real arithmetic;
            # here the model's own answers decide, and every anchor counts.
            return search_all(reading, Enumeration(reading), goal, rng)
        status: Status = "exact" if found.proven else "certified" if found.reached else "not_reached"
        notes: tuple[str, ...] = ()
        if not found.proven and found.reached:
            notes = ("A shorter anchor comes so close to the threshold that it could not be ruled out.",)
        looked = [n for n in sorted(found.looked) if goal.shortest <= n <= len(found.ladder)]
        return Found(
            found.kept if goal.ties in {"strongest", "first"} else _other_tie(found, goal, rng),
            found.tail,
            status,
            Additive(reading),
            trace=LazySequence(
                lambda: (Candidate(found.top(length), found.looked[length]) for length in looked)
            ),
            baseline=found.baseline,
            notes=notes,
        )


def _other_tie(found: Ranking, goal: Goal, rng: np.random.Generator) -> Kept:
    """Occurrences of the smallest coefficient kept can be exchanged for equal ones left out."""
    ladder, length = found.ladder, len(found.kept)
    if not 0 < length <= len(ladder):
        return found.kept
    equal = np.flatnonzero(ladder.rungs == ladder.rungs[length - 1])
    sure = int(equal[0])
    wanted = length - sure
    drawn = equal[-wanted:] if goal.ties == "last" else rng.choice(equal, size=wanted, replace=False)
    return tuple(sorted([*ladder.owners[:sure].tolist(), *ladder.owners[drawn].tolist()]))
