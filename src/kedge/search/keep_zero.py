"""The shortest set of words that has the label by itself, every other word gone: anchors at ``keep = 0``.

Nothing is left to chance there, so that a set reaches the threshold or does not. Of a linear score the
largest coefficients are best, and the shortest prefix of them that has the label is proven shortest; of
any other model all single words are looked at, then all pairs where there are few, then prefixes of the
words ranked by what each says alone, and what is not needed is left out again.
"""

from itertools import combinations_with_replacement

import numpy as np

from kedge.evaluators.affordable import question_budget
from kedge.reading.reading import Reading
from kedge.search.exact.ladder import Ladder
from kedge.search.pruning import prune
from kedge.search.strategy import Goal
from kedge.search.ties import break_tie
from kedge.typing import Bools, Kept, Minimality, Status

__all__ = ["shortest_at_keep_zero"]


def shortest_at_keep_zero(
    reading: Reading, goal: Goal, rng: np.random.Generator
) -> tuple[Kept, Status, Minimality]:
    """A set of words that has the label alone, and what is known of its length.

    The label must not hold for no word at all. Where several single words or pairs have it, the goal says
    which is taken.
    """
    if reading.additive is not None and reading.additive.linear:
        return _prefix(reading)
    units = range(len(reading.units))

    def one(anchors: list[Kept], held: Bools) -> Kept:
        return break_tie([anchors[i] for i in np.flatnonzero(held)], goal, rng, reading)

    singles: list[Kept] = [(j,) for j in units]
    held = _holds(reading, singles)
    if held.any():
        return one(singles, held), "exact", "shortest"
    sizes = reading.units.sizes
    few = len(units) * (len(units) + 1) / 2 <= min(question_budget(reading), reading.oracle.remaining) / 2
    if few:
        pairs: list[Kept] = [
            (i, j) for i, j in combinations_with_replacement(units, 2) if i < j or sizes[i] > 1
        ]
        held = _holds(reading, pairs)
        if held.any():
            return one(pairs, held), "exact", "shortest"
    kept = _ranked(reading)
    kept = prune(kept, lambda less: bool(_holds(reading, [less])[0]), order=kept)
    return tuple(sorted(kept)), "certified", "irreducible"


def _holds(reading: Reading, anchors: list[Kept]) -> Bools:
    counts = [reading.units.counts(kept) for kept in anchors]
    return reading.holds(np.array(counts, dtype=np.int64).reshape(len(anchors), len(reading.units)))


def _prefix(reading: Reading) -> tuple[Kept, Status, Minimality]:
    """The shortest prefix of the largest coefficients, by bisection: the score grows with every one."""
    score = reading.additive
    assert score is not None  # noqa: S101  (the caller has looked)
    owners = Ladder.of(score, reading.keep).owners

    def value(length: int) -> float:
        counts = np.bincount(owners[:length], minlength=len(reading.units))
        return float(score.score(counts[None])[0])

    # All that support the label score at least what the document does, so that they have it.
    below, reaching = 0, len(owners)
    while reaching - below > 1:
        middle = (below + reaching) // 2
        held = value(middle) > 0 if score.strict else value(middle) >= 0
        below, reaching = (below, middle) if held else (middle, reaching)
    kept = tuple(sorted(owners[:reaching].tolist()))
    # Within rounding of zero only the model itself decides.
    clear = score.error == 0 or (value(below) < -score.error and value(reaching) > score.error)
    return (kept, "exact", "shortest") if clear else (kept, "certified", "open")


def _ranked(reading: Reading) -> Kept:
    """The words that say most alone, as many as have the label together; the weakest first."""
    units = np.repeat(np.arange(len(reading.units)), reading.units.sizes)
    if reading.log_odds is not None:
        odds = reading.log_odds(np.eye(len(reading.units), dtype=np.int64))
        units = units[np.argsort(-odds[units], kind="stable")]
    below, reaching = 0, len(units)
    while reaching - below > 1:
        middle = (below + reaching) // 2
        held = bool(_holds(reading, [tuple(sorted(units[:middle].tolist()))])[0])
        below, reaching = (below, middle) if held else (middle, reaching)
    return tuple(units[:reaching][::-1].tolist())
