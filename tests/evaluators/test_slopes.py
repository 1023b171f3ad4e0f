"""What each unit does to an answer: against least squares, refits and sums by hand."""

import numpy as np
import pytest

from kedge.evaluators import slopes

SIZES = np.array([1, 2, 3])


def drawn(n, keep=0.3, seed=0):
    rng = np.random.default_rng(seed)
    counts = rng.binomial(SIZES, keep, size=(n, len(SIZES)))
    y = (counts @ [0.5, -0.2, 0.1] + rng.normal(scale=0.3, size=n))[:, None]
    return counts, y


def test_many_samples_are_fitted_by_least_squares():
    """Slopes and standard errors are those of the textbook, with an intercept."""
    counts, y = drawn(400)
    found, error = slopes.sample_slopes(counts, y, SIZES, 0.3)
    design = np.column_stack([np.ones(len(counts)), counts])
    fit, *_ = np.linalg.lstsq(design, y, rcond=None)
    noise = ((y - design @ fit) ** 2).sum() / (400 - 3 - 1)
    noise *= 396 / 394  # Student's distribution with as many degrees of freedom
    textbook = np.sqrt(noise * np.diag(np.linalg.inv(design.T @ design)))
    np.testing.assert_allclose(found, fit[1:], rtol=1e-6)
    np.testing.assert_allclose(error[:, 0], textbook[1:], rtol=1e-6)


@pytest.mark.parametrize(("n", "fitted"), [(7, False), (8, True)])
def test_few_samples_are_not_fitted(n, fitted):
    """Five more samples than units are needed; with fewer the slope of each unit alone is taken."""
    counts, y = drawn(n, keep=0.5, seed=3)
    y = 2.0 * counts[:, :1] - 1.0 * counts[:, 1:2]  # a line, which a fit finds without any error
    found, error = slopes.sample_slopes(counts, y, SIZES, 0.5)
    x = counts - SIZES * 0.5
    variance = SIZES * 0.25
    centred = y[:, 0] - y.mean()
    alone = np.array([np.mean(x[:, j] * centred) / variance[j] for j in range(3)])
    spread = [np.mean((x[:, j] * centred) ** 2) - (alone[j] * variance[j]) ** 2 for j in range(3)]
    if fitted:
        np.testing.assert_allclose(found[:, 0], [2, -1, 0], atol=1e-6)
        assert error.max() < 1e-6
    else:
        np.testing.assert_allclose(found[:, 0], alone)
        np.testing.assert_allclose(error[:, 0], np.sqrt(np.array(spread) / n) / variance)


def test_open_rows_are_filled_in_and_their_error_is_that_of_rows_left_out():
    """The error is what a fit without a row says wrongly of it: each row is left out in turn here."""
    counts, y = drawn(30, seed=5)
    counts, first = np.unique(counts, axis=0, return_index=True)
    y = y[first]
    everything = np.indices(SIZES + 1).reshape(3, -1).T
    full, error = slopes.imputed(counts, y, everything, within=(-9.0, 9.0))
    design = np.column_stack([np.ones(len(counts)), counts])

    def fit(rows):
        ridge = design[rows].T @ design[rows] + 0.5 * np.eye(4)
        return np.linalg.solve(ridge, design[rows].T @ y[rows])

    each = np.arange(len(counts))
    left = [float((y[i] - design[i] @ fit(each != i))[0]) for i in each]
    assert error == pytest.approx(np.sqrt(np.mean(np.square(left))))
    line = np.column_stack([np.ones(len(everything)), everything]) @ fit(each >= 0)
    asked = [any((row == other).all() for other in counts) for row in everything]
    known = {tuple(row): value for row, value in zip(counts.tolist(), y[:, 0], strict=True)}
    expected = [known.get(tuple(row), guess[0]) for row, guess in zip(everything.tolist(), line, strict=True)]
    np.testing.assert_allclose(full[:, 0], expected)
    assert 0 < sum(asked) < len(everything)


def test_nothing_is_open_where_all_rows_were_asked():
    """Every answer is its own, without error."""
    everything = np.indices(SIZES + 1).reshape(3, -1).T
    y = np.random.default_rng(1).normal(size=(len(everything), 2))
    full, error = slopes.imputed(everything, y, everything, within=(-1.0, 1.0))
    np.testing.assert_array_equal(full, y)
    assert error == 0.0
