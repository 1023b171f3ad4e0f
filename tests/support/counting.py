"""Every sample of a small document, one by one: what the fast code is checked against."""

import itertools
from math import comb

import numpy as np


def all_counts(kept, sizes):
    """(n, d) every count vector that keeps the anchor."""
    grids = [np.arange(a, m + 1) for a, m in zip(kept, sizes, strict=True)]
    mesh = np.meshgrid(*grids, indexing="ij")
    return np.stack([axis.ravel() for axis in mesh], axis=1).astype(np.int64)


def chances(counts, kept, sizes, keep):
    """(n,) probability of each count vector given the anchor."""
    weight = np.ones(len(counts))
    for j, (a, m) in enumerate(zip(kept, sizes, strict=True)):
        r = m - a
        pmf = np.array([comb(r, k) * keep**k * (1 - keep) ** (r - k) for k in range(r + 1)])
        weight *= pmf[counts[:, j] - a]
    return weight


def precision(holds, kept, sizes, keep=0.5):
    """The precision of an anchor by its definition."""
    counts = all_counts(kept, sizes)
    return float(chances(counts, kept, sizes, keep)[holds(counts)].sum())


def anchors(sizes, length):
    """Every anchor of a length, as counts."""
    for kept in itertools.product(*(range(min(m, length) + 1) for m in sizes)):
        if sum(kept) == length:
            yield kept


def shortest(holds, sizes, threshold, keep=0.5, tolerance=1e-12):
    """Length of the shortest anchors that reach the threshold, their largest precision, and A3."""
    for length in range(1, int(sum(sizes)) + 1):
        found = {a: precision(holds, a, sizes, keep) for a in anchors(sizes, length)}
        best = max(found.values())
        if best >= threshold:
            return length, best, [a for a, p in found.items() if p >= best - tolerance]
    raise AssertionError("the whole document always keeps its label")
