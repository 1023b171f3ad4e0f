"""The anchor of largest coverage, against all anchors."""

from collections import Counter
from itertools import combinations

import brute
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import kedge
from kedge.demo import review_model, reviews

WORDS = ["aa", "bb", "cc", "dd", "ee"]
TEXT = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)
CORPUS = st.lists(st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join), min_size=1, max_size=30)


def contained(words, text):
    have = Counter(text.split())
    return all(have[w] >= n for w, n in Counter(words).items())


def best_coverage(text, label, predict, corpus, threshold):
    """The largest number of documents that contain an anchor reaching the threshold, by trying all."""
    words = text.split()
    counts = []
    for length in range(1, len(words) + 1):
        counts += [
            sum(contained([words[k] for k in anchor], t) for t in corpus)
            for anchor in combinations(range(len(words)), length)
            if brute.precision(text, label, predict, anchor) >= threshold - 1e-12
        ]
    return max(counts)


def linear_model(weights, bias, *, binary):
    """A logistic regression with given coefficients."""
    vectorizer = CountVectorizer(binary=binary).fit([" ".join(WORDS)])
    model = LogisticRegression()
    model.classes_ = np.array([0, 1])
    model.coef_ = np.array([weights], dtype=float)
    model.intercept_ = np.array([float(bias)])
    return make_pipeline(vectorizer, model)


@settings(max_examples=60, deadline=None)
@given(
    TEXT,
    CORPUS,
    st.lists(st.integers(-4, 4).map(lambda x: x + 0.25), min_size=5, max_size=5),
    st.integers(-3, 3).map(lambda x: x + 0.125),
    st.sampled_from([0.7, 0.95]),
    st.booleans(),
)
def test_additive_scores(text, corpus, weights, bias, threshold, binary):
    """For linear and presence models the answer is proven, and no anchor covers more documents."""
    model = linear_model(weights, bias, binary=binary)
    e = kedge.explain(model, text, corpus=corpus, objective="coverage", threshold=threshold)
    assert e.status == "exact"
    best = best_coverage(text, e.label, lambda ts: model.predict(ts).tolist(), corpus, threshold)
    assert round(e.coverage * len(corpus)) == best
    assert e.precision >= threshold


@settings(max_examples=60, deadline=None)
@given(TEXT, CORPUS, st.integers(0, 2**10 - 1), st.sampled_from([0.7, 0.95]))
def test_any_function(text, corpus, table, threshold):
    """For a black box on a short text, too: every mask is asked about."""

    def model(texts):
        return [(table >> sum(hash_of(w) for w in t.split()) % 10) & 1 for t in texts]

    def hash_of(word):
        return 0 if word == "UNK" else 1 + 2 * WORDS.index(word)

    e = kedge.explain(model, text, corpus=corpus, objective="coverage", threshold=threshold)
    assert e.status == "exact"
    assert round(e.coverage * len(corpus)) == best_coverage(text, e.label, model, corpus, threshold)


def test_never_less_than_the_shortest():
    """On real reviews coverage never falls below that of the shortest anchor, and all are proven."""
    texts = reviews()[0]
    shortest = kedge.Explainer(review_model(), corpus=texts)
    widest = kedge.Explainer(review_model(), corpus=shortest.options.corpus, objective="coverage")
    gained = 0
    for text in texts[:40]:
        one, other = shortest.explain(text), widest.explain(text)
        assert other.coverage >= one.coverage
        assert other.interval[0] >= 0.95
        assert other.status == "exact"
        assert (other.objective, "more documents" in str(other)) == ("coverage", True)
        gained += other.coverage > one.coverage
    assert gained > 10


def test_sampled():
    """Where precision is sampled the answer is an estimate, and still in more documents."""
    corpus = ["good food"] * 3 + ["excellent"] + ["the soup"] * 5

    def model(texts):
        return ["good" in t or "excellent" in t for t in texts]

    text = " ".join(["excellent good"] + [f"w{k}" for k in range(14)])
    e = kedge.explain(model, text, corpus=corpus, objective="coverage", method="beam")
    assert (e.words, e.coverage) == (("good",), pytest.approx(3 / 9))


def test_refused_without_a_corpus():
    """Coverage of what? The corpus must be given."""
    with pytest.raises(kedge.KedgeError, match="needs corpus"):
        kedge.explain(review_model(), "good", objective="coverage")
    with pytest.raises(kedge.KedgeError, match="objective"):
        kedge.explain(review_model(), "good", objective="width")
