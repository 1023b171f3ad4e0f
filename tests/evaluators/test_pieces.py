"""What is worked out piece by piece is what it is in one: however large the pieces are."""

from types import SimpleNamespace

import numpy as np
import pytest
from readings import reading_of

import kedge
from kedge.evaluators import empirical, enumeration, leaves, slopes
from kedge.evaluators.enumeration import Enumeration, anchor_precision
from kedge.evaluators.leaves import LeafChances
from kedge.model.scores.leaves import LeafBoxes
from kedge.search.exact import leading

TEXT = "very good food not bad very good"
RULE = kedge.rules.any_of(["very", "good"], ["not", "bad"])


def cut(size):
    """Pieces of so many."""
    return lambda n, *_: [slice(k, min(k + size, n)) for k in range(0, n, size)]


@pytest.mark.parametrize("size", [1, 5, 7])
@pytest.mark.parametrize("keep", [0.5, 0.3])
def test_enumerations(size, keep, monkeypatch):
    """Of all anchors, and of one."""
    reading = reading_of(RULE, TEXT, keep=keep)
    anchors = [(), (0,), (0, 0, 1), (2, 3), (0, 0, 1, 1, 2, 3)]
    whole = Enumeration(reading)
    every, each = whole.every, [anchor_precision(reading, kept) for kept in anchors]
    monkeypatch.setattr(enumeration, "pieces", cut(size))
    assert Enumeration(reading).every.tolist() == every.tolist()
    for kept, known in zip(anchors, each, strict=True):
        again = anchor_precision(reading, kept)
        assert tuple(again) == pytest.approx(tuple(known), abs=1e-14)
        assert whole([kept]).mean[0] == pytest.approx(known.mean, abs=1e-14)


@pytest.mark.parametrize("size", [1, 4])
def test_leaves(size, monkeypatch):
    """Each anchor by itself."""
    low, high = (
        np.array([[-np.inf, -np.inf], [1.0, -np.inf], [1.0, 0.0]]),
        np.array([[1.0, np.inf], [np.inf, 0.0], [np.inf, np.inf]]),
    )
    chances = LeafChances(LeafBoxes(low, high, np.array([True, False, True])), np.array([3, 2]), 0.3)
    kept = np.array([[a, b] for a in range(4) for b in range(3)])
    whole = chances.precision(kept)
    monkeypatch.setattr(leaves, "pieces", cut(size))
    assert chances.precision(kept).tolist() == whole.tolist()
    assert len({round(p, 6) for p in whole.tolist()}) > 3


@pytest.mark.parametrize("size", [1, 30, 64])
def test_slopes(size, monkeypatch):
    """Sums over samples do not depend on how they are cut."""
    rng = np.random.default_rng(0)
    sizes = np.array([1, 2, 3])
    counts, y = rng.binomial(sizes, 0.5, (64, 3)), rng.random((64, 2))
    whole = slopes.sample_slopes(counts, y, sizes, 0.5)
    monkeypatch.setattr(slopes, "pieces", cut(size))
    again = slopes.sample_slopes(counts, y, sizes, 0.5)
    assert again[0] == pytest.approx(whole[0])
    assert again[1] == pytest.approx(whole[1])


@pytest.mark.parametrize("size", [1, 2])
def test_draws_of_many_anchors(size, monkeypatch):
    """Each anchor gets its own samples, as many as were asked for."""
    monkeypatch.setattr(empirical, "pieces", cut(size))
    reading = reading_of(RULE, TEXT)
    evaluator = empirical.Empirical(reading, np.random.default_rng(0), share=True)
    anchors = [(0,), (1,), (2,), (0, 1), (2, 3)]
    found = evaluator(anchors, 40)
    for kept in anchors:
        counts, holds = evaluator.seen(kept)
        assert (counts >= reading.units.counts(kept)).all()
        assert holds.tolist() == reading.holds(counts).tolist()
    drawn = [len(evaluator._draws[kept].own()) for kept in anchors]
    assert drawn == [40] * 5
    assert found.trials.tolist() == [len(evaluator.seen(kept)[0]) for kept in anchors]


@pytest.mark.parametrize("size", [1000, 300])
@pytest.mark.parametrize("most", [4000, 4001])
def test_draws_of_one_lead(size, most, monkeypatch):
    """Twice as many each time while the side is open; what is known is the interval of all of them."""
    asked = []
    reading = SimpleNamespace(
        units=range(3),
        sample=lambda _, n, __: asked.append(n) or np.arange(n),
        holds=lambda counts: counts % 10 > 0,
    )
    monkeypatch.setattr(leading, "pieces", cut(size))
    search = leading._Search.__new__(leading._Search)
    search.knobs, search.reading = SimpleNamespace(samples=most), reading
    search.goal, search.rng, search.delta = SimpleNamespace(threshold=0.9), None, 0.05
    found = search._drawn((1,))
    total = 4000 if most == 4000 else 8000
    assert sum(asked) == total
    assert max(asked) <= size
    assert found.mean == 0.9
    low, high = leading.mixture_interval(round(0.9 * total), total, 0.05)
    assert (found.low, found.high) == (low, high)
