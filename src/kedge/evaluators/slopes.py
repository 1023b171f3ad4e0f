"""What each unit does to an answer, from samples or from all there are: the Banzhaf value as a slope.

Units are kept independently, so that the mean answer with an occurrence of unit j less that without it is the
slope of the answer on the count c_j, cov(y, c_j) / var(c_j): of the answer on c_j alone, and of the
best linear fit on all counts as well (Hammer and Holzman 1992). The fit is the better estimate where it
explains most of the answer, the slope alone where samples are few.
"""

from collections.abc import Sequence

import numpy as np

from kedge.evaluators.binomials import binomial
from kedge.typing import Bools, Counts, Floats

__all__ = ["imputed", "sample_slopes", "sample_weights", "table_slopes", "word_effect"]

# A fit of more units than this is dear; with fewer further samples than this its error is not known.
_UNITS, _MORE = 600, 5


def sample_slopes(counts: Counts, y: Floats, sizes: Counts, keep: float) -> tuple[Floats, Floats]:
    """(d, t) slopes of t answers (n, t) on the counts (n, d) of uniform samples, and standard errors."""
    n, d = counts.shape
    x = counts - sizes * keep
    variance = (sizes * keep * (1 - keep))[:, None]
    centred = y - y.mean(axis=0)
    slope = x.T @ centred / n / variance
    spread = (x**2).T @ centred**2 / n - (slope * variance) ** 2
    error = np.sqrt(np.maximum(spread, 0) / n) / variance
    if d <= _UNITS and n >= d + _MORE:
        fitted, doubt = _fit(x, centred)
        better = np.median(doubt, axis=0) < np.median(error, axis=0)
        slope, error = np.where(better, fitted, slope), np.where(better, doubt, error)
    return slope, error


def _fit(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Least squares with an intercept: slopes and their standard errors."""
    n, d = x.shape
    design = np.column_stack([np.ones(n), x])
    gram = design.T @ design
    inverse = np.linalg.inv(gram + 1e-9 * n * np.eye(d + 1))
    found = inverse @ (design.T @ y)
    noise = ((y - design @ found) ** 2).sum(axis=0) / (n - d - 1)
    # Few degrees of freedom make a doubtful error: it is that of Student's distribution.
    wider = (n - d - 1) / (n - d - 3)
    return found[1:], np.sqrt(np.maximum(np.diag(inverse)[1:, None] * noise * wider, 0))


def sample_weights(counts: Counts, sizes: Counts, keep: float) -> Floats:
    """(n,) the probability of each row of counts."""
    weights = np.ones(len(counts))
    for j, size in enumerate(sizes.tolist()):
        weights *= binomial(size, keep)[counts[:, j]]
    return weights


def table_slopes(counts: Counts, weights: Floats, y: Floats, sizes: Counts, keep: float) -> Floats:
    """(d, t) slopes of t answers, from every row of counts there is and its probability."""
    x = (counts - sizes * keep) / (sizes * keep * (1 - keep))
    slopes: Floats = x.T @ (weights[:, None] * y)
    return slopes


def word_effect(
    every: Bools, none: Bools, weights: Floats, y: Floats, fewest: int = 1
) -> tuple[float, float]:
    """The mean answer where a word is whole less where it is gone, and the standard error of samples.

    Nothing is known (an error of 1) where either was seen fewer times than ``fewest``.
    """
    if min(np.count_nonzero(every), np.count_nonzero(none)) < fewest:
        return 0.0, 1.0
    means, spreads = [], []
    for rows in (every, none):
        mean = float(np.average(y[rows], weights=weights[rows]))
        means.append(mean)
        spreads.append(float(np.mean((y[rows] - mean) ** 2)) / np.count_nonzero(rows))
    return means[0] - means[1], float(np.sqrt(sum(spreads)))


def imputed(asked: Counts, y: Floats, everything: Counts, *, within: Sequence[float]) -> tuple[Floats, float]:
    """(N, t) answers of all rows there are, those not asked about by a linear fit; and the fit's error.

    The error is that of one open row, seen on the rows that were asked about.
    """
    known = {row.tobytes(): i for i, row in enumerate(np.ascontiguousarray(asked))}
    place = np.array([known.get(row.tobytes(), -1) for row in np.ascontiguousarray(everything)])
    design = np.column_stack([np.ones(len(asked)), asked])
    inverse = np.linalg.inv(design.T @ design + 0.5 * np.eye(design.shape[1]))
    found = inverse @ (design.T @ y)
    guess = np.column_stack([np.ones(len(everything)), everything]) @ found
    guess = np.minimum(np.maximum(guess, within[0]), within[1])
    own = np.einsum("ij,jk,ik->i", design, inverse, design)  # how much a row's fit rests on that row
    left = (y - design @ found) / np.maximum(1 - own, 0.1)[:, None]
    full = np.where((place >= 0)[:, None], y[place], guess)
    return full, float(np.sqrt(np.mean(left**2))) if (place < 0).any() else 0.0
