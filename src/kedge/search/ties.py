"""Which of several equally precise anchors to return."""

from collections.abc import Sequence

import numpy as np

from kedge.errors import OutOfQueries
from kedge.reading.reading import Reading
from kedge.search.strategy import Goal
from kedge.typing import Counts, Floats, Kept
from kedge.utils.numerics import logistic, pieces

__all__ = ["break_tie", "strength"]

# Scores that differ by less are equal, for sums over words are rounded; so are probabilities, which
# may come in single precision, and may change with the other texts of a batch.
_SAME_SCORE, _SAME_PROBABILITY = 1e-9, 1e-5


def break_tie(tied: Sequence[Kept], goal: Goal, rng: np.random.Generator, reading: Reading) -> Kept:
    """One of several equally precise anchors, as the goal says; of equally strong ones the first."""
    if goal.ties == "random":
        return tied[int(rng.integers(len(tied)))]
    if goal.ties == "last":
        return max(tied)
    if goal.ties == "first" or len(tied) == 1 or (known := strength(reading, tied)) is None:
        return min(tied)
    values, same = known
    equal = np.isclose(values, values.max(), rtol=same, atol=same)
    return min(kept for kept, one in zip(tied, equal.tolist(), strict=True) if one)


def strength(reading: Reading, anchors: Sequence[Kept]) -> tuple[Floats, float] | None:
    """(n,) how much the words of each anchor support the label when all others are removed, and within what.

    The score or the probability of the label there. None for a model that gives labels only, and where the
    words that stand for removed ones are drawn. A black box is queried with these texts, unless their
    answers are known; None where the queries do not suffice.
    """
    by_score = reading.additive or reading.chain or reading.leads
    if by_score is None and (reading.probabilities is None or not reading.repeatable):
        return None
    found = []
    for piece in pieces(len(anchors), len(reading.units)):
        counts = np.array([reading.units.counts(kept) for kept in anchors[piece]], dtype=np.int64)
        try:
            found.append(_strength(reading, counts))
        except OutOfQueries:
            return None
    return np.concatenate(found), _SAME_PROBABILITY if by_score is None else _SAME_SCORE


def _strength(reading: Reading, counts: Counts) -> Floats:
    """The same of the texts with these counts."""
    if (score := reading.additive or reading.chain) is not None:
        return score.score(counts)
    if reading.leads is not None:
        least: Floats = reading.leads.leads(counts).min(axis=1)
        return least
    if reading.inside is not None and reading.holds_without_queries is not None:
        odds = reading.inside.predict(counts).log_odds(reading.label)
        return logistic(reading.answers(counts)[1] if odds is None else odds)
    return logistic(reading.answers(counts)[1])
