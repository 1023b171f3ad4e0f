"""The logistic function, and work in pieces."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from kedge.utils.numerics import logistic, pieces


@given(st.lists(st.floats(allow_nan=False), max_size=20))
def test_logistic_agrees_with_scipy(scores):
    """To a few units in the last place, and without a warning for infinite scores."""
    with np.errstate(all="raise"):
        np.testing.assert_allclose(logistic(scores), expit(np.array(scores)), rtol=1e-14, atol=1e-300)


@given(st.integers(0, 500), st.integers(0, 60), st.integers(1, 300))
def test_pieces_cover_all_rows_once_within_the_limit(rows, width, cells):
    """In order, without gaps or empty pieces; a row wider than the limit is a piece of its own."""
    found = list(pieces(rows, width, cells))
    assert [i for piece in found for i in range(rows)[piece]] == list(range(rows))
    for piece in found:
        count = piece.stop - piece.start
        assert count >= 1
        assert count == 1 or count * width <= cells
