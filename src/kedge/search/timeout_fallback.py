"""An anchor in the little time that is left, for a search that was computing when its time was up.

Samples of a model that is read cost arithmetic only. Words are ranked by their weights, or else by how their
count varies with the label in a few hundred samples; doubling and bisection find a prefix that reaches the
threshold with some room, and fresh samples say how sure that is.
"""

import numpy as np

from kedge.evaluators.empirical import Empirical
from kedge.evaluators.intervals import mixture_interval
from kedge.reading.reading import Reading
from kedge.results.interval import Interval
from kedge.search.strategy import Found, Goal, unproved
from kedge.typing import Counts, Floats, Kept, Status
from kedge.utils.numerics import pieces

__all__ = ["fallback_anchor", "word_weights"]

_TIME_IS_UP = "The time limit was near, so the search ended here; a shorter set of words may exist."
# Samples that rank the words, that judge a prefix, and that the answer rests on.
_RANKING, _JUDGING, _PROVING = 400, 200, 1_000
# A prefix is aimed this part of the way from the threshold to 1; where its proof fails all the same, one
# longer by this share is tried, so often in all.
_ROOM, _LONGER, _ATTEMPTS = 0.5, 0.15, 3


def fallback_anchor(reading: Reading, goal: Goal, rng: np.random.Generator) -> Found:
    """A good anchor by samples; all words where sampling would cost queries."""
    sizes = reading.units.sizes
    ranked: list[int] = np.repeat(order := _ranking(reading, rng), sizes[order]).tolist()
    every = len(ranked)  # all words together keep the label for certain
    length = every if reading.holds_without_queries is None else _reaching(reading, ranked, goal, rng)
    known = _proof(reading, ranked, length, goal, rng)
    for _ in range(_ATTEMPTS - 1):
        if known.low >= goal.threshold:
            break
        length = min(length + max(1, int(_LONGER * length)), every)
        known = _proof(reading, ranked, length, goal, rng)
    status: Status = "certified" if known.low >= goal.threshold else unproved(known, goal)
    return Found(_prefix(ranked, length), known, status, Empirical(reading, rng), notes=(_TIME_IS_UP,))


def _proof(
    reading: Reading, ranked: list[int], length: int, goal: Goal, rng: np.random.Generator
) -> Interval:
    """What fresh samples say of a prefix."""
    if length == len(ranked):
        return Interval(1.0, 1.0, 1.0)
    hits = _hits(reading, _prefix(ranked, length), _PROVING, rng)
    low, high = mixture_interval(hits, _PROVING, goal.delta / _ATTEMPTS)
    return Interval(low, hits / _PROVING, high)


def _reaching(reading: Reading, ranked: list[int], goal: Goal, rng: np.random.Generator) -> int:
    """The length of a prefix that seems to reach the threshold with some room, by doubling and bisection."""
    wanted = (goal.threshold + _ROOM * (1 - goal.threshold)) * _JUDGING

    def reaches(length: int) -> bool:
        return _hits(reading, _prefix(ranked, length), _JUDGING, rng) >= wanted

    low = high = min(goal.shortest, len(ranked))
    while high < len(ranked) and not reaches(high):
        low, high = high + 1, min(2 * high + 1, len(ranked))
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if reaches(middle) else (middle + 1, high)
    return high


def _prefix(ranked: list[int], length: int) -> Kept:
    return tuple(sorted(ranked[:length]))


def _ranking(reading: Reading, rng: np.random.Generator) -> Counts:
    """(d,) units by what they do for the label, the strongest first."""
    worths = word_weights(reading)
    holds = reading.holds_without_queries
    if worths is None and holds is not None:
        # How much more of them there is in samples that keep the label.
        worths = np.zeros(len(reading.units))
        for piece in pieces(_RANKING, len(reading.units)):
            counts = reading.sample((), piece.stop - piece.start, rng)
            worths += (holds(counts) - 0.5) @ (counts - reading.keep * reading.units.sizes)
    return np.arange(len(reading.units)) if worths is None else np.argsort(-worths, kind="stable")


def word_weights(reading: Reading) -> Floats | None:
    """(d,) what one occurrence of each unit adds, where the score is known."""
    if reading.additive is not None:
        return reading.additive.slopes
    return None if reading.normalised is None else reading.normalised.slopes


def _hits(reading: Reading, kept: Kept, n: int, rng: np.random.Generator) -> int:
    """How many of ``n`` samples keep the label."""
    holds = reading.holds_without_queries
    assert holds is not None  # noqa: S101  (only prefixes shorter than the text are sampled)
    return sum(
        int(np.count_nonzero(holds(reading.sample(kept, piece.stop - piece.start, rng))))
        for piece in pieces(n, len(reading.units))
    )
