"""How many free occurrences of a unit a sample keeps: the binomial distribution."""

import math
from functools import lru_cache

import numpy as np

from kedge.typing import Counts, Floats

__all__ = ["binomial", "binomial_laws"]


# Distributions up to this size are remembered, 16 MB of them at most; a document of one word repeated
# thousands of times would else leave gigabytes behind.
_REMEMBERED, _SIZE = 4096, 512
# Most words of a document occur no more often than this.
_SMALL = 64


def binomial(n: int, keep: float) -> Floats:
    """(n + 1,) the probabilities of Bin(n, keep), each right to a relative error of 8 n 2^-53.

    Fair coins up to n = 50 exactly: C(n, k) / 2^n is then a double. Otherwise from the most
    likely count outward by the ratio of neighbours, three rounded operations each, and then
    divided by the sum.

    >>> binomial(2, 0.5)
    array([0.25, 0.5 , 0.25])
    """
    return _remembered(n, keep) if n <= _SIZE else _computed(n, keep)


def binomial_laws(sizes: Counts, keep: float) -> Floats:
    """The probabilities of Bin(n, keep) for each of some n, one after another.

    >>> binomial_laws(np.array([1, 0, 2]), 0.5)
    array([0.5 , 0.5 , 1.  , 0.25, 0.5 , 0.25])
    """
    if int(sizes.max(initial=0)) > _SMALL:
        return np.concatenate([binomial(n, keep) for n in sizes.tolist()])
    ends = np.cumsum(sizes + 1)
    # In the table Bin(n, keep) begins after 1 + 2 + ... + n others.
    moved = sizes * (sizes + 1) // 2 + (sizes + 1) - ends
    return _table(keep)[np.repeat(moved, sizes + 1) + np.arange(int(ends[-1]) if len(ends) else 0)]


@lru_cache(maxsize=64)
def _table(keep: float) -> Floats:
    """The probabilities of Bin(0, keep), Bin(1, keep), ... one after another."""
    return np.concatenate([binomial(n, keep) for n in range(_SMALL + 1)])


def _computed(n: int, keep: float) -> Floats:
    if keep == 0.5 and n <= 50:
        weights = np.array([math.comb(n, k) for k in range(n + 1)]) / 2.0**n
    elif keep in {0.0, 1.0}:
        weights = np.zeros(n + 1)
        weights[n if keep else 0] = 1.0
    else:
        k = np.arange(n)
        ratio = (n - k) * (keep / (1.0 - keep)) / (k + 1)  # P(k + 1) / P(k)
        mode = min(int((n + 1) * keep), n)
        up = np.cumprod(ratio[mode:])
        down = np.cumprod(1.0 / ratio[:mode][::-1])[::-1]
        weights = np.concatenate([down, [1.0], up])
        weights /= weights.sum()
    weights.setflags(write=False)
    return weights


_remembered = lru_cache(maxsize=_REMEMBERED)(_computed)
