"""Algorithm 1 where it must stop: limits, shortlists, questions that run out."""

import numpy as np
import pytest
from readings import reading_of

import kedge
from kedge.search import Goal
from kedge.search.exhaustive import Exhaustive

RULE = kedge.rules.all_present(["aa", "bb", "cc"])
TEXT = "aa bb cc dd ee ff gg hh"


def search(model, max_queries=None, **knobs):
    reading = reading_of(model, TEXT, max_queries=max_queries)
    return Exhaustive(**knobs)(reading, Goal(), np.random.default_rng(0))


def test_too_many_anchors_are_not_looked_at():
    """The best so far, and what to do about it."""
    found = search(RULE.predict, max_candidates=9, evaluator="exact")
    assert found.status == "not_reached"
    assert found.notes[-1].startswith("There are more than 9 anchors to look at")
    assert len(found.kept) == 1


def test_a_shortlist_that_no_longer_holds_a_whole_anchor():
    """Three words are needed, and only two would fit."""
    found = search(RULE.predict, max_candidates=2, evaluator="exact", shortlist=True)
    assert found.status == "not_reached"
    assert "best of 8 words" in found.notes[0]


def test_questions_that_run_out():
    """What was found by then, with the oracle's own reason."""
    found = search(RULE.predict, evaluator="empirical", max_queries=40)
    assert found.status == "not_reached"
    assert "40" in found.notes[-1]


def test_nothing_was_looked_at():
    """Not one question is left: no anchor, and nothing known of it."""
    found = search(RULE.predict, evaluator="empirical", max_queries=1)
    assert (found.kept, found.interval.width, found.status) == ((), 1.0, "not_reached")


@pytest.mark.parametrize("evaluator", ["gaussian", "empirical"])
def test_the_reaching_anchors_are_counted_where_that_costs_nothing(evaluator):
    """A closed form is evaluated for all of them; samples would have to be drawn."""
    weights = kedge.WordWeights({"aa": 3.0, "bb": 1.0, "cc": -1.0}, intercept=-1.0)
    reading = reading_of(weights, "aa bb cc")
    found = Exhaustive(evaluator=evaluator)(reading, Goal(0.9), np.random.default_rng(0))
    assert found.selection is not None
    assert (found.selection.reaching is None) == (evaluator == "empirical")
