"""A law on a grid and what it keeps account of, step by step."""

import math

import numpy as np
import pytest

from kedge.evaluators.grids import gridsum
from kedge.evaluators.grids.cells import coarsest_lattice
from kedge.evaluators.grids.gridsum import GridSum, _law

THREE = ((1, 2, 5), (0.25, 0.5, 0.25))


def convolved(variables):
    """The law of a sum, multiplied out."""
    law = np.ones(1)
    for v in variables:
        values, weights = ((0, v), (0.5, 0.5)) if isinstance(v, int) else v
        factor = np.zeros(max(values) + 1)
        np.add.at(factor, list(values), list(weights))
        law = np.convolve(law, factor)
    return law


@pytest.mark.parametrize("leaf", [768, 3])
def test_mean_and_squared_ranges_are_kept_along(leaf, monkeypatch):
    """Of coins half their size, of other variables what the weights say; in one piece or in halves."""
    monkeypatch.setattr(gridsum, "_LEAF", leaf)
    variables = [3, 1, THREE, 4, ((2, 9), (0.1, 0.9)), 2, 0]
    grid = GridSum.of(variables, reach=20, widest=7)
    law = grid.law()
    assert law.mean == pytest.approx(5.0 + 2.5 + (0.2 + 8.1))
    assert law.squares == pytest.approx(9 + 1 + 16 + 49 + 16 + 4)
    grid.coins([2, 3])
    grid.include(THREE)
    grid.include(6)
    more = grid.law()
    assert more.mean == pytest.approx(law.mean + 2.5 + 2.5 + 3)
    assert more.squares == pytest.approx(law.squares + 4 + 9 + 16 + 36)
    whole = convolved([*variables, 2, 3, THREE, 6])
    for cell in range(-2, len(whole) + 2):
        true = whole[cell] if 0 <= cell < len(whole) else 0.0
        assert grid.at(cell) == pytest.approx(true, abs=1e-15)
        assert grid.above(cell) == pytest.approx(whole[max(cell, 0) :].sum(), abs=1e-14)
        assert grid.below(cell) == pytest.approx(whole[: max(cell, 0)].sum(), abs=1e-14)


@pytest.mark.parametrize("kind", ["coins", "others"])
def test_cells_beyond_the_reach_are_dropped_and_no_others(kind):
    """After every 32 variables; what is farther than sqrt(18 V) + 1 from the mean, V the squared ranges."""
    n, widest = 320, 3
    grid = GridSum(n * widest, widest)
    values, weights = (0, widest), (0.5, 0.5)
    for k in range(n):
        if kind == "coins":
            grid.coin(widest)
        else:
            grid.add(values, weights)
        if (k + 1) % 32 == 0:
            law, mean = grid.law(), (k + 1) * widest / 2
            reach = math.sqrt(18.0 * (k + 1) * widest**2) + 1
            assert law.first == max(0, math.floor(mean - reach))
            assert law.first + len(law.cells) - 1 == min((k + 1) * widest, math.ceil(mean + reach))
            assert law.cells.sum() == pytest.approx(1.0, abs=1e-14)
            assert grid.above(law.first) + grid.below(law.first) == pytest.approx(1.0, abs=1e-14)
            assert grid.at(law.first - 1) == grid.at(law.first + len(law.cells)) == 0.0
    assert law.first > 0
    assert law.first + len(law.cells) < n * widest
    # What is left of the arrays beyond it is zero, so that a shifted copy brings nothing back.
    assert np.count_nonzero(grid._now[: grid._low]) == np.count_nonzero(grid._now[grid._high :]) == 0


def test_more_fair_coins_than_a_double_holds():
    """The common factor is taken out after 512 coins: a power of two, so that nothing is lost by it."""
    grid = GridSum(3000, 1)
    for k in range(3000):
        grid.coin(1)
        assert grid._doublings < 512
        if k % 500 == 0:
            assert grid.above(0) == pytest.approx(1.0, abs=1e-12)
    assert grid.above(1500) - grid.below(1501) == pytest.approx(0.0, abs=1e-12)
    assert grid.at(1500) == pytest.approx(
        math.exp(math.lgamma(3001) - 2 * math.lgamma(1501) - 3000 * math.log(2))
    )


@pytest.mark.parametrize("direct", [1 << 18, 0])
def test_two_laws_in_one(direct, monkeypatch):
    """By products or by Fourier transforms; what the latter are off by is taken off every probability."""
    monkeypatch.setattr(gridsum, "_DIRECT", direct)
    monkeypatch.setattr(gridsum, "_LEAF", 16)
    variables = [1, 2, THREE, 3] * 8
    grid, whole = GridSum.of(variables), convolved(variables)
    off = grid._absolute
    assert (off == 0.0) == (direct > 0)
    # Cells whose chance is about as large as what transforms are off by may have lost it.
    for cell in range(len(whole)):
        above, below = whole[cell:].sum(), whole[:cell].sum()
        assert grid.above(cell) == pytest.approx(max(above - off, 0.0), abs=1e-14)
        assert grid.below(cell) == pytest.approx(max(below - off, 0.0), abs=1e-14)
    running = grid.cumulative(-3, len(whole) + 6)
    for k, value in enumerate(running.tolist()):
        assert value == pytest.approx(max(whole[: max(k - 3, 0)].sum() - off, 0.0), abs=1e-14)
    assert min(grid.law().cells) >= 0.0


def test_a_law_that_is_far_from_zero_begins_where_it_begins():
    """Variables that are never small: their first cells are empty, and are not stored."""
    law = _law([((10, 11), (0.5, 0.5))] * 40)
    assert law.first <= 400
    assert law.first + len(law.cells) >= 441
    far = gridsum._convolve(law, law)
    reach = math.sqrt(18.0 * 80) + 1
    assert far.first == max(2 * law.first, math.floor(840 - reach))
    assert far.first + len(far.cells) - 1 == min(2 * (law.first + len(law.cells) - 1), math.ceil(840 + reach))
    assert float(far.cells @ np.arange(far.first, far.first + len(far.cells))) == pytest.approx(840.0)


@pytest.mark.parametrize(
    ("values", "step"),
    [
        ([3.0, 5.0], 1.0),
        ([6.0, 10.0], 2.0),
        ([0.75, 0.5], 0.25),
        ([8.0, 0.0], 8.0),
        ([2.0**-30, 1.0], 2.0**-30),
    ],
)
def test_the_coarsest_lattice_is_a_power_of_two(values, step):
    """The largest that divides every value."""
    assert coarsest_lattice(np.array(values)) == step
    assert coarsest_lattice(np.array(values) * 2.0**-60) == step * 2.0**-60
