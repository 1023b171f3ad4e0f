"""The lemmas on the norm: each bound against all masks, and the printed exponent refuted."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from kedge.errors import OptionError
from kedge.theory import central_moments, norm_moments, norm_small, norm_tail, root_tail, split_probability

KEEP = st.sampled_from([0.5, 0.3])
SHARE = st.sampled_from([0.1, 0.3, 0.6, 1.0])


@st.composite
def documents(draw):
    """(idf, multiplicity, kept) of at most ten occurrences."""
    m = draw(st.lists(st.integers(1, 4), min_size=1, max_size=5).filter(lambda m: sum(m) <= 10))
    idf = [draw(st.sampled_from([1.0, 1.7, 3.0])) for _ in m]
    return np.array(idf), np.array(m), np.array([draw(st.integers(0, n)) for n in m])


@given(documents(), KEEP)
def test_moments_of_counts_and_of_the_norm_are_those_over_all_masks(brute, document, keep):
    """Third and fourth central moment of each count; mean and variance of D (nu of each word)."""
    idf, m, a = document
    third, fourth = central_moments(m, a, keep=keep)
    for j in range(m.size):
        (centre,) = brute(lambda c, j=j: c[:, j], m, [a], keep)
        for power, found in ((3, third), (4, fourth)):
            (value,) = brute(lambda c, j=j, x=centre, k=power: (c[:, j] - x) ** k, m, [a], keep)
            assert found[j] == pytest.approx(value, abs=1e-9)
    mean, variance = norm_moments(idf, m, a, keep=keep)
    (first,) = brute(lambda c: c**2 @ idf**2, m, [a], keep)
    (second,) = brute(lambda c: (c**2 @ idf**2 - first) ** 2, m, [a], keep)
    assert mean == pytest.approx(first)
    assert variance == pytest.approx(second, abs=1e-7)


@settings(max_examples=150)
@given(documents(), KEEP, SHARE)
def test_the_norm_concentrates_as_the_lemmas_say(brute, document, keep, share):
    """Concentration of D, D small, and the key quantity, for any document, anchor and deviation."""
    idf, m, a = document
    mean, _ = norm_moments(idf, m, a, keep=keep)

    def chance(event):
        return brute(lambda c: event(c**2 @ idf**2 / mean), m, [a], keep)[0]

    tiny = 1e-9  # an event on the border counts as inside
    assert chance(lambda x: np.abs(x - 1) >= share + tiny) <= norm_tail(idf, m, a, share, keep=keep) + 1e-12
    assert chance(lambda x: x <= 1 - share - tiny) <= norm_small(idf, m, a, share, keep=keep) + 1e-12
    root = chance(lambda x: np.abs(np.sqrt(x) - 1) >= share + tiny)
    assert root <= root_tail(idf, m, a, share, keep=keep) + 1e-12


def test_no_bound_on_the_key_quantity_has_an_exponent_of_order_d_squared():
    """The logarithm of the true probability, over d, tends to a constant: over d^2 it goes to 0."""
    rate = {}
    for d in (100, 1_000, 10_000):
        low, high = d / 2 * (1 - 0.05) ** 2, d / 2 * (1 + 0.05) ** 2
        # log of P(D <= low) + P(D >= high), D ~ Bin(d, 1/2)
        total = np.logaddexp(binom.logcdf(math.floor(low), d, 0.5), binom.logsf(math.ceil(high) - 1, d, 0.5))
        rate[d] = float(total) / d
        assert math.exp(total) <= float(root_tail(np.ones(d), np.ones(d), np.zeros(d), 0.05))
    assert -0.0055 < rate[10_000] < -0.0047  # Chernoff: 2 * (0.5 - 0.95^2 / 2)^2 = 0.00475
    assert math.exp(rate[100] * 100) > 0.3 > 2 * math.exp(-((0.05 * 100) ** 2) / 4)


@given(
    st.lists(st.integers(-8, 8), min_size=1, max_size=20),
    st.lists(st.integers(-8, 8), min_size=20, max_size=20),
    st.integers(-8, 8),
    st.integers(0, 6),
)
def test_splitting_a_probability(values, others, x, t):
    """For any joint law of Z and Z' the interval contains P(Z <= x)."""
    z, other = np.array(values), np.array(others[: len(values)])
    far = float((np.abs(z - other) > t).mean())
    low, high = split_probability(float((other <= x - t).mean()), float((other <= x + t).mean()), far)
    assert low - 1e-12 <= (z <= x).mean() <= high + 1e-12


def test_impossible_shares_are_refused():
    """One sentence each."""
    for share in (0.0, -1.0, math.inf, math.nan):
        with pytest.raises(OptionError, match="share"):
            norm_tail([1.0], [1], [0], share)
    with pytest.raises(OptionError, match="share"):
        root_tail([1.0], [1], [0], 1.5)
    with pytest.raises(OptionError, match="ordered"):
        split_probability(0.5, 0.4, 0.1)
