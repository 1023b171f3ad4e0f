"""An anchor in the little time that is left, for a search that was computing when its time was up.

Samples of a model that is read cost arithmetic only. A few hundred rank the words (by how their count
varies with the label), bisection finds a prefix that reaches the threshold, and fresh samples say how sure
that is.
"""

import numpy as np

from kedge.evaluators.empirical import Empirical
from kedge.evaluators.intervals import mixture_interval
from kedge.reading.reading import Reading
from kedge.results.interval import Interval
from kedge.search.strategy import Found, Goal, unproved
from kedge.typing import Counts, Floats, Kept, Status
from kedge.utils.numerics import pieces

__all__ = ["hurried_anchor"]

_TIME_IS_UP = "The time limit was near, so the search ended here; a shorter set of words may exist."
# Samples that rank the words, that judge a prefix, and that the answer rests on.
_RANKING, _JUDGING, _PROVING = 400, 200, 1_000


def hurried_anchor(reading: Reading, goal: Goal, rng: np.random.Generator) -> Found:
    """A good anchor by samples; all words where the model cannot be sampled without asking."""
    sizes = reading.units.sizes
    ranked: list[int] = np.repeat(order := _ranking(reading, rng), sizes[order]).tolist()
    low, high = goal.shortest, len(ranked)  # all words together keep the label for certain
    if reading.holds_unasked is not None:
        low = min(low, high)
        while low < high:
            middle = (low + high) // 2
            if _hits(reading, _prefix(ranked, middle), _JUDGING, rng) >= goal.threshold * _JUDGING:
                high = middle
            else:
                low = middle + 1
    kept = _prefix(ranked, high)
    known = Interval(1.0, 1.0, 1.0)
    if len(kept) < len(ranked):
        hits = _hits(reading, kept, _PROVING, rng)
        bottom, top = mixture_interval(hits, _PROVING, goal.delta)
        known = Interval(bottom, hits / _PROVING, top)
    status: Status = "certified" if known.low >= goal.threshold else unproved(known, goal)
    return Found(kept, known, status, Empirical(reading, rng), notes=(_TIME_IS_UP,))


def _prefix(ranked: list[int], length: int) -> Kept:
    return tuple(sorted(ranked[:length]))


def _ranking(reading: Reading, rng: np.random.Generator) -> Counts:
    """(d,) units by how much more of them there is in samples that keep the label."""
    holds = reading.holds_unasked
    total: Floats = np.zeros(len(reading.units))
    if holds is not None:
        for piece in pieces(_RANKING, len(reading.units)):
            counts = reading.sample((), piece.stop - piece.start, rng)
            total += (holds(counts) - 0.5) @ (counts - reading.keep * reading.units.sizes)
    return np.argsort(-total, kind="stable")


def _hits(reading: Reading, kept: Kept, n: int, rng: np.random.Generator) -> int:
    """How many of ``n`` samples keep the label."""
    holds = reading.holds_unasked
    assert holds is not None  # noqa: S101  (only prefixes shorter than the text are sampled)
    return sum(
        int(np.count_nonzero(holds(reading.sample(kept, piece.stop - piece.start, rng))))
        for piece in pieces(n, len(reading.units))
    )
