"""Samples that are counted, none more and none less."""

import numpy as np
from readings import reading_of

import kedge
from kedge.search.exact import pooled
from kedge.search.exact.pooled import Pool, draw_hits


def test_every_sample_that_holds_is_counted_once():
    """A label that always holds does so in all samples; one that a word decides, in those that have it."""
    always = reading_of(kedge.WordWeights({"good": 1.0, "film": 1.0}, intercept=5.0), "good film")
    assert draw_hits(always, (), 1_000, np.random.default_rng(0)) == 1_000
    word = reading_of(kedge.rules.present("good"), "good film")
    assert draw_hits(word, (0,), 1_000, np.random.default_rng(0)) == 1_000
    sampled = word.sample((), 1_000, np.random.default_rng(0))
    assert draw_hits(word, (), 1_000, np.random.default_rng(0)) == int(word.holds(sampled).sum())


def test_pools_of_very_long_texts_have_fewer_samples(monkeypatch):
    """As many as fit into memory, and the best words are the same."""
    reading = reading_of(kedge.rules.present("good"), "good film here")
    every = Pool(reading, (), 1_000, np.random.default_rng(0))
    monkeypatch.setattr(pooled, "_CELLS", 100 * len(reading.units))
    fewer = Pool(reading, (), 1_000, np.random.default_rng(0))
    assert (len(every.held), len(fewer.held)) == (1_000, 100)
    assert every.longer(1, 1)[0] == fewer.longer(1, 1)[0] == (1.0, (0,))
