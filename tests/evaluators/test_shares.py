"""How many anchors of a corpus are bad, from a sample of them."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kedge.evaluators.shares import Tally, _first_too_many


def chance_of_claim(population, bad, share, delta, level):
    """The probability that the share is ever claimed, where ghosts are all that fails: the worst case."""
    claimed, open_ = 0.0, {0: 1.0}
    for drawn in range(population):
        later = {}
        for failed, chance in open_.items():
            here = Tally(population, level, drawn, failed)
            for passed in (True, False):
                there = here.plus(passed=passed)
                step = np.exp(there._log_chance(bad) - here._log_chance(bad))
                if there.proves(share, delta):
                    claimed += chance * step
                else:
                    later[there.failed] = later.get(there.failed, 0.0) + chance * step
        open_ = {failed: chance for failed, chance in later.items() if chance > 1e-15}
    return claimed


@pytest.mark.parametrize("population", [1, 7, 19, 20, 40, 120])
@pytest.mark.parametrize("level", [0.04, 0.3])
def test_a_false_claim_is_ever_made_with_probability_delta_at_most(population, level):
    """Looking after every draw, at the smallest number of bad anchors that makes the claim false."""
    bad = _first_too_many(population, 0.9)
    assert chance_of_claim(population, bad, 0.9, 0.05, level) <= 0.05


@given(st.integers(1, 6), st.data())
@settings(max_examples=60, deadline=None)
def test_the_law_of_the_ghosts(population, data):
    """The closed form is what drawing in every order, and failing by coins, gives."""
    bad = data.draw(st.integers(0, population))
    drawn = data.draw(st.integers(0, population))
    failed = data.draw(st.integers(0, drawn))
    level = data.draw(st.sampled_from([0.04, 0.5]))
    seen = [True] * failed + [False] * (drawn - failed)
    orders = list(permutations([True] * bad + [False] * (population - bad), drawn))
    chances = [
        np.prod(
            [(1 - level if f else level) if b else float(not f) for b, f in zip(order, seen, strict=True)]
        )
        for order in orders
    ]
    assert np.exp(Tally(population, level, drawn, failed)._log_chance(bad)) == pytest.approx(np.mean(chances))


@given(st.integers(1, 3000), st.data())
@settings(max_examples=100, deadline=None)
def test_a_failure_never_helps(population, data):
    """With one more failure nothing is proved that was not proved without it."""
    drawn = data.draw(st.integers(0, min(population, 400)))
    failed = data.draw(st.integers(0, drawn))
    share = data.draw(st.sampled_from([0.5, 0.9, 0.95, 0.99]))
    better, worse = (Tally(population, 0.04, drawn, max(0, f)) for f in (failed - 1, failed))
    assert better.proves(share, 0.05) or not worse.proves(share, 0.05)


def test_how_many_draws_it_takes():
    """Few of many anchors, more after a failure, all of very few; never too few failures to be none."""
    large = Tally(10_000, 0.04)
    assert 59 < large.still_needed(0.95, 0.05) < 75
    assert Tally(10_000, 0.04, 50, 1).still_needed(0.95, 0.05) > large.still_needed(0.95, 0.05) - 50
    assert Tally(10, 0.04).still_needed(0.95, 0.05) == 10
    assert Tally(10, 0.04, 3, 1).still_needed(0.95, 0.05) is None
    assert not Tally(50, 0.04, 20, 4).proves(0.95, 0.05)


@given(st.integers(1, 500), st.data())
@settings(max_examples=60, deadline=None)
def test_the_bound_is_a_share_that_is_proved(population, data):
    """Whatever was drawn: the bound is proved, and it is 0 before the first draw."""
    drawn = data.draw(st.integers(0, population))
    tally = Tally(population, 0.04, drawn, data.draw(st.integers(0, drawn)))
    low = tally.low(0.05)
    assert low == 0 or tally.proves(low, 0.05)
    assert Tally(population, 0.04).low(0.05) == 0


@pytest.mark.parametrize("population", [200, 1000])
@pytest.mark.parametrize(("drawn", "failed"), [(0, 0), (30, 0), (60, 1), (90, 3)])
def test_so_many_draws_and_not_one_less_are_needed(population, drawn, failed):
    """All of them passed."""
    tally = Tally(population, 0.04, drawn, failed)
    needed = tally.still_needed(0.9, 0.05)
    assert isinstance(needed, int)
    assert Tally(population, 0.04, drawn + needed, failed).proves(0.9, 0.05)
    assert not needed or not Tally(population, 0.04, drawn + needed - 1, failed).proves(0.9, 0.05)


def test_nothing_is_needed_to_prove_nothing():
    """That at least none of them reaches the threshold is known; that all do, only once all were drawn."""
    for failed in (0, 3):
        assert Tally(10, 0.04, 3, failed).proves(0.0, 0.05)
    assert Tally(10, 0.04).still_needed(0.0, 0.05) == 0
    assert not Tally(10, 0.04, 9).proves(1.0, 0.05)
