"""Sums over words at the border of what rounding can decide, with numbers that doubles hold exactly."""

import numpy as np
import pytest

from kedge.evaluators.wordsums import Between, WordSums


def tail(kept, constant, error=0.5):
    """One word that occurs once and brings one: kept or not, and a constant."""
    values, law = ([1.0], [1.0]) if kept else ([0.0, 1.0], [0.5, 0.5])
    one = [np.array([x]) for x in (len(values), 1)]
    sums = WordSums(np.array(values), np.array(law), *one, 0.5, np.array([error]))
    side, none = np.array([constant]), np.zeros(1)
    return sums.tails(Between(side, side, side, none, none))[0]


@pytest.mark.parametrize(("constant", "high"), [(-1.5, 0.5), (-1.75, 0.0)])
def test_a_sum_as_far_off_as_rounding_may_be_still_counts(constant, high):
    """The largest sum is -1/2, and the error 1/2: the label may hold there, but not a bit farther off."""
    found = tail(0, constant)
    assert found.low == 0.0
    assert found.high == pytest.approx(high, abs=1e-3)
    assert (found.high > 0.0) == (high > 0.0)


@pytest.mark.parametrize(
    ("constant", "expected"),
    [(0.0, (1.0, 1.0, 1.0)), (-0.75, (0.0, 1.0, 1.0)), (-1.25, (0.0, 0.0, 1.0)), (-1.75, (0.0, 0.0, 0.0))],
)
def test_where_nothing_is_left_to_chance_the_side_is_known(constant, expected):
    """One word, which is kept: its one and the constant, against an error of one half."""
    found = tail(1, constant)
    assert (found.low, found.mean, found.high) == expected
