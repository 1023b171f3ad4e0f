"""Leaves: exact where doubles are, and else right to the rounding that is stated."""

from fractions import Fraction
from itertools import product
from math import comb, prod

import numpy as np
import pytest
from readings import reading_of
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from kedge.evaluators.leaves import LeafChances, Leaves
from kedge.model.scores.leaves import LeafBoxes

SIZES = np.array([3, 2, 4])
# Three leaves: nothing of the first unit; else at most one, or more, of the third.
LOW = np.array([[-np.inf, -np.inf, -np.inf], [0, -np.inf, -np.inf], [0, -np.inf, 1]])
HIGH = np.array([[0, np.inf, np.inf], [np.inf, np.inf, 1], [np.inf, np.inf, np.inf]])
LABEL = np.array([False, True, False])


def law(size, kept, keep):
    """The chances of all counts, as fractions."""
    free, go = size - kept, 1 - keep
    row = [comb(free, c) * keep**c * go ** (free - c) for c in range(free + 1)]
    return [Fraction(0)] * kept + row


def truth(kept, keep):
    """By all counts there are, in fractions."""
    laws = [law(int(m), a, Fraction(keep)) for m, a in zip(SIZES, kept, strict=True)]
    total = Fraction(0)
    for counts in product(*(range(m + 1) for m in SIZES)):
        held = any(
            all(lo < c <= hi for lo, c, hi in zip(low, counts, high, strict=True))
            for low, high, label in zip(LOW, HIGH, LABEL, strict=True)
            if label
        )
        total += held * prod(row[c] for row, c in zip(laws, counts, strict=True))
    return total


@pytest.mark.parametrize("keep", [0.5, 0.3, 0.7, 0.9])
def test_every_anchor_against_fractions(keep):
    """Fair coins leave nothing open; others a few roundings, and the truth is within."""
    chances = LeafChances(LeafBoxes(LOW, HIGH, LABEL), SIZES, keep)
    assert chances.asked == [0, 2]
    for first, third in product(range(4), range(5)):
        found = float(chances.precision(np.array([[first, third]]))[0])
        true = truth((first, 0, third), keep)
        interval = chances.known(found)
        assert interval.low <= true <= interval.high
        assert found == true if keep == 0.5 else abs(found - true) < 1e-14
        assert (interval.width > 0) == (keep != 0.5 and 0 < true < 1)


def test_what_rounding_may_have_done_is_counted():
    """9 for each coin, 2 for each unit asked about, 1 for each leaf and 4 more, times 2^-52."""
    boxes = LeafBoxes(LOW, HIGH, LABEL)
    assert LeafChances(boxes, SIZES, 0.3).slack == (9 * 7 + 2 * 2 + 3 + 4) * 2.0**-52
    assert LeafChances(boxes, SIZES, 0.5).slack == 0.0
    assert LeafChances(boxes, 10 * SIZES, 0.5).slack == (9 * 70 + 2 * 2 + 3 + 4) * 2.0**-52


@pytest.mark.parametrize("keep", [0.5, 0.3])
def test_what_the_evaluator_leaves_open_is_the_rounding(keep):
    """The estimates of many anchors at once are as wide as that of each."""
    tree = make_pipeline(CountVectorizer(), DecisionTreeClassifier(random_state=0))
    tree.fit(["good good", "good", "bad", "bad bad good"], [1, 0, 0, 1])
    reading = reading_of(tree, "good good bad bad", keep=keep)
    evaluator = Leaves(reading)
    found = evaluator([(), (0, 0)]).intervals(0.05)
    assert found[0] == evaluator.chances.known(found[0].mean)
    assert 0 < found[0].mean < 1
    assert (found[0].width > 0) == (keep != 0.5)
