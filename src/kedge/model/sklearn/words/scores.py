"""What a scikit-learn pipeline of word features and sums lets us know of its inside.

``additive_score``: the score behind a label as a sum over words, where the norm cannot change its
sign. ``label_algebra``: whether a label holds, for rows of counts, by plain arithmetic.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

from kedge.model.scores.additive import UNIT, AdditiveScore, NormalisedScore
from kedge.model.scores.leads import Leads
from kedge.model.sklearn.heads.linear import Head, Weights
from kedge.model.sklearn.words.features import Features
from kedge.typing import Bools, Counts, Floats, Label

__all__ = ["additive_score", "class_slopes", "gradient", "label_algebra", "label_leads", "normalised_score"]

# Where labels are read off probabilities, scores closer than this give the same probability.
_SAME = 2e-15


# Weights whose squares would leave the range of doubles are not added up: the model itself is queried.
_TINY = 1e-140
# Words times multiplicities that a table of features may have.
_TABLE = 1 << 22
# Rows of counts are answered in pieces that stay in the processor's cache.
_PIECE = 1 << 15


def _values(features: Features, head: Head, scale: Floats, counts: Counts) -> Floats:
    """(n, d) features of rows of counts of words with these weights, before the norm."""
    values: Floats = features.frequency(counts) * scale
    if head.cut is not None:
        values = (values > head.cut).astype(np.float64)
    return values


def _unit(features: Features, head: Head) -> float:
    return 2.0**-24 if features.single or head.single else UNIT


def _rounding(operations: int, unit: float, terms: float, norm: float) -> float:
    """Bound on the floating-point error of a score: its operations times the sum of |terms|.

    A term is a count times an idf (perhaps after a logarithm), divided by a norm, times a weight:
    a few operations each, then the sum. ``norm`` bounds what the score is divided by.
    """
    return 2.0 * (operations + 16) * unit * terms + _SAME * max(norm, 1.0)


def additive_score(
    features: Features, head: Head, words: Sequence[str], sizes: Counts, label: Label
) -> AdditiveScore | None:
    """The score of one of two classes as a sum over words; None where it is not one."""
    classes = head.classes
    if len(classes) != 2 or label not in classes:
        return None
    columns = features.columns(words)
    weights = head.weights(columns)
    slopes, bias = _difference(weights)
    normed = features.norm is not None and head.cut is None
    if normed and bias != 0.0:
        return None  # the norm moves the intercept's share
    if features.norm is not None and head.cut not in {None, 0.0}:
        return None  # whether a feature is above the cut depends on the norm
    second = label == classes[1]
    if not second:
        slopes, bias = -slopes, -bias
    scale = features.scale(columns)
    linear = features.linear and head.cut is None
    largest = sizes * scale if linear else _values(features, head, scale, sizes[None])[0]
    size = np.abs(slopes if len(weights.coef) == 1 else np.abs(weights.coef).sum(axis=0))
    terms = float(size @ np.abs(largest)) + sum(weights.magnitude.tolist())
    peak = float(np.abs(slopes * scale).max(initial=0.0))
    if not math.isfinite(terms) or (peak and not _TINY < peak < 1 / _TINY):
        return None
    rounding: float | None = None
    if len(weights.coef) > 1 or not features.whole or features.single or head.single or head.soft:
        norm = float(np.abs(largest).sum()) if normed else 1.0
        rounding = _rounding(len(columns), _unit(features, head), terms, norm)
    # The second class wins if its score is larger: a tie is the first one's.
    if linear:
        return AdditiveScore.from_slopes(
            bias, slopes * scale, sizes, strict=second, rounding=rounding, magnitude=terms
        )
    steps = np.arange(int(sizes.max(initial=0)) + 1)
    values = _values(features, head, scale, np.repeat(steps[:, None], len(columns), axis=1))
    tables = tuple(slope * values[: m + 1, j] for j, (slope, m) in enumerate(zip(slopes, sizes, strict=True)))
    return AdditiveScore(bias, tables, second, rounding)


def normalised_score(
    features: Features, head: Head, words: Sequence[str], label: Label
) -> NormalisedScore | None:
    """The score of one of two classes where it is linear up to the l2 norm; None elsewhere."""
    if features.norm != "l2" or not features.linear or head.cut is not None:
        return None
    classes = head.classes
    if len(classes) != 2 or label not in classes:
        return None
    columns = features.columns(words)
    slopes, bias = _difference(head.weights(columns))
    scale = features.scale(columns)
    if label != classes[1]:
        slopes, bias = -slopes, -bias
    return NormalisedScore(bias, slopes * scale, scale)


def _difference(weights: Weights) -> tuple[Floats, float]:
    """The score of the second class against the first."""
    if len(weights.coef) == 1:
        return weights.coef[0].astype(np.float64, copy=False), float(weights.intercept[0])
    coef = weights.coef.astype(np.float64)
    return coef[1] - coef[0], float(weights.intercept[1]) - float(weights.intercept[0])


def _leads(
    features: Features, head: Head, words: Sequence[str], place: int
) -> tuple[Floats, Floats, float, Floats]:
    """Weights of the lead of one class over each other one, and a bound on what rounding acts on.

    (d, k) columns, one per rival and the last the bound; (k - 1,) leads at no word; the bound at no
    word; (d,) the scale of each word's feature.
    """
    columns = features.columns(words)
    read = head.weights(columns)
    coef, intercept = read.coef.astype(np.float64), read.intercept.astype(np.float64)
    if len(coef) == 1:
        # One score against zero: the same as two scores, one of them zero.
        coef, intercept = np.vstack([0 * coef, coef]), np.append(0.0, intercept)
    rivals = [k for k in range(len(coef)) if k != place]
    bound = np.abs(coef).max(axis=0)
    both = np.ascontiguousarray(np.vstack([coef[place] - coef[rivals], bound]).T)
    return both, intercept[place] - intercept[rivals], float(read.magnitude.max()), features.scale(columns)


def label_leads(
    features: Features, head: Head, words: Sequence[str], sizes: Counts, label: Label
) -> Leads | None:
    """The leads over the rival classes, where they are sums over words up to the l2 norm."""
    classes = head.classes
    normed = features.norm is not None and head.cut is None
    if label not in classes or (normed and features.norm != "l2"):
        return None
    if features.norm is not None and head.cut not in {None, 0.0}:
        return None
    most = int(sizes.max(initial=0))
    if len(words) * (most + 1) > _TABLE:
        return None
    place = classes.index(label)
    both, bias, offset, scale = _leads(features, head, words, place)
    steps = np.repeat(np.arange(most + 1)[:, None], len(words), axis=1)
    values = _values(features, head, scale, steps).T
    if not np.isfinite(values).all() or (np.diff(values, axis=1) < 0).any() or (values[:, :1] != 0).any():
        return None
    largest = values[np.arange(len(words)), sizes]
    peak = float(np.abs(both * largest[:, None]).max(initial=0.0))
    if (normed and (values[:, 1] <= _TINY).any()) or (peak and not _TINY < peak < 1 / _TINY):
        return None
    # With a norm the features have length one, and by Cauchy and Schwarz the bound's own length bounds the
    # sum.
    terms = float(np.sqrt(both[:, -1] @ both[:, -1])) if normed else float(both[:, -1] @ largest)
    # Twice: the model's own error, and ours.
    error = 8.0 * (len(words) + 16) * _unit(features, head) * (terms + offset) + _SAME
    strict = np.array([k < place for k in range(len(bias) + 1) if k != place])
    return Leads(bias, np.ascontiguousarray(both[:, :-1]), values, sizes, normed, strict, error)


def label_algebra(
    features: Features,
    head: Head,
    words: Sequence[str],
    label: Label,
    ask: Callable[[Counts], Bools],
) -> Callable[[Counts], Bools] | None:
    """Counts to whether the label holds, by arithmetic.

    ``ask`` queries the model itself; it is used only where the scores are so close that the
    model's own rounding decides.
    """
    classes = head.classes
    if label not in classes:
        return None
    if features.norm is not None and head.cut not in {None, 0.0}:
        return None
    return _Algebra(features, head, words, classes.index(label), ask)


class _Algebra:
    """Whether a label holds for rows of counts, by arithmetic; weights are read on every call."""

    __slots__ = ("_ask", "_features", "_head", "_place", "_read", "_words")

    def __init__(
        self,
        features: Features,
        head: Head,
        words: Sequence[str],
        place: int,
        ask: Callable[[Counts], Bools],
    ) -> None:
        self._features, self._head, self._words, self._place, self._ask = features, head, words, place, ask
        self._read: tuple[Floats, Floats, float, Floats] | None = None

    def __call__(self, counts: Counts) -> Bools:
        """(n,) whether the label holds."""
        rows = max(1, _PIECE // max(1, counts.shape[1]))
        if len(counts) <= rows:
            return self._piece(counts)
        return np.concatenate([self._piece(counts[i : i + rows]) for i in range(0, len(counts), rows)])

    def _piece(self, counts: Counts) -> Bools:
        features, head = self._features, self._head
        if self._read is None:
            self._read = _leads(features, head, self._words, self._place)
        both, lead, offset, scale = self._read
        values = _values(features, head, scale, counts)
        sums = values @ both
        lengths = features.lengths(values) if head.cut is None else None
        if lengths is not None:
            # N / sqrt(D) + b > 0 is N + b sqrt(D) > 0; dividing keeps several classes comparable.
            sums /= lengths[:, None]
        margin: Floats = sums[:, 0] + lead[0]
        for rival in range(1, len(lead)):
            np.minimum(margin, sums[:, rival] + lead[rival], out=margin)
        terms = sums[:, -1]
        held: Bools = margin > 0
        error = 4.0 * (len(scale) + 16) * _unit(features, head) * (terms + offset) + _SAME
        close = ~(np.abs(margin) > error)  # not a number is close, too
        # Where nothing is left the scores are the intercepts, and a tie is the first class's.
        bare = close & (terms == 0.0)
        if bare.any():
            held[bare] = bool(((lead > 0) | ((lead == 0) & (np.arange(len(lead)) >= self._place))).all())
            close &= ~bare
        if close.any():
            held[close] = self._ask(counts[close])
        return held


def class_slopes(features: Features, head: Head, words: Sequence[str]) -> Floats | None:
    """(k, d) what one occurrence of each word adds to the score of each class; None where that varies."""
    if features.norm is not None or not features.linear or head.cut is not None or len(head.classes) == 2:
        return None
    columns = features.columns(words)
    slopes: Floats = head.weights(columns).coef.astype(np.float64) * features.scale(columns)
    return slopes


def gradient(features: Features, head: Head, words: Sequence[str], counts: Counts, label: Label) -> Floats:
    """(d,) weight times idf, for the label against the class that comes closest.

    The derivative of the score by each word's count at unit norm: the paper's ranking.
    """
    classes = head.classes
    columns = features.columns(words)
    weights = head.weights(columns)
    scale = features.scale(columns)
    if len(classes) == 2:
        slopes, _ = _difference(weights)
        return slopes * scale if label == classes[1] else -slopes * scale
    values = _values(features, head, scale, counts[None])
    lengths = features.lengths(values)
    if lengths is not None:
        values = values / lengths[:, None]
    scores = (values @ weights.coef.T + weights.intercept)[0]
    place = classes.index(label)
    scores[place] = -np.inf
    against: Floats = (weights.coef[place] - weights.coef[int(scores.argmax())]) * scale
    return against
