"""A linear stand-in for the model around one document: what a black box's answers teach.

score(c) = bias + weights . c; the label is predicted to hold where the score is positive. It ranks
the units (THEORY section 9) and predicts the precision of every anchor without asking the model.
Its weights are whole numbers, so that these predictions are exact probabilities, which is what lets
them serve as a control variate (``precision.bets``). It is never believed: claims rest on fresh
samples of the model itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from kedge.typing import Bools, Counts, Floats, Kept

__all__ = ["Surrogate", "fit_labels", "fit_log_odds"]

# The scores of all samples fall on at most about this many whole numbers: 100 steps and more per
# unit for documents of a few hundred words, at well under a millisecond per hundred units.
_GRID = 1 << 14
# Beyond this many units exact predictions cost more than they save.
_MANY = 3000
# Ridge on the log-odds, relative to the variance of a coin: it only keeps the system solvable.
_RIDGE = 1e-6
# Ridge on the weights of the fit to labels, where separable answers would let them grow for ever.
_LABEL_RIDGE = 0.1
# Occurrences of a word whose weights differ by less than this share of the largest weight count the same.
_SAME = 0.1


@dataclass(frozen=True)
class Surrogate:
    """score(c) = bias + weights . c, in whole numbers, for units of given sizes."""

    weights: Counts
    bias: int
    sizes: Counts
    keep: float

    @classmethod
    def of(cls, weights: Floats, bias: float, sizes: Counts, keep: float) -> "Surrogate":
        """Round real weights to the grid."""
        span = float(np.abs(weights) @ sizes)
        scale = (_GRID / 2) / span if span > 0 else 1.0
        limit = _GRID  # a bias beyond all the weights decides everything; how far beyond is idle
        whole = np.rint(np.clip(bias * scale, -limit, limit))
        return cls(np.rint(weights * scale).astype(np.int64), int(whole), sizes, keep)

    @property
    def exact(self) -> bool:
        """Whether exact predictions are affordable."""
        return len(self.weights) <= _MANY

    def scores(self, counts: Counts) -> Counts:
        """(n,) the score of each row."""
        scores: Counts = counts @ self.weights + self.bias
        return scores

    def holds(self, counts: Counts) -> Bools:
        """(n,) where the label is predicted to hold."""
        held: Bools = self.scores(counts) > 0
        return held

    def order(self, resolution: float = 0.0) -> list[int]:
        """Occurrences (unit indices with repetition) by decreasing weight; near ties by position.

        Weights are compared in steps of ``resolution`` times the largest, so that equal words rank
        in the order of the text and not by the noise of the fit.
        """
        step = max(resolution * float(np.abs(self.weights).max(initial=0)), 1.0)
        steps = np.rint(self.weights / step)
        units = np.argsort(-steps, kind="stable")
        return [int(j) for j in np.repeat(units, self.sizes[units])]

    def losses(self, order: Sequence[int], longest: int) -> Floats:
        """(longest + 1,) predicted probability that the label is lost, for each prefix of an order.

        One convolution of the law of the score per occurrence, added from the end of the order
        towards its beginning: the prefixes share the work.
        """
        law, low = np.ones(1), 0
        losses = np.empty(longest + 1)
        kept = self.bias + int(self.weights[np.asarray(order, dtype=np.int64)].sum())
        for length in range(len(order), -1, -1):
            if length < len(order):
                weight = int(self.weights[order[length]])
                kept -= weight
                law, low = _one_more(law, low, weight, self.keep)
            if length <= longest:
                # lost where kept + low + i <= 0
                losses[length] = law[: max(0, -(kept + low) + 1)].sum()
        return np.clip(losses, 0.0, 1.0)

    def loss(self, kept: Kept) -> float:
        """Predicted probability that the label is lost given an anchor."""
        free = self.sizes - np.bincount(np.asarray(kept, dtype=np.int64), minlength=len(self.sizes))
        order = [*kept, *np.repeat(np.arange(len(self.sizes)), free).tolist()]
        return float(self.losses(order, len(kept))[len(kept)])


def _one_more(law: Floats, low: int, weight: int, keep: float) -> tuple[Floats, int]:
    """The law of a sum with one more coin that adds ``weight`` with probability ``keep``."""
    if not weight:
        return law, low
    step = abs(weight)
    more = np.zeros(len(law) + step)
    stays, goes = (keep, 1 - keep) if weight > 0 else (1 - keep, keep)
    more[: len(law)] = goes * law
    more[step:] += stays * law
    return more, low + min(weight, 0)


def fit_log_odds(
    counts: Counts, odds: Floats, holds: Bools, sizes: Counts, keep: float, prior: Floats | None = None
) -> Surrogate:
    """Ridge regression of the log-odds on the counts.

    ``prior`` is a gradient that is right up to scale, where the model has one: the regression is
    then of what it leaves over.
    """
    x = counts - keep * sizes
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


def _ridge(x: Floats, y: Floats, ridge: float) -> Floats:
    """Centred ridge regression, in whichever of the two forms has the smaller system."""
    x = x - x.mean(axis=0)
    n, d = x.shape
    if n <= d:
        gram = x @ x.T
        gram[np.diag_indices(n)] += ridge
        dual: Floats = x.T @ np.linalg.solve(gram, y)
        return dual
    gram = x.T @ x
    gram[np.diag_indices(d)] += ridge
    primal: Floats = np.linalg.solve(gram, x.T @ y)
    return primal


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
) -> tuple[Surrogate, Floats]:
    """Ridge logistic regression of the label on the counts, and where to start the next one from.

    ``groups`` (d,) numbers the words: units with the same number are the same word at several
    places. Such units share a weight, from which each may deviate at a higher price: most models
    do not mind the place, and those that do can still say so. ``prior`` is a direction the weights
    are expected to have, such as a gradient; only what departs from it pays the ridge.
    """
    from scipy.optimize import minimize

    d = len(sizes)
    several = np.flatnonzero(np.bincount(groups) > 1)
    belongs = (groups[:, None] == several).astype(np.float64)
    alone = ~belongs.any(axis=1)
    x = counts - keep * sizes
    ahead = np.zeros(d) if prior is None else prior / max(float(np.abs(prior).max()), 1e-300)
    x = np.column_stack([x, x @ belongs, x @ ahead, np.ones(len(counts))])
    sign = np.where(holds, 1.0, -1.0)
    ridge = np.full(x.shape[1], _LABEL_RIDGE)
    ridge[:d][~alone] *= 10.0
    ridge[-2:] *= 0.01  # the scale along the prior and the level are free to move

    def loss(w: Floats) -> tuple[float, Floats]:
        z = sign * (x @ w)
        grad = -x.T @ (sign * expit(-z)) + ridge * w
        return float(np.logaddexp(0, -z).sum() + 0.5 * (ridge * w) @ w), grad

    begin = np.zeros(x.shape[1]) if start is None else start
    # A hundred steps bring it within a fraction of the noise of the labels themselves.
    w: Floats = minimize(loss, begin, jac=True, method="L-BFGS-B", options={"maxiter": 100, "gtol": 1e-2}).x
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
