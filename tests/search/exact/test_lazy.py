"""Algorithm 1 with as few questions as it takes, against the same with all of them."""

import numpy as np
import pytest
from functions import labels_by
from hypothesis import given, settings
from hypothesis import strategies as st
from readings import reading_of

import kedge
from kedge import Exhaustive, Interval, Lazy
from kedge.evaluators import Enumeration
from kedge.reading.oracle import ASKED_AGAIN
from kedge.search import Goal

TABLES = st.integers(1, 6).flatmap(lambda b: st.lists(st.booleans(), min_size=1 << b, max_size=1 << b))


@settings(max_examples=150, deadline=None)
@given(
    TABLES,
    st.sampled_from([0.3, 0.5, 0.75, 0.95, 1.0]),
    st.sampled_from(["first", "last"]),
    st.booleans(),
    st.integers(0, 3),
)
def test_any_model_gets_the_answer_of_the_full_table(table, threshold, ties, allow_empty, seed):
    """Same anchor and precision, ties included; no question beyond the table; baseline within bounds."""
    model, text = labels_by(table)
    goal = Goal(threshold=threshold, ties=ties, allow_empty=allow_empty)
    full, fewer = reading_of(model, text), reading_of(model, text)
    want = Exhaustive()(full, goal, np.random.default_rng(0))
    found = Lazy()(fewer, goal, np.random.default_rng(seed))
    assert (found.kept, found.interval) == (want.kept, Interval.exactly(want.interval.mean))
    assert found.status == "exact"
    assert fewer.oracle.queries <= full.oracle.queries + 3  # the first texts are asked twice, if few at once
    every = Enumeration(full).every
    for seen in found.trace:
        at = sum(1 << (len(full.units) - 1 - unit) for unit in seen.kept)
        assert seen.interval.low <= every[at] <= seen.interval.high
    assert 0 <= found.baseline.mean <= 1


@settings(max_examples=50, deadline=None)
@given(TABLES, st.integers(0, 5))
def test_random_ties_are_members_of_the_best(table, seed):
    """Any of the equally good anchors, and no other."""
    model, text = labels_by(table)
    reading = reading_of(model, text)
    want = Exhaustive()(reading, Goal(), np.random.default_rng(0))
    found = Lazy()(reading_of(model, text), Goal(ties="random"), np.random.default_rng(seed))
    assert found.kept in want.selection.tied


def test_all_ties_can_be_taken_at_random():
    """Three words that do the same: each is chosen for some seed."""
    model = kedge.rules.any_of(["a"], ["b"], ["c"]).predict
    chosen = {kedge.explain(model, "a b c d", ties="random", seed=seed).words for seed in range(30)}
    assert chosen == {("a",), ("b",), ("c",)}


@pytest.mark.parametrize("words", [["w0"], ["w0", "w5"], ["w0", "w3", "w5"]])
def test_far_from_all_texts_are_asked(words):
    """Eight words, 256 texts: the anchor's own, and a few that refute the others."""
    text = " ".join(f"w{k}" for k in range(8))
    e = kedge.explain(kedge.rules.all_present(words).predict, text, method="lazy")
    assert (e.words, e.status, e.method) == (tuple(words), "exact", "lazy")
    assert e.queries - ASKED_AGAIN <= 0.75 * 256


def test_what_follows_an_answer_is_exact_too():
    """Precision after each word: the rest of the table is asked about when it is needed."""
    explainer = kedge.Explainer(kedge.rules.all_present(["a", "c"]).predict)
    steps = explainer.partial("a b c d e")
    assert [step.precision for step in steps] == [0.25, 0.5, 1.0]


@pytest.mark.parametrize("limit", [-3, -1, 0, 1, 2, 3, 4, 4 + ASKED_AGAIN])
@pytest.mark.parametrize("width", [4, 5, 6, 7])
def test_the_limit_of_questions_is_kept_to_the_last(width, limit):
    """Around a limit that allows all texts, the text without words, and the few that are asked twice."""
    asked = []

    def model(texts):
        asked.extend(texts)
        return ["w0" in text.split() or "w1" in text.split() for text in texts]

    text, most = " ".join(f"w{k}" for k in range(width)), (1 << width) + limit
    e = kedge.explain(model, text, max_queries=most, threshold=1.0, allow_empty=True)
    assert len(asked) == e.queries <= most
    if limit >= 4:
        assert (e.words, e.status) in {(("w0",), "exact"), (("w0",), "certified")}
        assert e.status == "exact" or limit == 4
        assert kedge.Explainer(model, max_queries=most).partial(text)[-1].precision == 1.0


@settings(max_examples=100, deadline=None)
@given(TABLES, st.integers(0, 5))
def test_the_baseline_is_on_its_side_of_the_threshold(table, seed):
    """Exact where it reaches the threshold, so that "no word is needed" is a fact."""
    model, text = labels_by(table)
    e = kedge.explain(model, text, seed=seed, threshold=0.7)
    full = reading_of(model, text)
    true = float(Enumeration(full).every[0])
    assert (e.baseline.mean >= 0.7) == (true >= 0.7)
    if true >= 0.7:
        assert e.baseline.mean == true


def test_other_coins_are_exact_too():
    """Few texts are all asked about where they do not weigh the same."""
    model = kedge.rules.all_present(["a", "c"]).predict
    e = kedge.explain(model, "a b c d", perturbation=kedge.Masking(keep=0.3), threshold=1.0)
    assert (e.words, e.precision, e.status) == (("a", "c"), 1.0, "exact")
    verdict = kedge.precision(model, "a b c d e", "a c", perturbation=kedge.Masking(keep=0.3), threshold=1.0)
    assert (verdict.precision, verdict.interval, verdict.reaches) == (1.0, (1.0, 1.0, 1.0), True)
    rare = kedge.rules.any_of(*([f"w{k}"] for k in range(11))).predict
    words = " ".join(f"w{k}" for k in range(11))
    verdict = kedge.precision(rare, words, [], perturbation=kedge.Masking(keep=0.99), threshold=1.0)
    assert verdict.precision < 1
    assert verdict.reaches is not True
