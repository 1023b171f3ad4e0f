"""Certified precision of leads with and without the l2 norm, against every sample of small documents."""

from math import inf

import numpy as np
import pytest
from counting import precision
from leading import random_anchor, random_leads

from kedge.evaluators.leads import Lead
from kedge.model.scores.leads import Leads
from kedge.results.interval import UNKNOWN


@pytest.mark.parametrize("part", range(4))
def test_the_interval_contains_the_truth_in_ten_thousand_cases(part):
    """One convolution between a tangent and a chord: 4 x 2,500 cases."""
    rng = np.random.default_rng(part)
    for _ in range(2_500):
        leads = random_leads(rng)
        kept, keep = random_anchor(rng, leads.sizes), float(rng.choice([0.5, 0.5, 0.2, 0.9]))
        outside = float(rng.choice([1e-3, 1e-1, 0.0]))
        truth = precision(leads.holds, kept, leads.sizes, keep)
        tail = Lead(leads, 0, keep, outside).tail(kept, float(rng.choice([0.9, 0.95])))
        assert tail.low - 1e-12 <= truth <= tail.high + 1e-12
        assert tail.low <= tail.mean <= tail.high


@pytest.mark.parametrize("part", range(2))
def test_the_closer_look_contains_the_truth(part):
    """The joint law of the sum and the norm, and the finer grid without a norm: 2 x 1,000 cases."""
    rng = np.random.default_rng(100 + part)
    for _ in range(1_000):
        leads = random_leads(rng)
        kept, keep = random_anchor(rng, leads.sizes), float(rng.choice([0.5, 0.5, 0.2, 0.9]))
        truth = precision(leads.holds, kept, leads.sizes, keep)
        tail = Lead(leads, 0, keep).finer(kept, 5e-3, UNKNOWN)
        assert tail.low - 1e-12 <= truth <= tail.high + 1e-12


def test_a_longer_document_has_a_narrow_interval_around_the_truth():
    """Forty words: the line leaves two percent, the plane a fraction of it, and samples agree with both."""
    rng = np.random.default_rng(0)
    leads = random_leads(rng, normed=True)
    d = 40
    sizes = np.ones(d, dtype=np.int64)
    features = (1 + 5 * rng.random(d))[:, None] * np.arange(2.0)
    leads = type(leads)(
        np.array([-0.3]), rng.normal(0.2, 0.5, (d, 1)), features, sizes, True, np.array([True]), 1e-13
    )
    lead, nothing = Lead(leads, 0, 0.5), np.zeros(d, dtype=np.int64)
    line = lead.tail(nothing)
    plane = lead.finer(nothing, 2e-3, line)
    held = leads.holds((rng.random((200_000, d)) < 0.5).astype(np.int64)).mean()
    assert line.width < 0.04
    assert plane.width < line.width / 2
    assert plane.low - 0.004 < held < plane.high + 0.004
    assert abs(line.mean - held) < 0.005


def test_a_closer_look_that_would_take_too_long_is_not_taken():
    """What is known stays."""
    leads = random_leads(np.random.default_rng(0), normed=True, words=6)
    lead, nothing = Lead(leads, 0, 0.5), np.zeros_like(leads.sizes)
    known = lead.tail(nothing)
    assert lead.finer(nothing, 1e-2, known) != known
    assert lead.finer(nothing, 1e-9, known) == known


@pytest.mark.parametrize("keep", [1e-10, 1 - 1e-10])
def test_counts_that_never_come_up_are_left_out(keep):
    """Two occurrences of a word stay (or go) with probability 1e-20: less than any interval can tell."""
    rng = np.random.default_rng(7)
    for _ in range(20):
        leads = random_leads(rng, normed=True)
        truth = precision(leads.holds, 0 * leads.sizes, leads.sizes, keep)
        tail = Lead(leads, 0, keep).finer(0 * leads.sizes, 5e-3, UNKNOWN)
        assert tail.low - 1e-12 <= truth <= tail.high + 1e-12


def test_a_range_of_the_norm_without_exceptions_settles_certainty():
    """With no sample outside the range, what cannot fail is certain: a threshold of one can be met."""
    leads = random_leads(np.random.default_rng(1), normed=True, words=3)
    sure = type(leads)(np.array([5.0]), 0.1 * np.abs(leads.weights), *_rest(leads))
    assert Lead(sure, 0, 0.5, 0.0).tail(leads.sizes) == (1.0, 1.0, 1.0)
    assert Lead(sure, 0, 0.5).tail(np.zeros_like(leads.sizes)).low > 0.9
    assert inf > Lead(sure, 0, 0.5).norm_range(5.0)[1] > 0


def _rest(leads):
    return leads.features, leads.sizes, leads.normed, leads.strict, leads.error


def test_a_guess_is_the_normal_approximation():
    """Forty words of about one weight: within a few hundredths of the certified tail, which is narrow."""
    rng = np.random.default_rng(0)
    sizes = np.ones(40, dtype=np.int64)
    features = np.tile([0.0, 1.0], (40, 1))
    for bias in (-6.0, -3.0, 0.0, 3.0):
        weights = rng.uniform(0.5, 1.0, (40, 1)) * rng.choice([-1, 1], (40, 1))
        leads = Leads(np.array([bias]), weights, features, sizes, False, np.array([True]), 1e-13)
        lead, nothing = Lead(leads, 0, 0.5), np.zeros(40, dtype=np.int64)
        tail = lead.tail(nothing)
        assert tail.width < 0.02
        assert abs(lead.guess(nothing) - tail.mean) < 0.03


@pytest.mark.parametrize("size", [1.0, 1e6])
def test_a_score_within_rounding_of_zero_may_be_of_either_side(size):
    """The bound on a lead's error grows with the norm by which the lead was multiplied."""
    sizes, features = np.ones(2, dtype=np.int64), np.tile([0.0, size], (2, 1))
    for apart, low in ((1e-14, 0.0), (1e-9, 1.0)):
        weights = np.array([[1.0], [-1.0 + apart]])
        leads = Leads(np.zeros(1), weights, features, sizes, True, np.array([True]), 1e-13)
        both = Lead(leads, 0, 0.5).tail(sizes)
        assert (both.low, both.high) == (low, 1.0)
