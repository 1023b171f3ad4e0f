"""Claims about models of which hardly an anchor reaches: seconds here, hours with ``make soak``."""

import nulls
from scipy.stats import binom

DELTA = 0.2
RUNS = 60


def test_false_claims_are_as_rare_as_promised():
    """For each document the probability of a false claim is at most delta, here a large one."""
    false = sum(nulls.false_claim(seed, DELTA)[1] for seed in range(RUNS))
    # With a probability of delta this many false ones, or more, would be one in a thousand.
    assert false < binom.isf(1e-3, RUNS, DELTA)
