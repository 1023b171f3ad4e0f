"""The official Anchors procedure: growing anchors, compared by KL-LUCB (Ribeiro et al. 2018).

The constants are those the official text explainer runs with, its beam of one anchor included (it
accepts a ``beam_size`` and drops it), so that its users get the behaviour they know, seeded, and with
the same evaluators as every other strategy. It accepts an anchor when its mean reaches the
threshold and its lower bound comes within ``margin`` of it: an estimate, never a certificate.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kedge.errors import OutOfQueries
from kedge.evaluators.empirical import Empirical
from kedge.evaluators.estimates import Evaluator
from kedge.reading.reading import Reading
from kedge.results.interval import UNKNOWN
from kedge.search.knobs import check_at_least, check_evaluator, evaluator_obstacle, make_evaluator
from kedge.search.lucb import best_arms
from kedge.search.strategy import Candidate, EvaluatorName, Found, Goal, best_candidates
from kedge.typing import Counts, Kept, Status
from kedge.utils.sentences import Option

__all__ = ["Beam"]

# Samples that may be drawn without a new query: some seconds. Comparisons on documents of a thousand words
# take half as many in all.
_REPEATED = 300_000


@dataclass(frozen=True)
class Beam:
    """The official procedure.

    Parameters
    ----------
    width
        How many anchors of each length it keeps; the official implementation always keeps one.
    delta
        Confidence parameter of the comparison.
    evaluator
        ``"empirical"``; ``"auto"`` or ``"exact"`` compare by closed forms where there are any, ``"gaussian"``
        by the paper's approximation.
    tolerance
        How far apart the critical arms may remain.
    margin
        How far below the threshold the lower bound of an accepted anchor may lie.
    batch
        Samples drawn at a time.
    """

    width: int = 1
    delta: float = 0.1
    evaluator: EvaluatorName = "empirical"
    tolerance: float = 0.15
    margin: float = 0.05
    batch: int = 10

    name: ClassVar = "beam"
    ignores: ClassVar = frozenset({"delta", "ties"})

    def __post_init__(self) -> None:
        check_evaluator(self, ("auto", "exact", "gaussian", "empirical"))
        check_at_least("width", self.width)
        check_at_least("batch", self.batch)

    def obstacle(self, reading: Reading) -> str | None:
        """Any model can be queried, but it may not have the evaluator."""
        return evaluator_obstacle(self.evaluator, reading)

    def suits(self, reading: Reading) -> bool:
        """Where the paper's approximation is requested; else an estimate is not enough."""
        del reading
        return self.evaluator == "gaussian"

    def __call__(self, reading: Reading, goal: Goal, rng: np.random.Generator) -> Found:
        """Grow the beam until a length has an anchor that is accepted."""
        precision: Evaluator
        if self.evaluator == "empirical":
            precision = Empirical(reading, rng, share=True, most=_REPEATED)
        else:
            precision = make_evaluator(self.evaluator, reading, rng)
        sizes = reading.units.sizes
        # At most width - 1 anchors are judged at each of the lengths: a union bound over them.
        beta = float(np.log((1 + (self.width - 1) * int(sizes.sum())) / self.delta))
        trace: list[Candidate] = []
        beam: list[Kept] = [()]
        try:
            if goal.allow_empty and self._accepted(precision, (), goal, beta):
                return _found(precision, (), "estimated", trace, beta)
            self._look_at_nothing(precision, goal)
            for _ in range(int(sizes.sum())):  # pragma: no branch  (the whole document keeps its label)
                anchors = _grow(beam, sizes)
                _refuse_hopeless(anchors, reading)
                chosen = best_arms(
                    precision,
                    anchors,
                    min(self.width, len(anchors)),
                    delta=self.delta,
                    tolerance=self.tolerance,
                    batch=self.batch,
                )
                beam = [anchors[i] for i in chosen]
                if isinstance(precision, Empirical):
                    precision.hand_on(beam)
                accepted = [kept for kept in beam if self._accepted(precision, kept, goal, beta)]
                trace += best_candidates(anchors, precision(anchors), beta)
                if accepted:
                    return _found(precision, accepted[0], "estimated", trace, beta)
            why = "No anchor reached the threshold, not even the whole document."  # pragma: no cover
        except OutOfQueries as error:
            why = error.sentence
        best = max(trace, key=lambda c: c.interval.mean, default=Candidate(beam[-1], UNKNOWN))
        return _found(precision, best.kept, "not_reached", trace, beta, why)

    def _look_at_nothing(self, precision: Evaluator, goal: Goal) -> None:
        """Samples with nothing kept, on which every word starts: few, or enough to say that it may do."""
        beta = float(np.log(1 / self.delta))
        estimates = precision([()], 1)
        while (
            not estimates.settled[0]
            and estimates.mean[0] > goal.threshold
            and estimates.lower(beta)[0] < goal.threshold - self.tolerance
        ):
            estimates = precision([()], self.batch)

    def _accepted(self, precision: Evaluator, kept: Kept, goal: Goal, beta: float) -> bool:
        """Sample one anchor until it is clear on which side of the threshold it lies."""
        while True:
            estimates = precision([kept])
            mean = estimates.mean[0]
            if estimates.settled[0]:
                return bool(mean >= goal.threshold)
            low, high = (float(x[0]) for x in estimates.bounds(beta))
            undecided = (
                low < goal.threshold - self.margin
                if mean >= goal.threshold
                else high >= goal.threshold + self.margin
            )
            if not undecided:
                return bool(mean >= goal.threshold and low > goal.threshold - self.margin)
            precision([kept], self.batch)


def _refuse_hopeless(anchors: list[Kept], reading: Reading) -> None:
    """Comparing anchors takes at least one query each; refuse at once where that is too many."""
    if len(anchors) > (left := reading.oracle.remaining):
        raise OutOfQueries(
            f"{len(anchors):,} anchors cannot be compared with {left:.0f} more queries; raise ",
            Option("max_queries"),
            " or use ",
            Option("method", "auto"),
            ".",
        )


def _grow(beam: list[Kept], sizes: Counts) -> list[Kept]:
    """Every anchor of the beam with one more occurrence, each once.

    Single words come in the order of the text, longer anchors in that of a set, as in the official
    implementation: of equally good ones it returns the last.
    """
    grown = [
        tuple(sorted((*kept, unit)))
        for unit in range(len(sizes))
        for kept in beam
        if kept.count(unit) < sizes[unit]
    ]
    return list(set(grown)) if beam != [()] else grown


def _found(
    precision: Evaluator, kept: Kept, status: Status, trace: list[Candidate], beta: float, why: str = ""
) -> Found:
    notes = (*precision.notes, *([why] if why else ()))
    return Found(kept, precision([kept]).intervals(beta)[0], status, precision, tuple(trace), notes=notes)
