"""Certified precision of additive scores against every sample of small documents."""

import numpy as np
import pytest
from counting import precision
from hypothesis import given, settings
from hypothesis import strategies as st

from kedge.evaluators import additive
from kedge.evaluators.additive import additive_tail
from kedge.model.scores.additive import AdditiveScore


def random_case(rng):
    """A score of one of many kinds, an anchor, and a keep probability."""
    d = int(rng.integers(1, 7))
    sizes = rng.integers(1, 3 if d > 4 else 5, d)
    slopes = [
        rng.normal(size=d),
        rng.standard_cauchy(d) ** 3,  # one word drowns all others
        rng.integers(-3, 4, d).astype(float),  # a perceptron's: exact ties
        rng.choice([-0.3, 0.3], d),  # equal, and 0.3 is no double: ties only the model can decide
        10.0 ** rng.uniform(-12, 3, d) * rng.choice([-1, 1], d),
    ][rng.integers(5)]
    bias = float([rng.normal(), 0.0, rng.integers(-3, 4), -0.3 * rng.integers(4)][rng.integers(4)])
    strict = bool(rng.integers(2))
    shape = rng.integers(4)
    if shape < 2:
        score = AdditiveScore.from_slopes(bias, slopes, sizes, strict=strict)
    elif shape == 2:  # sublinear
        steps = [np.append(0.0, 1 + np.log(np.arange(1, m + 1))) for m in sizes]
        tables = tuple(a * s for a, s in zip(slopes, steps, strict=True))
        score = AdditiveScore(bias, tables, strict)
    else:  # no shape at all
        tables = tuple(np.append(0.0, a * rng.normal(size=m)) for a, m in zip(slopes, sizes, strict=True))
        score = AdditiveScore(bias, tables, strict)
    kept = np.array([rng.integers(0, m + 1) if rng.random() < 0.3 else 0 for m in sizes])
    return score, kept, float(rng.choice([0.5, 0.5, 0.2, 0.9]))


@pytest.mark.parametrize("part", range(4))
def test_interval_contains_the_truth_in_ten_thousand_cases(part, monkeypatch):
    """The grid's interval contains the brute-force precision every time: 4 x 2,500 cases."""
    monkeypatch.setattr(additive, "ALL", 0)
    monkeypatch.setattr(additive, "HALVES", 0)
    rng = np.random.default_rng(part)
    for _ in range(2500):
        score, kept, keep = random_case(rng)
        truth = precision(score.holds, kept, score.sizes, keep)
        tail = additive_tail(score, kept, keep, budget=1 << 18)
        assert tail.low - 1e-14 <= truth <= tail.high + 1e-14
        assert tail.low <= tail.mean <= tail.high


@given(st.integers(0, 2**32 - 1), st.booleans())
@settings(max_examples=300, deadline=None)
def test_small_documents_are_exact(seed, middle):
    """All sums, or meeting in the middle: equal to brute force, except for what only rounding decides."""
    score, kept, keep = random_case(np.random.default_rng(seed))
    truth = precision(score.holds, kept, score.sizes, keep)
    with pytest.MonkeyPatch.context() as patch:
        if middle:
            patch.setattr(additive, "ALL", 0)
        tail = additive_tail(score, kept, keep, width=1e-12)
    assert tail.low - 1e-12 <= truth <= tail.high + 1e-12
    if score.exact:
        assert tail.width < 1e-12
        assert abs(tail.mean - truth) < 1e-12


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=50, deadline=None)
def test_whole_numbers_are_exact_at_any_length(seed):
    """Whole-number coefficients are their own grid: no interval is left, ties included."""
    rng = np.random.default_rng(seed)
    slopes, sizes = rng.integers(-4, 5, 40).astype(float), rng.integers(1, 4, 40)
    score = AdditiveScore.from_slopes(float(rng.integers(-5, 5)), slopes, sizes, strict=bool(seed % 2))
    tail = additive_tail(score, np.zeros(40, dtype=np.int64))
    direct, low = np.ones(1), int(score.bias)
    for slope, size in zip(slopes.astype(int), sizes, strict=True):
        for _ in range(size):
            kernel = np.zeros(abs(slope) + 1)
            kernel[0] += 0.5
            kernel[-1] += 0.5
            direct = np.convolve(direct, kernel)
            low += min(slope, 0)
    values = low + np.arange(len(direct))
    truth = direct[values > 0 if score.strict else values >= 0].sum()
    assert tail.width < 1e-11
    assert abs(tail.mean - truth) < 1e-11


@pytest.mark.parametrize(("b", "width"), [(133, 1e-4), (1000, 1e-3)])
def test_interval_is_as_narrow_as_asked(b, width):
    """Asked to refine, the interval is narrower than 1e-4 at 133 and 1e-3 at 1,000 words."""
    rng = np.random.default_rng(b)
    sizes = 1 + rng.multinomial(b // 3, np.ones(b - b // 3) / (b - b // 3))
    slopes = rng.normal(size=len(sizes)) * rng.exponential(size=len(sizes))
    score = AdditiveScore.from_slopes(-0.5 * float(slopes @ sizes), slopes, sizes, strict=True)
    tail = additive_tail(score, np.zeros(len(sizes), dtype=np.int64), width=width)
    assert sizes.sum() == b
    assert 0 < tail.width <= width
    assert tail.low < 0.5 < tail.high  # symmetric about zero by construction


def test_a_tie_belongs_to_whom_strict_says():
    """Two words that cancel: the tie, half of all samples, loses or keeps the label as declared."""
    for strict, truth in ((True, 0.25), (False, 0.75)):
        score = AdditiveScore.from_slopes(0.0, np.array([1.0, -1.0]), np.array([1, 1]), strict=strict)
        assert additive_tail(score, np.zeros(2, dtype=np.int64)) == (truth, truth, truth)


def test_a_tie_that_only_rounding_decides_stays_inside_the_interval():
    """0.1 + 0.2 - 0.3 is zero on paper and not in doubles: the interval says so."""
    slopes = np.array([0.1, 0.2, -0.3])
    score = AdditiveScore.from_slopes(0.0, slopes, np.array([1, 1, 1]), strict=True)
    tail = additive_tail(score, np.array([1, 1, 0]))
    assert (tail.low, tail.high) == (0.5, 1.0)


def close_call(coins, seed=1):
    """A score of single words whose precision is no round number, and the empty anchor."""
    rng = np.random.default_rng(seed)
    slopes = rng.normal(size=coins) * rng.exponential(size=coins)
    score = AdditiveScore.from_slopes(
        0.3 - 0.5 * float(slopes.sum()), slopes, np.ones(coins, dtype=np.int64), strict=True
    )
    return score, np.zeros(coins, dtype=np.int64)


@pytest.mark.parametrize("side", [-1, 1])
def test_a_close_call_on_a_short_document_is_met_in_the_middle(side):
    """A threshold 1e-6 off the precision of 18 words is told apart, on the right side."""
    score, kept = close_call(18)
    truth = precision(score.holds, kept, score.sizes)
    tail = additive_tail(score, kept, threshold=truth + side * 1e-6)
    assert tail.low - 1e-12 <= truth <= tail.high + 1e-12
    assert tail.width < 1e-9


def test_a_call_too_close_for_the_budget_stays_open():
    """The interval that was paid for is given: it holds the truth, and the threshold within it."""
    score, kept = close_call(40)
    sharp = additive_tail(score, kept, width=1e-4)
    tail = additive_tail(score, kept, threshold=sharp.mean, budget=1)
    assert tail.low <= sharp.low <= sharp.high <= tail.high
    assert tail.low < sharp.mean <= tail.high
