"""Which of several equally precise anchors to return."""

from collections.abc import Sequence

import numpy as np

from kedge.reading.reading import Reading
from kedge.search.strategy import Goal
from kedge.typing import Floats, Kept

__all__ = ["break_tie", "strength"]

# Strengths that differ by less are equal: sums over words are rounded.
_SAME = 1e-9


def break_tie(tied: Sequence[Kept], goal: Goal, rng: np.random.Generator, reading: Reading) -> Kept:
    """One of several equally precise anchors, as the goal says; of equally strong ones the first."""
    if goal.ties == "random":
        return tied[int(rng.integers(len(tied)))]
    if goal.ties == "last":
        return max(tied)
    if goal.ties == "first" or len(tied) == 1 or (values := strength(reading, tied)) is None:
        return min(tied)
    bar = values.max() - _SAME * max(1.0, abs(values.max()))
    return min(kept for kept, value in zip(tied, values, strict=True) if value >= bar)


def strength(reading: Reading, anchors: Sequence[Kept]) -> Floats | None:
    """(n,) how much the words of each anchor speak for the label when all others are removed.

    The score or the log-odds of the label there; None for a model that gives labels only. A model that
    can only be asked is asked about these texts, unless their answers are known.
    """
    counts = np.array([reading.units.counts(kept) for kept in anchors], dtype=np.int64)
    score = reading.additive or reading.chain
    if score is not None:
        return score.score(counts)
    if reading.leads is not None:
        least: Floats = reading.leads.leads(counts).min(axis=1)
        return least
    if reading.inside is not None and reading.holds_without_queries is not None:
        return reading.inside.predict(counts).log_odds(reading.label)
    odds = reading.answers(counts)[1]
    return None if np.isnan(odds).any() else odds
