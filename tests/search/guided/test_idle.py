"""Words that a model does not read are left out of an anchor before its proof."""

import numpy as np
import pytest
from readings import reading_of

from kedge.errors import OutOfQueries
from kedge.results.interval import UNKNOWN
from kedge.search import Goal
from kedge.search.guided.course import Search
from kedge.search.guided.idle import without_idle
from kedge.search.guided.learner import Learner
from kedge.search.guided.pool import Pool
from kedge.search.guided.proof import Proof

WORDS = [f"w{i}" for i in range(12)]


def both_or_ninth(texts):
    """Probabilities of a model that reads w3, w7 and w9, and none of the others."""
    kept = [set(text.split()) for text in texts]
    p = np.array([0.9 if {"w3", "w7"} <= words else 0.3 + 0.2 * ("w9" in words) for words in kept])
    return np.column_stack([1 - p, p])


def pool_of(model, kept, rows):
    reading = reading_of(model, " ".join(WORDS))
    pool = Pool(reading, np.random.default_rng(0), reading.oracle.queries + 500)
    pool.draw(kept, rows)
    return pool


@pytest.mark.parametrize(
    ("kept", "rest"),
    [((3, 5, 7), (3, 7)), ((0, 3, 7, 11), (3, 7)), ((3, 9), (3, 9)), ((1, 2), (2,)), ((4,), (4,))],
)
def test_words_that_change_nothing_go(kept, rest):
    """Those that change something in some samples only stay, and so does a last word."""
    assert without_idle(pool_of(both_or_ninth, kept, 16), kept) == rest


def test_labels_or_few_samples_say_too_little():
    """Then nothing is left out, and nothing is asked."""
    labels = pool_of(lambda texts: both_or_ninth(texts).argmax(axis=1), (3, 5, 7), 16)
    few = pool_of(both_or_ninth, (3, 5, 7), 4)
    for pool in (labels, few):
        asked = pool.reading.oracle.queries
        assert without_idle(pool, (3, 5, 7)) == (3, 5, 7)
        assert pool.reading.oracle.queries == asked


def test_without_a_question_left_nothing_goes(monkeypatch):
    """What is known by then is the answer."""
    pool = pool_of(both_or_ninth, (3, 5, 7), 16)

    def none_left(_):
        raise OutOfQueries("None is left.")

    monkeypatch.setattr(pool, "ask", none_left)
    assert without_idle(pool, (3, 5, 7)) == (3, 5, 7)


def test_after_a_proof_that_failed_they_are_worth_a_try(monkeypatch):
    """The first proposal has none of them; a later one may, because what went may have done a little."""
    pool = pool_of(both_or_ninth, (3, 5, 7), 16)
    learner = Learner(pool, Goal(), 3_000)
    learner.begin()
    learner.fit()
    learner.vouched = False
    search = Search(learner, 5_000, 4, 0.9, prove=True)
    asked = []
    monkeypatch.setattr("kedge.search.guided.course.without_idle", lambda _, kept: asked.append(kept) or kept)
    search._trimmed((3, 5, 7))
    assert asked == [(3, 5, 7)]
    search._tried.append(Proof((3, 7), UNKNOWN))
    search._trimmed((3, 5, 7))
    assert asked == [(3, 5, 7)]
