"""The search for a model that can only be asked: rank, find the shortest prefix, improve, certify.

1. Explore. One shared pool of samples teaches a linear surrogate (``explore``), by regression of the
   log-odds where the model gives probabilities, else from labels asked where they say most.
2. Propose. The surrogate ranks the units and predicts the precision of every prefix.
3. Check. Prefixes about the predicted length, then anchors with a word left out, then single words
   and pairs that the pool speaks for, are estimated by samples of the model (``improve``).
4. Certify. The chosen anchor is proved with fresh samples (``certify``), or a longer one is tried
   with a part of delta that was set aside.
"""

from dataclasses import dataclass

import numpy as np

from kedge.errors import OutOfQueries
from kedge.precision.estimates import Precision
from kedge.reading import Reading
from kedge.search.certify import Verdict, certify
from kedge.search.explore import Explored, explore
from kedge.search.improve import Checked, improve
from kedge.search.pool import Pool
from kedge.search.search import Candidate, Found, Goal
from kedge.typing import Kept

__all__ = ["Guided"]


@dataclass(frozen=True)
class Guided:
    """The search, configured.

    Parameters
    ----------
    budget
        Queries after which it stops by itself, when the user set no lower limit.
    proof
        Fresh samples that the proof of one anchor may take.
    shares
        The share of delta given to the proof of the first, second, ... anchor tried; they sum to 1.
    """

    budget: int = 20_000
    proof: int = 3_000
    shares: tuple[float, ...] = (0.7, 0.15, 0.1, 0.05)

    def __call__(self, reading: Reading, precision: Precision, goal: Goal, rng: np.random.Generator) -> Found:
        """Find an anchor and prove it."""
        del precision  # the pool is the evaluator
        limit = reading.oracle.queries + min(self.budget, reading.oracle.remaining)
        pool = Pool(reading, rng, limit)
        trace: list[Candidate] = []
        tried: list[tuple[Kept, Verdict]] = []
        best: Kept = ()
        baseline: float | None = None
        why = ""
        try:
            explored = explore(pool, goal)
            baseline = explored.baseline
            best = explored.proposal
            for share in self.shares:
                checked = improve(explored, [kept for kept, _ in tried])
                trace += checked.trace
                best = checked.kept
                verdict = certify(explored.learner, best, share * goal.delta, self.proof)
                tried.append((best, verdict))
                trace.append(Candidate(best, verdict.mean, verdict.low, verdict.high))
                if verdict.proved:
                    return _found(best, verdict, "certified", trace, baseline)
            why = f"No proof succeeded for the {len(tried)} anchors tried."
        except OutOfQueries as error:
            why = str(error)
        if tried:
            best, verdict = max(tried, key=lambda t: (t[1].low, t[1].mean))
        else:
            verdict = Verdict(False, 0.5, 0.0, 1.0, 0)
        return _found(best, verdict, "not_reached", trace, baseline, why)


def _found(kept, verdict, status, trace, baseline, why=""):
    return Found(
        kept, verdict.mean, verdict.low, verdict.high, status, tuple(trace), baseline=baseline,
        notes=(why,) if why else (),
    )
