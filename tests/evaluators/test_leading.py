"""Leading all rivals, from leading each: numbers by hand."""

import pytest

from kedge.evaluators.leading import _all
from kedge.results.interval import Interval


def test_what_each_rival_may_take_adds_up():
    """The lower end loses what each may take; the upper end is that of the closest rival."""
    found = _all([Interval(0.9, 0.95, 0.99), Interval(0.8, 0.9, 0.97)])
    assert (found.low, found.mean, found.high) == pytest.approx((0.7, 0.85, 0.97))


def test_a_probability_stays_one():
    """Three rivals that may take half each leave nothing, not less than nothing."""
    found = _all([Interval(0.5, 0.5, 0.5)] * 3)
    assert (found.low, found.mean, found.high) == (0.0, 0.0, 0.5)
