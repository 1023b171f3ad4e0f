"""Branch and bound over additive scores and decision trees, against every anchor."""

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from counting import precision, shortest
from hypothesis import given, settings
from hypothesis import strategies as st

from kedge.model.scores.additive import AdditiveScore
from kedge.model.scores.leaves import LeafBoxes
from kedge.search import Goal
from kedge.search.exact import branch
from kedge.search.exact.branch import Branch
from kedge.search.exact.tree import Tree
from kedge.text.units import Units


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
    found = Branch()(reading, Goal(threshold), rng)
    length, best, _ = shortest(score.holds, score.sizes, threshold, keep)
    assert found.status == "exact"
    assert len(found.kept) == length
    assert found.interval.mean == pytest.approx(best, abs=1e-12)


def _counts(found, sizes):
    return np.bincount(np.array(found.kept, dtype=int), minlength=len(sizes))


def test_a_spent_budget_is_said():
    """When the proof is not finished the answer is certified, reaches the threshold, and says why."""
    rng = np.random.default_rng(5)
    sizes = rng.integers(1, 5, 60)
    tables = tuple(abs(rng.normal()) * np.minimum(np.arange(m + 1), 1.0) for m in sizes)
    total = float(sum(t[-1] for t in tables))
    score = AdditiveScore(-0.93 * total, tables, strict=True)
    reading = reading_of(sizes, additive=score)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(branch, "_NODES", 40)
        found = Branch()(reading, Goal(0.95), rng)
    assert found.status == "certified"
    assert found.interval.low >= 0.95
    assert "stopped" in found.notes[0]


def test_long_bent_scores_are_proven():
    """At 120 words of presence the search still proves its answer, and sampling agrees with it."""
    rng = np.random.default_rng(11)
    sizes = rng.choice([1, 1, 1, 2, 3], 90)
    tables = tuple(rng.normal() * np.minimum(np.arange(m + 1), 1.0) for m in sizes)
    score = AdditiveScore(-float(sum(t[-1] for t in tables)) + 4.0, tables, strict=True)
    reading = reading_of(sizes, additive=score)
    found = Branch()(reading, Goal(0.95), rng)
    assert found.status == "exact"
    kept = _counts(found, sizes)
    sample = kept + rng.binomial(sizes - kept, 0.5, (20_000, len(sizes)))
    assert abs(score.holds(sample).mean() - found.interval.mean) < 0.01


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
    found = Tree()(reading, Goal(threshold, ties="first"), rng)
    length, best, a3 = shortest(boxes.holds, sizes, threshold, keep)
    assert found.status == "exact"
    assert len(found.kept) == length
    assert found.interval.mean == pytest.approx(best, abs=1e-12)
    assert found.kept == min(tuple(np.repeat(np.arange(d), a).tolist()) for a in a3)
    assert found.baseline.mean == pytest.approx(precision(boxes.holds, [0] * d, sizes, keep), abs=1e-12)


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
    found = Tree()(reading, Goal(0.95, ties="first"), np.random.default_rng(0))
    assert (found.status, found.kept) == ("exact", (0,))


def presence(*weights, times=2):
    """Tables of words that count once, however often they occur."""
    return tuple(weight * np.minimum(np.arange(times + 1), 1.0) for weight in weights)


def judged(score, found, keep=0.5):
    """The precision of what was found, by all samples."""
    return precision(score.holds, _counts(found, score.sizes), score.sizes, keep)


def test_nothing_is_kept_if_that_may_be_said():
    """A label that presence hardly changes needs no word."""
    score = AdditiveScore(3.0, presence(1.0, 0.5))
    reading = reading_of(score.sizes, additive=score)
    found = Branch()(reading, Goal(allow_empty=True), np.random.default_rng(0))
    assert (found.kept, found.status) == ((), "exact")
    assert len(Branch()(reading, Goal(), np.random.default_rng(0)).kept) == 1


def test_a_word_that_helps_and_hurts_is_certified_only():
    """Once it helps, twice it hurts: there is no chain, and the answer says so."""
    tables = (np.array([0.0, 3.0, 1.0]), np.array([0.0, 2.0, 2.0]), np.array([0.0, -1.0]))
    score = AdditiveScore(-1.5, tables)
    found = Branch()(reading_of(score.sizes, additive=score), Goal(0.9), np.random.default_rng(0))
    assert found.status == "certified"
    assert "helps and hurts" in found.notes[0]
    assert judged(score, found) >= 0.9


@pytest.mark.parametrize("nodes", range(4, 60, 5))
def test_wherever_the_search_is_stopped_its_promise_holds(nodes, monkeypatch):
    """Certified, with the reason, or exact: the threshold is reached, and exact means shortest."""
    monkeypatch.setattr(branch, "_NODES", nodes)
    rng = np.random.default_rng(1)
    sizes = rng.integers(1, 4, 8)
    tables = tuple(abs(rng.normal()) * np.minimum(np.arange(m + 1), 1.0) for m in sizes)
    score = AdditiveScore(-0.8 * float(sum(t[-1] for t in tables)), tables)
    found = Branch()(reading_of(sizes, additive=score), Goal(0.9), rng)
    assert judged(score, found) >= 0.9
    if found.status == "exact":
        assert len(found.kept) == shortest(score.holds, sizes, 0.9)[0]
    else:
        assert (found.status, len(found.notes)) == ("certified", 1)


def test_a_table_of_bounds_that_would_be_too_large_is_not_made(monkeypatch):
    """Too many operations, or scores too far from zero for a grid: certified without a proof."""
    score = AdditiveScore(-1.6, presence(1.0, 0.8, 0.7, 0.6))
    with monkeypatch.context() as patch:
        patch.setattr(branch, "_OPERATIONS", 0)
        small = Branch()(reading_of(score.sizes, additive=score), Goal(0.9), np.random.default_rng(0))
    assert (small.status, judged(score, small) >= 0.9) == ("certified", True)
    # Words that hardly ever vanish: the spread is tiny beside what they have to make up for.
    far = AdditiveScore(-3.9, presence(1.0, 1.0, 1.0, 1.0, times=20))
    found = Branch()(reading_of(far.sizes, additive=far), Goal(0.99999999), np.random.default_rng(0))
    assert found.status == "certified"
    assert judged(far, found) >= 0.99999999


def test_what_only_rounding_decides_is_not_claimed():
    """0.1 + 0.2 - 0.3 is zero on paper: no anchor surely reaches, and none is said to."""
    score = AdditiveScore(0.0, presence(0.1, 0.2, -0.3))
    found = Branch()(reading_of(score.sizes, additive=score), Goal(0.95), np.random.default_rng(0))
    assert (found.status, found.interval.low < 0.95) == ("not_reached", True)


def test_nothing_might_do():
    """One word surely reaches; whether none would is up to the last bit: no claim that it is shortest."""
    score = AdditiveScore(0.0, presence(0.1, 0.2, -0.3, 10.0))
    reading = reading_of(score.sizes, additive=score)
    baseline = Branch()(reading, Goal(0.5), np.random.default_rng(0)).baseline
    assert baseline.low < baseline.high
    found = Branch()(reading, Goal(baseline.high, allow_empty=True), np.random.default_rng(0))
    assert (found.kept, found.status) == ((3,), "certified")
    assert len(found.notes) == 1
