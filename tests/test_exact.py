"""Exact answers for scikit-learn pipelines, against every masked text put to the pipeline itself."""

import warnings
from functools import cache

import counting
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.linear_model import (
    LogisticRegression,
    LogisticRegressionCV,
    PassiveAggressiveClassifier,
    Perceptron,
    RidgeClassifier,
    RidgeClassifierCV,
    SGDClassifier,
)
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import kedge

GOOD = ["good", "great", "tasty", "friendly", "fresh", "lovely", "very", "food", "was", "the", "not"]
BAD = ["bad", "awful", "cold", "rude", "stale", "slow", "very", "food", "was", "the", "not"]
WORDS = sorted({*GOOD, *BAD, "unseen"})


def corpus():
    """240 small texts whose label is what most of their words say, with some noise."""
    rng = np.random.default_rng(0)
    texts, labels = [], []
    for i in range(240):
        pool = GOOD if i % 2 else BAD
        words = rng.choice(pool, size=rng.integers(2, 9)).tolist()
        words += rng.choice(WORDS[:-1], size=rng.integers(0, 3)).tolist()
        texts.append(" ".join(words))
        labels.append(("neg", "pos")[i % 2])
    return texts, labels


def passive_aggressive():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return PassiveAggressiveClassifier(random_state=0)


PLAIN = {"norm": None}
PIPELINES = {
    "logistic": lambda: (TfidfVectorizer(**PLAIN), LogisticRegression()),
    "logistic without intercept, l2": lambda: (TfidfVectorizer(), LogisticRegression(fit_intercept=False)),
    "logistic without intercept, l1": lambda: (
        TfidfVectorizer(norm="l1"),
        LogisticRegression(fit_intercept=False),
    ),
    "logistic, l2": lambda: (TfidfVectorizer(), LogisticRegression()),
    "logistic cv": lambda: (CountVectorizer(stop_words=["the"]), LogisticRegressionCV(Cs=3, cv=3)),
    "logistic on transformer": lambda: (
        CountVectorizer(min_df=2),
        TfidfTransformer(norm=None),
        LogisticRegression(),
    ),
    "logistic in single precision": lambda: (
        TfidfVectorizer(**PLAIN, dtype=np.float32),
        LogisticRegression(),
    ),
    "perceptron on counts": lambda: (CountVectorizer(), Perceptron(random_state=0)),
    "perceptron without intercept": lambda: (
        CountVectorizer(),
        Perceptron(fit_intercept=False, random_state=0),
    ),
    "sgd": lambda: (TfidfVectorizer(**PLAIN, max_features=12), SGDClassifier(random_state=0)),
    "linear svc": lambda: (TfidfVectorizer(**PLAIN, use_idf=False), LinearSVC(random_state=0)),
    "ridge": lambda: (CountVectorizer(), RidgeClassifier()),
    "ridge cv": lambda: (TfidfVectorizer(**PLAIN, smooth_idf=False), RidgeClassifierCV()),
    "passive aggressive": lambda: (CountVectorizer(), passive_aggressive()),
    "multinomial": lambda: (CountVectorizer(), MultinomialNB()),
    "complement, l2": lambda: (TfidfVectorizer(), ComplementNB()),
    "complement": lambda: (CountVectorizer(), ComplementNB(norm=True)),
    "bernoulli": lambda: (CountVectorizer(), BernoulliNB()),
    "bernoulli with a cut": lambda: (CountVectorizer(), BernoulliNB(binarize=1.5)),
    "bernoulli, l2": lambda: (TfidfVectorizer(), BernoulliNB()),
    "binary": lambda: (CountVectorizer(binary=True), LogisticRegression()),
    "sublinear": lambda: (TfidfVectorizer(**PLAIN, sublinear_tf=True), LogisticRegression()),
    "sublinear without intercept, l2": lambda: (
        TfidfVectorizer(sublinear_tf=True),
        LinearSVC(fit_intercept=False, random_state=0),
    ),
    "tree": lambda: (TfidfVectorizer(**PLAIN), DecisionTreeClassifier(random_state=0)),
    "tree on counts": lambda: (CountVectorizer(), DecisionTreeClassifier(max_depth=4, random_state=1)),
    "forest": lambda: (CountVectorizer(), RandomForestClassifier(5, random_state=0)),
}
ADDITIVE = set(PIPELINES) - {"logistic, l2", "tree", "tree on counts", "forest"}


@cache
def fitted(name):
    texts, labels = corpus()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of estimators on their way out
        return make_pipeline(*PIPELINES[name]()).fit(texts, labels)


def truth(pipeline, words, sizes, label):
    """Counts to whether the label holds, by asking the pipeline about a text with these words."""
    known = {}

    def holds(counts):
        rows = [tuple(row) for row in counts.tolist()]
        new = [row for row in dict.fromkeys(rows) if row not in known]
        if new:
            texts = [" ".join(w for w, c in zip(words, row, strict=True) for _ in range(c)) for row in new]
            known.update(zip(new, pipeline.predict(texts) == label, strict=True))
        return np.array([known[row] for row in rows])

    holds(counting.all_counts([0] * len(sizes), sizes))
    return holds


TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=8).map(" ".join)


@pytest.mark.parametrize("name", PIPELINES)
@given(text=TEXTS, threshold=st.sampled_from([0.8, 0.95]))
@settings(max_examples=12, deadline=None)
def test_exact_is_brute_force(name, text, threshold):
    """Every supported estimator: status exact, precision to 1e-12, and the anchor is in A3."""
    pipeline = fitted(name)
    vocabulary = pipeline[0].vocabulary_
    assume(any(w in vocabulary for w in text.split()))
    e = kedge.Explainer(pipeline, threshold=threshold).explain(text)
    words = [w for w in dict.fromkeys(text.split()) if w in vocabulary]
    sizes = [text.split().count(w) for w in words]
    holds = truth(pipeline, words, sizes, e.label)
    length, best, a3 = counting.shortest(holds, sizes, threshold)
    assert e.status == "exact"
    assert len(e.words) == length
    assert e.precision == pytest.approx(best, abs=1e-12)
    assert tuple(e.words.count(w) for w in words) in a3
    assert e.baseline.mean == pytest.approx(counting.precision(holds, [0] * len(sizes), sizes), abs=1e-12)


@pytest.mark.parametrize("name", ["logistic", "perceptron on counts", "multinomial", "sublinear", "tree"])
def test_fourteen_words_are_exact(name):
    """At 14 occurrences the precision is still brute force to 1e-12."""
    pipeline = fitted(name)
    text = "good bad very food was the not cold fresh slow rude tasty very good"
    e = kedge.explain(pipeline, text)
    words = [w for w in dict.fromkeys(text.split()) if w in pipeline[0].vocabulary_]
    sizes = [text.split().count(w) for w in words]
    holds = truth(pipeline, words, sizes, e.label)
    kept = [e.words.count(w) for w in words]
    assert sum(sizes) == 14
    assert e.status == "exact"
    assert e.precision == pytest.approx(counting.precision(holds, kept, sizes), abs=1e-12)


@pytest.mark.parametrize("name", sorted(ADDITIVE))
def test_the_score_is_the_model_s_own(name):
    """Where a score is declared, its sign is the prediction for both labels, on random counts."""
    pipeline = fitted(name)
    model = kedge.as_model(pipeline)
    words = [w for w in WORDS if w in pipeline[0].vocabulary_]
    sizes = np.full(len(words), 3)
    counts = np.random.default_rng(1).integers(0, 4, (200, len(words)))
    counts[0] = 0
    predictions = model.from_counts(words)(counts)
    for label in ("neg", "pos"):
        score = model.additive(words, sizes, label)
        sure = np.abs(score.score(counts)) > score.error
        sure[0] = True  # the sum of nothing is not rounded
        assert sure.mean() > 0.9
        assert (score.holds(counts) == predictions.hold(label))[sure].all()


class Contrary(LogisticRegression):
    def predict(self, X):  # noqa: N803  (scikit-learn's name)
        return super().predict(-X)


@pytest.mark.parametrize(
    "steps",
    [
        lambda: (CountVectorizer(), Contrary()),
        lambda: (CountVectorizer(), CalibratedClassifierCV(LogisticRegression(), cv=2)),
        lambda: (CountVectorizer(), VotingClassifier([("a", LogisticRegression()), ("b", MultinomialNB())])),
        lambda: (
            FeatureUnion([("a", CountVectorizer()), ("b", TfidfVectorizer())]),
            LogisticRegression(),
        ),
        lambda: (TfidfVectorizer(), LogisticRegression()),
        lambda: (CountVectorizer(ngram_range=(1, 2)), LogisticRegression()),
    ],
)
def test_what_is_not_a_sum_is_not_taken_for_one(steps):
    """Subclasses, meta-estimators, unions, a norm with an intercept: no additive score is declared."""
    texts, labels = corpus()
    model = kedge.as_model(make_pipeline(*steps()).fit(texts, labels))
    score = model.additive and model.additive(["good", "bad"], np.array([1, 1]), "pos")
    assert score is None


def test_coefficients_changed_in_place_are_seen():
    """The conversion holds the estimator, not a copy of its weights."""
    texts, labels = corpus()
    pipeline = make_pipeline(CountVectorizer(), LogisticRegression()).fit(texts, labels)
    explainer = kedge.Explainer(pipeline)
    assert explainer.explain("good food was cold").words
    pipeline[-1].coef_[:] = 0.0
    pipeline[-1].coef_[0, pipeline[0].vocabulary_["food"]] = 9.0
    pipeline[-1].intercept_[:] = -1.0
    assert explainer.explain("good food was cold").words == ("food",)


def test_a_wrong_declaration_is_refused():
    """A model whose declared score contradicts its predictions is refused before any answer."""
    from dataclasses import replace

    from kedge.model.scores.additive import AdditiveScore

    model = kedge.as_model(fitted("logistic"))

    def wrong(words, sizes, label):
        right = model.additive(words, sizes, label)
        return AdditiveScore.from_slopes(9.0 - right.bias, -right.slopes, sizes, strict=True)

    with pytest.raises(kedge.KedgeError, match="contradicts"):
        kedge.explain(replace(model, additive=wrong), "good food was cold and very bad")


def test_three_classes_and_forests_are_enumerated():
    """Linear models of three classes and forests: exact by enumeration over counts."""
    texts, labels = corpus()
    labels = [label if i % 3 else "mid" for i, label in enumerate(labels)]
    for final in (LogisticRegression(), RandomForestClassifier(5, random_state=0), MultinomialNB()):
        pipeline = make_pipeline(TfidfVectorizer(), final).fit(texts, labels)
        text = "good good food was cold very slow"
        e = kedge.explain(pipeline, text)
        words = [w for w in dict.fromkeys(text.split()) if w in pipeline[0].vocabulary_]
        sizes = [text.split().count(w) for w in words]
        length, best, _ = counting.shortest(truth(pipeline, words, sizes, e.label), sizes, 0.95)
        assert (e.status, len(e.words)) == ("exact", length)
        assert e.precision == pytest.approx(best, abs=1e-12)


def test_normalised_with_intercept_is_exact_when_long():
    """Too long to enumerate: bounded by convolutions, and the claim agrees with the text model."""
    texts, labels = corpus()
    rng = np.random.default_rng(2)
    names = [f"w{i}" for i in range(60)]
    longer = [t + " " + " ".join(rng.choice(names, 12)) for t in texts]
    pipeline = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(longer, labels)
    text = "good bad tasty food was very slow " + " ".join(names[:30])
    e = kedge.explain(pipeline, text)
    assert (e.status, e.sampled) == ("exact", False)
    assert e.interval.low >= 0.95
    assert e.queries == 1
    document = kedge.Document(text, kedge.as_model(pipeline).tokenize(text))
    masks = rng.random((2000, len(document))) < 0.5
    masks[:, list(e.positions)] = True
    held = pipeline.predict(kedge.Masking().writer(document)(masks)) == e.label
    assert abs(held.mean() - e.precision) < 0.03


@pytest.mark.parametrize("name", ["logistic", "logistic, l2"])
@pytest.mark.parametrize("method", ["auto", "exhaustive", "beam"])
def test_gaussian_precision_serves_every_search(name, method):
    """evaluator='gaussian': an answer from each search, whose interval is the bound on its error."""
    e = kedge.explain(fitted(name), "good food was cold very fresh", evaluator="gaussian", method=method)
    assert e.evaluator == "gaussian"
    assert e.interval.low <= e.precision <= e.interval.high
    assert any("Gaussian" in note for note in e.notes)
    words = dict.fromkeys(["good", "food", "was", "cold", "very", "fresh"])
    holds = truth(fitted(name), list(words), [1] * len(words), e.label)
    exact = counting.precision(holds, [int(w in e.words) for w in words], [1] * len(words))
    assert e.interval.low - 1e-12 <= exact <= e.interval.high + 1e-12


def test_examples_wait_until_somebody_looks():
    """An exact answer draws no samples by itself: its examples are drawn on first use."""
    e = kedge.explain(fitted("logistic"), "good food was cold very fresh")
    assert e.examples._draw is not None
    assert any(example.holds for example in e.examples)
    assert e.examples._draw is None
