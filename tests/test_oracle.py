"""Asking the model: once per text, in batches, counted, within the budget."""

import pytest

import kedge
from kedge.errors import Inconsistent, ModelRaised, OutOfQueries
from kedge.oracle import Oracle

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
    """Queries are counted where the model is called; only up to three texts are asked twice."""
    model = Recorder()
    e = kedge.explain(model, text)
    assert e.queries == len(model.asked)
    assert len(model.asked) - len(set(model.asked)) <= 3


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
    with pytest.raises(
        OutOfQueries, match="asked 0 times and the next 2 questions would exceed max_queries=1"
    ):
        oracle.ask(lambda _: pytest.fail("the model was called"), ["a", "b"])
    assert oracle.queries == 0


def test_a_model_that_does_not_repeat_itself_is_detected():
    """Different labels for the same text end the explanation with that reason."""
    calls = iter(range(10**6))

    def coin(texts):
        return [0 if next(calls) % 2 else 1 for _ in texts]

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
