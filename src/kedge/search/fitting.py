"""Fitting a surrogate: to log-odds by ridge regression, to labels by ridge logistic regression."""

import numpy as np
from scipy.special import expit

from kedge.search.surrogate import Surrogate
from kedge.typing import Bools, Counts, Floats

__all__ = ["fit_labels", "fit_log_odds"]

# Matrices of more cells than this are kept in single precision.
_LARGE = 1 << 18
# Ridge on the log-odds, relative to the variance of a coin: it only keeps the system solvable.
_RIDGE = 1e-6
# Ridge on the weights of the fit to labels, where separable answers would let them grow for ever.
_LABEL_RIDGE = 0.1
# Occurrences of a word whose weights differ by less than this share of the largest weight count the same.
_SAME = 0.1


def fit_log_odds(
    counts: Counts, odds: Floats, holds: Bools, sizes: Counts, keep: float, prior: Floats | None = None
) -> Surrogate:
    """Ridge regression of the log-odds on the counts.

    ``prior`` is a gradient that is right up to scale, where the model has one: the regression is
    then of what it leaves over.
    """
    x = _centred(counts, sizes, keep)
    slope = np.zeros(len(sizes))
    left = odds - odds.mean()
    if prior is not None and np.any(prior):
        along = x @ prior
        along -= along.mean()
        slope = prior * float(along @ left / max(float(along @ along), 1e-300))
        left = left - (x @ slope - (x @ slope).mean())
    weights = slope + _ridge(x, left, _RIDGE * keep * (1 - keep) * len(x))
    score = x @ weights
    bias = float((odds - score).mean())
    cut = _cut(score + bias, holds)
    return Surrogate.of(weights, bias - cut - keep * float(weights @ sizes), sizes, keep)


def _centred(counts: Counts, sizes: Counts, keep: float) -> Floats:
    """Counts minus their means, as floats of the size that memory allows."""
    kind = np.float32 if counts.size > _LARGE else np.float64
    centred: Floats = np.subtract(counts, keep * sizes, dtype=kind)
    return centred


def _ridge(x: Floats, y: Floats, ridge: float) -> Floats:
    """Centred ridge regression, in whichever of the two forms has the smaller system."""
    x = np.subtract(x, x.mean(axis=0))
    n, d = x.shape
    if n <= d:
        gram = x @ x.T
        gram[np.diag_indices(n)] += ridge
        return np.asarray(x.T @ np.linalg.solve(gram, y), dtype=np.float64)
    gram = x.T @ x
    gram[np.diag_indices(d)] += ridge
    return np.asarray(np.linalg.solve(gram, x.T @ y), dtype=np.float64)


def _cut(scores: Floats, holds: Bools) -> float:
    """Where to cut the score so that fewest of the labels seen are predicted wrongly.

    Zero where that is as good as any: for two classes the label holds iff its log-odds are
    positive; with more classes it may hold at less.
    """
    order = np.argsort(scores)
    sorted_scores, sorted_holds = scores[order], holds[order]
    # Cutting before place i: those before it are predicted lost, the rest to hold.
    wrong = np.concatenate([[0], np.cumsum(sorted_holds)]) + np.concatenate(
        [np.cumsum(~sorted_holds[::-1])[::-1], [0]]
    )
    zero = int(np.searchsorted(sorted_scores, 0.0))
    best = int(wrong.argmin())
    if wrong[zero] <= wrong[best] or not 0 < best < len(scores):
        return 0.0
    return float(sorted_scores[best - 1] + sorted_scores[best]) / 2


def fit_labels(
    counts: Counts,
    holds: Bools,
    sizes: Counts,
    keep: float,
    groups: Counts,
    prior: Floats | None = None,
    start: Floats | None = None,
    *,
    rough: bool = False,
) -> tuple[Surrogate, Floats | None]:
    """Ridge logistic regression of the label on the counts, and where to start the next one from.

    ``groups`` (d,) numbers the words: units with the same number are the same word at several
    places. Such units share a weight, from which each may deviate at a higher price: most models
    do not mind the place, and those that do can still say so. ``prior`` is a direction the weights
    are expected to have, such as a gradient; only what departs from it pays the ridge. A ``rough``
    fit stops early.
    """
    from scipy.optimize import minimize
    from scipy.sparse import csr_array

    d = len(sizes)
    if holds.all() or not holds.any():  # nothing was learned about any unit
        return Surrogate.of(np.zeros(d), 1.0 if holds.all() else -1.0, sizes, keep), start
    x = _centred(counts, sizes, keep)
    alone = np.bincount(groups)[groups] == 1
    shared = np.unique(groups[~alone])
    at = np.searchsorted(shared, groups[~alone])
    # Divided by sqrt(m), a word of m occurrences varies as much as a single one does.
    share = (1 / np.sqrt(np.bincount(groups)[groups[~alone]])).astype(x.dtype)
    place = (np.flatnonzero(~alone), at)
    belongs = csr_array((share, place), shape=(d, len(shared)))
    ahead = np.zeros(d, dtype=x.dtype)
    if prior is not None and np.any(prior):
        ahead[:] = prior / np.abs(prior).max()
    x = np.column_stack([x, x @ belongs, x @ ahead, np.ones(len(x), dtype=x.dtype)])
    sign = np.where(holds, 1.0, -1.0)
    ridge = np.full(x.shape[1], _LABEL_RIDGE)
    ridge[:d][~alone] *= 10.0
    ridge[-2:] *= 0.01  # the scale along the prior and the level are free to move

    def loss(w: Floats) -> tuple[float, Floats]:
        z = sign * (x @ w.astype(x.dtype))
        grad = -((sign * expit(-z)).astype(x.dtype) @ x) + ridge * w
        return float(np.logaddexp(0, -z).sum() + 0.5 * (ridge * w) @ w), grad

    begin = np.zeros(x.shape[1]) if start is None else start
    # While it is still learning, a rough fit finds the next questions as well as a good one.
    steps, change = (50, 1e-5) if rough else (200, 1e-7)
    found = minimize(loss, begin, jac=True, method="L-BFGS-B", options={"maxiter": steps, "ftol": change})
    w: Floats = found.x
    weights = tied(w[:d] + belongs @ w[d:-2] + ahead * w[-2], groups)
    return Surrogate.of(weights, float(w[-1] - keep * (weights @ sizes)), sizes, keep), w


def tied(weights: Floats, groups: Counts) -> Floats:
    """Weights with the occurrences of a word made equal where they hardly differ."""
    mean = np.bincount(groups, weights) / np.maximum(np.bincount(groups), 1)
    high = np.full(len(mean), -np.inf)
    low = np.full(len(mean), np.inf)
    np.maximum.at(high, groups, weights)
    np.minimum.at(low, groups, weights)
    close = high - low <= _SAME * np.abs(weights).max(initial=0)
    same: Floats = np.where(close[groups], mean[groups], weights)
    return same
