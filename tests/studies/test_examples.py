"""Perturbed examples on an explanation: true, drawn late, bounded, and free where possible."""

import copy
import pickle

import pytest

import kedge
from kedge.data.demo import VERY_GOOD, review_model, very_good

REVIEW = "The service was slow and the soup was cold, but the staff were friendly."


def black_box(texts):
    return review_model().predict(list(texts)).tolist()


MODELS = {
    "rule": (VERY_GOOD, very_good(5)),
    "pipeline": (review_model(), REVIEW),
    "black box": (black_box, REVIEW),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("method", ["auto", "beam"])
def test_examples_say_what_the_model_says(name, method):
    """Each example keeps the anchor, and masking its removed words keeps or loses the label as it says."""
    model, text = MODELS[name]
    e = kedge.explain(model, text, method=method)
    explainer = kedge.Explainer(model)
    assert e.examples
    for example in e.examples:
        assert not set(example.removed) & set(e.positions)
        masked = explainer.masked(text, example.removed)
        assert (explainer.model.predict([masked]).labels[0] == e.label) is example.holds


def test_at_most_ten_of_each_kind_and_all_distinct():
    """Ten examples that kept the label, and up to ten that lost it."""
    e = kedge.explain(review_model(), REVIEW, threshold=0.7)
    kept = [x.removed for x in e.examples if x.holds]
    lost = [x.removed for x in e.examples if not x.holds]
    assert len(kept) == len(set(kept)) == 10
    assert 0 < len(lost) == len(set(lost)) <= 10


def test_examples_cost_no_query_where_the_answers_are_known():
    """Looking at the examples of an exact explanation does not ask the model again."""
    asked = []

    def model(texts):
        asked.extend(texts)
        return [int("good" in t) for t in texts]

    e = kedge.explain(model, "good food, nice place")
    assert e.status == "exact"
    before = len(asked)
    assert e.examples
    assert len(asked) == before == e.queries


def test_the_budget_counts_examples():
    """Examples never exceed max_queries."""
    asked = []

    def model(texts):
        asked.extend(texts)
        return [int("good" in t) for t in texts]

    text = " ".join(f"w{k}" for k in range(30)) + " good"
    for budget in (1, 40, 200):
        asked.clear()
        e = kedge.explain(model, text, max_queries=budget)
        assert len(asked) == e.queries <= budget


def test_examples_travel():
    """Late examples compare, copy, pickle and round trip like a tuple."""
    e = kedge.explain(VERY_GOOD, very_good(5))
    assert kedge.Explanation.from_json(e.to_json()) == e
    assert pickle.loads(pickle.dumps(e)) == e
    assert copy.deepcopy(e) == e
    assert hash(e) == hash(copy.deepcopy(e))
    assert e.examples[:1] == (e.examples[0],)
    assert e.examples != ()
    assert repr(e.examples).startswith("(Example(")


def test_the_same_seed_gives_the_same_examples():
    """Examples depend on the seed alone, not on when they are looked at."""
    one, other = (kedge.explain(VERY_GOOD, very_good(5), seed=3) for _ in range(2))
    assert one.examples == other.examples
    assert one.examples != kedge.explain(VERY_GOOD, very_good(5), seed=4).examples


def test_a_long_document_names_few_positions():
    """For a very long document there are fewer examples, so that an explanation stays small."""
    text = "very good " + " ".join(f"w{k}" for k in range(8000))
    e = kedge.explain(VERY_GOOD, text)
    assert 1 <= len(e.examples) <= 2
