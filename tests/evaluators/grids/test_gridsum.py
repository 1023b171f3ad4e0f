"""Distributions of sums of whole numbers."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from kedge.evaluators.binomials import binomial
from kedge.evaluators.grids.gridsum import GridSum


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


def test_many_variables_split_in_halves_are_the_same_sum():
    """2,000 coins in halves, some of them convolved by Fourier transforms: lower bounds, and tight."""
    rng = np.random.default_rng(0)
    sizes = rng.integers(0, 60, 2000).tolist()
    whole = GridSum(sum(sizes), max(sizes))
    for size in sizes:
        whole.coin(size)
    halves = GridSum.of(sizes)
    middle = sum(sizes) // 2
    for cell in (middle - 2000, middle - 100, middle, middle + 1500):
        for split, direct in ((halves.above, whole.above), (halves.below, whole.below)):
            assert split(cell) <= direct(cell) * (1 + 1e-12)
            assert abs(split(cell) - direct(cell)) < 1e-8


def test_more_can_be_added_to_many():
    """A sum made at once takes further variables, like one made step by step."""
    sizes = [3, 1, 4, 1, 5] * 200
    grid = GridSum.of(sizes[:-5], sum(sizes[-5:]), 5)
    for size in sizes[-5:]:
        grid.coin(size)
    direct = GridSum(sum(sizes), 5)
    for size in sizes:
        direct.coin(size)
    for cell in (1300, 1400, 1500):
        assert abs(grid.above(cell) - direct.above(cell)) < 1e-9


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


def test_narrow_sums_are_convolved_directly():
    """2,000 coins of one cell, split in halves: what is left out is less than one in 10^12."""
    grid = GridSum.of([1] * 2000)
    law = binomial(2000, 0.5)
    for cell in (900, 1000, 1001, 1100):
        assert abs(grid.above(cell) - law[cell:].sum()) < 1e-12
        assert abs(grid.below(cell) - law[:cell].sum()) < 1e-12


def test_a_coin_that_always_falls_the_same_way():
    """Nothing is kept, or everything."""
    assert binomial(3, 0.0).tolist() == [1, 0, 0, 0]
    assert binomial(3, 1.0).tolist() == [0, 0, 0, 1]


def test_fair_coins_and_other_variables_mix():
    """A sum made at once of both kinds is the one made step by step."""
    mixed = [3, ((0, 2, 5), (0.2, 0.5, 0.3)), 1, ((0, 4), (0.9, 0.1))]
    grid, direct = GridSum.of(mixed), np.ones(1)
    for law in ([0.5, 0, 0, 0.5], [0.2, 0, 0.5, 0, 0, 0.3], [0.5, 0.5], [0.9, 0, 0, 0, 0.1]):
        direct = np.convolve(direct, law)
    for cell in range(len(direct)):
        assert abs(grid.at(cell) - direct[cell]) < 1e-14
