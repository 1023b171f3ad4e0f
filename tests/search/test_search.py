"""Searches against brute force, and the paper's statements about what they select."""

from dataclasses import replace

import brute
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import kedge
from kedge.model.rules import all_present, any_of, present
from kedge.search.exhaustive import anchors_of_length, number_of_length

ATOMS = st.sampled_from(["a", "b", "c", "d"]).map(present)
RULES = st.recursive(
    ATOMS,
    lambda r: (
        st.tuples(r, r).map(lambda p: p[0] & p[1])
        | st.tuples(r, r).map(lambda p: p[0] | p[1])
        | r.map(lambda x: ~x)
    ),
    max_leaves=5,
)
TEXTS = st.lists(st.sampled_from(["a", "b", "c", "d", "e"]), min_size=1, max_size=8).map(" ".join)


@pytest.mark.parametrize(("times", "words"), [(4, ("very", "good")), (5, ("good",))])
def test_very_good(times, words):
    """The paper's example: {very, good} at multiplicity 4, {good} at 5, exact."""
    e = kedge.explain(all_present(["very", "good"]), f"Food is {'very ' * times}good!")
    assert (e.words, e.status) == (words, "exact")


@pytest.mark.parametrize("threshold", [0.8, 0.95, 0.99, 1.0])
def test_the_shortest_sufficient_rule_is_selected(threshold):
    """(w1 and w2) or w3: the anchor is w3 for every threshold (Proposition 8)."""
    e = kedge.explain(any_of(["not", "bad"], ["good"]), "not bad, in fact good", threshold=threshold)
    assert (e.words, e.precision) == (("good",), 1.0)


@settings(max_examples=80, deadline=None)
@given(RULES, TEXTS, st.sampled_from(["auto", "exhaustive"]), st.booleans())
def test_random_rules_agree_with_brute_force(rule, text, method, by_text):
    """Length, precision and membership in A3, for boolean rules read by counts or asked by text."""
    assume(by_text or set(rule.words) & set(text.split()))
    label = rule.predict([text])[0]
    # Asking about every text that matters; `auto` may ask fewer and certify.
    method = "lazy" if by_text and method == "auto" else method
    e = kedge.explain(rule.predict if by_text else rule, text, method=method)
    length, precision, best = brute.shortest(text, label, rule.predict)
    assert (e.status, len(e.positions)) == ("exact", length)
    assert e.precision == pytest.approx(precision, abs=1e-12)
    assert e.positions in best
    if e.ties is not None and by_text:
        assert set(e.ties.best) == best


def linear(weights, intercept):
    """A real pipeline with given coefficients on the words w0, w1, ..."""
    words = [f"w{k}" for k in range(len(weights))]
    classifier = LogisticRegression().fit([[0] * len(words), [1] * len(words)], [0, 1])
    classifier.coef_, classifier.intercept_ = np.array([weights]), np.array([intercept])
    return make_pipeline(CountVectorizer(vocabulary=words).fit([""]), classifier)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(-4, 4), min_size=1, max_size=6),
    st.integers(-5, 5),
    st.data(),
)
def test_random_linear_models_agree_with_brute_force(weights, bias, data):
    """Sums of quarter steps never tie with a bias off the grid, so brute force is beyond doubt."""
    model = linear([w / 4 for w in weights], bias / 4 + 0.1)
    words = data.draw(st.lists(st.sampled_from(range(len(weights))), min_size=1, max_size=12 - len(weights)))
    text = " ".join(f"w{k}" for k in words)
    label = model.predict([text])[0]
    length, precision, _ = brute.shortest(text, label, model.predict)
    for method in ("auto", "exhaustive"):
        e = kedge.explain(model, text, method=method)
        assert (e.status, len(e.positions)) == ("exact", length)
        assert e.precision == pytest.approx(precision, abs=1e-12)
        assert brute.precision(text, label, model.predict, e.positions) == pytest.approx(precision, abs=1e-12)


def test_the_baseline_says_when_no_word_is_needed():
    """A label that holds with nothing kept has its baseline reported, and () if that is allowed."""
    rule = ~all_present(["a", "b", "c", "d", "e", "f"])
    e = kedge.explain(rule, "a b c d e")
    assert e.baseline.mean == 1.0
    assert "No word is needed" in str(e)
    assert kedge.explain(rule, "a b c d e", allow_empty=True).positions == ()


def test_the_sets_of_algorithm_1_are_reported():
    """Three words, any two of which suffice: A1 has four anchors, A2 three, A3 three."""
    rule = any_of(["a", "b"], ["b", "c"], ["a", "c"])
    e = kedge.explain(rule, "a b c", method="exhaustive")
    assert (e.ties.reaching, e.ties.shortest) == (4, 3)
    assert e.ties.best == ((0, 1), (0, 2), (1, 2))
    assert e.positions == (0, 1)


def test_ties_can_be_broken_at_random():
    """ties='random' draws uniformly from A3, and the same seed draws the same."""
    rule = any_of(["a", "b"], ["b", "c"], ["a", "c"])
    drawn = [kedge.explain(rule, "a b c", ties="random", seed=s).positions for s in range(60)]
    assert set(drawn) == {(0, 1), (0, 2), (1, 2)}
    assert drawn[:5] == [kedge.explain(rule, "a b c", ties="random", seed=s).positions for s in range(5)]


@given(st.lists(st.integers(1, 3), min_size=1, max_size=5), st.integers(0, 8))
def test_anchors_of_a_length_are_all_there_once(sizes, length):
    """As many as the generating function counts, all different, in order, within the sizes."""
    sizes = np.array(sizes)
    anchors = list(anchors_of_length(sizes, length))
    assert len(anchors) == len(set(anchors)) == number_of_length(sizes, length)
    assert anchors == sorted(anchors)
    for kept in anchors:
        assert (np.bincount(kept, minlength=len(sizes)) <= sizes).all() if kept else length == 0


def test_an_exhaustive_search_gives_up_openly():
    """Too many anchors: not_reached, with the reason and the best one seen."""
    words = [f"w{k}" for k in range(24)]
    e = kedge.explain(
        all_present(words[:20]), " ".join(words), method=kedge.Exhaustive(max_candidates=50, samples=5)
    )
    assert e.status == "not_reached"
    assert "more than 50 anchors" in e.notes[-1]


@pytest.mark.parametrize("width", [1, 4])
def test_the_beam_finds_clear_anchors(width):
    """The official procedure agrees on a rule with a clear answer, as an estimate."""
    text = "it was not so very bad and the rest of the evening was rather good for us all"
    for seed in range(3):
        e = kedge.explain(any_of(["not", "bad"], ["good"]), text, method=kedge.Beam(width=width), seed=seed)
        assert (e.words, e.status) == (("good",), "estimated")


def test_the_beam_runs_on_an_exact_evaluator():
    """LUCB over closed forms ends at once, instead of waiting for bounds that cannot move."""
    e = kedge.explain(all_present(["very", "good"]), "very very good food", method="beam", evaluator="exact")
    assert (e.words, e.precision) == (("very", "good"), 1.0)


def test_shared_samples_save_questions():
    """Starting from its parents' samples, the beam draws fewer than the anchors' trials add up to."""
    rule = all_present(["a", "b", "c"])
    text = "a b c " + " ".join(f"w{k}" for k in range(12))
    e = kedge.explain(rule.predict, text, method="beam")
    assert set(e.words) == {"a", "b", "c"}


def test_a_shortlist_lets_an_exhaustive_search_go_on():
    """Too many pairs: the best single words are paired, the rule is noted, and the claim is an estimate."""
    text = " ".join(["very", "good", *(f"w{k}" for k in range(30))])
    model = replace(kedge.as_model(kedge.rules.all_present(["very", "good"])), reads=None)
    short = kedge.Exhaustive(evaluator="empirical", samples=200, max_candidates=100)
    assert kedge.explain(model, text, method=short).status == "not_reached"
    found = kedge.explain(model, text, method=replace(short, shortlist=True))
    assert set(found.words) == {"very", "good"}
    assert found.status == "estimated"
    assert any(note.startswith("Of length 2 only") for note in found.notes)


def test_ties_can_go_to_the_last():
    """Of equally good anchors the last in the text, exhaustively and by ranking."""
    rule = kedge.rules.any_of(["a"], ["b"], ["c"])
    assert kedge.explain(rule, "a b c", method="exhaustive", ties="last").words == ("c",)
    assert kedge.explain(rule, "a b c", method="exhaustive").words == ("a",)
