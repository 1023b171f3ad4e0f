"""Exploring: no more rows than pay, whatever kind of model it is."""

import zlib

import numpy as np
import pytest
from readings import reading_of

import kedge
from kedge.reading.expected import Expected
from kedge.search import Goal
from kedge.search.guided import surrogate as surrogates
from kedge.search.guided.exploration import explore
from kedge.search.guided.learner import Learner
from kedge.search.guided.pool import Pool
from kedge.search.guided.sharpening import sharpen

WORDS = [f"w{i}" for i in range(60)]
TEXT = " ".join(WORDS)
WEIGHTS = dict(zip(WORDS, np.random.default_rng(5).normal(0.1, 1, 60), strict=True))


def noise(texts):
    """What no sum over words explains: a number in [-1, 1) that follows from the text."""
    return np.array([zlib.crc32(t.encode()) % 10_000 / 5_000 - 1 for t in texts])


def odds_model(weights, level, spread):
    """Log-odds that are a sum over words, and noise."""

    def ask(texts):
        odds = np.array([sum(weights.get(w, 0.0) for w in t.split()) for t in texts]) + level
        odds = odds + spread * noise(texts)
        return np.column_stack([1 / (1 + np.exp(odds)), 1 / (1 + np.exp(-odds))])

    return ask


def learner_of(model, **options):
    reading = reading_of(model, TEXT, **options)
    pool = Pool(reading, np.random.default_rng(1), reading.oracle.queries + 20_000)
    return Learner(pool, Goal(), 3_000)


@pytest.mark.parametrize("spread", [0.0, 1.5])
def test_a_prior_and_a_clear_word_need_no_full_pool(spread):
    """A word that decides alone, as the prior expects."""
    weights = {"w7": 12.0}
    prior = kedge.Prior("model", (0, 1), ("w7",), np.array([[-12.0], [12.0]]), np.array([6.0, -6.0]), 1, 1)
    e = kedge.explain(odds_model(weights, -6.0, spread), TEXT, prior=prior)
    assert (e.words, e.status) == (("w7",), "certified")
    assert e.queries <= 24 + 40 + 72 + 24


def test_labels_are_learned_before_a_proof_that_this_saves_more():
    """Close to the threshold a surrogate that is wrong less often saves hundreds of samples."""
    probabilities = odds_model(WEIGHTS, 2.0, 0.3)
    learner = learner_of(lambda texts: probabilities(texts).argmax(axis=1).tolist())
    learner.pool.draw((), 100)
    learner.fit()
    learner.mistakes.remember(np.arange(96) == 0, len(learner.pool))
    kept = tuple(sorted(learner.order()[:6]))
    reached = 1 - learner.surrogate.loss(kept)
    learner.goal = Goal(threshold=reached - 0.01)
    sharpen(learner, kept)
    assert len(learner.pool) > 100


def test_log_odds_that_may_be_a_sum_are_asked_for_to_the_end_where_a_proof_is_close():
    """A prior explains most of them; the rows that are missing to explain all cost less than mistakes do."""
    learner = learner_of(odds_model(WEIGHTS, 2.0, 0.0))
    rough = np.array([WEIGHTS[w] for w in WORDS]) + np.random.default_rng(0).normal(0, 0.1, len(WORDS))
    learner._prior = Expected(rough, 2.0)
    learner.pool.draw((), 30)
    learner.fit()
    assert 0.9 < learner.explained < 1
    kept = tuple(sorted(learner.order()[:6]))
    learner.goal = Goal(threshold=1 - learner.surrogate.loss(kept) - 0.005)
    sharpen(learner, kept)
    assert learner.vouched
    assert 30 < len(learner.pool) <= len(WORDS) + 5


def test_log_odds_that_are_no_sum_end_the_exploring():
    """A prior leads the way to a part of them; a pool twice as large explains no more of the rest."""
    learner = learner_of(odds_model(WEIGHTS, 2.0, 5.0))
    learner._prior = Expected(np.array([WEIGHTS[w] for w in WORDS]), 2.0)
    explored = explore(learner)
    assert learner.by_odds
    assert not learner.vouched
    assert len(learner.pool) <= 1.3 * 60 + 16 + 24
    assert explored.proposal


def test_while_labels_are_alike_a_gradient_ranks_the_words():
    """Nothing was learned of any word; the direction that is expected is all there is."""
    learner = learner_of(lambda texts: [1] * len(texts))
    learner._prior = Expected(np.arange(60.0))
    learner.pool.draw((), 20)
    learner.fit()
    assert learner.order()[:3] == [59, 58, 57]


def test_documents_too_long_for_predictions_are_searched_by_samples(monkeypatch):
    """The surrogate ranks the words and predicts no precision; looks and the proof do."""
    monkeypatch.setattr(surrogates, "_MANY", 10)
    e = kedge.explain(lambda texts: [int("w7" in t.split()) for t in texts], TEXT)
    assert (e.words, e.status) == (("w7",), "certified")
