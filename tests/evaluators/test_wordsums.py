"""Sums over words at the border of what rounding can decide, with numbers that doubles hold exactly."""

import numpy as np
import pytest

from kedge.evaluators.wordsums import Between, WordSums, count_laws

ONE = np.ones(1, dtype=np.int64)


def sums(kept, error=0.5):
    """One word that occurs once and brings one."""
    counts = np.array([kept], dtype=np.int64)
    return WordSums(ONE, counts, count_laws(ONE, counts, 0.5, 2), 0.5, error)


@pytest.mark.parametrize(("constant", "high"), [(-1.5, 0.5), (-1.75, 0.0)])
def test_a_sum_as_far_off_as_rounding_may_be_still_counts(constant, high):
    """The largest sum is -1/2, and the error 1/2: the label may hold there, but not a bit farther off."""
    found = sums(0).tail(Between(np.array([[0.0, 1.0]]), constant, constant, constant))
    assert found.low == 0.0
    assert found.high == pytest.approx(high, abs=1e-3)
    assert (found.high > 0.0) == (high > 0.0)


@pytest.mark.parametrize(
    ("constant", "expected"),
    [(0.0, (1.0, 1.0, 1.0)), (-0.75, (0.0, 1.0, 1.0)), (-1.25, (0.0, 0.0, 1.0)), (-1.75, (0.0, 0.0, 0.0))],
)
def test_where_nothing_is_left_to_chance_the_side_is_known(constant, expected):
    """One word, which is kept: its one and the constant, against an error of one half."""
    found = sums(1).tail(Between(np.array([[0.0, 1.0]]), constant, constant, constant))
    assert (found.low, found.mean, found.high) == expected
