"""Linear models: levels, bounds and rankings, against all masks and all anchors."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from kedge.errors import LabelError, OptionError
from kedge.theory import (
    berry_esseen,
    berry_esseen_uniform,
    count_anchors,
    gaussian_precision,
    linear_anchor,
    linear_level,
    normalised_level,
    select,
    top_occurrences,
)

KEEP = st.sampled_from([0.5, 0.3])
# Quarters are exact in binary, so that no score is positive by a rounding error only.
QUARTERS = st.integers(-12, 12).map(lambda step: step / 4)


@st.composite
def linear_models(draw, slopes=QUARTERS):
    """(alpha, multiplicity, bias) with at most eight occurrences and a positive score."""
    multiplicity = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4).filter(lambda m: sum(m) <= 8))
    alpha = [draw(slopes) for _ in multiplicity]
    bias = draw(QUARTERS)
    assume(bias + np.dot(alpha, multiplicity) > 0)
    return np.array(alpha), np.array(multiplicity), bias


def positive(alpha, bias):
    return lambda counts: counts @ alpha + bias > 0


@given(linear_models(), KEEP)
def test_levels_are_minus_mean_over_deviation(brute, model, keep):
    """L(A) has the mean and variance of the score over all masks; certainty is infinite."""
    alpha, multiplicity, bias = model
    anchors = count_anchors(multiplicity)
    mean = brute(lambda c: c @ alpha + bias, multiplicity, anchors, keep)
    square = brute(lambda c: (c @ alpha + bias) ** 2, multiplicity, anchors, keep)
    variance = square - mean**2
    level = linear_level(alpha, multiplicity, anchors, bias, keep=keep)
    certain = ((multiplicity - anchors) * alpha == 0).all(axis=1)
    assert level[~certain] == pytest.approx(-mean[~certain] / np.sqrt(variance[~certain]), rel=1e-6, abs=1e-9)
    assert (level[certain] == np.where(mean[certain] > 0, -np.inf, np.inf)).all()


def test_level_is_the_paper_s_formula():
    """At keep 1/2 the printed formula of Prop. 6, letter by letter."""
    alpha, m, a, bias = np.array([1.5, -0.7, 0.2]), np.array([3, 1, 2]), np.array([1, 0, 2]), -0.4
    paper = (-bias - (alpha * (m + a)).sum() / 2) / math.sqrt((alpha**2 * (m - a)).sum() / 4)
    assert float(linear_level(alpha, m, a, bias)) == pytest.approx(paper)


def test_normalised_level_is_the_paper_s_formula():
    """At keep 1/2 the formula of Prop. 9, with the factor v_j^2."""
    alpha, m, a, bias = np.array([1.5, -0.7, 0.2]), np.array([3, 1, 2]), np.array([1, 0, 0]), -0.4
    v = np.array([2.0, 1.2, 3.1])
    norms = math.sqrt((((m + a) ** 2 + m - a) * v**2).sum())
    paper = (-bias * norms - (alpha * (m + a)).sum()) / math.sqrt((alpha**2 * (m - a)).sum())
    assert float(normalised_level(alpha, v, m, a, bias)) == pytest.approx(paper)


@given(linear_models(), KEEP)
def test_normalised_level_uses_the_mean_squared_norm(brute, model, keep):
    """E[D] is the mean over all masks; without intercept the norm drops out."""
    alpha, multiplicity, bias = model
    idf = 1 + np.arange(alpha.size)
    anchors = count_anchors(multiplicity)
    squared = brute(lambda c: c**2 @ idf**2, multiplicity, anchors, keep)
    got = normalised_level(alpha, idf, multiplicity, anchors, bias, keep=keep)
    # The same level as a plain model whose intercept is bias * sqrt(E[D]).
    for row, anchor in enumerate(anchors):
        same = linear_level(alpha, multiplicity, anchor, bias * math.sqrt(squared[row]), keep=keep)
        assert got[row] == pytest.approx(float(same), rel=1e-9, abs=1e-9)
    assert (
        normalised_level(alpha, idf, multiplicity, anchors, keep=keep)
        == linear_level(alpha, multiplicity, anchors, keep=keep)
    ).all()


def test_a_score_of_exactly_zero_is_the_other_label():
    """The label is kept where the score is positive: at zero, without randomness, it is not."""
    assert linear_level([1.0, 0.0], [1, 1], [1, 0], -1.0) == np.inf


def test_tiny_coefficients_do_not_vanish():
    """Squares of 1e-200 underflow; the level does not."""
    assert linear_level([1e-200, 0.0], [1, 1], [0, 0]) == pytest.approx(-1.0)
    assert berry_esseen([1e-200, 0.0], [1, 1], [0, 0]) == pytest.approx(0.56)


@given(st.floats(-40, 40))
def test_gaussian_precision_is_the_upper_tail(level):
    """Phi-bar, accurate in both tails."""
    assert float(gaussian_precision(level)) == pytest.approx(norm.sf(level), rel=1e-9)


@settings(max_examples=200)
@given(linear_models(), KEEP)
def test_berry_esseen_holds_for_every_anchor(brute, model, keep):
    """The exact precision lies within both bounds, and occurrences bound better than words."""
    alpha, multiplicity, bias = model
    anchors = count_anchors(multiplicity)
    exact = brute(positive(alpha, bias), multiplicity, anchors, keep)
    off = np.abs(gaussian_precision(linear_level(alpha, multiplicity, anchors, bias, keep=keep)) - exact)
    by_coin = berry_esseen(alpha, multiplicity, anchors, keep=keep)
    by_word = berry_esseen(alpha, multiplicity, anchors, per="word", keep=keep)
    assert (off <= by_coin + 1e-12).all()
    assert (by_coin <= by_word + 1e-12).all()
    if (alpha != 0).all() and keep == 0.5:
        # The paper's own steps need a smaller constant than its 7.15: 0.56 * 8 * 2^1.5 / sqrt(8 pi).
        uniform = berry_esseen_uniform(alpha, multiplicity) * 2.53 / 7.15
        short = 2 * anchors.sum(axis=1) <= multiplicity.sum()
        assert (by_word[short] <= uniform + 1e-12).all()


def test_berry_esseen_has_the_right_rate():
    """A hundred times the words: a tenth of the bound, and of the true error."""
    for bound in (
        lambda d: float(berry_esseen(np.ones(d), np.ones(d), np.zeros(d))),
        lambda d: berry_esseen_uniform(np.ones(d), np.ones(d)),
    ):
        assert bound(100) / bound(10_000) == pytest.approx(10)


@given(linear_models(), KEEP)
def test_top_occurrences_maximise_the_exact_precision(brute, model, keep):
    """The exact ranking theorem, at every length, whatever the signs and the intercept."""
    alpha, multiplicity, bias = model
    anchors = count_anchors(multiplicity)
    exact = brute(positive(alpha, bias), multiplicity, anchors, keep)
    length = anchors.sum(axis=1)
    tops = [top_occurrences(alpha, multiplicity, n) for n in range(1, multiplicity.sum() + 1)]
    best = brute(positive(alpha, bias), multiplicity, tops, keep)
    for n, value in enumerate(best, start=1):
        assert value == pytest.approx(exact[length == n].max())
    supporting = multiplicity[alpha > 0].sum()
    assert (np.diff(best[:supporting]) >= -1e-12).all()
    assert best[max(supporting, 1) - 1] == pytest.approx(1)


@given(linear_models(), KEEP, st.sampled_from([0.05, 0.2, 0.6]))
def test_linear_anchor_with_the_exact_precision_is_exhaustive_anchors(brute, model, keep, eps):
    """Sort and bisect finds an anchor that Algorithm 1 may draw, and no word against the label."""
    alpha, multiplicity, bias = model
    holds = positive(alpha, bias)
    anchors = count_anchors(multiplicity)
    exact = brute(holds, multiplicity, anchors, keep)

    def precision(kept):
        return round(brute(holds, multiplicity, kept, keep).item(), 12)

    found = linear_anchor(alpha, multiplicity, bias, eps=eps, precision=precision)
    selected = anchors[select(exact.round(12), anchors.sum(axis=1), eps=eps)]
    assert list(found) in selected.tolist()
    baseline = brute(holds, multiplicity, np.zeros_like(multiplicity), keep).item()
    if baseline < 1 - eps - 1e-9:
        assert (selected[:, alpha <= 0] == 0).all()


@given(linear_models(slopes=st.integers(0, 12).map(lambda step: step / 4)), KEEP)
def test_linear_anchor_is_approximate_anchors_without_negative_words(model, keep):
    """Prop. 7, for the Gaussian precision, holds if no coefficient is negative and eps < 1/2."""
    alpha, multiplicity, bias = model
    anchors = count_anchors(multiplicity)
    approximate = gaussian_precision(linear_level(alpha, multiplicity, anchors, bias, keep=keep))
    for eps in (0.05, 0.2, 0.45):
        selected = anchors[select(approximate, anchors.sum(axis=1), eps=eps)].tolist()
        assert list(linear_anchor(alpha, multiplicity, bias, eps=eps, keep=keep)) in selected


def test_approximate_anchors_may_select_a_negative_word():
    """The Gaussian approximation alone is misled; the predicted anchor is not."""
    alpha, multiplicity, bias = [1.0, -2.0, -1.0], [1, 1, 1], 5.0
    anchors = count_anchors(multiplicity)
    approximate = gaussian_precision(linear_level(alpha, multiplicity, anchors, bias))
    assert anchors[select(approximate, anchors.sum(axis=1))].tolist() == [[0, 1, 0]]
    assert linear_anchor(alpha, multiplicity, bias) == (1, 0, 0)


def test_every_positive_occurrence_is_enough_whatever_the_approximation_says():
    """1 - 0.9 X is positive for certain, though the normal curve gives it only 0.89."""
    assert gaussian_precision(linear_level([1.0, -0.9], [1, 1], [1, 0])) < 0.9
    assert linear_anchor([1.0, -0.9], [1, 1]) == (1, 0)


def test_ranking_fails_under_a_norm_with_intercept(brute):
    """On normalised TF-IDF a word of coefficient 0 may be the anchor, through the norm alone."""
    idf, multiplicity, bias = np.array([3.0, 1.0, 1.0]), [1, 1, 1], 1.0
    alpha = np.array([0.0, 1.0, -3.0]) * idf

    def holds(counts):
        norms = np.sqrt(counts**2 @ idf**2)
        return np.where(norms > 0, counts @ alpha + bias * norms > 0, bias > 0)

    anchors = count_anchors(multiplicity)
    exact = brute(holds, multiplicity, anchors)
    assert anchors[select(exact, anchors.sum(axis=1))].tolist() == [[1, 0, 0]]
    top = top_occurrences(alpha, multiplicity, 1)
    assert brute(holds, multiplicity, top).item() == 0.75


def test_long_documents_need_few_evaluations():
    """Bisection: thousands of occurrences, a dozen questions."""
    asked = []

    def precision(kept):
        asked.append(kept)
        return float(kept.sum() >= 777)

    found = linear_anchor(np.ones(5000), np.full(5000, 2), precision=precision)
    assert sum(found) == 777
    assert len(asked) < 20


def test_the_other_label_is_refused():
    """The formulas explain a positive score; the message says how to turn the sign."""
    with pytest.raises(LabelError, match="change the sign"):
        linear_anchor([-1.0], [1], 0.5)


@pytest.mark.parametrize(
    "call",
    [
        lambda: linear_level([1.0], [1, 1], [0, 0]),
        lambda: linear_level([1.0, math.nan], [1, 1], [0, 0]),
        lambda: normalised_level([1.0], [1.0, 2.0], [1], [0]),
        lambda: top_occurrences([1.0], [2], 3),
        lambda: berry_esseen([1.0], [1], [0], per="letter"),
        lambda: berry_esseen_uniform([0.0, 1.0], [1, 1]),
    ],
)
def test_impossible_arrays_are_refused(call):
    """One coefficient per word, finite; lengths within the document."""
    with pytest.raises(OptionError):
        call()
