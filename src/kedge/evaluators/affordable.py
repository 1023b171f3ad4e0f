"""Whether every sample given an anchor can be asked about, within reason and the user's limit."""

from kedge.evaluators.enumeration import table_size
from kedge.reading.oracle import ASKED_AGAIN, RECHECKED
from kedge.reading.reading import Reading
from kedge.typing import Kept

__all__ = ["COUNT_BUDGET", "enumerable", "few_texts", "question_budget"]

# Rows of counts that a model may be asked about for an exact answer: about a second for a forest.
COUNT_BUDGET = 1 << 14
# Rows of counts when that is plain arithmetic: about as long.
_ALGEBRA_BUDGET = 1 << 17
# Texts that a black box may be asked about for an exact answer: what a sampled search spends.
_TEXT_BUDGET = 1 << 11
# What the guided search asks at least: rows of its pool, and the shortest proof.
_ROWS_MORE, _LABEL_ROWS, _PROOF = 8, 80, 72


def question_budget(reading: Reading) -> int:
    """How many questions an exact answer may cost: arithmetic is cheap, counts less so, texts are not."""
    if reading.algebra:
        return _ALGEBRA_BUDGET
    return COUNT_BUDGET if reading.counted else _TEXT_BUDGET


def enumerable(reading: Reading, kept: Kept = ()) -> bool:
    """Whether every sample given an anchor can be asked about."""
    size = table_size(reading, kept)
    if not reading.repeatable or size > question_budget(reading):
        return False
    if reading.counted:
        return reading.algebra or size <= reading.oracle.remaining
    # The document itself is known; the first few texts may be asked about twice.
    return size - 1 <= reading.oracle.remaining - RECHECKED


def few_texts(reading: Reading, share: float) -> bool:
    """Whether asking about a share of all texts is no more than the guided search would ask."""
    pool = len(reading.units) + _ROWS_MORE if reading.log_odds is not None else _LABEL_ROWS
    return share * table_size(reading) + ASKED_AGAIN <= pool + _PROOF
