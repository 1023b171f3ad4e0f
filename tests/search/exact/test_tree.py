"""The exact search of trees and rules where it must stop, and what it says then."""

from itertools import product

import numpy as np
import pytest
from counting import anchors
from readings import reading_of

import kedge
from kedge.evaluators import Enumeration
from kedge.search import Goal
from kedge.search.exact import tree
from kedge.search.exact.tree import Tree

RULE = kedge.rules.any_of(["not", "bad"], ["very", "good"])
TEXT = "not so bad and very very good"


@pytest.mark.parametrize("threshold", [0.8, 0.95, 1.0])
def test_too_many_branches_are_said(monkeypatch, threshold):
    """What helps most is kept, word by word: certified, truly, and with the reason."""
    monkeypatch.setattr(tree, "_BUDGET", 0)
    reading = reading_of(RULE, TEXT)
    found = Tree()(reading, Goal(threshold), np.random.default_rng(0))
    assert found.status == "certified"
    assert found.notes == ("There are too many anchors of 1 words to look at all of them.",)
    assert found.interval.mean == pytest.approx(Enumeration(reading)([found.kept]).mean[0], abs=1e-12)
    assert found.interval.low >= threshold


def test_no_word_is_needed():
    """A label that hardly anything takes away: nothing is kept, if that may be said, else any one word."""
    reading = reading_of(
        ~kedge.rules.all_present(["not", "so", "bad", "good", "food", "here"]), "good food so bad"
    )
    assert Tree()(reading, Goal(allow_empty=True), np.random.default_rng(0)).kept == ()
    assert len(Tree()(reading, Goal(), np.random.default_rng(0)).kept) == 1


def test_the_interval_is_that_of_the_anchor_taken():
    """Two anchors tie but for 1e-21, and one is certain: the other is not called certain with it."""
    rule = kedge.rules.any_of(["the"], ["good"], ["film", "plot"])
    text = " ".join(["film", "plot", *["the"] * 10, *["good"] * 11])
    taken = set()
    for tie in ("first", "last"):
        e = kedge.explain(rule, text, keep=0.9, ties=tie, method="tree")
        assert e.status == "exact"
        assert (e.interval.low == 1.0) == (e.words[0] != "film")
        taken.add(e.words[0])
        assert e.baseline is not None
        assert e.baseline.high < 1.0
    assert taken == {"film", "good"}


@pytest.fixture
def uneven():
    """Chances that are rounded: leaves over words that occur several times, kept with 0.3."""
    rule = kedge.rules.any_of(["not", "bad"], ["very", "good"], ["so"])
    reading = reading_of(rule, "not so bad and very very good good bad", keep=0.3)
    chances = tree.Leaves(reading).chances
    return chances, reading.units.sizes[chances.asked]


@pytest.mark.parametrize("length", [1, 2, 3])
def test_an_anchor_at_the_bar_stays_within_the_rounding_and_not_beyond(uneven, length):
    """Each anchor's own precision as the bar, and a little more than that."""
    chances, sizes = uneven
    for kept in anchors(sizes.tolist(), length):
        own = float(chances.precision(np.array([kept]))[0])
        if own in {0.0, 1.0}:
            continue
        for share, stays in ((-3.0, True), (0.0, True), (0.9, True), (1.1, False), (40.0, False)):
            level = tree._level(chances, sizes, length, own + share * chances.slack)
            assert (list(kept) in level.kept.tolist()) == stays


@pytest.mark.parametrize("length", [1, 2, 4])
def test_branches_are_counted_one_by_one(uneven, length, monkeypatch):
    """All ways to decide some units that leave room for the rest, times the leaves; one more is too many."""
    chances, sizes = uneven
    most = 0
    for i in range(len(sizes)):
        room = int(sizes[i + 1 :].sum())
        ways = product(*(range(int(m) + 1) for m in sizes[: i + 1]))
        most = max(most, sum(0 <= length - sum(way) <= room for way in ways))
    monkeypatch.setattr(tree, "_BUDGET", most * len(chances.label))
    level = tree._level(chances, sizes, length, 0.0)
    assert {tuple(row) for row in level.kept.tolist()} == set(anchors(sizes.tolist(), length))
    monkeypatch.setattr(tree, "_BUDGET", most * len(chances.label) - 1)
    assert tree._level(chances, sizes, length, 0.0) is None


def test_what_helps_most_is_kept_first(uneven):
    """One occurrence at a time, of the first of several that help as much; at least one."""
    chances, sizes = uneven
    for bar in (0.0, 0.5, 0.8, 0.95, 1.0):
        kept = np.zeros(len(sizes), dtype=np.int64)
        value = float(chances.precision(kept[None])[0])
        while value < bar or not kept.any():
            tries = [kept + (np.arange(len(sizes)) == j) for j in np.flatnonzero(kept < sizes)]
            values = [float(chances.precision(one[None])[0]) for one in tries]
            kept, value = tries[int(np.argmax(values))], max(values)
        assert tree._greedy(chances, sizes, bar).tolist() == kept.tolist()


def test_a_trace_is_for_looking_at(monkeypatch):
    """So many anchors of it, the answer's interval among all that reach."""
    monkeypatch.setattr(tree, "_TRACE", 3)
    rule = kedge.rules.any_of(["a"], ["b"], ["c"], ["d"], ["e"])
    found = Tree()(reading_of(rule, "a b c d e"), Goal(0.9), np.random.default_rng(0))
    assert len(found.trace) == 3
    assert found.interval == kedge.Interval.exactly(1.0)
    assert len(found.selection.tied) == 5
