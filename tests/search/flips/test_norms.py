"""The fewest removed words of a lead over a norm, against brute force."""

import tracemalloc
from itertools import product

import numpy as np
import pytest
from leading import random_leads

from kedge.model.scores.leads import Leads
from kedge.search.flips.norms import lose_normed_lead


def test_what_is_proven_is_the_fewest():
    """And what is not proven loses the label all the same."""
    rng = np.random.default_rng(0)
    proven = 0
    for _ in range(150):
        leads = random_leads(rng, rivals=int(rng.integers(1, 3)), normed=True)
        if not leads.holds(leads.sizes[None])[0]:
            continue
        every = np.array(list(product(*(range(m + 1) for m in leads.sizes))))
        losing = every[~leads.holds(leads.sizes - every)]
        cut = lose_normed_lead(leads, lambda counts, leads=leads: ~leads.holds(counts))
        if cut is not None:
            assert not leads.holds((leads.sizes - cut.removed)[None])[0]
            assert len(cut) == losing.sum(axis=1).min() or not cut.proven
            proven += cut.proven
    assert proven > 10


def test_a_tie_that_keeps_the_label_takes_one_word_more():
    """What is left without the first word leads by zero but for rounding: the model is asked."""
    features, ones = np.array([[0.0, 1.0]] * 3), np.ones(3, dtype=np.int64)
    leads = Leads(np.zeros(1), np.array([[2.0], [1.0], [-1.0]]), features, ones, True, np.array([False]), 0.0)
    cut = lose_normed_lead(leads, lambda counts: ~leads.holds(counts))
    assert (cut.removed.tolist(), cut.proven) == ([1, 1, 0], False)


def test_a_word_without_a_feature_has_no_norm():
    """Nothing is said of such documents; other ways are tried."""
    features, ones = np.array([[0.0, 1.0], [0.0, 0.0]]), np.ones(2, dtype=np.int64)
    leads = Leads(np.array([-0.5]), np.ones((2, 1)), features, ones, True, np.array([True]), 1e-13)
    assert not leads.holds(np.array([[0, 1]]))[0]
    assert lose_normed_lead(leads, lambda counts: ~leads.holds(counts)) is None


def test_many_words_are_looked_at_in_pieces():
    """Memory does not grow with the number of words times that of bounds; the answer is still proven."""
    rng, words = np.random.default_rng(0), 10_000
    features = np.column_stack([np.zeros(words), rng.uniform(1, 2, words)])
    sizes, weights = np.ones(words, dtype=np.int64), rng.normal(size=(words, 1))
    leads = Leads(np.array([0.3]), weights, features, sizes, True, np.array([True]), 1e-13)
    lead = float(leads.leads(sizes[None])[0, 0])
    weights -= 1.02 * lead / leads.largest / features[:, 1:]  # a few words carry the label
    leads = Leads(np.array([0.3 + lead]), weights, features, sizes, True, np.array([True]), 1e-13)
    tracemalloc.start()
    try:
        cut = lose_normed_lead(leads, lambda counts: ~leads.holds(counts))
        assert tracemalloc.get_traced_memory()[1] < 1 << 27
    finally:
        tracemalloc.stop()
    assert cut.proven
    assert not leads.holds((sizes - cut.removed)[None])[0]


@pytest.mark.parametrize(("words", "times"), [(1, 20_000), (3_000, 5)])
def test_texts_that_would_take_all_time(words, times):
    """One word over and over, or many often: other ways are tried, before anything is allocated."""
    features = np.tile(np.arange(times + 1, dtype=float), (words, 1))
    sizes = np.full(words, times, dtype=np.int64)
    leads = Leads(np.array([-0.5]), np.ones((words, 1)), features, sizes, True, np.array([True]), 1e-13)
    tracemalloc.start()
    try:
        assert lose_normed_lead(leads, lambda counts: ~leads.holds(counts)) is None
        assert tracemalloc.get_traced_memory()[1] < 1 << 25
    finally:
        tracemalloc.stop()
