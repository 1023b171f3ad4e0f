"""The exact search of linear scores against every anchor of small documents."""

import numpy as np
import pytest
from counting import precision, shortest
from hypothesis import given, settings
from hypothesis import strategies as st

from kedge.model.additive import AdditiveScore
from kedge.search import ranked
from kedge.search.ranked import search_ranked


def linear_case(seed, coins=8):
    """A linear score whose label holds for the whole document."""
    rng = np.random.default_rng(seed)
    sizes = []
    while sum(sizes) < coins:
        sizes.append(int(rng.choice([1, 1, 1, 2, 3])))
    sizes = np.array(sizes)
    d = len(sizes)
    slopes = [
        rng.normal(size=d),
        rng.standard_cauchy(d),
        rng.integers(-2, 4, d).astype(float),
        rng.choice([-0.3, 0.0, 0.3], d),
    ][rng.integers(4)]
    full = float(slopes @ sizes)
    bias = [-full + abs(rng.normal()), 0.0, float(rng.integers(-3, 3)), -full][rng.integers(4)]
    strict = bool(rng.integers(2))
    score = AdditiveScore.from_slopes(float(bias), slopes, sizes, strict=strict)
    return score if score.holds(sizes[None])[0] else linear_case(seed + 2**32, coins)


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.8, 0.9, 0.95, 0.99]))
@settings(max_examples=150, deadline=None)
def test_answer_is_the_best_of_the_shortest(seed, threshold):
    """Of all anchors: none shorter reaches the threshold, none as short has a larger precision."""
    score = linear_case(seed)
    found = search_ranked(score, threshold)
    length, best, a3 = shortest(score.holds, score.sizes, threshold)
    if any(tail.width for tail in found.looked.values()):
        return  # a score of zero but for rounding: what then happens is the next test's
    assert found.proven
    assert len(found.kept) == length
    assert abs(found.tail.mean - best) < 1e-12
    assert tuple(np.bincount(found.kept, minlength=len(score.sizes)).tolist()) in a3
    baseline = precision(score.holds, np.zeros(len(score.sizes), dtype=int), score.sizes)
    assert abs(found.baseline.mean - baseline) < 1e-12


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.3, 0.5, 0.8]), st.booleans())
@settings(max_examples=150, deadline=None)
def test_the_grid_agrees_with_brute_force(seed, keep, allow_empty):
    """Forced onto the grid, whatever is claimed is true: the intervals, and the proof."""
    score = linear_case(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranked, "ALL_COINS", 0)
        patch.setattr(ranked, "BUDGET", 1 << 18)
        found = search_ranked(score, 0.9, keep=keep, allow_empty=allow_empty)
    for length, tail in found.looked.items():
        kept = np.bincount(np.array(found.top(length), dtype=int), minlength=len(score.sizes))
        truth = precision(score.holds, kept, score.sizes, keep)
        if found.ladder.coins:
            assert tail.low - 1e-12 <= truth <= tail.high + 1e-12
    if found.proven and not allow_empty:
        assert len(found.kept) == shortest(score.holds, score.sizes, 0.9, keep)[0]


def test_long_documents_are_proven_too():
    """At 300 occurrences the answer is proven, and no shorter anchor has the precision."""
    rng = np.random.default_rng(3)
    sizes = rng.integers(1, 4, 150)
    slopes = rng.normal(size=150)
    score = AdditiveScore.from_slopes(-0.4 * float(slopes @ sizes) - 12.0, slopes, sizes, strict=True)
    if score.score(sizes[None])[0] <= 0:
        score = AdditiveScore.from_slopes(-float(slopes @ sizes) + 3.0, slopes, sizes, strict=True)
    found = search_ranked(score, 0.95)
    assert found.proven
    assert found.tail.low >= 0.95
    assert all(slopes[j] > 0 for j in found.kept)
    sample = rng.binomial(sizes - (k := np.bincount(found.kept, minlength=150)), 0.5, (20000, 150)) + k
    assert abs(score.holds(sample).mean() - found.tail.mean) < 0.01


def test_only_what_speaks_for_the_label_is_kept():
    """No word of zero or negative coefficient is in the anchor when a positive one exists."""
    for seed in range(200):
        score = linear_case(seed)
        found = search_ranked(score, 0.95)
        if (score.slopes > 0).any():
            assert (score.slopes[list(found.kept)] > 0).all()


@pytest.mark.parametrize("b", [30, 200])
def test_a_threshold_of_one_is_settled(b):
    """Precision 1 means that no sample fails: the anchor is the shortest whose worst sample holds."""
    rng = np.random.default_rng(b)
    sizes = np.ones(b, dtype=np.int64)
    slopes = rng.normal(size=b)
    score = AdditiveScore.from_slopes(-float(slopes.sum()) + 5.0, slopes, sizes, strict=True)
    found = search_ranked(score, 1.0)
    worst = score.bias + slopes[slopes < 0].sum() + np.cumsum(np.sort(slopes[slopes > 0])[::-1])
    assert found.proven
    assert found.tail == (1.0, 1.0, 1.0)
    assert len(found.kept) == 1 + int(np.argmax(worst > 0))
