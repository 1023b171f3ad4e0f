"""The exact search of trees and rules where it must stop, and what it says then."""

import numpy as np
import pytest
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
