"""What a search is asked for and what it gives back."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np

from kedge.precision.estimates import Estimates, Precision
from kedge.reading import Reading
from kedge.typing import Kept, Status

__all__ = ["Candidate", "Found", "Goal", "Search", "Selection", "candidates", "pick"]

# A trace is for looking at, not for replaying: per length only the best are kept.
_TRACE_PER_LENGTH = 200


@dataclass(frozen=True)
class Goal:
    """What counts as an anchor, and how far to go for it.

    Parameters
    ----------
    threshold
        1 - eps: the precision to reach.
    delta
        The share of certified claims that may be wrong.
    allow_empty
        Whether keeping no word at all is an answer.
    ties
        Among equally good anchors take the ``"first"`` (lowest positions), the ``"last"`` (as the
        official and the paper's implementations do) or a ``"random"`` one.
    samples
        Samples per anchor for an empirical evaluator in an exhaustive search.
    max_candidates
        An exhaustive search gives up rather than look at more anchors than this.
    beam_width
        How many anchors of each length the beam search keeps.
    shortlist
        Of a length with more than ``max_candidates`` anchors an exhaustive search looks at those made
        of the best single words, as many words as fit, and says so; else it gives up there.
    """

    threshold: float = 0.95
    delta: float = 0.05
    allow_empty: bool = False
    ties: Literal["first", "last", "random"] = "first"
    samples: int = 100
    max_candidates: int = 200_000
    beam_width: int = 1
    shortlist: bool = False


@dataclass(frozen=True)
class Candidate:
    """An anchor that a search looked at, with what it learned of its precision."""

    kept: Kept
    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Selection:
    """Algorithm 1's sets: sizes of A1 and A2 (None where not counted), and the members of A3."""

    reaching: int | None
    shortest: int
    tied: tuple[Kept, ...]


@dataclass(frozen=True)
class Found:
    """The answer of a search."""

    kept: Kept
    mean: float
    low: float
    high: float
    status: Status
    trace: tuple[Candidate, ...] = ()
    selection: Selection | None = None
    baseline: float | None = None
    notes: tuple[str, ...] = field(default=())


class Search(Protocol):
    """From a reading and an evaluator to an anchor."""

    def __call__(self, reading: Reading, precision: Precision, goal: Goal, rng: np.random.Generator) -> Found:
        """Find the anchor."""
        ...


def candidates(anchors: Sequence[Kept], estimates: Estimates, beta: float) -> list[Candidate]:
    """The best of some anchors, as entries of a trace."""
    low, high = estimates.bounds(beta)
    order = np.argsort(-estimates.mean, kind="stable")[:_TRACE_PER_LENGTH]
    return [Candidate(anchors[i], float(estimates.mean[i]), float(low[i]), float(high[i])) for i in order]


def pick(tied: Sequence[Kept], goal: Goal, rng: np.random.Generator) -> Kept:
    """One of several equally good anchors."""
    if goal.ties == "random":
        return tied[int(rng.integers(len(tied)))]
    return max(tied) if goal.ties == "last" else min(tied)
