"""The ranking by gradient where the questions run out."""

import numpy as np
from networks import DOCUMENT, LABELS, TEXTS
from readings import reading_of
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline

import kedge
from kedge.search import Goal


def test_questions_that_run_out():
    """The best seen so far, whole document and all, and the oracle's reason."""
    model = make_pipeline(CountVectorizer(), MLPClassifier((4,), max_iter=300, random_state=0, tol=1e-2))
    reading = reading_of(model.fit(TEXTS, LABELS), DOCUMENT, max_queries=30)
    strategy = kedge.Gradient(evaluator="empirical", samples=100)
    found = strategy(reading, Goal(0.99), np.random.default_rng(0))
    assert (found.status, len(found.notes)) == ("not_reached", 1)
    assert "30" in found.notes[0]
