"""The fewest removed words of sums over n-grams: ties, and passes that would be too long."""

import numpy as np

from kedge.model.scores.chain import ChainScore
from kedge.search.flips import windows
from kedge.search.flips.windows import lose_windows


def chain(bias):
    """Two words that say one each, and nothing more together; a score of zero is still the label."""
    ones = np.ones(2, dtype=np.int64)
    return ChainScore(bias, ((0,), (1,), (0, 1)), np.array([1.0, 1.0, 0.0]), ones, strict=False)


def lost_by(score):
    return lambda counts: ~score.holds(counts)


def test_a_tie_that_keeps_the_label_takes_one_word_more():
    """Without one word the score is zero; without two it is below."""
    score = chain(-1.0)
    cut = lose_windows(score, lost_by(score))
    assert (cut.removed.tolist(), cut.proven) == ([1, 1], False)


def test_a_score_that_cannot_fall_below_zero_keeps_the_label():
    """Nothing is left, and the score is zero: the model was asked, and still says the label."""
    score = chain(0.0)
    assert lose_windows(score, lost_by(score)) is None


def test_a_pass_that_would_remember_too_much_is_not_made(monkeypatch):
    """Then nothing is said; other ways are tried."""
    score = chain(-0.5)
    assert lose_windows(score, lost_by(score)).removed.tolist() == [1, 1]
    monkeypatch.setattr(windows, "_NUMBERS", 8)
    assert lose_windows(score, lost_by(score)) is None


def test_a_score_that_stays_above_zero_needs_no_question():
    """Whatever is removed, the label holds: the model is not asked."""
    score = chain(1.0)
    assert lose_windows(score, None) is None
