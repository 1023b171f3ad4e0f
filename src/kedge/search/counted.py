"""The search where a sample costs arithmetic only, but nothing can be ranked for certain.

Normalised TF-IDF with an intercept, and linear models of several classes, on documents too long to
enumerate: occurrences are ranked by coefficient times IDF (the paper's ranking), the shortest
prefix is found by doubling and bisection on samples, and its precision is then certified with
fresh samples in count space, never by building a text.
"""

from dataclasses import dataclass

import numpy as np

from kedge.precision.estimates import Precision
from kedge.precision.intervals import mixture_interval
from kedge.reading import CELLS, Reading
from kedge.search.search import Candidate, Found, Goal
from kedge.typing import Kept

__all__ = ["Counted"]


@dataclass(frozen=True)
class Counted:
    """Rank, bisect, certify.

    Parameters
    ----------
    samples
        Samples per prefix while looking for the length.
    most
        Fresh samples that the proof of one anchor may take.
    """

    samples: int = 4_000
    most: int = 64_000

    def __call__(self, reading: Reading, precision: Precision, goal: Goal, rng: np.random.Generator) -> Found:
        """Find a short anchor and prove its precision."""
        del precision
        if reading.gradient is None:
            raise TypeError("This search needs the model's coefficients.")
        order = _ranking(reading)
        trace: list[Candidate] = []

        def mean(length: int) -> float:
            return _share(reading, _top(order, length), self.samples, rng) / self.samples

        shortest = 0 if goal.allow_empty else 1
        baseline = mean(0)

        def reaches(length: int) -> bool:
            return (baseline if length == 0 else mean(length)) >= goal.threshold

        # Anchors are short: double the length until one reaches the threshold, then bisect.
        low, high = shortest - 1, shortest
        while high < len(order) and not reaches(high):
            low, high = high, min(2 * high + (high == 0), len(order))
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if reaches(middle) else (middle, high)
        # Claims rest on fresh samples only. The k-th anchor tried gets delta / 2^k, so that all
        # claims together fail with probability at most delta.
        share = goal.delta
        if mixture_interval(self.most, self.most, share / 2)[0] < goal.threshold:
            kept = _top(order, high)
            hits = _share(reading, kept, self.samples, rng)
            ends = mixture_interval(hits, self.samples, share)
            why = f"No number of samples within reason certifies a precision of {goal.threshold:g}."
            return Found(kept, hits / self.samples, *ends, "not_reached", (), None, baseline, (why,))
        for length in range(high, len(order) + 1):
            share /= 2
            kept = _top(order, length)
            tried = self._certify(reading, kept, goal.threshold, share, rng)
            trace.append(tried)
            if tried.low >= goal.threshold:
                return Found(
                    kept, tried.mean, tried.low, tried.high, "certified", tuple(trace), None, baseline
                )
        best = max(trace, key=lambda c: c.low)
        why = "No prefix of the ranking could be certified."
        return Found(
            best.kept, best.mean, best.low, best.high, "not_reached", tuple(trace), None, baseline, (why,)
        )

    def _certify(
        self, reading: Reading, kept: Kept, threshold: float, delta: float, rng: np.random.Generator
    ) -> Candidate:
        """Sample in growing pieces until the interval lies on one side of the threshold."""
        hits = trials = 0
        piece = 1_000
        low, high = 0.0, 1.0
        while trials < self.most and low < threshold <= high:
            hits += _share(reading, kept, piece, rng)
            trials += piece
            low, high = mixture_interval(hits, trials, delta)
            piece = trials  # double every time
        return Candidate(kept, hits / trials, low, high)


def _ranking(reading: Reading) -> list[int]:
    """Occurrences by coefficient times IDF, largest first, equal ones in the order of the units."""
    assert reading.gradient is not None  # noqa: S101  (the caller has looked)
    order = np.argsort(-reading.gradient(), kind="stable")
    ranked: list[int] = np.repeat(order, reading.units.sizes[order]).tolist()
    return ranked


def _top(order: list[int], length: int) -> Kept:
    return tuple(sorted(order[:length]))


def _share(reading: Reading, kept: Kept, n: int, rng: np.random.Generator) -> int:
    """How many of ``n`` samples keep the label, in pieces of bounded size."""
    hits, rows = 0, max(1, CELLS // len(reading.units))
    for start in range(0, n, rows):
        counts = reading.sample(kept, min(rows, n - start), rng)
        hits += int(np.count_nonzero(reading.holds(counts)))
    return hits
