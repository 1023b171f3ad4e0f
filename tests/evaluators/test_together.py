"""Leads that are worked out beside each other are as each is alone, to the last bit."""

import numpy as np
import pytest
from counting import precision
from hypothesis import given, settings
from hypothesis import strategies as st
from leading import random_anchor, random_leads
from scipy.stats import binom

from kedge.evaluators import leads as leads_module
from kedge.evaluators import wordsums
from kedge.evaluators.binomials import _SMALL, binomial_laws
from kedge.evaluators.leads import Lead, lead_tails, range_norms
from kedge.model.scores.leads import Leads

THRESHOLDS = st.sampled_from([None, 0.6, 0.95, 0.99])


def long_leads(rng, words):
    """Leads with the l2 norm of a document of many words, some of which occur several times."""
    sizes = rng.choice([1, 1, 1, 2, 3, 9], words)
    features = np.exp(rng.normal(size=(words, 1))) * np.arange(sizes.max() + 1.0)
    weights = rng.normal(0.1, 0.3, (words, 1))
    return Leads(np.array([rng.normal()]), weights, features, sizes, True, np.array([True]), 1e-13)


def some_leads(rng, words, keep, outside):
    """Leads and anchors of documents of these lengths: long ones, and small ones of every kind."""
    each = [long_leads(rng, n) if n > 8 else random_leads(rng) for n in words]
    return [
        (Lead(one, 0, keep, outside), random_anchor(rng, one.sizes) * int(rng.integers(2))) for one in each
    ]


@given(
    st.integers(0, 2**32 - 1),
    st.lists(st.integers(1, 90), min_size=1, max_size=5),
    THRESHOLDS,
    st.sampled_from([0.5, 0.5, 0.3]),
    st.sampled_from([1e-3, 0.0]),
    st.sampled_from([1, 50, 1 << 14]),
)
@settings(max_examples=60, deadline=None)
def test_leads_together_are_as_each_alone(seed, words, threshold, keep, outside, room):
    """Every interval, the sums at rest and the range of the norm; whatever is worked out at a time."""
    together = some_leads(np.random.default_rng(seed), words, keep, outside)
    apart = some_leads(np.random.default_rng(seed), words, keep, outside)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(leads_module, "_CELLS", room)
        found = lead_tails(together, threshold)
    assert found == [lead.tail(kept, threshold) for lead, kept in apart]
    range_norms([lead for lead, _ in together], 5.0)
    for (one, _), (other, _) in zip(together, apart, strict=True):
        assert one.at_rest == other.at_rest
        assert one.norm_range(5.0) == other.norm_range(5.0)


def test_together_they_contain_the_truth():
    """Small documents of all kinds beside each other, against every sample."""
    rng = np.random.default_rng(0)
    for keep, outside in ((0.5, 1e-3), (0.2, 1e-1), (0.9, 0.0)):
        asked = some_leads(rng, [1] * 200, keep, outside)
        for (lead, kept), tail in zip(asked, lead_tails(asked, 0.95), strict=True):
            truth = precision(lead.leads.holds, kept, lead.leads.sizes, keep)
            assert tail.low - 1e-12 <= truth <= tail.high + 1e-12
            assert tail.low <= tail.mean <= tail.high


def test_sums_of_many_harmonics_are_looked_at_one_by_one(monkeypatch):
    """And come out the same."""
    asked = some_leads(np.random.default_rng(3), [80, 70, 60], 0.5, 1e-3)
    expected = lead_tails(asked, 0.95)
    monkeypatch.setattr(wordsums, "_TOGETHER", 20)
    assert lead_tails(asked, 0.95) == expected


@pytest.mark.parametrize("keep", [0.5, 0.3])
@pytest.mark.parametrize("sizes", [[], [3, 1, 0, 2], [_SMALL, 1], [_SMALL + 1, 2]])
def test_laws_one_after_another(sizes, keep):
    """From a table, and beyond it."""
    expected = [binom.pmf(np.arange(n + 1), n, keep) for n in sizes]
    found = binomial_laws(np.array(sizes, dtype=np.int64), keep)
    assert found == pytest.approx(np.concatenate([[], *expected]), rel=1e-9)
