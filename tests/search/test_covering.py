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
from kedge.data.demo import review_model, reviews
from kedge.search import covering

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
        assert other.interval.low >= 0.95
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
    with pytest.raises(kedge.KedgeError, match="needs `corpus`"):
        kedge.explain(review_model(), "good", objective="coverage")
    with pytest.raises(kedge.KedgeError, match="objective"):
        kedge.explain(review_model(), "good", objective="width")


def test_occurrences_of_a_word_are_reached_in_order():
    """Whatever the last bits of equal steps say, the second occurrence is looked at before the third."""
    model = kedge.WordWeights({"good": 3.2, "so": 0.7, "film": 0.3}, intercept=-9.89)
    corpus = ["good good good film"] * 3 + ["good good good so"]
    text = "good good good so so film"
    e = kedge.explain(model, text, threshold=0.9, corpus=corpus, objective="coverage")
    assert (e.status, e.coverage, e.words) == ("exact", 0.75, ("good", "good", "good", "film"))


CORPUS_OF_REVIEWS = reviews()[0]
LONG = "good food and a good, friendly waiter; a great place, great wine, fresh bread and lovely desserts"


@pytest.mark.parametrize("seed", range(12))
def test_a_search_that_is_cut_short_says_so(monkeypatch, seed):
    """Certified, with a note; or exact, and then the very answer that more time gives."""
    rng = np.random.default_rng(seed)
    words = ["good", "food", "great", "place", "wine", "the", "and", "was"]
    weights = dict(zip(words, rng.choice([0.5, 0.8, 1.2, 2.0], 8).tolist(), strict=True))
    text = " ".join([*words, *rng.choice(words, 4)])
    whole = sum(weights[word] for word in text.split())
    model = kedge.WordWeights(weights, intercept=-whole * rng.choice([0.5, 0.7]))
    ask = {"corpus": CORPUS_OF_REVIEWS, "objective": "coverage", "threshold": 0.9}
    patient = kedge.explain(model, text, **ask)
    monkeypatch.setattr(covering, "JUDGED", 40)
    e = kedge.explain(model, text, **ask)
    assert e.interval.low >= 0.9
    if e.status == "exact":
        assert e.coverage == patient.coverage
    else:
        assert (e.status, e.notes[-1]) == ("certified", covering.UNPROVEN)
        assert e.coverage <= patient.coverage


def test_candidates_from_the_largest_coverage_down_are_limited(monkeypatch):
    """For a rule, too."""
    monkeypatch.setattr(covering, "_CANDIDATES", 1)
    rule = kedge.rules.any_of(["good", "friendly"], ["great", "fresh"], ["lovely", "wine"])
    e = kedge.explain(rule, LONG, corpus=CORPUS_OF_REVIEWS, objective="coverage", threshold=0.8)
    assert (e.status, e.interval.low >= 0.8, e.notes[-1]) == ("certified", True, covering.UNPROVEN)


def test_what_the_first_search_only_estimated_stays_an_estimate():
    """The paper's approximation proves nothing, whatever it covers."""
    text, beam = "The staff were friendly and the soup was very good.", kedge.Beam(evaluator="gaussian")
    e = kedge.explain(review_model(), text, method=beam, corpus=CORPUS_OF_REVIEWS, objective="coverage")
    assert e.status == "estimated"


def test_an_anchor_that_was_not_reached_is_no_start():
    """Nothing covers anything then: the reason is that of the search."""
    text = " ".join(["good wine", *(f"w{k}" for k in range(20))])
    model = kedge.rules.all_present(["good", "wine"]).predict
    found = {"corpus": CORPUS_OF_REVIEWS, "objective": "coverage", "method": "beam", "max_queries": 5}
    e = kedge.explain(model, text, **found)
    assert (e.status, covering.UNPROVEN in e.notes) == ("not_reached", False)


@pytest.mark.parametrize("more", [10_000, 30])
def test_sampled_anchors_grow_while_they_cover_more(more):
    """Two frequent words together cover more than one rare word; where questions run out that is it."""
    corpus = ["good food"] * 6 + ["excellent"] + ["the soup"] * 5

    def model(texts):
        return [{"good", "food"} <= set(t.split()) or "excellent" in t for t in texts]

    text = " ".join(["excellent good food", *(f"w{k}" for k in range(12))])
    first = kedge.explain(model, text, method="beam")
    assert first.words == ("excellent",)
    most = first.queries + more
    e = kedge.explain(model, text, corpus=corpus, objective="coverage", method="beam", max_queries=most)
    assert (e.status, e.queries <= most) == ("estimated", True)
    assert e.words == (("good", "food") if more > 100 else ("excellent",))
    assert e.notes[-1] == covering.UNPROVEN
