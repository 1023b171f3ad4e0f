"""How scikit-learn classifiers decide from a few sums over features.

Every classifier read here first takes sums x.w + b over features, one or a few per class and per member,
and then follows a rule: the largest sum, a mean of calibrated probabilities, a vote. A `Decision` has
the weights of the sums and the rule, as bounds on what each class gets when the sums are known up to an
error, so that sums in another order show where rounding decides.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kedge.model.model import python_label
from kedge.model.sklearn.heads.bounds import (
    Bounds,
    as_they_are,
    last,
    logit,
    normed,
    one_score,
    shares_of_logits,
    softmax,
    winners,
)
from kedge.model.sklearn.heads.calibrators import calibrated
from kedge.model.sklearn.heads.linear import Weights, head_of
from kedge.typing import Counts, Floats, Label

__all__ = ["Decision", "Line", "decision_of"]

# Where labels are read off probabilities, scores closer than this give the same probability.
_SAME = 2e-15


@dataclass(frozen=True)
class Line:
    """Of two classes the second is chosen iff direction . sums + shift is positive.

    ``slack`` bounds what the rule itself rounds, in units of that score.
    """

    direction: Floats
    shift: float = 0.0
    slack: float = 0.0


@dataclass(frozen=True)
class Decision:
    """A classifier on features.

    Parameters
    ----------
    classes
        The labels, in the order of what they get; the largest wins.
    weights
        Columns of features to the weights of the sums.
    values
        Bounds on the sums (n, s) to bounds on what each class gets (n, k).
    chances
        The same for class probabilities, for a classifier that has them.
    responses
        The same for what a calibration is fitted on: the score of the second of two classes, or of each.
    line
        The rule as one linear score, where there are two classes and it is one.
    largest
        Whether there is one sum per class, and the first of the largest wins.
    cut
        A feature counts as 1 above this value and as 0 else; None: as it is.
    single
        Weights are in single precision.
    """

    classes: tuple[Label, ...]
    weights: Callable[[Counts], Weights]
    values: Callable[[Bounds], Bounds]
    chances: Callable[[Bounds], Bounds] | None = None
    responses: Callable[[Bounds], Bounds] | None = None
    line: Line | None = None
    largest: bool = False
    cut: float | None = None
    single: bool = False


def decision_of(estimator: Any) -> Decision | None:
    """How a fitted estimator decides; None for one that is not known to decide by sums.

    Exact types only: a subclass may do anything.
    """
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.ensemble import VotingClassifier
    from sklearn.multiclass import OneVsRestClassifier

    kind = type(estimator)
    if kind is OneVsRestClassifier:
        return _one_vs_rest(estimator)
    if kind is CalibratedClassifierCV:
        return _calibrated(estimator)
    if kind is VotingClassifier:
        return _vote(estimator)
    head = head_of(estimator)
    if head is None or len(head.classes) < 2:
        return None
    name = kind.__name__
    two = len(head.classes) == 2
    bayes = name.endswith("NB")
    probable = bayes or name.startswith("LogisticRegression")
    values = one_score if two and not bayes else as_they_are
    ovr = getattr(estimator, "solver", None) == "liblinear"
    shares = (shares_of_logits if ovr else softmax) if bayes or not two else logit
    return Decision(
        tuple(head.classes),
        head.weights,
        values,
        chances=shares if probable else None,
        responses=(lambda sums: last(softmax(sums)) if two else softmax(sums)) if bayes else as_they_are,
        line=Line(np.array([-1.0, 1.0]) if bayes else np.ones(1), slack=_SAME * head.soft) if two else None,
        largest=values is as_they_are,
        cut=head.cut,
        single=head.single,
    )


def _labels(estimator: Any) -> tuple[Label, ...]:
    return tuple(python_label(c) for c in estimator.classes_.tolist())


def _stacked(members: Sequence[Decision]) -> tuple[Callable[[Counts], Weights], list[int]]:
    """The sums of all members side by side, and where each one's begin."""

    def weights(columns: Counts) -> Weights:
        all_ = [member.weights(columns) for member in members]
        return Weights(
            np.vstack([w.coef for w in all_]),
            np.concatenate([np.asarray(w.intercept, dtype=np.float64) for w in all_]),
            np.concatenate([w.magnitude for w in all_]),
        )

    none = np.zeros(0, dtype=np.int64)
    ends = np.cumsum([len(member.weights(none).coef) for member in members]).tolist()
    return weights, [0, *ends]


def _part(sums: Bounds, first: int, last: int) -> Bounds:
    return sums[0][:, first:last], sums[1][:, first:last]


def _one_vs_rest(estimator: Any) -> Decision | None:
    """One two-class member per class; the largest score wins, or the only one decides."""
    if estimator.multilabel_ or estimator.label_binarizer_.y_type_ not in {"multiclass", "binary"}:
        return None
    members = [decision_of(member) for member in estimator.estimators_]
    found = [m for m in members if m is not None and m.line is not None and m.cut is None]
    if len(found) < len(members) or len({type(m) for m in estimator.estimators_}) != 1:
        return None

    def weights(columns: Counts) -> Weights:
        coef, intercept, magnitude = [], [], []
        for member in found:
            assert member.line is not None  # noqa: S101  (looked at above)
            own, direction = member.weights(columns), member.line.direction
            coef.append(direction @ own.coef)
            intercept.append(float(direction @ own.intercept) + member.line.shift)
            magnitude.append(float(np.abs(direction) @ own.magnitude))
        return Weights(np.array(coef), np.array(intercept), np.array(magnitude))

    classes = _labels(estimator)
    single = any(m.single for m in found)
    if len(found) == 1:
        line = found[0].line
        assert line is not None  # noqa: S101  (looked at above)
        return Decision(classes, weights, one_score, line=Line(np.ones(1), slack=line.slack), single=single)
    return Decision(classes, weights, as_they_are, largest=True, single=single)


def _calibrated(estimator: Any) -> Decision | None:
    """The mean of the members' calibrated probabilities; the largest wins."""
    members, rules = [], []
    classes = _labels(estimator)
    for part in estimator.calibrated_classifiers_:
        member = decision_of(part.estimator)
        if member is None or member.responses is None or member.cut is not None:
            return None
        if member.classes != classes or part.method not in {"sigmoid", "isotonic"}:
            return None
        rule = calibrated(part.calibrators)
        if rule is None:
            return None
        members.append(member)
        rules.append(rule)
    weights, ends = _stacked(members)

    def chances(sums: Bounds) -> Bounds:
        lows, highs = np.zeros(1), np.zeros(1)
        for k, (member, rule) in enumerate(zip(members, rules, strict=True)):
            assert member.responses is not None  # noqa: S101  (looked at above)
            low, high = rule.chances(member.responses(_part(sums, ends[k], ends[k + 1])))
            if len(classes) == 2:
                low, high = np.hstack([1 - high, low]), np.hstack([1 - low, high])
            else:
                low, high = normed((low, high))
            lows, highs = lows + low, highs + high
        return lows / len(members), highs / len(members)

    line = None
    if len(members) == 1 and members[0].line is not None and len(members[0].line.direction) == 1:
        crossing = rules[0].crossing
        line = None if crossing is None else Line(np.full(1, crossing[0]), crossing[1], crossing[2])
    single = any(m.single for m in members)
    return Decision(classes, weights, chances, chances=chances, line=line, single=single)


def _vote(estimator: Any) -> Decision | None:
    """A majority of labels, or the largest mean probability."""
    members = [decision_of(member) for member in estimator.estimators_]
    classes = _labels(estimator)
    found = [m for m in members if m is not None and m.cut is None and len(m.classes) == len(classes)]
    soft = estimator.voting == "soft"
    if len(found) < len(members) or (soft and any(m.chances is None for m in found)):
        return None
    if np.ndim(estimator.classes_) != 1:
        return None
    given = estimator.weights
    shares = [1.0] * len(found)
    if given is not None:
        kept = [w for (_, part), w in zip(estimator.estimators, given, strict=True) if part != "drop"]
        shares = [float(w) for w in kept]
    weights, ends = _stacked(found)

    def values(sums: Bounds) -> Bounds:
        lows, highs = np.zeros(1), np.zeros(1)
        for k, (member, share) in enumerate(zip(found, shares, strict=True)):
            own = _part(sums, ends[k], ends[k + 1])
            if soft:
                assert member.chances is not None  # noqa: S101  (looked at above)
                low, high = member.chances(own)
            else:
                low, high = winners(member.values(own))
            lows, highs = lows + share * low, highs + share * high
        return lows, highs

    def chances(sums: Bounds) -> Bounds:
        low, high = values(sums)
        return low / sum(shares), high / sum(shares)

    single = any(m.single for m in found)
    if any(share < 0 for share in shares) or sum(shares) <= 0:
        return None
    return Decision(classes, weights, values, chances=chances if soft else None, single=single)
