"""How an anchor's precision builds up: exact where that is free, else with few questions, all counted."""

import pickle

import pytest

import kedge

WORDS = [f"w{k}" for k in range(40)]
TEXT = " ".join(WORDS)


class Asked:
    """A model that counts its texts: four words are needed, two of them more than the others."""

    def __init__(self):
        self.texts = 0

    def __call__(self, texts):
        self.texts += len(texts)
        return [int({"w3", "w9", "w20", "w31"} <= set(text.split())) for text in texts]


def test_a_partial_view_costs_little_more_than_the_answer():
    """A few hundred texts for the steps between, and none where the search has them; all are counted."""
    model = Asked()
    e = kedge.explain(model, TEXT)
    model.texts = 0
    steps = kedge.Explainer(model).partial(TEXT)
    assert steps.queries == model.texts <= e.queries + 200 * (len(e.words) - 1) + 200
    assert [len(s.positions) for s in steps] == [0, 1, 2, 3, 4]
    assert (steps[0].interval, steps[-1].interval) == (e.baseline, e.interval)
    for k, s in enumerate(steps):
        assert s.interval.low <= 2.0 ** (k - 4) <= s.interval.high


def test_an_explanation_is_not_searched_again():
    """Its own anchor is taken, with what is known of it."""
    model = Asked()
    explainer = kedge.Explainer(model)
    e = explainer.explain(TEXT)
    model.texts = 0
    steps = explainer.partial(e)
    assert steps.queries == model.texts <= 200 * len(e.words) + 10
    assert (steps[-1].positions, steps[-1].interval) == (e.positions, e.interval)


@pytest.mark.parametrize("limit", [40, 300, 700])
def test_a_budget_is_kept(limit):
    """max_queries holds for the steps, too; those that cannot be judged are left out."""
    model = Asked()
    steps = kedge.Explainer(model, max_queries=limit).partial(TEXT)
    assert steps.queries == model.texts <= limit
    assert len(steps) <= 5


def test_steps_travel():
    """They pickle with their count."""
    steps = kedge.Explainer(kedge.rules.all_present(["very", "good"])).partial("very good")
    again = pickle.loads(pickle.dumps(steps))
    assert (again, again.queries) == (steps, steps.queries)
