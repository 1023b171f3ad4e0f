"""Asking the model: once per text, in batches, counted, within the budget."""

import warnings
from contextlib import suppress

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import VotingClassifier
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import FunctionTransformer

import kedge
from kedge.errors import Inconsistent, ModelRaised, OutOfQueries
from kedge.model.sklearn.fitted import repeat
from kedge.reading.oracle import ASKED_AGAIN, Oracle

LONG = "one two three four five six seven eight nine ten eleven twelve thirteen good fifteen"


class Recorder:
    """A real model that remembers what it was asked."""

    def __init__(self):
        self.asked, self.batches = [], []

    def __call__(self, texts):
        self.asked += texts
        self.batches.append(len(texts))
        return ["good" in text for text in texts]


@pytest.mark.parametrize("text", ["so good", "the food was good", LONG])
def test_every_distinct_text_is_asked_once_but_for_the_recheck(text):
    """Queries are counted where the model is called; up to three are asked twice, more for an exact claim."""
    model = Recorder()
    e = kedge.explain(model, text)
    assert e.queries == len(model.asked)
    assert len(model.asked) - len(set(model.asked)) <= 3 + ASKED_AGAIN * (e.status == "exact")


def test_the_model_gets_batches_of_the_size_asked_for():
    """batch_size is the most the model is asked about at once (and three rechecks)."""
    model = Recorder()
    kedge.explain(model, "the food was very good", batch_size=5)
    assert max(model.batches) <= 5 + 3
    assert len(model.batches) > 5


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 20, 64, 100, 1000])
@pytest.mark.parametrize("method", ["auto", "beam", "exhaustive"])
def test_max_queries_is_never_exceeded(limit, method):
    """Whatever the limit, the model is asked no more, and the answer says what was reached."""
    model = Recorder()
    e = kedge.explain(model, LONG, max_queries=limit, method=method)
    assert len(model.asked) == e.queries <= limit
    assert e.status in {"exact", "certified", "estimated", "not_reached"}
    if e.status == "not_reached":
        assert e.notes


def test_the_oracle_refuses_before_asking():
    """A batch beyond the limit raises without a call of the model."""
    oracle = Oracle(max_queries=1)
    with pytest.raises(OutOfQueries, match="After 0 queries, the next 2 would exceed `max_queries=1`"):
        oracle.ask(lambda _: pytest.fail("the model was called"), ["a", "b"])
    assert oracle.queries == 0


def test_a_model_that_does_not_repeat_itself_is_detected():
    """Different labels for the same text end the explanation with that reason."""
    calls = iter(range(10**6))

    def coin(texts):
        return [0 if next(calls) % 3 else 1 for _ in texts]

    with pytest.raises(Inconsistent, match="answered the same text differently"):
        kedge.explain(coin, "the food was very good and cheap")


def test_probabilities_that_drift_are_detected():
    """Dropout left on: the label is the same, the probability is not."""
    calls = iter(range(10**6))

    def dropout(texts):
        return [[0.1 + 0.001 * (next(calls) % 50), 0] for _ in texts]

    def model(texts):
        return [[p, 1 - p] for p, _ in dropout(texts)]

    with pytest.raises(Inconsistent, match=r"model\.eval\(\)"):
        kedge.explain(model, "the food was very good and cheap")


def test_the_user_s_exception_stays_visible():
    """A model that raises is reported in one sentence with its own exception as the cause."""

    def broken(_):
        raise RuntimeError("CUDA out of memory")

    with pytest.raises(ModelRaised, match=r"RuntimeError.*CUDA out of memory") as caught:
        kedge.explain(broken, "good food")
    assert isinstance(caught.value.__cause__, RuntimeError)


def test_progress_is_reported_after_every_batch():
    """The callback sees the running number of queries."""
    seen = []
    e = kedge.explain(Recorder(), "the food was very good", batch_size=8, progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == e.queries


def flipping(share, seed):
    """A model that turns some of its answers round, at random."""
    rng = np.random.default_rng(seed)
    return lambda texts: [int(("good" in text) ^ (rng.random() < share)) for text in texts]


def test_a_model_that_changes_some_answers_is_not_called_exact():
    """One that flips 4% of its answers is found out before an exact claim in all but 1% of the runs."""
    exact = 0
    for seed in range(40):
        with suppress(kedge.KedgeError):
            exact += kedge.explain(flipping(0.04, seed), "the good food here", seed=seed).status == "exact"
    # 0.923^62 is 0.7%: four of forty have a probability below 1e-3.
    assert exact <= 3


def test_exact_verdicts_rest_on_answers_that_repeat():
    """The precision of chosen words likewise."""
    exact = 0
    for seed in range(20):
        with suppress(kedge.KedgeError):
            exact += kedge.precision(flipping(0.1, seed), "the good food here", ["good"]).status == "exact"
    assert exact <= 1


def test_an_exact_claim_is_certified_where_there_is_no_room_to_ask_again():
    """The questions are counted, and a limit is kept."""
    model = Recorder()
    e = kedge.explain(model, "the good food")
    assert (e.status, e.queries) == ("exact", len(model.asked))
    assert kedge.explain(Recorder(), "the good food", max_queries=e.queries).status == "exact"
    model = Recorder()
    less = kedge.explain(model, "the good food", max_queries=e.queries - 1)
    assert (less.words, less.interval, less.status) == (e.words, e.interval, "certified")
    assert len(model.asked) == less.queries == e.queries - ASKED_AGAIN
    assert any("exact if the model is deterministic" in note for note in less.notes)
    assert kedge.precision(Recorder(), "the good food", ["good"], max_queries=20).status == "certified"


class Coin(BaseEstimator, ClassifierMixin):
    """A classifier of the user's own that tosses a coin now and then."""

    def fit(self, x, y):
        del x
        self.classes_, self.rng_ = np.unique(y), np.random.default_rng(0)
        return self

    def predict(self, x):
        held = np.asarray(x[:, 0].todense()).ravel() > 0
        return (held ^ (self.rng_.random(len(held)) < 0.1)).astype(int)


def test_a_classifier_of_the_users_own_behind_counts_is_asked_again():
    """What scikit-learn's own estimators say is known to repeat; of any other it is found out."""
    vectorizer = CountVectorizer(vocabulary=["good", "food", "bad"])
    pipeline = make_pipeline(vectorizer, Coin()).fit(["good", "bad"], [1, 0])
    exact = 0
    for _ in range(20):
        with suppress(kedge.KedgeError):
            exact += kedge.explain(pipeline, "good food bad").status == "exact"
    assert exact <= 1
    known = make_pipeline(CountVectorizer(), MLPClassifier((2,), max_iter=5))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        known.fit(["good", "bad"], [1, 0])
    e = kedge.explain(known, "good bad good")
    assert (e.status, e.queries < ASKED_AGAIN) == ("exact", True)


@pytest.mark.parametrize(
    ("steps", "known"),
    [
        ([CountVectorizer(), LogisticRegression()], True),
        ([CountVectorizer(tokenizer=str.split), LogisticRegression()], False),
        ([CountVectorizer(), Coin()], False),
        ([FeatureUnion([("a", CountVectorizer()), ("b", TfidfVectorizer())]), LogisticRegression()], True),
        ([CountVectorizer(), VotingClassifier([("a", Coin())])], False),
        ([CountVectorizer(), FunctionTransformer(abs), LogisticRegression()], False),
    ],
)
def test_only_what_is_scikit_learns_own_is_known_to_repeat(steps, known):
    """A class or function of the user's anywhere inside may toss coins."""
    assert repeat(steps) is known
