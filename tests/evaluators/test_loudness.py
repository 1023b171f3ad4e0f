"""How far coins are from whole turns, against the distances themselves."""

import numpy as np
import pytest

from kedge.evaluators import loudness
from kedge.evaluators.harmonics import FIRST


def distances(shares, k, multiples):
    """(k,) the sum of (k s - j)^2 over coins, j being the nearest whole number, if it is not too large."""
    turns = np.multiply.outer(k, shares)
    nearest = np.floor(turns + 0.5)
    return np.where(nearest <= multiples, (turns - nearest) ** 2, 0.0).sum(axis=1)


@pytest.mark.parametrize("multiples", [loudness._NEAR, loudness._FAR])
@pytest.mark.parametrize("seed", range(6))
def test_distances_are_added_up_for_all_harmonics_at_once(seed, multiples):
    """Never more than they are, and hardly less."""
    rng = np.random.default_rng(seed)
    shares, later = rng.uniform(1e-4, 0.2, 30), 200
    found = loudness._away(shares, later, multiples)
    true = distances(shares, np.arange(FIRST + 1, FIRST + later + 1), multiples)
    assert (found <= true + 1e-12).all()
    assert found == pytest.approx(true, abs=1e-6)


def test_sums_one_after_another_are_as_each_alone():
    """With coins and harmonics of their own, an even number and an odd one."""
    rng = np.random.default_rng(7)
    sums = [rng.uniform(1e-4, 0.2, n) for n in (5, 12, 1)]
    later = np.array([40, 61, 8])
    starts = np.cumsum([0, 5, 12])
    found = loudness._each_away(np.concatenate(sums), starts, later)
    each = [
        distances(shares, np.arange(FIRST + 1, FIRST + n + 1), loudness._NEAR)
        for shares, n in zip(sums, later, strict=True)
    ]
    assert found == pytest.approx(np.concatenate(each), abs=1e-6)


@pytest.mark.parametrize("chance", [0.5, 0.2, 0.7])
@pytest.mark.parametrize("nothing", [1e-2, 1e-7])
def test_so_far_away_a_sum_is_nothing(chance, nothing):
    """A fair coin's factor is at most exp(-y^2 / 2), another's squared 1 - 4 c (1 - c) (2 y / pi)^2."""
    rate = 0.5 if chance == 0.5 else 0.5 * 4 * chance * (1 - chance) * (2 / np.pi) ** 2
    wanted = -np.log(nothing) / (rate * np.pi**2)
    assert loudness._enough(chance, nothing) == pytest.approx(wanted + 1e-6 / (rate * np.pi**2), rel=1e-12)


@pytest.mark.parametrize("multiples", [1, 2, 8])
def test_nearest_whole_numbers_grow_by_one_at_each_half(multiples):
    """Counted from the end: beyond the last one they are zero, and so are their squares."""
    halves, steps, jumps = loudness._growth(multiples)
    assert halves.ravel().tolist() == [j + 0.5 for j in range(multiples + 1)]
    assert steps.sum() == 0.0
    assert jumps.sum() == 0.0
    # What is a coin's nearest before each half is what is still to come.
    assert [float(steps[k:].sum()) for k in range(multiples + 1)] == list(map(float, range(multiples + 1)))
    assert [float(jumps[k:].sum()) for k in range(multiples + 1)] == [
        float(k * k) for k in range(multiples + 1)
    ]


@pytest.mark.parametrize("chance", [0.5, 0.3])
def test_products_of_the_sizes_of_factors(chance):
    """Coin by coin, from e^{i x} of each; a slack for each is added, but none is larger than one."""
    rng = np.random.default_rng(0)
    small, steps = rng.uniform(0.0, 0.3, 5), rng.uniform(0.0, 0.3, (5, 7))
    slack = np.array([0.0, 0.01, 0.02, 0.5, 0.1])[:, None]
    start, table = np.exp(1j * small), loudness._parts(np.exp(1j * steps))
    x = small[:, None] + steps
    sizes = np.abs(1 - chance + chance * np.exp(2j * x))
    assert loudness._sizes(start, table, chance) == pytest.approx(np.prod(sizes, axis=0))
    bounded = np.prod(np.minimum(sizes + slack, 1.0), axis=0)
    assert loudness._sizes(start, table, chance, slack) == pytest.approx(bounded)


@pytest.mark.parametrize("chance", [0.5, 0.3])
@pytest.mark.parametrize("first", [17, 40])
def test_a_block_is_as_loud_as_its_middle_and_half_its_length(chance, first, monkeypatch):
    """For each 16 harmonics the product of the coins that turn by 0.4 in them at most, and 7.5 angles."""
    monkeypatch.setattr(loudness, "_PIECE", 3)
    rng = np.random.default_rng(first)
    angles = np.sort(np.append(rng.uniform(0.005, 0.025, 30), [0.0251, 0.4, 1.0]))[::-1]
    k = np.arange(first, first + 210).astype(float)
    k = k[rng.random(len(k)) < 0.7]
    small = angles[angles <= 0.025]
    block = ((k - k[0]) // 16).astype(int)
    x = (k[0] + 7.5 + 16 * np.arange(block[-1] + 1))[:, None] * small
    bound = np.prod(np.minimum(np.abs(1 - chance + chance * np.exp(2j * x)) + 7.5 * small, 1.0), axis=1)
    for nothing in np.sort(bound)[[0, 3, len(bound) // 2, -2]] * (1 + 1e-9):
        found = loudness._in_loud_blocks(k, angles, chance, float(nothing))
        assert found.tolist() == (bound[block] > nothing).tolist()


def test_of_very_many_small_coins_the_largest_are_looked_at():
    """128 of them."""
    angles = np.linspace(0.02, 0.001, 300)
    k = np.arange(50.0, 90.0)
    x = (50 + 7.5 + 16 * np.arange(3))[:, None] * angles[:128]
    bound = np.prod(np.minimum(np.abs(np.cos(x)) + 7.5 * angles[:128], 1.0), axis=1)
    block = ((k - 50) // 16).astype(int)
    for nothing in (bound * (1 - 1e-9)).tolist() + (bound * (1 + 1e-9)).tolist():
        assert loudness._in_loud_blocks(k, angles, 0.5, nothing).tolist() == (bound[block] > nothing).tolist()


@pytest.mark.parametrize("chance", [0.5, 0.3])
@pytest.mark.parametrize("piece", [512, 5])
def test_harmonics_that_are_left_are_multiplied_out(chance, piece, monkeypatch):
    """Those at which the product of all factors is larger, whatever of it the largest tell."""
    monkeypatch.setattr(loudness, "_PIECE", piece)
    rng = np.random.default_rng(1)
    angles = np.sort(rng.uniform(0.001, 0.6, 90))[::-1]
    k = np.flatnonzero(rng.random(300) < 0.4).astype(float) + 17
    size = np.prod(np.abs(1 - chance + chance * np.exp(2j * np.multiply.outer(k, angles))), axis=1)
    for nothing in np.sort(size)[[0, 20, 60, 100, -2]] * (1 + 1e-7):
        found = np.concatenate(list(loudness._multiplied_out(k, angles, chance, float(nothing))))
        assert found.tolist() == k[size > nothing].tolist()
    assert not list(loudness._multiplied_out(k[:0], angles, chance, 0.5))
