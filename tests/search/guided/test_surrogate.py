"""The surrogate: exact predictions, and fits that find a linear model again."""

import numpy as np
import pytest
from counting import precision as brute_precision
from hypothesis import given
from hypothesis import strategies as st

from kedge.reading.expected import Expected
from kedge.search.guided.fitting import fit_labels, fit_log_odds, tie_weights
from kedge.search.guided.surrogate import Surrogate

SIZES = st.lists(st.integers(1, 3), min_size=1, max_size=5)


@given(SIZES, st.data(), st.sampled_from([0.3, 0.5]))
def test_predicted_losses_are_exact_probabilities(sizes, data, keep):
    """The loss of every prefix, and of any anchor, equals the sum over all samples."""
    sizes = np.array(sizes)
    weights = np.array(data.draw(st.lists(st.integers(-9, 9), min_size=len(sizes), max_size=len(sizes))))
    surrogate = Surrogate(weights, data.draw(st.integers(-12, 12)), sizes, keep)
    order = surrogate.order()
    losses = surrogate.losses(order, len(order))
    for length in range(len(order) + 1):
        kept = np.bincount(order[:length], minlength=len(sizes))
        truth = 1 - brute_precision(surrogate.holds, kept, sizes, keep)
        assert losses[length] == pytest.approx(truth, abs=1e-12)
        assert surrogate.loss(tuple(sorted(order[:length]))) == pytest.approx(truth, abs=1e-12)


def test_order_is_by_weight_and_near_ties_by_position():
    """Occurrences repeat by multiplicity; weights closer than the resolution rank as the text does."""
    surrogate = Surrogate(np.array([99, 100, -5, 40]), 0, np.array([1, 2, 1, 1]), 0.5)
    assert surrogate.order(0.05) == [0, 1, 1, 3, 2]
    assert surrogate.order() == [1, 1, 0, 3, 2]


@pytest.fixture
def linear():
    """A linear model of 12 units and 400 random samples of it."""
    rng = np.random.default_rng(3)
    weights, bias = rng.normal(size=12), -0.4
    counts = (rng.random((400, 12)) < 0.5).astype(np.int64)
    return counts, weights, bias, np.ones(12, dtype=np.int64)


def test_log_odds_of_an_additive_model_are_found_again(linear):
    """A dozen equations more than unknowns give the weights to rounding, labels included."""
    counts, weights, bias, sizes = linear
    odds = counts @ weights + bias
    surrogate = fit_log_odds(counts[:30], odds[:30], odds[:30] > 0, sizes, 0.5, np.arange(12)).surrogate
    scale = surrogate.weights / weights
    assert np.allclose(scale, scale[0], rtol=0.01)
    assert (surrogate.holds(counts) == (odds > 0)).mean() > 0.995


def test_a_gradient_makes_few_samples_enough(linear):
    """With the direction known, six samples of twelve unknowns rank them all."""
    counts, weights, bias, sizes = linear
    odds = counts @ weights + bias
    words = np.arange(12)
    ahead = Expected(3 * weights)
    surrogate = fit_log_odds(counts[:6], odds[:6], odds[:6] > 0, sizes, 0.5, words, ahead).surrogate
    assert surrogate.order() == [int(j) for j in np.argsort(-weights)]


def test_a_label_that_holds_below_even_odds_moves_the_cut(linear):
    """With several classes a label may hold at a probability below one half."""
    counts, weights, bias, sizes = linear
    odds = counts @ weights + bias
    surrogate = fit_log_odds(counts, odds, odds > -1.0, sizes, 0.5, np.arange(12)).surrogate
    assert (surrogate.holds(counts) == (odds > -1.0)).mean() > 0.99


def test_labels_alone_find_the_weights(linear):
    """Logistic regression agrees with the model's labels and with the order of the large weights."""
    counts, weights, bias, sizes = linear
    holds = counts @ weights + bias > 0
    surrogate, start = fit_labels(counts, holds, sizes, 0.5, np.arange(12))
    assert (surrogate.holds(counts) == holds).mean() > 0.98
    assert np.corrcoef(surrogate.weights, weights)[0, 1] > 0.97
    again, _ = fit_labels(counts, holds, sizes, 0.5, np.arange(12), start=start)
    assert (again.holds(counts) == holds).mean() > 0.98


def test_one_label_teaches_nothing(linear):
    """While the label never changes all weights are zero."""
    counts, _, _, sizes = linear
    surrogate, _ = fit_labels(counts, np.ones(400, dtype=bool), sizes, 0.5, np.arange(12))
    assert not surrogate.weights.any()
    assert surrogate.holds(counts).all()


def test_occurrences_of_a_word_share_what_they_hardly_differ_in():
    """Equal words get equal weights; an occurrence that clearly counts more keeps its own."""
    groups = np.array([0, 1, 0, 2, 2])
    weights = np.array([1.0, -0.5, 0.95, 0.9, 0.1])
    assert tie_weights(weights, groups).tolist() == [0.975, -0.5, 0.975, 0.9, 0.1]


@given(st.integers(0, 2**32 - 1), st.floats(1e-4, 0.2))
def test_a_cautious_surrogate_predicts_losses_so_much_more_often(seed, more):
    """The bias falls to the first score at which that is so; the weights stay."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 3, 8)
    surrogate = Surrogate.of(rng.normal(size=8), float(rng.normal()), sizes, 0.5)
    kept = (int(rng.integers(8)),)
    cautious = surrogate.cautious(kept, more)
    lost = surrogate.loss(kept)
    assert cautious.bias <= surrogate.bias
    assert cautious.loss(kept) >= min(lost + more, 1.0) - 1e-9
    if cautious.bias < surrogate.bias:
        a_score_less = Surrogate(cautious.weights, cautious.bias + 1, sizes, 0.5)
        assert a_score_less.loss(kept) < lost + more + 1e-9
