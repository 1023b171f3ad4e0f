"""Tails from the characteristic function, against adding up every outcome."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kedge.evaluators import harmonics, loudness
from kedge.evaluators.harmonics import FIRST, Circle, Spectra, circumference
from kedge.evaluators.laws import NO_LAWS, Coins, Laws
from kedge.evaluators.loudness import loud_harmonics

SIZES = st.one_of(st.floats(-3, 3), st.integers(-2, 2).map(float), st.sampled_from([0.0, 1.0, 1.0, 7.5]))


def laws_of(rows):
    """Variables of several values, from (values, weights) of each."""
    if not rows:
        return NO_LAWS
    values, weights = (np.concatenate([np.array(row[k]) for row in rows]) for k in (0, 1))
    starts = np.cumsum([0, *(len(row[0]) for row in rows[:-1])])
    return Laws(values, weights, starts)


def all_outcomes(coins, rows, base):
    """Every value of the sum, and its chance."""
    values, chances = np.array([base]), np.ones(1)
    for value, weight in [((0.0, s), (1 - coins.chance, coins.chance)) for s in coins.sizes] + rows:
        values = np.add.outer(values, value).ravel()
        chances = np.multiply.outer(chances, weight).ravel()
    return values, chances


@st.composite
def sums(draw):
    """Coins, other laws, and a constant."""
    coins = Coins(np.array(draw(st.lists(SIZES, min_size=1, max_size=9))), draw(st.sampled_from([0.5, 0.2])))
    chances = {2: [(0.5, 0.5)], 3: [(0.25, 0.5, 0.25), (0.1, 0.8, 0.1)], 4: [(0.1, 0.2, 0.3, 0.4)]}
    rows = []
    for number in draw(st.lists(st.sampled_from([2, 3, 4]), max_size=2)):
        values = draw(st.lists(SIZES, min_size=number, max_size=number))
        rows.append((tuple(values), draw(st.sampled_from(chances[number]))))
    return coins, rows, draw(SIZES)


def spectra_of(coins, rows, base, count, nothing, error=0.0):
    """A sum on a circle, with all that is heard of it."""
    laws = laws_of(rows)
    squares = coins.squares + laws.squares
    circle = Circle(circumference(squares, 1e-4))
    more = loud_harmonics(circle, coins, count, nothing)
    mean = base + coins.mean + (float(laws.means.sum()) if rows else 0.0)
    phi = circle.characteristic(coins, laws, more)[None]
    means = np.array([[mean - error], [mean], [mean + error]])
    return Spectra(circle, phi, more, means, np.array([squares]), len(coins.sizes) + len(rows)), circle


@given(sums(), st.sampled_from([16, 50, 700]), st.sampled_from([1e-9, 0.2]))
@settings(deadline=None, max_examples=400)
def test_the_chance_of_a_positive_sum_is_inside(parts, count, error):
    """With or without a tie at zero, for whole numbers, equal coins and coins of very different size."""
    coins, rows, base = parts
    if coins.squares + laws_of(rows).squares < 1e-6:
        return
    values, chances = all_outcomes(coins, rows, base)
    tail = spectra_of(coins, rows, base, count, 1e-5, error)[0].tails(count, 1e-5)[0]
    assert tail.low <= chances[values > error].sum() + 1e-12
    assert tail.high >= chances[values >= -error].sum() - 1e-12
    assert 0.0 <= tail.low <= tail.mean <= tail.high <= 1.0


@pytest.mark.parametrize("largest", [4, 48])
@pytest.mark.parametrize("chance", [0.5, 0.3])
@pytest.mark.parametrize("sizes", ["many", "equal", "few"])
def test_what_is_not_loud_is_nothing(largest, chance, sizes, monkeypatch):
    """At each harmonic that is left out, the product of all factors is as small as promised."""
    rng = np.random.default_rng(3)
    drawn = {"many": rng.exponential(size=60), "equal": np.ones(40), "few": rng.exponential(size=5)}[sizes]
    coins = Coins(drawn * rng.choice([-1, 1], len(drawn)), chance)
    circle = Circle(circumference(coins.squares, 1e-5))
    monkeypatch.setattr(loudness, "_LARGEST", largest)
    monkeypatch.setattr(loudness, "_PIECE", 5)
    count, nothing = 900, 1e-7
    loud = loud_harmonics(circle, coins, count, nothing)
    k = np.arange(FIRST + 1.0, count + 1.0)
    angles = math.pi / circle.period * np.multiply.outer(coins.sizes, k)
    whole = np.prod(np.sqrt(1.0 - 4.0 * chance * (1.0 - chance) * np.sin(angles) ** 2), axis=0)
    assert set(k[whole > 1.0001 * nothing]) <= set(loud)
    assert (whole[np.isin(k, loud)] > 0.9 * nothing).all()
    assert (len(loud) < 0.1 * len(k)) == (sizes == "many")


@pytest.mark.parametrize("chance", [0.5, 0.3])
def test_characteristic_functions_are_those_of_the_sum(chance):
    """About its mean, at the first harmonics and at any others."""
    rng = np.random.default_rng(1)
    coins, rows = Coins(rng.normal(size=5), chance), [((0.0, 1.5, -2.0), (0.2, 0.5, 0.3))]
    circle, more = Circle(17.0), np.array([40.0, 41.0, 99.0])
    values, chances = all_outcomes(coins, rows, 0.0)
    k = np.concatenate([np.arange(1.0, FIRST + 1.0), more])
    away = values - values @ chances
    true = np.exp(2j * math.pi / 17.0 * np.multiply.outer(k, away)) @ chances
    assert np.abs(circle.characteristic(coins, laws_of(rows), more) - true).max() < 1e-12


@pytest.mark.parametrize("target", [5e-3, 5e-4, 5e-5])
def test_estimates_tell_how_many_harmonics_an_interval_takes(target):
    """For a sum of many words its half width is what was asked for, and the estimate is inside."""
    rng = np.random.default_rng(5)
    coins = Coins(rng.exponential(size=120) * rng.choice([-1, 1], 120))
    base = 0.5 * math.sqrt(coins.squares) - coins.mean
    own, circle = spectra_of(coins, [], base, FIRST, 1e-9)
    count = math.ceil(0.5 * float(own.spread[1, 0]) / target)
    assert not len(loud_harmonics(circle, coins, count, 1e-4 * target))
    tail = own.tails(count, 1e-4 * target)[0]
    slack = math.exp(-0.5 * circle.period**2 / coins.squares)
    assert 2 * target <= tail.width < 2.1 * target + 2 * slack
    finer = own.tails(1 << 16, 1e-12)[0]
    assert abs(tail.mean - finer.mean) < 1e-9
    assert abs(tail.mean - (finer.low + finer.high) / 2) < 1e-6


def test_powers_and_cosines_are_as_exact_as_their_bounds_say():
    """Each power of e^{i angle} is off by less than 10 k units, each cosine by less than 16 k^2."""
    angles = np.array([0.0, 1e-3, 0.7, 1.5, 1.57, 3.0])
    k = np.arange(1, 2001)
    true = np.exp(1j * np.multiply.outer(angles, k))
    off = np.abs(harmonics.powers(angles, 1, 2000) - true)
    assert (off <= (10 + 2 * angles[:, None]) * k * 2.0**-53 * 2).all()
    later = harmonics.powers(angles, 501, 100)
    assert np.abs(later - true[:, 500:600]).max() < 1e-12
    many = np.linspace(0.0, 3.2, 5000)
    first = np.arange(1, FIRST + 1)
    off = np.abs(harmonics._cosines(many) - np.cos(np.multiply.outer(first, many)))
    assert (off <= 16 * first[:, None] ** 2 * 2.0**-53).all()
