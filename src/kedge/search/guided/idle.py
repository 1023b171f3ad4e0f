"""Words of an anchor that the model does not seem to read: without them its log-odds stay the same."""

import numpy as np

from kedge.errors import OutOfQueries
from kedge.search.guided.pool import Pool, Rows
from kedge.search.pruning import without
from kedge.typing import Kept

__all__ = ["without_idle"]

# Pairs of samples in which a word is compared with none; most words that are read show in the first two.
_PAIRS = (2, 6)


def without_idle(pool: Pool, kept: Kept) -> Kept:
    """An anchor without the words that change nothing in a few samples, before anything is proved.

    Each sample keeps the anchor and is compared with itself without the word. Labels say too little for that.
    """
    rows = pool.given(kept)
    if len(rows.odds) < sum(_PAIRS) or np.isnan(rows.odds).any():
        return kept
    for unit in sorted(set(kept)):
        if len(kept) > 1 and _changes_nothing(pool, rows, unit):
            kept = without(kept, unit)
    return kept


def _changes_nothing(pool: Pool, rows: Rows, unit: int) -> bool:
    begin = 0
    for n in _PAIRS:
        there, odds = rows.counts[begin : begin + n].astype(np.int64), rows.odds[begin : begin + n]
        there[:, unit] -= 1
        try:
            gone, _ = pool.ask(there)
        except OutOfQueries:
            return False
        if not np.allclose(pool.reading.answers(gone)[1], odds[: len(gone)], rtol=1e-9, atol=1e-9):
            return False
        begin += n
    return True
