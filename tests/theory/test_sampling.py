"""The sample sizes of Prop. 3 against exact binomial tails."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from kedge.errors import OptionError
from kedge.theory import samples_needed, uniform_error, uniform_failure


@given(st.integers(1, 300), st.floats(0.005, 0.3), st.floats(1e-6, 0.5))
def test_the_three_forms_solve_one_inequality(occurrences, error, failure):
    """The smallest n that meets the error and the failure probability, and no smaller."""
    n = samples_needed(occurrences, error=error, failure=failure)
    assert uniform_failure(occurrences, n, error=error) <= failure * (1 + 1e-9)
    assert uniform_failure(occurrences, n - 1, error=error) >= failure * (1 - 1e-9)
    assert uniform_error(occurrences, n, failure=failure) <= error * (1 + 1e-9)


@given(st.integers(1, 6), st.integers(1, 400), st.floats(0.02, 0.3), st.integers(0, 2**32 - 1))
def test_the_failure_bounds_exact_tails(occurrences, samples, error, seed):
    """The summed exact probabilities of a large error, over all anchors, stay below it."""
    p = np.random.default_rng(seed).random(2**occurrences)
    count = np.arange(samples + 1)
    far = np.abs(count[:, None] / samples - p) > error
    exact = (binom.pmf(count[:, None], samples, p) * far).sum()
    assert exact <= uniform_failure(occurrences, samples, error=error) + 1e-9 or exact >= 1


def test_the_failure_is_the_paper_s():
    """2^(b+1) exp(-2 n delta^2), letter by letter."""
    assert uniform_failure(3, 200, error=0.1) == pytest.approx(2**4 * np.exp(-2 * 200 * 0.1**2))


def test_long_documents_do_not_overflow():
    """2^(b+1) is never formed."""
    assert uniform_failure(10_000, 10, error=0.1) == 1.0
    assert samples_needed(10_000, error=0.1) > 300_000


@pytest.mark.parametrize(
    "call",
    [
        lambda: samples_needed(-1, error=0.1),
        lambda: samples_needed(5, error=0),
        lambda: samples_needed(5, error=0.1, failure=1),
        lambda: uniform_error(5, 0),
        lambda: uniform_failure(5, -3, error=0.1),
    ],
)
def test_impossible_requests_are_refused(call):
    """Lengths, sample sizes and probabilities outside their range name themselves."""
    with pytest.raises(OptionError):
        call()
