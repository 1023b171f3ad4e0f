"""scikit-learn classifiers that compare sums over features: their weights and their rule.

A linear classifier of two classes has one score, x.w + b, and predicts the second class iff it is
positive; more classes, and naive Bayes, have one score per class and predict the first largest.
Weights are read at every call, and only in the given columns.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kedge.model.model import python_label
from kedge.typing import Counts, Floats, Label

__all__ = ["Head", "Weights", "head_of"]


@dataclass(frozen=True)
class Weights:
    """Scores are x @ coef.T + intercept; ``coef`` is (k, d), ``intercept`` (k,).

    ``magnitude`` (k,) bounds what was added up to make the intercept, for rounding.
    """

    coef: Floats
    intercept: Floats
    magnitude: Floats


@dataclass(frozen=True)
class Head:
    """A classifier on features.

    Parameters
    ----------
    estimator
        The fitted estimator.
    weights
        Columns to weights.
    cut
        A feature counts as 1 above this value and as 0 else (BernoulliNB); None: as it is.
    soft
        Labels may be read off probabilities, which are coarser than scores near a tie.
    pair
        The two classes that are compared; None: all.
    """

    estimator: Any
    weights: Callable[[Counts], Weights]
    cut: float | None = None
    soft: bool = False
    pair: tuple[Label, Label] | None = None

    def between(self, label: Label, other: Label) -> "Head":
        """The same classifier between two of its classes only."""
        classes = self.classes
        first, second = sorted((classes.index(label), classes.index(other)))

        def weights(columns: Counts) -> Weights:
            read = self.weights(columns)
            rows = [first, second]
            return Weights(read.coef[rows], read.intercept[rows], read.magnitude[rows])

        if len(classes) == 2:
            return self
        return replace(self, weights=weights, pair=(classes[first], classes[second]))

    @property
    def classes(self) -> list[Label]:
        """The labels, in the order of the scores."""
        if self.pair is not None:
            return list(self.pair)
        return [python_label(c) for c in self.estimator.classes_.tolist()]

    @property
    def single(self) -> bool:
        """Whether the weights are in single precision."""
        weights = getattr(self.estimator, "coef_", None)
        weights = self.estimator.feature_log_prob_ if weights is None else weights
        return bool(weights.dtype == np.float32)


def head_of(estimator: Any) -> Head | None:
    """The weights of an estimator known to add up features; None for any other.

    Exact types only: a subclass, or a meta-estimator around one of these, may do anything.
    """
    from sklearn import linear_model, naive_bayes, svm

    linear = [
        getattr(linear_model, name, None)
        for name in (
            "LogisticRegression",
            "LogisticRegressionCV",
            "Perceptron",
            "SGDClassifier",
            "RidgeClassifier",
            "RidgeClassifierCV",
            "PassiveAggressiveClassifier",
        )
    ]
    kind = type(estimator)
    if kind in linear or kind is svm.LinearSVC:
        return _linear(estimator)
    if kind in {naive_bayes.MultinomialNB, naive_bayes.ComplementNB, naive_bayes.BernoulliNB}:
        return _naive_bayes(estimator)
    return None


def _linear(estimator: Any) -> Head | None:
    coef, classes = estimator.coef_, estimator.classes_
    if not isinstance(coef, np.ndarray) or np.ndim(classes) != 1:
        return None  # made sparse, or several outputs
    if np.atleast_2d(coef).shape[0] != (1 if len(classes) == 2 else len(classes)):
        return None
    binarizer = getattr(estimator, "_label_binarizer", None)
    if binarizer is not None and binarizer.y_type_.startswith("multilabel"):
        return None

    def weights(columns: Counts) -> Weights:
        coef = estimator.coef_
        coef = coef[:, columns] if coef.ndim == 2 else coef[None, columns]  # ridge has one row
        intercept = estimator.intercept_
        if np.ndim(intercept) == 0:  # a plain 0.0 without an intercept
            intercept = np.full(len(coef), float(intercept))
        return Weights(coef, intercept, np.abs(intercept))

    soft = type(estimator).__name__.startswith("Logistic")
    return Head(estimator, weights, soft=soft)


def _naive_bayes(estimator: Any) -> Head | None:
    if len(estimator.classes_) < 2:
        return None
    kind = type(estimator).__name__

    def weights(columns: Counts) -> Weights:
        coef = estimator.feature_log_prob_[:, columns]
        prior = estimator.class_log_prior_
        if kind == "ComplementNB":  # it has no prior
            return Weights(coef, np.zeros(len(coef)), np.zeros(len(coef)))
        if kind == "MultinomialNB":
            return Weights(coef, prior, np.abs(prior))
        # Bernoulli: sum_j x_j ln p_j + (1 - x_j) ln (1 - p_j), over the whole vocabulary.
        absent = np.log(1 - np.exp(estimator.feature_log_prob_))
        bound = np.abs(prior) + np.abs(absent).sum(axis=1)
        return Weights(coef - absent[:, columns], prior + absent.sum(axis=1), bound)

    return Head(estimator, weights, cut=estimator.binarize if kind == "BernoulliNB" else None)
