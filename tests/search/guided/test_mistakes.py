"""How often a surrogate of labels is wrong, and what more queries leave of that."""

import numpy as np
import pytest

from kedge.search.guided.mistakes import Mistakes

RIGHT, WRONG = np.zeros(40, dtype=bool), np.ones(40, dtype=bool)


def test_nothing_is_known_before_the_first_predictions():
    """Without a prior a surrogate that was never tried is taken to be always wrong."""
    assert Mistakes(50).share(100) == 1.0
    assert Mistakes(50).ahead(100) == [(0.0, 1.0)]
    assert Mistakes(50, has_prior=True).share(0) == pytest.approx(0.02)


def test_a_prediction_made_by_a_smaller_pool_says_more_of_a_larger_one():
    """Right predictions count for more once the pool has grown, wrong ones do not."""
    mistakes = Mistakes(50)
    mistakes.remember(RIGHT, 90)
    assert mistakes.share(180) < mistakes.share(90) / 2
    mistakes = Mistakes(50)
    mistakes.remember(WRONG, 90)
    assert mistakes.share(180) > 0.25


def test_rows_ahead_halve_the_mistakes_again_and_again():
    """Each 1.8 labels per word leave half, down to what a fit to labels leaves at best."""
    mistakes = Mistakes(100)
    mistakes.remember(RIGHT, 180)
    ahead = dict(mistakes.ahead(180))
    now = mistakes.share(180)
    assert ahead[0.0] == now
    assert ahead[180.0] == pytest.approx(now / 2)
    assert min(ahead.values()) == 1e-3


def test_a_model_that_is_no_sum_is_told_by_a_pool_that_is_large_enough():
    """A small pool may stand still and still learn; a large one that stands still has no more to learn."""
    mistakes = Mistakes(50)
    mistakes.remember(np.arange(40) % 4 == 0, 100)
    mistakes.stall(199)
    assert not mistakes.stalled
    mistakes.stall(200)
    assert mistakes.stalled
    assert mistakes.share(1000) == mistakes.lately == pytest.approx(10.5 / 41)
    assert mistakes.ahead(1000) == [(0.0, mistakes.lately)]
    mistakes.forget()
    assert not mistakes.stalled
    assert mistakes.lately == 1.0


def test_only_the_latest_predictions_count():
    """What an early surrogate got wrong is forgotten."""
    mistakes = Mistakes(50)
    mistakes.remember(WRONG, 20)
    for rows in (100, 200, 300):
        mistakes.remember(RIGHT, rows)
    assert mistakes.share(300) < 0.02
