"""Ends of intervals at the border, where formulas divide by nothing."""

import numpy as np
import pytest
from scipy.stats import binomtest

from kedge.evaluators.intervals import clopper_pearson, kl_upper, kl_upper_one


@pytest.mark.parametrize(("mean", "trials", "beta"), [(1.0, 50.0, 3.0), (0.999, 1.0, 90.0), (0.5, 0.0, 3.0)])
def test_an_upper_end_that_is_one(mean, trials, beta):
    """All samples hold, or so few were drawn that nothing is left out: one, and not a little less."""
    assert kl_upper(np.array([mean]), np.array([trials]), beta)[0] == 1.0
    assert kl_upper_one(mean, trials, beta) == 1.0


@pytest.mark.parametrize("successes", [0, 1, 7, 20])
def test_the_exact_interval_is_that_of_scipy(successes):
    """Clopper and Pearson's, with ends that are 0 and 1 where no or all samples hold."""
    low, high = clopper_pearson(successes, 20, 0.1)
    reference = binomtest(successes, 20).proportion_ci(0.9)
    assert (low, high) == pytest.approx((reference.low, reference.high))
    assert (low == 0.0) == (successes == 0)
    assert (high == 1.0) == (successes == 20)
