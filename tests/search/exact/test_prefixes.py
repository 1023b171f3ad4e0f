"""Calls too close for any bound: settled exactly on short documents, left open on long ones."""

import numpy as np
import pytest

import kedge
from kedge.model.scores.additive import AdditiveScore
from kedge.search.exact import prefixes, waves
from kedge.search.exact.prefixes import shortest_prefix


def close_call(coins, seed=2):
    """A score of single words, most of which speak for the label."""
    rng = np.random.default_rng(seed)
    slopes = rng.exponential(size=coins) * rng.choice([1, 1, -1], coins)
    ones = np.ones(coins, dtype=np.int64)
    return AdditiveScore.from_slopes(1.0 - 0.7 * float(slopes.sum()), slopes, ones, strict=True)


def sharp(score, length):
    """The precision of the best anchor of a length, to 1e-9."""
    ladder = prefixes.Ladder.of(score, 0.5)
    kept = np.bincount(ladder.owners[:length], minlength=ladder.units).astype(np.int64)
    return prefixes.additive_tail(score, kept, width=0.0).mean


@pytest.fixture
def coarse(monkeypatch):
    """Nothing may cost more than a first rough look."""
    monkeypatch.setattr(waves, "HARMONICS", 1 << 10)


@pytest.mark.parametrize("length", [1, 2, 3, 4])
@pytest.mark.usefixtures("coarse")
def test_a_close_call_is_settled_without_harmonics(length):
    """A threshold 1e-7 below an anchor's precision gives that anchor, 1e-7 above it the next."""
    score = close_call(20)
    at = sharp(score, length)
    for threshold, expected in ((at - 1e-7, length), (at + 1e-7, length + 1)):
        found = shortest_prefix(score, threshold)
        assert (len(found.kept), found.proven, found.reached) == (expected, True, True)


@pytest.mark.usefixtures("coarse")
def test_a_close_call_on_a_long_document_is_left_open():
    """The answer reaches the threshold; that none is shorter is not claimed."""
    score = close_call(60)
    ladder = prefixes.Ladder.of(score, 0.5)
    kept = np.bincount(ladder.owners[:6], minlength=60).astype(np.int64)
    threshold = prefixes.additive_tail(score, kept, width=1e-5).mean
    found = shortest_prefix(score, threshold)
    assert (found.reached, found.proven) == (True, False)
    assert found.tail.low >= threshold


@pytest.mark.usefixtures("coarse")
def test_what_is_left_open_is_certified_and_said():
    """Not exact, and the explanation says what could not be ruled out."""
    score = close_call(60)
    words = [f"w{k:02}" for k in range(60)]
    model = kedge.WordWeights(dict(zip(words, score.slopes.tolist(), strict=True)), intercept=score.bias)
    kept = np.bincount(prefixes.Ladder.of(score, 0.5).owners[:6], minlength=60).astype(np.int64)
    threshold = prefixes.additive_tail(score, kept, width=1e-5).mean
    e = kedge.explain(model, " ".join(words), method="ranked", threshold=threshold)
    assert e.status == "certified"
    assert any("could not be ruled out" in note for note in e.notes)


@pytest.mark.parametrize("threshold", [0.7, 0.95, 0.999])
def test_a_guess_that_is_too_short_costs_another_look_only(threshold):
    """From any guess on, the first length that reaches is the same."""
    slopes = np.array([3.0, 2.0, 2.0, 1.0, 1.0, 1.0, 1.0, 1.0, -1.0, -1.0, -2.0, -2.0])
    ones = np.ones(len(slopes), dtype=np.int64)
    score = AdditiveScore.from_slopes(-4.5, slopes, ones, strict=True)
    ladder = prefixes.Ladder.of(score, 0.5)
    found = [prefixes._by_lattice(ladder, 1.0, threshold, guess, 1) for guess in (0, 3, len(ladder))]
    first = {min(n for n, known in looked.items() if known.low >= threshold) for looked in found}
    assert len(first) == 1
    assert first.pop() > 2
