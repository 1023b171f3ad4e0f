"""Distributions of sums of whole numbers."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from kedge.precision.binomial import binomial
from kedge.precision.gridsum import GridSum


@given(st.lists(st.integers(0, 9), min_size=1, max_size=90))
def test_coins_give_the_distribution_of_their_sum(sizes):
    """Fair coins of given sizes add up to the distribution that plain convolution gives."""
    grid = GridSum(sum(sizes), max(sizes))
    direct = np.ones(1)
    for size in sizes:
        grid.coin(size)
        direct = np.convolve(direct, np.bincount([0, size]) / 2)
    for cell in (0, sum(sizes) // 3, sum(sizes) // 2, sum(sizes)):
        assert abs(grid.above(cell) - direct[cell:].sum()) < 1e-13
        assert abs(grid.below(cell) - direct[:cell].sum()) < 1e-13


@given(
    st.lists(
        st.tuples(st.lists(st.integers(0, 6), min_size=1, max_size=4), st.integers(0, 99)),
        min_size=1,
        max_size=40,
    )
)
def test_any_variables_give_the_distribution_of_their_sum(variables):
    """Variables with any values and weights add up as plain convolution says."""
    reach = sum(max(values) for values, _ in variables)
    grid, direct = GridSum(reach, 6), np.ones(1)
    for values, seed in variables:
        weights = np.random.default_rng(seed).dirichlet(np.ones(len(values)))
        grid.add(values, weights.tolist())
        direct = np.convolve(direct, np.bincount(values, weights=weights))
    middle = reach // 2
    assert abs(grid.above(middle) - direct[middle:].sum()) < 1e-12
    assert abs(grid.below(middle) - direct[:middle].sum()) < 1e-12
    assert abs(grid.at(middle) - direct[middle]) < 1e-12


def test_a_thousand_coins_neither_overflow_nor_lose_mass():
    """2^1500 is not a double; the distribution of 1,500 coins still adds up to one."""
    grid = GridSum(1500 * 2, 2)
    for _ in range(1500):
        grid.coin(2)
    above, below = grid.above(1500), grid.below(1500)
    assert 1 - 1e-12 < above + below <= 1 + grid.error
    assert abs(above - below - grid.at(1500)) < 1e-12


@given(st.integers(0, 300), st.floats(0.01, 0.99))
@settings(deadline=None)
def test_binomial_weights_are_those_of_scipy(n, keep):
    """The binomial weights agree with scipy's, for fair and unfair coins."""
    from scipy.stats import binom

    assert np.allclose(binomial(n, keep), binom.pmf(np.arange(n + 1), n, keep), rtol=1e-9, atol=1e-290)
    assert np.allclose(binomial(n, 0.5), binom.pmf(np.arange(n + 1), n, 0.5), rtol=1e-9, atol=1e-290)
