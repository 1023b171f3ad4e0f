"""Moments of the kept counts against sums over all masks."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kedge.errors import OptionError
from kedge.theory import count_moments, third_absolute_moment


@given(st.integers(0, 6), st.integers(0, 6), st.floats(0.05, 0.95))
def test_count_moments_are_those_of_the_enumerated_count(free, fixed, keep):
    """Mean and variance equal the sums over the binomial's values."""
    values = fixed + np.arange(free + 1)
    chance = np.array([math.comb(free, c) * keep**c * (1 - keep) ** (free - c) for c in range(free + 1)])
    mean, variance = count_moments([free + fixed], [fixed], keep=keep)
    assert mean[0] == pytest.approx(chance @ values)
    assert variance[0] == pytest.approx(chance @ (values - chance @ values) ** 2, abs=1e-12)


@given(st.integers(0, 60), st.sampled_from([0.5, 0.1, 0.7]))
def test_third_absolute_moment_is_the_sum(trials, keep):
    """The closed forms for even and odd numbers of coins equal the defining sum."""
    exact = sum(
        math.comb(trials, c) * keep**c * (1 - keep) ** (trials - c) * abs(c - trials * keep) ** 3
        for c in range(trials + 1)
    )
    assert float(third_absolute_moment(trials, keep=keep)) == pytest.approx(exact, rel=1e-10)


def test_third_absolute_moment_stays_below_its_normal_limit():
    """r^(3/2) / sqrt(8 pi) bounds it for every r and is reached in the limit."""
    r = np.arange(1, 20_001)
    share = third_absolute_moment(r) / (r**1.5 / math.sqrt(8 * math.pi))
    assert (share < 1).all()
    assert share[-1] == pytest.approx(1, abs=1e-4)


def test_shapes_are_kept():
    """One anchor gives a vector, several give rows; moments of any shape keep it."""
    mean, variance = count_moments([2, 1], [[0, 0], [2, 1], [1, 0]])
    assert mean.shape == variance.shape == (3, 2)
    assert third_absolute_moment([[1, 2], [3, 4]], keep=0.3).shape == (2, 2)


@pytest.mark.parametrize(
    ("multiplicity", "kept", "keep"),
    [
        ([2, 1], [3, 0], 0.5),
        ([2, 1], [-1, 0], 0.5),
        ([2, 1], [0.5, 0], 0.5),
        ([2, 1], [0], 0.5),
        ([2.5, 1], [0, 0], 0.5),
        ([], [], 0.5),
        ([2, 1], [0, 0], 1.0),
        ([2, 1], [0, 0], float("nan")),
    ],
)
def test_impossible_counts_are_refused(multiplicity, kept, keep):
    """An anchor keeps whole occurrences that the document has; keep is a probability."""
    with pytest.raises(OptionError):
        count_moments(multiplicity, kept, keep=keep)
