"""The strategy where a sample costs arithmetic only, but nothing can be ranked for certain.

Forests and boosted trees cut down to the document, other norms, interactions. Samples that anchors share
say which words go together (`kedge.search.exact.pooled`); what an anchor does not need is left out again,
and its precision is then certified with fresh samples in count space, never by building a text. The samples
of the search depend on the text alone, so that another seed, which draws those of the proof, finds the same
anchor unless its proof fails.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kedge.evaluators.affordable import enumerable
from kedge.evaluators.empirical import Empirical
from kedge.evaluators.enumeration import anchor_precision
from kedge.evaluators.intervals import mixture_interval
from kedge.reading.reading import Reading
from kedge.results.interval import UNKNOWN, Interval
from kedge.search.exact.pooled import Estimates, Pool, draw_hits, shortest_estimated
from kedge.search.pruning import prune
from kedge.search.strategy import Candidate, Found, Goal
from kedge.typing import Kept
from kedge.utils.seeds import generator

__all__ = ["Counted"]

# Bases from which longer anchors are looked for, and anchors of a length that get samples of their own.
_BEAM, _CHECKED = 3, 4
# No seed that a user can choose: what the proof draws is always fresh.
_SEARCH = -1


@dataclass(frozen=True)
class Counted:
    """Look for the shortest, prune, certify.

    Parameters
    ----------
    samples
        Samples of a shared pool.
    most
        Fresh samples that the proof of one anchor may take.
    """

    samples: int = 4_000
    most: int = 64_000

    name: ClassVar = "counted"
    ignores: ClassVar = frozenset({"ties"})

    def obstacle(self, reading: Reading) -> str | None:
        """Samples must cost arithmetic only."""
        return None if reading.algebra else "needs a model whose label follows from word counts by arithmetic"

    def suits(self, reading: Reading) -> bool:
        """A small table of all samples is exact."""
        return not enumerable(reading)

    def __call__(self, reading: Reading, goal: Goal, rng: np.random.Generator) -> Found:
        """Find an anchor by samples that depend on the text alone, and prove its precision by fresh ones."""
        coins, evaluator = generator(_SEARCH, reading.document.text), Empirical(reading, rng)
        estimates = Estimates(reading, goal.threshold, max(self.samples // 4, 1), coins)

        def pool(kept: Kept) -> Pool:
            return Pool(reading, kept, self.samples, coins)

        nothing = pool(())
        baseline = _known(int(np.count_nonzero(nothing.held)), len(nothing.held), goal.delta)
        kept: Kept = ()
        if not (goal.allow_empty and estimates.reaches(())):
            pools: dict[Kept, Pool] = {(): nothing}
            kept = shortest_estimated(
                lambda base: pools.get(base) or pool(base),
                estimates,
                goal.threshold,
                beam=_BEAM,
                checked=_CHECKED,
            )
            kept = prune(kept, estimates.reaches, shortest=goal.shortest)
        if mixture_interval(self.most, self.most, goal.delta / 2)[0] < goal.threshold:
            known = _known(draw_hits(reading, kept, self.samples, rng), self.samples, goal.delta)
            why = f"No number of samples within reason certifies a precision of {goal.threshold:g}."
            return Found(kept, known, "not_reached", evaluator, baseline=baseline, notes=(why,))
        # Claims rest on fresh samples only. The k-th anchor tried gets delta / 2^k, so that all
        # claims together fail with probability at most delta.
        trace: list[Candidate] = []
        failed: set[Kept] = set()
        delta = goal.delta
        while True:
            delta /= 2
            tried = self._certify(reading, kept, goal.threshold, delta, rng)
            trace.append(tried)
            if tried.interval.low >= goal.threshold or len(kept) == int(reading.units.sizes.sum()):
                break
            failed.add(kept)
            kept = pool(kept).longer(1, 1)[0][1]
            kept = prune(kept, lambda k: k not in failed and estimates.reaches(k), shortest=goal.shortest)
        proved = tried.interval.low >= goal.threshold
        return Found(
            tried.kept,
            tried.interval,
            "certified" if proved else "not_reached",
            evaluator,
            tuple(trace),
            baseline=baseline,
            notes=() if proved else ("No anchor could be certified.",),
            irreducible=True,
        )

    def _certify(
        self, reading: Reading, kept: Kept, threshold: float, delta: float, rng: np.random.Generator
    ) -> Candidate:
        """Sample in growing pieces until the interval lies on one side of the threshold."""
        hits = trials = 0
        piece = 1_000
        known = UNKNOWN
        while trials < self.most and known.splits(threshold):
            hits += draw_hits(reading, kept, piece, rng)
            trials += piece
            known = _known(hits, trials, delta)
            piece = trials  # double every time
        if known.splits(threshold) and enumerable(reading, kept):
            known = anchor_precision(reading, kept)  # too close for samples, but there are few of them
        return Candidate(kept, known)


def _known(hits: int, trials: int, delta: float) -> Interval:
    low, high = mixture_interval(hits, trials, delta)
    return Interval(low, hits / trials, high)
