"""Branch and bound over additive scores and decision trees, against every anchor."""

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from counting import precision, shortest
from hypothesis import given, settings
from hypothesis import strategies as st

from kedge.model.additive import AdditiveScore
from kedge.model.leaves import LeafBoxes
from kedge.precision import Additive, Leaves
from kedge.search import Goal, branch, tree
from kedge.units import Units


def reading_of(sizes, **inside):
    """As much of a reading as these searches look at."""
    ends = np.cumsum([0, *sizes])
    members = tuple(tuple(range(a, b)) for a, b in pairwise(ends))
    given = {"additive": None, "leaves": None, "keep": 0.5, "units": Units(members)}
    return SimpleNamespace(**{**given, **inside})


def bent_case(rng, d, largest=3):
    """A score of presence, of logarithms, or of both, whose label holds for the document."""
    while True:
        sizes = rng.integers(1, largest + 1, d)
        presence = lambda c: np.minimum(c, 1.0)  # noqa: E731
        logarithm = lambda c: np.where(c > 0, 1 + np.log(np.maximum(c, 1)), 0.0)  # noqa: E731
        kind = rng.integers(3)
        slopes = [rng.normal(size=d), rng.standard_cauchy(d), rng.integers(-2, 4, d).astype(float)][kind]
        # Whole numbers and logarithms tie but for rounding, which only the model can decide.
        bends = [presence] if kind == 2 else [presence, logarithm]
        bent = [bends[rng.integers(len(bends))](np.arange(m + 1)) for m in sizes]
        tables = tuple(a * b for a, b in zip(slopes, bent, strict=True))
        full = float(sum(t[-1] for t in tables))
        bias = float([-full + abs(rng.normal()), 0.0, -0.7 * full][rng.integers(3)])
        bias = bias if kind < 2 else float(round(bias))
        score = AdditiveScore(bias, tables, strict=True)
        if score.score(sizes[None])[0] > 10 * score.error:
            return score


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.8, 0.9, 0.95]), st.sampled_from([0.5, 0.3]))
@settings(max_examples=120, deadline=None)
def test_bent_scores_find_the_best_of_the_shortest(seed, threshold, keep):
    """Presence and logarithms: the shortest anchor, and of these one of largest precision, proven."""
    rng = np.random.default_rng(seed)
    score = bent_case(rng, int(rng.integers(2, 6)))
    reading = reading_of(score.sizes, additive=score, keep=keep)
    found = branch(reading, Additive(reading), Goal(threshold), rng)
    length, best, _ = shortest(score.holds, score.sizes, threshold, keep)
    assert found.status == "exact"
    assert len(found.kept) == length
    assert found.mean == pytest.approx(best, abs=1e-12)


def _counts(found, sizes):
    return np.bincount(np.array(found.kept, dtype=int), minlength=len(sizes))


def test_a_spent_budget_is_said():
    """When the proof is not finished the answer is certified, reaches the threshold, and says why."""
    from kedge.search import branch as function

    rng = np.random.default_rng(5)
    sizes = rng.integers(1, 5, 60)
    tables = tuple(abs(rng.normal()) * np.minimum(np.arange(m + 1), 1.0) for m in sizes)
    total = float(sum(t[-1] for t in tables))
    score = AdditiveScore(-0.93 * total, tables, strict=True)
    reading = reading_of(sizes, additive=score)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(function.__globals__, "_NODES", 40)
        found = function(reading, Additive(reading), Goal(0.95), rng)
    assert found.status == "certified"
    assert found.low >= 0.95
    assert "stopped" in found.notes[0]


def test_long_bent_scores_are_proven():
    """At 120 words of presence the search still proves its answer, and sampling agrees with it."""
    rng = np.random.default_rng(11)
    sizes = rng.choice([1, 1, 1, 2, 3], 90)
    tables = tuple(rng.normal() * np.minimum(np.arange(m + 1), 1.0) for m in sizes)
    score = AdditiveScore(-float(sum(t[-1] for t in tables)) + 4.0, tables, strict=True)
    reading = reading_of(sizes, additive=score)
    found = branch(reading, Additive(reading), Goal(0.95), rng)
    assert found.status == "exact"
    kept = _counts(found, sizes)
    sample = kept + rng.binomial(sizes - kept, 0.5, (20_000, len(sizes)))
    assert abs(score.holds(sample).mean() - found.mean) < 0.01


def random_tree(rng, d, sizes, depth):
    """Boxes of a random tree on counts."""
    low, high, label = [], [], []

    def grow(a, b, level):
        j = int(rng.integers(d))
        cuts = [c for c in range(sizes[j]) if a[j] < c < min(b[j], sizes[j])]
        if level == 0 or not cuts or rng.random() < 0.1:
            low.append(a)
            high.append(b)
            label.append(bool(rng.integers(2)))
            return
        cut = int(rng.choice(cuts))
        left, right = b.copy(), a.copy()
        left[j], right[j] = cut, cut
        grow(a, left, level - 1)
        grow(right, b, level - 1)

    grow(np.full(d, -np.inf), np.full(d, np.inf), depth)
    return LeafBoxes(np.array(low), np.array(high), np.array(label))


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.7, 0.9, 0.95]), st.sampled_from([0.5, 0.8]))
@settings(max_examples=150, deadline=None)
def test_trees_find_the_best_of_the_shortest(seed, threshold, keep):
    """Any tree: precision to 1e-12, the shortest anchor, one of A3, and the lowest units of A3."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 6))
    sizes = rng.integers(1, 4, d)
    boxes = random_tree(rng, d, sizes, 5)
    if not boxes.holds(sizes[None])[0]:
        boxes = LeafBoxes(boxes.low, boxes.high, ~boxes.label)
    reading = reading_of(sizes, leaves=boxes, keep=keep)
    found = tree(reading, Leaves(reading), Goal(threshold), rng)
    length, best, a3 = shortest(boxes.holds, sizes, threshold, keep)
    assert found.status == "exact"
    assert len(found.kept) == length
    assert found.mean == pytest.approx(best, abs=1e-12)
    assert found.kept == min(tuple(np.repeat(np.arange(d), a).tolist()) for a in a3)
    assert found.baseline == pytest.approx(precision(boxes.holds, [0] * d, sizes, keep), abs=1e-12)


def test_a_wide_tree_on_a_long_document():
    """Forty words in a row of questions: the search says exact or certified, and keeps its promise."""
    d = 40
    low, high = np.full((d + 1, d), -np.inf), np.full((d + 1, d), np.inf)
    for leaf in range(d):  # leaf k: the first k words are absent, the next is there
        high[leaf, :leaf] = 0
        low[leaf, leaf] = 0
    high[d, :] = 0
    label = np.arange(d + 1) % 3 == 0
    boxes, sizes = LeafBoxes(low, high, label), np.ones(d, dtype=np.int64)
    reading = reading_of(sizes, leaves=boxes)
    found = tree(reading, Leaves(reading), Goal(0.95), np.random.default_rng(0))
    assert (found.status, found.kept) == ("exact", (0,))
