"""What a strategy is, what it has to find, and what it returns.

A strategy is one way of finding an anchor: a frozen value with its own knobs. It says what keeps it from
being used on a reading (``obstacle``) and whether ``auto`` should take it (``suits``); called, it builds
what evaluates anchors and searches.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal, Protocol

import numpy as np

from kedge.evaluators.estimates import Estimates, Evaluator
from kedge.reading.reading import Reading
from kedge.results.interval import Interval
from kedge.typing import Bools, Counts, Kept, Minimality, Status, Ties

__all__ = [
    "Candidate",
    "EvaluatorName",
    "Found",
    "Goal",
    "Selection",
    "Strategy",
    "best_candidates",
    "unproved",
]

# A trace is for looking at, not for replaying: per length only the best are kept.
_TRACE_PER_LENGTH = 200

EvaluatorName = Literal["auto", "exact", "gaussian", "empirical"]
"""Which of the paper's evaluation functions a search uses."""


@dataclass(frozen=True)
class Goal:
    """What counts as an anchor, and which of several.

    Parameters
    ----------
    threshold
        1 - eps: the precision to reach.
    delta
        A certified claim about a document is wrong with at most this probability.
    allow_empty, settle_empty
        Whether keeping no word at all is an answer; and whether "no word is needed", where it seems so, is
        worth a proof of its own beside that of an anchor.
    ties
        Among equally precise anchors take the ``"strongest"`` (see ``strength``), the ``"first"`` (lowest
        positions), the ``"last"`` (as the official and the paper's implementations do) or a ``"random"``
        one.
    seed
        What the fresh samples of a proof follow from, together with the text and the anchor.
    """

    threshold: float = 0.95
    delta: float = 0.05
    allow_empty: bool = False
    settle_empty: bool = False
    ties: Ties = "strongest"
    seed: int = 0

    @property
    def shortest(self) -> int:
        """The length of the shortest anchor that may be an answer."""
        return 0 if self.allow_empty else 1

    @property
    def rate(self) -> float:
        """The exploration rate ln(1/delta) of bounds at level delta."""
        return float(np.log(1 / self.delta))


@dataclass(frozen=True)
class Candidate:
    """An anchor that a search looked at, with what it learned of its precision."""

    kept: Kept
    interval: Interval


@dataclass(frozen=True)
class Selection:
    """Algorithm 1's sets: sizes of A1 and A2 (None where not counted), and the members of A3."""

    reaching: int | None
    shortest: int
    tied: tuple[Kept, ...]


@dataclass(frozen=True)
class Found:
    """The answer of a strategy.

    Parameters
    ----------
    kept, interval, status
        The anchor, what is known of its precision, and what is promised of it.
    evaluator
        What evaluated the anchors, with all that it remembers.
    trace
        Anchors looked at on the way.
    selection
        Algorithm 1's sets, where they are known.
    baseline
        The precision with no word kept; None where the search did not look.
    notes
        What else the reader should know.
    irreducible
        Each word was tried: without it the anchor was seen to miss the threshold.
    narrow
        Each word was tried, but without one the anchor may reach, too narrowly for a proof that is worth it.
    asked
        Samples and their answers where the search picked them out of all there are; they follow no law.
    level
        The part of delta that a sampled proof of this anchor was given; None where nothing was proved so.
    """

    kept: Kept
    interval: Interval
    status: Status
    evaluator: Evaluator
    trace: Sequence[Candidate] = ()
    selection: Selection | None = None
    baseline: Interval | None = None
    notes: tuple[str, ...] = field(default=())
    irreducible: bool = False
    narrow: bool = False
    asked: tuple[Counts, Bools] | None = None
    level: float | None = None

    @property
    def minimality(self) -> Minimality:
        """What is known of the length."""
        if self.status == "exact":
            return "shortest"
        if self.status != "certified":
            return "open"
        return "irreducible" if self.irreducible else "narrow" if self.narrow else "open"


class Strategy(Protocol):
    """One way of finding an anchor.

    ``ignores`` names the fields of a goal that the strategy does not use; setting one together with the
    strategy is refused.
    """

    name: ClassVar[str]
    ignores: ClassVar[frozenset[str]]

    def obstacle(self, reading: Reading) -> str | None:
        """Why it cannot be used on this reading; None where it can."""
        ...

    def suits(self, reading: Reading) -> bool:
        """Whether ``auto`` should take it where it can be used."""
        ...

    def __call__(self, reading: Reading, goal: Goal, rng: np.random.Generator) -> Found:
        """Find the anchor."""
        ...


def best_candidates(anchors: Sequence[Kept], estimates: Estimates, beta: float) -> list[Candidate]:
    """The best of some anchors, as entries of a trace."""
    order = np.argsort(-estimates.mean, kind="stable")[:_TRACE_PER_LENGTH]
    picked = Estimates(estimates.mean[order], estimates.trials[order], estimates.slack[order])
    chosen = (anchors[i] for i in order)
    return [Candidate(kept, known) for kept, known in zip(chosen, picked.intervals(beta), strict=True)]


def unproved(known: Interval, goal: Goal) -> Status:
    """The status of an anchor that was not proved: an estimate that it reaches, or not even that."""
    return "estimated" if known.mean >= goal.threshold else "not_reached"
