"""Rules from sums to what each class gets, for sums that are known up to an error."""

import numpy as np

from kedge.typing import Floats
from kedge.utils.numerics import logistic

__all__ = [
    "Bounds", "as_they_are", "last", "logit", "normed", "one_score", "shares_of_logits", "softmax", "winners",
]  # fmt: skip

Bounds = tuple[Floats, Floats]
"""The least and the most of each of (n, k) numbers."""


def as_they_are(sums: Bounds) -> Bounds:
    """The sums themselves."""
    return sums


def last(sums: Bounds) -> Bounds:
    """The last of them."""
    return sums[0][:, -1:], sums[1][:, -1:]


def one_score(sums: Bounds) -> Bounds:
    """One score against zero."""
    low, high = sums
    none = np.zeros_like(low)
    return np.hstack([none, low]), np.hstack([none, high])


def logit(sums: Bounds) -> Bounds:
    """One score as the chances of two classes."""
    low, high = logistic(sums[0]), logistic(sums[1])
    return np.hstack([1 - high, low]), np.hstack([1 - low, high])


def softmax(sums: Bounds) -> Bounds:
    """Each class at its least with all others at their most, and the other way round."""
    low, high = sums
    top = high.max(axis=1, keepdims=True)
    least, most = np.exp(low - top), np.exp(high - top)
    return normed((least, most))


def shares_of_logits(sums: Bounds) -> Bounds:
    """Each score as a chance of its own, brought to a sum of one."""
    return normed((logistic(sums[0]), logistic(sums[1])))


def normed(shares: Bounds) -> Bounds:
    """Numbers that are not negative, divided by their sum; where all are zero, equal shares.

    Numbers that are known exactly are divided as scikit-learn does it, so that ties stay ties.
    """
    least, most = shares
    rest_most = most.sum(axis=1, keepdims=True) - most
    rest_least = np.maximum(least.sum(axis=1, keepdims=True) - least, 0.0)
    low = np.divide(least, least + rest_most, out=np.zeros_like(least), where=least + rest_most > 0)
    high = np.divide(most, most + rest_least, out=np.ones_like(most), where=most + rest_least > 0)
    known = (least == most).all(axis=1)
    if known.any():
        given = np.ascontiguousarray(least[known])
        total, even = np.sum(given, axis=1)[:, None], np.full_like(given, 1 / given.shape[1])
        low[known] = high[known] = np.divide(given, total, out=even, where=total != 0)
    return low, np.minimum(high, 1.0)


def winners(values: Bounds) -> Bounds:
    """1 for the class that surely wins; at most 1 for those that may."""
    low, high = values
    rival = np.stack([np.delete(low, k, axis=1).max(axis=1) for k in range(low.shape[1])], axis=1)
    may = (high >= rival).astype(np.float64)
    sure = may * (may.sum(axis=1, keepdims=True) == 1)
    return sure, may
