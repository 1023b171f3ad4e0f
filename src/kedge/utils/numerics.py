"""Small arithmetic that several packages share."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from kedge.typing import Floats

__all__ = ["CELLS", "logistic", "pieces"]

# Samples are made and queried in pieces of at most this many numbers, so that memory does not grow
# with the number of samples times the length of the document.
CELLS = 1 << 20

# Beyond this exp overflows, and the function is 0 or 1 to every digit anyway.
_FLAT = 700.0


def logistic(scores: ArrayLike) -> Floats:
    """1 / (1 + exp(-score)), elementwise: from log-odds to probabilities.

    >>> logistic([-1000.0, 0.0, 1000.0]).round(3).tolist()
    [0.0, 0.5, 1.0]
    """
    clipped = np.clip(np.asarray(scores, dtype=np.float64), -_FLAT, _FLAT)
    return np.asarray(1 / (1 + np.exp(-clipped)), dtype=np.float64)


def pieces(rows: int, width: int, cells: int = CELLS) -> Iterator[slice]:
    """Consecutive slices of ``rows`` rows, none of more than ``cells`` numbers (but of one row at least).

    >>> list(pieces(5, width=10, cells=25))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    step = max(1, cells // max(1, width))
    for start in range(0, rows, step):
        yield slice(start, min(start + step, rows))
