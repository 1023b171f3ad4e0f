"""Fitting a surrogate: to log-odds by ridge regression, to labels by ridge logistic regression."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from kedge.reading.expected import Expected
from kedge.search.guided.surrogate import Surrogate
from kedge.typing import Bools, Counts, Floats
from kedge.utils.threads import limit_scipy

__all__ = ["OddsFit", "fit_labels", "fit_log_odds", "tie_weights"]

# Matrices of more cells than this are kept in single precision.
_LARGE = 1 << 18
# Ridges tried for log-odds, relative to the largest squared singular value; from "additive" to "noise".
_RIDGES = np.logspace(-9, 1, 21)
# Log-odds that differ by no more than this do not depend on any word.
_FLAT = 1e-9
# How freely the occurrences of one word depart from what they share, in log-odds.
_DEPARTS = 0.3
# Ridge on the weights of the fit to labels, where separable answers would let them grow for ever.
_LABEL_RIDGE = 0.1
# How much more is paid for what departs from a prior.
_TRUST = 10.0
# What departs from the level of a prior, in log-odds.
_LEVEL_RIDGE = 0.1
# Occurrences of a word whose weights differ by less than this share of the largest weight count the same.
_SAME = 0.1


@dataclass(frozen=True)
class OddsFit:
    """A fit to log-odds, and how well each row is predicted by the others.

    Parameters
    ----------
    surrogate
        The fit; its noise is the typical error of such a prediction.
    wrong
        (n,) where the predicted label is not the one seen.
    explained
        Share of the variance of the log-odds that the predictions explain.
    """

    surrogate: Surrogate
    wrong: Bools
    explained: float


def fit_log_odds(
    counts: Counts,
    odds: Floats,
    holds: Bools,
    sizes: Counts,
    keep: float,
    groups: Counts,
    prior: Expected | None = None,
) -> OddsFit:
    """Ridge regression of the log-odds on the counts, with as much ridge as makes the rows most likely.

    Units of the same group are the same word and share most of their weight. ``prior`` is a direction
    that is right up to scale, such as a gradient: its scale is fitted freely, like the level, and the
    ridge is paid for what departs from it. Leaving one row out has a closed form, so that no row is
    held back to see how well the fit predicts.
    """
    spread = odds - odds.mean()
    if float(np.abs(spread).max()) <= _FLAT:
        level = float(odds.mean()) if holds.all() else -1.0
        return OddsFit(Surrogate.of(np.zeros(len(sizes)), level, sizes, keep), np.zeros(len(odds), bool), 1.0)
    x = _centred(counts, sizes, keep)
    n, d = x.shape
    belongs, scale = _sharing(groups)
    z = np.column_stack([x * scale, x @ belongs]).astype(np.float64)
    free = [np.ones(n)]
    if prior is not None and np.any(prior.weights):
        ahead = prior.weights / np.abs(prior.weights).max()
        free.append(x @ ahead)
    fixed = np.column_stack(free)
    q, _ = np.linalg.qr(fixed)
    y = odds - q @ (q.T @ odds)
    z -= q @ (q.T @ z)
    u, e = _left_singular(z)
    along = u.T @ y
    ridge = _likeliest_ridge(e, along, max(float(y @ y - along @ along), 0.0), n - q.shape[1])
    w = z.T @ (u @ (along / (e + ridge)))
    weights = np.asarray(scale * w[:d] + belongs @ w[d:], dtype=np.float64)
    free_weights = np.linalg.lstsq(fixed, odds - x @ weights, rcond=None)[0]
    if len(free_weights) > 1:
        weights = weights + free_weights[1] * ahead
    fitted = x @ weights + free_weights[0]
    leverage = np.minimum((q**2).sum(axis=1) + (u**2) @ (e / (e + ridge)), 1 - 1e-9)
    left_out = odds - (odds - fitted) / (1 - leverage)
    cut = _cut(left_out, holds)
    errors = odds - left_out
    noise = float(np.sqrt((errors**2).mean()))
    surrogate = Surrogate.of(
        weights, float(free_weights[0]) - cut - keep * float(weights @ sizes), sizes, keep, noise
    )
    explained = 1 - float(errors @ errors) / float(spread @ spread)
    return OddsFit(surrogate, (left_out > cut) != holds, explained)


def _sharing(groups: Counts) -> tuple[Any, Floats]:
    """What occurrences of one word share, and how freely each departs from it."""
    from scipy.sparse import csr_array

    often = np.bincount(groups)[groups]
    several = np.flatnonzero(often > 1)
    shared, at = np.unique(groups[several], return_inverse=True)
    belongs = csr_array((1 / np.sqrt(often[several]), (several, at)), shape=(len(groups), len(shared)))
    return belongs, np.where(often > 1, _DEPARTS, 1.0)


def _left_singular(z: Floats) -> tuple[Floats, Floats]:
    """Left singular vectors and squared singular values, from the smaller of the two Gram matrices."""
    n, p = z.shape
    if n <= p:
        e, u = np.linalg.eigh(z @ z.T)
    else:
        e, v = np.linalg.eigh(z.T @ z)
        u = z @ (v / np.sqrt(np.maximum(e, 1e-300)))
    real = e > 1e-10 * max(float(e[-1]), 1e-300)
    return u[:, real], e[real]


def _likeliest_ridge(e: Floats, along: Floats, rest: float, rows: int) -> float:
    """The ridge of largest marginal likelihood, of a few relative to the largest direction.

    ``rest`` is the variation that no direction explains, in the ``rows - len(e)`` others.
    """
    if not len(e):
        return 1.0
    best, found = -np.inf, 1.0
    others = max(rows - len(e), 0)
    for ridge in float(e[-1]) * _RIDGES:
        size = float((along**2 / (e + ridge)).sum() + rest / ridge)
        likelihood = -0.5 * (
            np.log(e + ridge).sum() + others * np.log(ridge) + rows * np.log(max(size, 1e-300))
        )
        if likelihood > best:
            best, found = float(likelihood), float(ridge)
    return found


def _centred(counts: Counts, sizes: Counts, keep: float) -> Floats:
    """Counts minus their means, as floats of the size that memory allows."""
    kind = np.float32 if counts.size > _LARGE else np.float64
    centred: Floats = np.subtract(counts, keep * sizes, dtype=kind)
    return centred


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
    prior: Expected | None = None,
    start: Floats | None = None,
    *,
    rough: bool = False,
) -> tuple[Surrogate, Floats | None]:
    """Ridge logistic regression of the label on the counts, and where to start the next one from.

    ``groups`` (d,) numbers the words: units with the same number are the same word at several
    places. Such units share a weight, from which each may deviate at a higher price: most models
    do not mind the place, and those that do can still say so. ``prior`` is a direction the weights
    are expected to have, such as a gradient; only what departs from it, and from its level where that
    is known, pays the ridge. A ``rough`` fit stops early.
    """
    from scipy.optimize import minimize
    from scipy.special import expit

    limit_scipy()
    d = len(sizes)
    if (holds.all() or not holds.any()) and (prior is None or prior.level is None):
        # nothing was learned about any unit
        return Surrogate.of(np.zeros(d), 1.0 if holds.all() else -1.0, sizes, keep), start
    x = _centred(counts, sizes, keep)
    # Divided by sqrt(m), a word of m occurrences varies as much as a single one does.
    belongs, departs = _sharing(groups)
    ahead, level = np.zeros(d, dtype=x.dtype), 0.0
    if prior is not None and np.any(prior.weights):
        scale = np.abs(prior.weights).max()
        ahead[:] = prior.weights / scale
        if prior.level is not None:
            level = float(prior.level / scale + keep * (ahead @ sizes))
    x = np.column_stack([x, (x @ belongs).astype(x.dtype), x @ ahead + level, np.ones(len(x), x.dtype)])
    sign = np.where(holds, 1.0, -1.0)
    ridge = np.full(x.shape[1], _LABEL_RIDGE * (_TRUST if ahead.any() else 1.0))
    ridge[:d][departs < 1] *= 10.0
    ridge[-2:] *= 0.01  # the scale along the prior and the level are free to move
    if level:
        ridge[-1] = _LEVEL_RIDGE

    def loss(w: Floats) -> tuple[float, Floats]:
        z = sign * (x @ w.astype(x.dtype))
        grad = -((sign * expit(-z)).astype(x.dtype) @ x) + ridge * w
        return float(np.logaddexp(0, -z).sum() + 0.5 * (ridge * w) @ w), grad

    begin = np.zeros(x.shape[1]) if start is None else start
    # While it is still learning, a rough fit finds the next questions as well as a good one.
    steps, change = (50, 1e-5) if rough else (200, 1e-7)
    found = minimize(loss, begin, jac=True, method="L-BFGS-B", options={"maxiter": steps, "ftol": change})
    w: Floats = found.x
    weights = tie_weights(w[:d] + belongs @ w[d:-2] + ahead * w[-2], groups)
    bias = float(w[-1] + level * w[-2] - keep * (weights @ sizes))
    return Surrogate.of(weights, bias, sizes, keep), w


def tie_weights(weights: Floats, groups: Counts) -> Floats:
    """Give the occurrences of a word the same weight where theirs are nearly equal."""
    mean = np.bincount(groups, weights) / np.maximum(np.bincount(groups), 1)
    high = np.full(len(mean), -np.inf)
    low = np.full(len(mean), np.inf)
    np.maximum.at(high, groups, weights)
    np.minimum.at(low, groups, weights)
    close = high - low <= _SAME * np.abs(weights).max(initial=0)
    same: Floats = np.where(close[groups], mean[groups], weights)
    return same
