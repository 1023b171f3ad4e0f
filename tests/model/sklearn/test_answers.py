"""A fitted classifier's own answers: its labels to the last bit, and what these were decided by."""

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import Perceptron, RidgeClassifier, RidgeClassifierCV, SGDClassifier
from sklearn.svm import LinearSVC

from kedge.model.sklearn.answers import answers_of

WORDS = ["goal", "vote", "match", "law", "team"]
LINEAR = [LinearSVC, Perceptron, RidgeClassifier, RidgeClassifierCV, SGDClassifier]


@pytest.mark.parametrize("kind", LINEAR)
@pytest.mark.parametrize("classes", [2, 3, 5])
def test_linear_classifiers_show_their_scores(kind, classes):
    """The labels of ``predict``, ties and all, and the scores of ``decision_function``, one per class."""
    rng = np.random.default_rng(classes)
    texts = [" ".join(rng.choice(WORDS, 4)) for _ in range(60)]
    x = CountVectorizer().fit_transform([*texts, ""])
    model = kind().fit(x[:-1], rng.permutation(np.arange(60) % classes))
    found = answers_of(model, "auto", None)(x)
    assert found.labels.tolist() == model.predict(x).tolist()
    assert found.classes == tuple(range(classes))
    scores = np.asarray(model.decision_function(x))
    np.testing.assert_array_equal(found.scores if classes > 2 else found.scores[:, 1], scores)
    assert (found.probabilities, found.comparable) == (None, True)


@pytest.mark.parametrize("classes", [2, 3])
def test_infinite_weights_have_a_label_but_no_scores(classes):
    """The label is that of ``predict`` all the same."""
    x = CountVectorizer().fit_transform([*WORDS, *WORDS])
    model = LinearSVC().fit(x, np.arange(10) % classes)
    model.coef_[-1, :] = [np.inf, -np.inf, np.nan, 1.0, 2.0]
    found = answers_of(model, "auto", None)(x)
    assert found.scores is None
    assert found.labels.tolist() == model.predict(x).tolist()


def test_a_table_of_labels_is_not_exclusive():
    """A ridge classifier that was fitted on several labels at once has no largest score."""
    x = CountVectorizer().fit_transform(WORDS)
    y = np.array([[1, 0, 1], [0, 1, 1], [1, 1, 0], [0, 0, 1], [1, 0, 0]])
    found = answers_of(RidgeClassifier().fit(x, y), "multilabel", None)(x)
    assert found.scores is None
    assert not found.comparable
