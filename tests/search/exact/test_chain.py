"""The exact search for sums over windows of neighbours, against brute force."""

from itertools import combinations

import numpy as np
import pytest
from chains import all_precisions, chain_reading, made_chain
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import kedge
from kedge.data.demo import reviews
from kedge.evaluators import Enumeration
from kedge.evaluators.chain import Chained
from kedge.evaluators.grids.links import Links
from kedge.model.scores.chain import ChainScore
from kedge.search import Goal
from kedge.search.exact import chain, foresight
from kedge.search.exact.chain import Chain
from kedge.search.exact.foresight import Foresight, candidates
from kedge.text.anchor import Anchor

seeds = st.integers(0, 10**6)


def shortest(score, threshold, keep):
    """Algorithm 1: the length of the shortest anchors that reach, and the best precision of that length."""
    precision, links = all_precisions(score, keep), len(score.sizes)
    for length in range(1, links + 1):
        best = max(precision(anchor) for anchor in combinations(range(links), length))
        if best >= threshold - 1e-12:
            return length, best
    raise AssertionError


@settings(max_examples=120)
@given(
    seeds,
    st.integers(2, 10),
    st.integers(2, 3),
    st.booleans(),
    st.sampled_from([0.6, 0.9, 0.95]),
    st.sampled_from([0.5, 0.3]),
)
def test_exact_answers_are_those_of_brute_force(seed, links, longest, whole, threshold, keep):
    """The shortest, and of these the most precise; what is certified reaches the threshold."""
    score = made_chain(seed, links, longest, whole=whole)
    found = Chain()(chain_reading(score, keep), Goal(threshold), np.random.default_rng(0))
    own = all_precisions(score, keep)(found.kept)
    assert own >= threshold - 1e-12
    assert found.interval.low - 1e-12 <= own <= found.interval.high + 1e-12
    if found.status == "exact":
        assert (len(found.kept), own) == (pytest.approx(shortest(score, threshold, keep), abs=1e-9))


@settings(max_examples=60)
@given(seeds, st.integers(3, 9), st.integers(2, 3), st.integers(1, 3))
def test_no_anchor_beats_the_bound(seed, links, longest, most):
    """The chooser who sees the coins does at least as well as any anchor, and dominance loses none."""
    score = made_chain(seed, links, longest)
    laid = Links.of(score)
    may, _ = candidates(laid, most)
    assume(may.any())
    foresight = Foresight.of(laid, may, 0.5, most)
    precision = all_precisions(score)
    for length in range(1, min(most, int(may.sum())) + 1):
        bound = foresight.bound(foresight.start(), 0, length)
        inside = [a for a in combinations(range(links), length) if may[list(a)].all()]
        best = max(precision(anchor) for anchor in inside)
        assert best <= bound + 1e-12
        if length > 1:
            helpful = (laid.influence(laid.weights, np.zeros(links, dtype=bool))[1] > 0).nonzero()[0]
            every = [precision(anchor) for anchor in combinations(helpful.tolist(), length)]
            assert max(every) == pytest.approx(best, abs=1e-12)


TEXT = (
    "The food was not very good but the staff was friendly and the service was quick, so we would come back "
    "for the dessert and the coffee"
)


@pytest.mark.parametrize(
    "vectorizer",
    [TfidfVectorizer(ngram_range=(1, 2), norm=None), CountVectorizer(ngram_range=(1, 3), min_df=2)],
)
def test_a_review_of_pairs_of_words(vectorizer):
    """One question; nothing is sampled; the interval agrees with many samples."""
    pipeline = make_pipeline(vectorizer, LogisticRegression(max_iter=500)).fit(*reviews())
    explainer = kedge.Explainer(pipeline)
    e = explainer.explain(TEXT)
    assert (e.status, e.method, e.evaluator, e.sampled, e.queries) == ("exact", "chain", "passes", False, 1)
    reading = explainer.read(TEXT)
    kept = reading.units.kept(Anchor(e.positions))
    share = reading.holds(reading.sample(kept, 40_000, np.random.default_rng(0))).mean()
    assert abs(share - e.precision) < 0.01


def test_it_gives_up_a_proof_that_does_not_end(monkeypatch):
    """Certified then, with a note; the precision is still without any sampling error."""
    monkeypatch.setattr(chain, "_NODES", 0)
    for seed in range(40):
        score = made_chain(seed, 12, 2)
        found = Chain()(chain_reading(score), Goal(0.95), np.random.default_rng(0))
        if found.status == "certified":
            assert found.notes
            assert found.interval.low >= 0.95
            return
    raise AssertionError


def test_short_texts_are_enumerated_and_agree():
    """Below some thousand samples a table of all of them is quicker; both give the same."""
    pipeline = make_pipeline(CountVectorizer(ngram_range=(1, 2)), LogisticRegression()).fit(*reviews())
    reading = kedge.Explainer(pipeline).read("the food was good but not the very slow service")
    assert not Chain().suits(reading)
    found = Chain()(reading, Goal(), np.random.default_rng(0))
    every = Enumeration(reading)
    assert found.interval.mean == pytest.approx(every([found.kept]).mean[0], abs=1e-9)
    assert Chained(reading).refine(()).mean == pytest.approx(every([()]).mean[0], abs=1e-9)


class TestRareCases:
    def test_windows_that_say_nothing_leave_one_word(self):
        """All anchors are alike; there is nothing for a bound to look at."""
        score = ChainScore(1.0, ((0,), (1,), (0, 1)), np.zeros(3), np.ones(2, dtype=np.int64), strict=True)
        found = Chain()(chain_reading(score), Goal(0.95), np.random.default_rng(0))
        assert (found.kept, found.status, found.interval.low) == ((0,), "exact", 1.0)
        assert Foresight.of(Links.of(score), np.ones(2, dtype=bool), 0.5, 1) is None

    def test_a_document_whose_own_label_is_lost_in_rounding_has_no_anchor(self):
        """All words together are not known to keep the label, so nothing is claimed."""
        ones = np.ones(2, dtype=np.int64)
        score = ChainScore(-2.0 + 1e-14, ((0,), (1,)), np.ones(2), ones, strict=True, rounding=1e-9)
        found = Chain()(chain_reading(score), Goal(0.95), np.random.default_rng(0))
        assert (found.kept, found.status) == ((0, 1), "not_reached")
        assert found.notes

    def test_bounds_that_would_not_fit_leave_the_length_open(self, monkeypatch):
        """The answer reaches, and every word of it is needed; that none is shorter is not claimed."""
        score = made_chain(3, 9, 3)
        plain = Chain()(chain_reading(score), Goal(0.95), np.random.default_rng(0))
        assert (plain.status, len(plain.kept) > 1) == ("exact", True)
        monkeypatch.setattr(foresight, "_NUMBERS", 1)
        found = Chain()(chain_reading(score), Goal(0.95), np.random.default_rng(0))
        precision = all_precisions(score)
        assert (found.status, found.irreducible) == ("certified", True)
        assert precision(found.kept) >= 0.95
        assert all(precision(tuple(k for k in found.kept if k != gone)) < 0.95 for gone in found.kept)
