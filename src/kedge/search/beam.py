"""The official Anchors procedure: growing anchors, compared by KL-LUCB (Ribeiro et al. 2018).

The constants are those the official text explainer runs with, its beam of one anchor included (it
accepts a ``beam_size`` and drops it), so that its users get the behaviour they know, seeded, and on
the same precision interface as every other search. It accepts an anchor when its mean reaches the
threshold and its lower bound comes within ``margin`` of it: an estimate, never a certificate.
"""

from dataclasses import dataclass

import numpy as np

from kedge.errors import OutOfQueries
from kedge.precision.estimates import Precision
from kedge.reading import Reading
from kedge.search.lucb import best_arms
from kedge.search.search import Candidate, Found, Goal, candidates
from kedge.typing import Counts, Kept, Status

__all__ = ["Beam"]


@dataclass(frozen=True)
class Beam:
    """The search, configured.

    Parameters
    ----------
    delta
        Confidence parameter of the comparison.
    tolerance
        How far apart the critical arms may remain.
    margin
        How far below the threshold the lower bound of an accepted anchor may lie.
    batch
        Samples drawn at a time.
    """

    delta: float = 0.1
    tolerance: float = 0.15
    margin: float = 0.05
    batch: int = 10

    def __call__(self, reading: Reading, precision: Precision, goal: Goal, rng: np.random.Generator) -> Found:
        """Grow the beam until a length has an anchor that is accepted."""
        del rng  # the evaluator has its own
        sizes = reading.units.sizes
        # At most width - 1 anchors are judged at each of the lengths: a union bound over them.
        beta = float(np.log((1 + (goal.beam_width - 1) * int(sizes.sum())) / self.delta))
        trace: list[Candidate] = []
        beam: list[Kept] = [()]
        try:
            if goal.allow_empty and self._accepted(precision, (), goal, beta):
                return _found(precision, (), "estimated", trace, beta)
            for _ in range(int(sizes.sum())):
                anchors = _grown(beam, sizes)
                _refuse_hopeless(anchors, reading)
                chosen = best_arms(
                    precision,
                    anchors,
                    min(goal.beam_width, len(anchors)),
                    delta=self.delta,
                    tolerance=self.tolerance,
                    batch=self.batch,
                )
                beam = [anchors[i] for i in chosen]
                accepted = [kept for kept in beam if self._accepted(precision, kept, goal, beta)]
                trace += candidates(anchors, precision(anchors), beta)
                if accepted:
                    return _found(precision, accepted[0], "estimated", trace, beta)
            why = "No anchor reached the threshold, not even the whole document as estimated."
        except OutOfQueries as error:
            why = str(error)
        best = max(trace, key=lambda c: c.mean, default=Candidate(beam[-1], 0.5, 0.0, 1.0))
        return _found(precision, best.kept, "not_reached", trace, beta, why)

    def _accepted(self, precision: Precision, kept: Kept, goal: Goal, beta: float) -> bool:
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
    """Comparing anchors takes at least one question each; on a long document say so at once."""
    if len(anchors) > (left := reading.oracle.remaining):
        raise OutOfQueries(
            f"{len(anchors):,} anchors cannot be compared with {left:.0f} more questions; raise max_queries "
            "or use method='auto'."
        )


def _grown(beam: list[Kept], sizes: Counts) -> list[Kept]:
    """Every anchor of the beam with one more occurrence, each once."""
    grown = {
        tuple(sorted((*kept, unit))): None
        for kept in beam
        for unit in range(len(sizes))
        if kept.count(unit) < sizes[unit]
    }
    return list(grown)


def _found(
    precision: Precision,
    kept: Kept,
    status: Status,
    trace: list[Candidate],
    beta: float,
    why: str = "",
) -> Found:
    estimates = precision([kept])
    low, high = (float(x[0]) for x in estimates.bounds(beta))
    notes = (why,) if why else ()
    return Found(kept, float(estimates.mean[0]), low, high, status, tuple(trace), notes=notes)
