"""Estimates of precisions: as near the truth as their errors say, by whichever way says most."""

import numpy as np
import pytest
from readings import reading_of

from kedge.search import Goal
from kedge.search.guided import surrogate as surrogates
from kedge.search.guided.learner import Learner
from kedge.search.guided.looking import Look, look_at
from kedge.search.guided.pool import Pool

WORDS = [f"w{i}" for i in range(30)]
WEIGHTS = dict(zip(WORDS, np.random.default_rng(0).normal(0.25, 1, 30), strict=True))


def odds_of(texts):
    """Log-odds that are nearly a sum: squares make up a part of them."""
    sums = np.array([sum(WEIGHTS.get(w, 0.0) for w in text.split()) for text in texts])
    return sums + 0.02 * sums**2 - 1


def probabilities(texts):
    odds = odds_of(texts)
    return np.column_stack([1 / (1 + np.exp(odds)), 1 / (1 + np.exp(-odds))])


def labels(texts):
    return (odds_of(texts) > 0).astype(int).tolist()


def learner_of(model, rows=60):
    reading = reading_of(model, " ".join(WORDS))
    pool = Pool(reading, np.random.default_rng(1), reading.oracle.queries + 10_000)
    learner = Learner(pool, Goal(), 3_000)
    pool.draw((), rows)
    learner.fit()
    return learner


def truth(learner, kept, gone=None):
    rows = learner.pool.reading.sample(kept, 4_000, np.random.default_rng(7))
    if gone is not None:
        rows[:, gone] -= 1
    return learner.pool.reading.holds(rows).mean()


@pytest.mark.parametrize("model", [probabilities, labels])
@pytest.mark.parametrize("gone", [None, 0])
def test_an_estimate_is_as_near_as_its_error_says(model, gone):
    """With a unit kept, or kept and gone; from log-odds, or from labels that the surrogate predicts."""
    learner = learner_of(model)
    kept = (
        tuple(sorted([0, *learner.order()[:2]])) if gone is not None else tuple(sorted(learner.order()[:2]))
    )
    rows = learner.pool.given(kept)
    learner.pool.draw(kept, 48)
    rows = learner.pool.given(kept)
    if gone is not None:
        counts = rows.counts.astype(np.int64)
        counts[:, gone] -= 1
        holds, odds = learner.pool.reading.answers(counts)
        rows = type(rows)(counts, holds, odds)
    look = look_at(learner, kept, rows, gone)
    assert look.error < 0.08
    assert abs(look.mean - truth(learner, kept, gone)) < 4 * look.error + 0.01


def test_log_odds_say_more_than_their_signs():
    """The error is smaller than that of counting."""
    learner = learner_of(probabilities)
    kept = tuple(sorted(learner.order()[:2]))
    learner.pool.draw(kept, 48)
    look = look_at(learner, kept, learner.pool.given(kept))
    n = len(learner.pool.given(kept).holds)
    assert look.error < 0.5 * np.sqrt(0.05 * 0.95 / n) + 0.01


def test_log_odds_of_no_sum_are_taken_as_they_are():
    """A surrogate of labels does not predict them; their own mean and spread are used."""
    learner = learner_of(probabilities)
    learner.turn_to_labels()
    learner.fit()
    kept = tuple(sorted(learner.order()[:2]))
    learner.pool.draw(kept, 48)
    assert abs(look_at(learner, kept, learner.pool.given(kept)).mean - truth(learner, kept)) < 0.06


def test_nothing_known_is_no_estimate():
    """Without samples the surrogate alone speaks, and where it cannot, nothing is known."""
    learner = learner_of(labels, rows=12)
    none = learner.pool.given((0,)).where(np.zeros(len(learner.pool.given((0,)).holds), dtype=bool))
    assert look_at(learner, (0,), none) == Look(0.5, 0.5, 0)  # it has predicted nothing yet
    learner.predicted(np.zeros(60, dtype=bool))
    look = look_at(learner, (0,), none)
    assert (look.trials, look.error) == (0, learner.error)


def test_documents_too_long_for_predictions_are_counted(monkeypatch):
    """The surrogate predicts nothing there."""
    monkeypatch.setattr(surrogates, "_MANY", 10)
    learner = learner_of(labels)
    rows = learner.pool.given((0,))
    assert look_at(learner, (0,), rows).mean == pytest.approx(rows.holds.mean())
