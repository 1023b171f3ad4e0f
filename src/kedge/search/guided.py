"""The search for a model that can only be asked: rank, find the shortest prefix, improve, certify.

1. Explore. One shared pool of samples teaches a linear surrogate (``explore``), by regression of the
   log-odds where the model gives probabilities and they are additive, else from labels, asked
   where they say most.
2. Propose. The surrogate ranks the units and predicts the precision of every prefix.
3. Improve. Unless it predicts without fault, prefixes about the predicted length, then anchors with
   a word left out, then single words and pairs that the pool speaks for, are estimated by samples
   of the model (``improve``).
4. Certify. The chosen anchor is proved with fresh samples (``certify``), or a longer one is tried
   with a part of delta that was set aside for it.
"""

from dataclasses import dataclass, replace

import numpy as np

from kedge.errors import OutOfQueries
from kedge.precision.estimates import Precision
from kedge.reading import Reading
from kedge.search.certify import Verdict, certify
from kedge.search.explore import explore
from kedge.search.improve import improve
from kedge.search.pool import Pool
from kedge.search.search import Candidate, Found, Goal

__all__ = ["Guided"]

# Kept back for the proof while exploring: enough for a proof without much bad luck.
_RESERVE = 120
# Long documents make expensive questions: the search stops by itself after so many words.
_WORDS, _FEWEST = 30_000_000, 1_000


@dataclass(frozen=True)
class Guided:
    """The search, configured.

    Parameters
    ----------
    budget
        Queries after which it stops by itself, when the user set no limit.
    proof
        Fresh samples that the proof of one anchor may take; more where the user allows more queries.
    shares
        The share of delta given to the proof of the first, second, ... anchor tried; they sum to 1.
    """

    budget: int = 12_000
    proof: int = 5_000
    shares: tuple[float, ...] = (0.7, 0.15, 0.1, 0.05)

    def __call__(self, reading: Reading, precision: Precision, goal: Goal, rng: np.random.Generator) -> Found:
        """Find an anchor and prove it."""
        del precision  # the pool is the evaluator
        budget = reading.oracle.remaining
        if budget == np.inf:
            budget = min(self.budget, max(_FEWEST, _WORDS // len(reading.document)))
        proof = round(self.proof * max(1.0, budget / self.budget))
        pool = Pool(reading, rng, reading.oracle.queries + budget, reserve=int(min(_RESERVE, 0.4 * budget)))
        trace: list[Candidate] = []
        tried: list[Verdict] = []
        # What is answered when not one fresh sample could be spent on an anchor.
        best = Verdict(() if goal.allow_empty else (0,), proved=False, mean=0.5, low=0.0, high=1.0, trials=0)
        baseline: float | None = None
        why = ""
        try:
            explored = explore(pool, goal)
            baseline, best = explored.baseline, replace(best, kept=explored.proposal)
            for share in self.shares:
                checked = improve(explored, [verdict.kept for verdict in tried])
                trace += checked.trace
                best = replace(best, kept=checked.kept)
                pool.reserve = 0
                best = certify(explored.learner, checked.kept, share * goal.delta, proof)
                tried.append(best)
                trace.append(Candidate(best.kept, best.mean, best.low, best.high))
                if best.proved:
                    break
            else:
                why = f"No proof succeeded for the {len(tried)} anchors that were tried."
        except OutOfQueries as error:
            why = str(error)
        if tried and not best.proved:
            best = max(tried, key=lambda verdict: (verdict.low, verdict.mean))
        return Found(
            best.kept,
            best.mean,
            best.low,
            best.high,
            "certified" if best.proved else "not_reached",
            tuple(trace),
            baseline=baseline,
            notes=(why,) if why else (),
        )
