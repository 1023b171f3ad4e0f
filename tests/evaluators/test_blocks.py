"""Blocks of harmonics at which a sum is nothing, against each of them."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kedge.evaluators import loudness
from kedge.evaluators.harmonics import FIRST, Circle
from kedge.evaluators.laws import Coins


def sizes_of(shares, k, chance):
    """(k,) the size of the product of all factors."""
    lost = 4.0 * chance * (1.0 - chance) * np.sin(math.pi * np.multiply.outer(k, shares)) ** 2
    return np.sqrt(np.maximum(1.0 - lost, 0.0)).prod(axis=1)


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([0.5, 0.5, 0.3]),
    st.sampled_from([1e-3, 1e-9]),
    st.sampled_from([3, 16]),
    st.sampled_from([5, 512]),
)
@settings(max_examples=60, deadline=None)
def test_a_block_that_is_left_out_is_nothing(seed, chance, nothing, block, piece):
    """At each of its harmonics, also where some between them are known to be nothing."""
    rng = np.random.default_rng(seed)
    shares = np.sort(rng.exponential(0.02, 80))[::-1]
    k = np.unique(rng.integers(FIRST + 1, 3_000, 900)).astype(float)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loudness, "_BLOCK", block)
        patch.setattr(loudness, "_PIECE", piece)
        kept = loudness._in_loud_blocks(k, math.pi * shares, chance, nothing)
    assert (sizes_of(shares, k[~kept], chance) <= nothing).all()


@pytest.mark.parametrize("chance", [0.5, 0.3])
@pytest.mark.parametrize("tried", [False, True])
def test_blocks_find_the_same_harmonics(chance, tried, monkeypatch):
    """A few heavy coins among many: those that are loud are told with and without blocks."""
    rng = np.random.default_rng(1)
    coins = Coins(np.concatenate([np.ones(3), rng.exponential(0.02, 40)]), chance)
    circle = Circle(20.0)
    found = loudness.loud_harmonics(circle, coins, 5_000, 1e-4, tried=tried)
    monkeypatch.setattr(loudness, "_MANY", 10_000)
    assert np.array_equal(found, loudness.loud_harmonics(circle, coins, 5_000, 1e-4))
    assert 0 < len(found) < 4_000


def test_without_small_coins_every_block_may_be_loud():
    """Nothing is shown by coins that turn far within a block."""
    k = np.arange(17.0, 100.0)
    assert loudness._in_loud_blocks(k, np.full(40, 0.3), 0.5, 1e-6).all()


def test_most_blocks_of_a_long_document_are_left_out():
    """That is what they are for."""
    rng = np.random.default_rng(2)
    shares = np.sort(rng.exponential(0.01, 150))[::-1]
    k = np.arange(1_000.0, 20_000.0)
    assert loudness._in_loud_blocks(k, math.pi * shares, 0.5, 1e-8).mean() < 0.1


def test_a_sum_that_is_nothing_everywhere():
    """No block of its harmonics is loud, so that none is left to multiply out."""
    shares = np.full(400, 0.013)
    k = np.arange(FIRST + 1.0, FIRST + 30.0)
    assert (sizes_of(shares, k, 0.5) <= 1e-9).all()
    none = loudness._multiplied_out(k[:0], math.pi * shares, 0.5, 1e-9)
    assert [part.tolist() for part in none] == []
