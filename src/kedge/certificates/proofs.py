"""What a claim rests on, as plain data: one function for each kind of proof.

Numbers are written as exact fractions of the doubles that the model has.
"""

from fractions import Fraction
from typing import Any

import numpy as np

from kedge.errors import CertificateError
from kedge.evaluators.bets import Bets, Round
from kedge.evaluators.enumeration import table_size
from kedge.model.scores.additive import AdditiveScore
from kedge.model.scores.leaves import LeafBoxes
from kedge.reading.fresh import FreshSamples
from kedge.reading.reading import Reading
from kedge.search.strategy import Found, Goal
from kedge.typing import Bools, Counts, Kept
from kedge.utils.numerics import pieces

__all__ = ["all_samples", "fraction", "packed", "proof_of", "sum_proof", "tree_proof"]

Proof = dict[str, Any]

# Entries of a table, and samples, up to which a certificate is made: a few hundred kilobytes.
_ENTRIES, _SAMPLES = 1 << 17, 20_000
# The wealth is added up in doubles here, and exactly by the checker.
_SLACK = 1e-9


def fraction(number: float | Fraction) -> str:
    """A number as an exact fraction.

    >>> fraction(0.5), fraction(3.0)
    ('1/2', '3/1')
    """
    exact = Fraction(number)
    return f"{exact.numerator}/{exact.denominator}"


def proof_of(reading: Reading, found: Found, goal: Goal) -> Proof:
    """What the claim about an anchor rests on, by how its precision was found."""
    how = found.evaluator.name
    if how == "convolution" and reading.additive is not None:
        return sum_proof(reading.additive)
    if how == "leaves" and reading.leaves is not None:
        return tree_proof(reading.leaves, reading.units.sizes)
    if how == "enumeration":
        return _table_proof(reading, ())
    return _sample_proof(reading, found, goal)


def sum_proof(score: AdditiveScore) -> Proof:
    """A score that is a sum over units: a coefficient for each, or its value at each count."""
    if score.slopes is not None:
        scores: list[Any] = [fraction(slope) for slope in score.slopes.tolist()]
    else:
        scores = [[fraction(value) for value in table[1:].tolist()] for table in score.tables]
        for j, table in enumerate(score.tables):
            if len(table) == 2:
                scores[j] = fraction(float(table[1]))
    return {
        "kind": "sum",
        "bias": fraction(score.bias),
        "scores": scores,
        "strict": bool(score.strict),
        "rounding": fraction(score.error),
    }


def tree_proof(leaves: LeafBoxes, sizes: Counts) -> Proof:
    """Leaves as boxes: for each unit that one asks about, the least and the largest count that lead to it."""
    low = np.maximum(np.where(np.isfinite(leaves.low), np.floor(leaves.low) + 1, 0), 0).astype(np.int64)
    high = np.minimum(np.where(np.isfinite(leaves.high), np.floor(leaves.high), sizes), sizes).astype(
        np.int64
    )
    boxes = []
    for least, most, holds in zip(low, high, leaves.label.tolist(), strict=True):
        if (least > most).any():
            continue  # no sample of this document leads there
        asked = np.flatnonzero((least > 0) | (most < sizes)).tolist()
        boxes.append({"box": [[j, int(least[j]), int(most[j])] for j in asked], "holds": bool(holds)})
    return {"kind": "tree", "leaves": boxes}


def all_samples(sizes: Counts, given: Counts, part: slice) -> Counts:
    """Rows of the table of all counts given those that stay, the last unit the fastest."""
    shape = tuple((sizes - given + 1).tolist())
    rows = np.empty((part.stop - part.start, len(shape)), dtype=np.int64)
    at = np.arange(part.start, part.stop)
    for j in range(len(shape) - 1, -1, -1):
        at, rows[:, j] = np.divmod(at, shape[j])
    return rows + given


def packed(answers: Bools) -> str:
    """Answers as bits in hexadecimal digits, the first one the highest."""
    return np.packbits(answers).tobytes().hex()


def _table_proof(reading: Reading, given: Kept) -> Proof:
    """The model's answer about every sample that keeps some occurrences for sure."""
    total = table_size(reading, given)
    if total > _ENTRIES:
        raise CertificateError(f"A table of {total} samples is too large for a certificate.")
    sizes, sure = reading.units.sizes, reading.units.counts(given)
    held = [reading.holds(all_samples(sizes, sure, part)) for part in pieces(total, len(sizes))]
    return {"kind": "table", "given": sure.tolist(), "answers": packed(np.concatenate(held))}


def _sample_proof(reading: Reading, found: Found, goal: Goal) -> Proof:
    """The answers about fresh samples, as many as plain bets need; those of the search cost nothing again.

    The search may have needed fewer, by betting against a prediction. A checker should not have to trust
    one, so these bets have none.
    """
    samples = FreshSamples.of(reading, found.kept, goal.seed) if reading.repeatable else None
    if samples is None:
        raise CertificateError(
            f"The perturbation {reading.perturbation.name!r} cannot be drawn again by others, so there is no "
            "certificate; use kedge.Masking()."
        )
    level = found.level or goal.delta
    bets, answers, distinct = Bets(), [np.zeros(0, dtype=bool)], table_size(reading, found.kept)
    while not bets.proves(goal.threshold, level * (1 - _SLACK)):
        needed = bets.still_needed(goal.threshold, level * (1 - _SLACK), 0.0)
        if distinct <= max(1, bets.trials + needed):
            return _table_proof(reading, found.kept)
        if bets.trials + needed > _SAMPLES:
            raise CertificateError(
                f"The precision is so close to the threshold that {_SAMPLES} samples and plain bets do not "
                "prove it; there is no certificate."
            )
        held = reading.holds(samples.rows(bets.trials, needed))
        answers.append(held)
        bets = bets.plus(Round(int(held.sum()), int((~held).sum())))
    logged = np.concatenate(answers)
    return {"kind": "samples", "level": fraction(level), "count": len(logged), "answers": packed(logged)}
