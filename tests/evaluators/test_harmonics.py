"""Tails from the characteristic function, against adding up every outcome."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kedge.evaluators import harmonics
from kedge.evaluators.harmonics import Coins, Harmonics, Laws, density_at

SIZES = st.one_of(st.floats(-3, 3), st.integers(-2, 2).map(float), st.sampled_from([0.0, 1.0, 1.0, 7.5]))


def all_outcomes(coins, laws, base):
    """Every value of the sum, and its chance."""
    values, chances = np.array([base]), np.ones(1)
    rows = [((0.0, size), (1 - coins.chance, coins.chance)) for size in coins.sizes]
    rows += [] if laws is None else list(zip(laws.values, laws.weights, strict=True))
    for value, weight in rows:
        values = np.add.outer(values, value).ravel()
        chances = np.multiply.outer(chances, weight).ravel()
    return values, chances


@st.composite
def sums(draw):
    """Coins, other laws, and a constant."""
    coins = Coins(np.array(draw(st.lists(SIZES, min_size=1, max_size=9))), draw(st.sampled_from([0.5, 0.2])))
    laws = None
    if draw(st.booleans()):
        values = np.array(draw(st.lists(st.tuples(SIZES, SIZES, SIZES), min_size=1, max_size=2)))
        weights = draw(st.sampled_from([(0.25, 0.5, 0.25), (0.1, 0.9, 0.0), (1.0, 0.0, 0.0)]))
        laws = Laws(values, np.tile(weights, (len(values), 1)))
    return coins, laws, draw(SIZES)


def tail_of(coins, laws, base, target, error=0.0):
    """The interval for P(sum > 0), and the harmonics it is from."""
    squares = coins.squares + (0.0 if laws is None else laws.squares)
    mean = base + coins.chance * float(coins.sizes.sum())
    mean += 0.0 if laws is None else float((laws.values * laws.weights).sum())
    own = Harmonics.of(target, density_at(1.0, 0.5 * math.sqrt(squares)), squares)
    sides = tuple(np.array([mean + e]) for e in (-error, 0.0, error))
    phi = own.characteristic(coins, laws)[None]
    return own.tails(phi, sides, np.array([squares]), 20, np.array([coins.lean]))[0], own


@given(sums(), st.sampled_from([0.2, 0.02, 1e-3]))
@settings(deadline=None, max_examples=300)
def test_the_chance_of_a_positive_sum_is_inside(parts, target):
    """With or without a tie at zero, for whole numbers, equal coins and coins of very different size."""
    coins, laws, base = parts
    if coins.squares + (0.0 if laws is None else laws.squares) < 1e-6:
        return
    values, chances = all_outcomes(coins, laws, base)
    tail, _ = tail_of(coins, laws, base, target, error=1e-9)
    assert tail.low <= chances[values > 1e-9].sum() + 1e-12
    assert tail.high >= chances[values >= -1e-9].sum() - 1e-12
    assert 0.0 <= tail.low <= tail.mean <= tail.high <= 1.0


@pytest.mark.parametrize("first", [4, 48])
@pytest.mark.parametrize("chance", [0.5, 0.3])
def test_leaving_out_small_factors_changes_nothing_that_is_claimed(first, chance, monkeypatch):
    """Products that a few factors show to be nothing are not multiplied out; the others are."""
    rng = np.random.default_rng(3)
    coins = Coins(rng.exponential(size=60) * rng.choice([-1, 1], 60), chance)
    own = Harmonics.of(1e-3, density_at(1.0, 0.5 * math.sqrt(coins.squares)), coins.squares)
    whole = np.multiply.reduce(own.factors(coins))
    monkeypatch.setattr(harmonics, "_FIRST", first)
    monkeypatch.setattr(harmonics, "_PIECE", 50)
    assert np.abs(own.characteristic(coins) - whole).max() <= 2 * own.nothing
    assert np.abs(own.characteristic(coins)[:5] - whole[:5]).max() < 1e-12


@pytest.mark.parametrize("target", [5e-3, 5e-4, 5e-5])
def test_the_interval_is_about_as_narrow_as_wanted(target):
    """For a sum of many words its half width is what was asked for."""
    rng = np.random.default_rng(5)
    coins = Coins(rng.exponential(size=120) * rng.choice([-1, 1], 120))
    deviation = 0.5 * math.sqrt(coins.squares)
    tail, _ = tail_of(coins, None, -0.5 * float(coins.sizes.sum()) + deviation, target)
    assert 0.5 * target < tail.width < 2.5 * target


def test_powers_are_as_exact_as_their_bound_says():
    """Each power of e^{i angle} is off by less than 10 k units."""
    angles = np.array([1e-3, 0.7, 1.5, 3.0])
    k = np.arange(1, 2001)
    true = np.exp(1j * np.multiply.outer(angles, k))
    off = np.abs(harmonics._powers(angles, 1, 2000) - true)
    assert (off <= (10 + 2 * angles[:, None]) * k * 2.0**-53 * 2).all()
    later = harmonics._powers(angles, 501, 100)
    assert np.abs(later - true[:, 500:600]).max() < 1e-12
