"""A fitted classifier's own answers about features, with probabilities where it gives them."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from kedge.model.answers.outputs import Outputs, read_outputs
from kedge.model.model import Predictions, python_label
from kedge.model.sklearn.trees.forest import forest_chances, is_forest
from kedge.typing import Bools, Counts, Floats, Label
from kedge.utils.numerics import logistic

__all__ = ["answers_of"]


def answers_of(final: Any, outputs: Outputs, classes: Sequence[Label] | None) -> Callable[[Any], Predictions]:
    """The final estimator's own answers, with probabilities where it gives them, or else scores.

    Labels are those of ``predict``, to the last bit: elsewhere a probability of one half may hide on
    which side of a tie the score lies.
    """
    kind = type(final).__name__ if type(final).__module__.startswith("sklearn.") else ""
    several = np.ndim(getattr(final, "classes_", ())) == 1 and len(getattr(final, "classes_", ())) > 1
    if outputs == "auto" and kind in _BY_SCORE and several and not _multilabel(final):
        return partial(_scored, final)
    if outputs != "auto" or kind not in _PROBABLE or not several or not hasattr(final, "predict_proba"):
        means: Outputs = "labels" if outputs == "auto" else outputs

        def predict(x: Any) -> Predictions:
            n = x.shape[0] if hasattr(x, "shape") else len(x)
            return read_outputs(final.predict(x), n, means, classes)

        return predict

    def probable(x: Any) -> Predictions:
        names = [python_label(c) for c in final.classes_.tolist()]
        if kind.startswith("LogisticRegression") and len(names) == 2:
            # One product instead of two: predict is the sign of the score, predict_proba its logit.
            score = _score(final, x)
            chance = logistic(score)
            return _labelled(score > 0, names, np.column_stack([1 - chance, chance]))
        chances = forest_chances(final, x) if is_forest(final) else final.predict_proba(x)
        if kind in _PREDICT_IS_ARGMAX:
            return read_outputs(chances, x.shape[0], "probabilities", names)
        labels = read_outputs(final.predict(x), x.shape[0], "labels").labels
        shares = read_outputs(chances, x.shape[0], "probabilities", names).probabilities
        return Predictions(labels, tuple(names), shares)

    return probable


def _multilabel(final: Any) -> bool:
    """Whether a ridge classifier was fitted on a table of labels."""
    binarizer = getattr(final, "_label_binarizer", None)
    return binarizer is not None and str(binarizer.y_type_).startswith("multilabel")


def _scored(final: Any, x: Any) -> Predictions:
    """A linear classifier whose ``predict`` is the largest of its scores, or the sign of the only one.

    Infinite weights have a label, too, but no scores that could be compared.
    """
    names = [python_label(c) for c in final.classes_.tolist()]
    if len(names) == 2:
        score = _score(final, x).reshape(-1)
        found, scores = _labelled(score > 0, names, None), np.column_stack([-score, score])
    else:
        scores = final.decision_function(x)
        found = _labelled(scores.argmax(axis=1), names, None)
    return replace(found, scores=scores) if np.isfinite(scores).all() else found


def _score(final: Any, x: Any) -> Floats:
    """``decision_function`` of a two-class linear model: its own product, to the last bit.

    Its checks of the input take longer than the product on one document. Rows that a vectoriser made
    do not need them; anything else, and a score that is not finite, goes through them.
    """
    coef = final.coef_
    plain = isinstance(coef, np.ndarray) and coef.ndim == 2  # not made sparse; ridge may have one row
    if plain and getattr(x, "format", None) == "csr" and x.shape[1] == coef.shape[1]:
        score: Floats = (x @ coef.T + final.intercept_).reshape(-1)
        if np.isfinite(score).all():
            return score
    checked: Floats = final.decision_function(x)
    return checked


def _labelled(place: Bools | Counts, names: list[Label], chances: Floats | None) -> Predictions:
    """Labels by their places among the classes."""
    classes = np.empty(len(names), dtype=object)
    classes[:] = names
    return Predictions(classes[place.astype(np.int64)], tuple(names), chances)


# scikit-learn estimators whose predict takes the largest of the very numbers that predict_proba
# gives.
_PREDICT_IS_ARGMAX = frozenset({
    "DecisionTreeClassifier", "RandomForestClassifier", "ExtraTreesClassifier", "MLPClassifier",
    "CalibratedClassifierCV",
})  # fmt: skip

# Linear classifiers whose label is that of the largest score; no probabilities are taken from them.
_BY_SCORE = frozenset({
    "LinearSVC", "SGDClassifier", "RidgeClassifier", "RidgeClassifierCV", "Perceptron",
    "PassiveAggressiveClassifier",
})  # fmt: skip

# Estimators whose probabilities come from the same scores as their labels. (SVC is not among them:
# its probabilities come from a separate calibration.)
_PROBABLE = _PREDICT_IS_ARGMAX | {
    "LogisticRegression", "LogisticRegressionCV", "MultinomialNB", "BernoulliNB", "ComplementNB",
    "GradientBoostingClassifier", "HistGradientBoostingClassifier",
}  # fmt: skip
