"""Of equally precise anchors the one that supports the label most, and what that costs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from readings import reading_of
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import kedge
from kedge import Exhaustive, Lazy
from kedge.data.demo import reviews
from kedge.search import Goal
from kedge.utils.numerics import logistic

# "so", "nice" and "kind" are each enough; "nice" supports the label most.
WEIGHTS = {"so": 1.0, "kind": 2.0, "nice": 3.0}


def chances(texts):
    """A black box with probabilities."""
    score = np.array([sum(WEIGHTS.get(word, 0.0) for word in t.split()) - 0.5 for t in texts])
    return np.stack([1 - logistic(score), logistic(score)], axis=1)


@pytest.mark.parametrize("method", ["lazy", "exhaustive"])
@pytest.mark.parametrize(("ties", "word"), [("strongest", "nice"), ("first", "so"), ("last", "kind")])
def test_three_words_of_which_each_is_enough(method, ties, word):
    """The strongest is the default; the precision is the same."""
    chosen = {} if ties == "strongest" else {"ties": ties}
    e = kedge.explain(chances, "so nice and kind", method=method, **chosen)
    assert (e.words, e.precision, e.status) == ((word,), 1.0, "exact")


def test_labels_alone_leave_it_to_the_place_in_the_text():
    """Nothing is known of how much a word says."""
    e = kedge.explain(lambda texts: chances(texts).argmax(axis=1).tolist(), "so nice and kind")
    assert e.words == ("so",)


def test_probabilities_that_differ_by_rounding_are_equal():
    """A model in single precision may answer a little differently in another batch: the first is taken."""
    weights = {"so": 3.0, "nice": 3.00001}

    def model(texts):
        score = np.array([sum(weights.get(word, 0.0) for word in t.split()) - 0.5 for t in texts])
        return np.stack([1 - logistic(score), logistic(score)], axis=1)

    assert kedge.explain(model, "so nice and kind", method="lazy").words == ("so",)


def test_a_tie_is_not_worth_the_end_of_a_search():
    """Where the queries do not suffice to compare anchors, the first is taken."""
    search, goal = Exhaustive(evaluator="empirical", samples=20), Goal(threshold=0.5)

    def found(max_queries=None):
        reading = reading_of(chances, "so nice and kind and the place and food", max_queries=max_queries)
        return search(reading, goal, np.random.default_rng(0)).kept, reading.oracle.queries

    kept, queries = found()
    assert kept == (1,)
    assert found(queries - 1)[0] == (0,)


def test_words_that_are_drawn_in_place_of_others_leave_it_to_the_place_in_the_text():
    """What an anchor says alone would be chance."""
    vectors = {word: [1.0, k] for k, word in enumerate(["so", "nice", "and", "kind", "dull", "drab"])}
    like = kedge.Neighbours(vectors, kind=lambda _: 0)
    e = kedge.explain(
        chances, "so nice and kind", perturbation=like, method="exhaustive", evaluator="empirical"
    )
    assert e.words == ("so",)


TRAINED = [
    make_pipeline(TfidfVectorizer(), LinearSVC()),  # leads, without probabilities
    make_pipeline(TfidfVectorizer(ngram_range=(1, 2)), LogisticRegression()),  # arithmetic
    make_pipeline(CountVectorizer(ngram_range=(1, 2)), LinearSVC()),  # a sum over windows
]


@pytest.mark.parametrize("pipeline", TRAINED, ids=["leads", "algebra", "chain"])
def test_models_that_are_read_take_the_strongest_without_a_query(pipeline):
    """Among all anchors of the best precision, the largest score of the anchor's words alone."""
    texts, labels = reviews()
    model = pipeline.fit(texts, labels)
    score = getattr(model, "decision_function")  # noqa: B009  (of the label below, as of the second class)
    tied = 0
    for text in ("the soup was delicious and great", "a friendly and great place", "great and friendly"):
        e = kedge.explain(model, text, method="exhaustive", keep=0.5)
        assert e.queries == 1
        if e.ties is None or len(e.ties.best) < 2:
            continue
        sign = 1 if e.label == model.classes_[1] else -1
        tied += 1
        words = [[text[slice(*e.tokens[k])] for k in kept] for kept in e.ties.best]
        alone = sign * score([" ".join(chosen) for chosen in words])
        assert sign * score([" ".join(e.words)])[0] == pytest.approx(alone.max())
    assert tied


def test_trees_take_the_purest_leaf():
    """Two words that are enough: the one whose leaf is surer."""
    texts = ["good"] * 9 + ["fine"] * 9 + ["bad", "slow", "cold"] * 6 + ["good"]
    labels = [1] * 18 + [0] * 18 + [0]
    model = make_pipeline(CountVectorizer(), DecisionTreeClassifier(max_depth=2, random_state=0))
    model.fit(texts, labels)
    sure = dict(zip(["good", "fine"], model.predict_proba(["good", "fine"])[:, 1], strict=True))
    assert sure["fine"] > sure["good"] > 0.5
    for chosen, word in (({}, "fine"), ({"ties": "first"}, "good")):
        e = kedge.explain(model, "good and fine", method="tree", threshold=0.9, **chosen)
        assert e.words == (word,)


def test_what_carries_a_label_is_the_strongest_too():
    """At a lower ``keep`` and with all other words gone."""
    e = kedge.explain(chances, "so nice and kind", keep="auto", threshold=0.6)
    assert e.needs_no_word
    assert e.carried_by.words == ("nice",)
    many = " ".join(["so", *(f"w{k}" for k in range(8)), "nice"])
    e = kedge.explain(chances, many, keep="auto", threshold=0.09)
    assert (e.carried_by.keep, e.carried_by.words) == (0.0, ("nice",))


@settings(max_examples=100, deadline=None)
@given(
    st.integers(1, 5).flatmap(lambda b: st.lists(st.integers(-3, 3), min_size=1 << b, max_size=1 << b)),
    st.sampled_from([0.5, 0.75, 0.95]),
    st.integers(0, 3),
)
def test_few_queries_find_the_same_one_as_all(scores, threshold, seed):
    """``Lazy`` against the full table, for any model with probabilities and whatever the seed."""
    words = [chr(ord("a") + k) for k in range(len(scores).bit_length() - 1)]

    def model(texts):
        at = [sum(1 << k for k, word in enumerate(words) if word in text.split()) for text in texts]
        p = logistic(np.array(scores, dtype=float)[at] + 0.25)
        return np.stack([1 - p, p], axis=1)

    goal, text = Goal(threshold=threshold), " ".join(words)
    want = Exhaustive()(reading_of(model, text), goal, np.random.default_rng(0))
    found = Lazy()(reading_of(model, text), goal, np.random.default_rng(seed))
    assert (found.kept, found.interval.mean) == (want.kept, want.interval.mean)
