"""The joint law of a sum and a squared norm: every interval holds the truth, whatever the grid."""

import math

import numpy as np
import pytest
from counting import all_counts, chances

from kedge.evaluators.grids import plane
from kedge.evaluators.grids.plane import Plane


def drawn(seed, *, size=2):
    """A plane over five words with an anchor."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, size + 1, 5)
    counts = np.arange(size + 1)
    values = rng.uniform(0.3, 2.0, 5)[:, None] * counts
    squares = values**2
    middle = math.sqrt(float((squares[np.arange(5), sizes] / 2).sum()))
    bias = float(rng.normal())
    parts = rng.normal(size=5)[:, None] * values + bias / (2 * middle) * squares
    kept = np.where(rng.random(5) < 0.3, 1, 0)
    kept[rng.integers(5)] = 1
    keep = [0.5, 0.3][seed % 2]
    return Plane(parts, squares, sizes, kept, keep, bias, middle, 0.0)


def truth(of):
    """P(T + b g(D) > 0) by every sample."""
    counts = all_counts(of.kept, of.sizes)
    each = np.arange(len(of.sizes))
    total, norm = (table[each, counts].sum(axis=1) for table in (of.parts, of.squares))
    score = total + of.bias * (np.sqrt(norm) - norm / (2 * of.middle))
    return float(chances(counts, of.kept, of.sizes, of.keep)[score > 0].sum())


@pytest.mark.parametrize("target", [0.05, 0.005])
def test_the_interval_holds_the_truth(target):
    """For any target, and close to it."""
    widths = []
    for seed in range(40):
        of = drawn(seed)
        tail = of.tail(target)
        if tail is not None:
            assert tail.low <= truth(of) <= tail.high
            widths.append(tail.width)
    assert len(widths) > 20
    assert np.median(widths) < 0.5


def test_what_does_not_fit_on_the_grid_is_on_neither_side(monkeypatch):
    """A window of half a standard deviation loses much of the law: the interval is as much wider."""
    monkeypatch.setattr(plane, "_EXTENT", 0.5)
    for seed in range(40):
        of = drawn(seed)
        tail = of.tail(0.01)
        if tail is not None:
            assert tail.low <= truth(of) <= tail.high


def test_a_sum_or_a_norm_that_never_changes_is_left_to_others():
    """There is nothing to put on the grid in one of its directions."""
    of = drawn(0)
    flat = np.zeros_like(of.parts)
    assert Plane(flat, of.squares, of.sizes, of.kept, 0.5, 1.0, 1.0, 0.0).tail(0.01) is None
    assert Plane(of.parts, flat, of.sizes, of.kept, 0.5, 1.0, 1.0, 0.0).tail(0.01) is None
    assert Plane(of.parts, of.squares, of.sizes, of.sizes, 0.5, 1.0, 1.0, 0.0).tail(0.01) is None
