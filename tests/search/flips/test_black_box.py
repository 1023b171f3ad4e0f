"""The fewest removed words of a model that can only be asked, where questions run out."""

import numpy as np
import pytest

from kedge.search.flips import black_box
from kedge.search.flips.black_box import Trials, lose_by_asking
from kedge.search.flips.cut import Cut

SIZES = np.ones(12, dtype=np.int64)


def trials(most):
    """The label is lost without the first three words, or with fewer than six of the twelve."""

    def answers(counts):
        holds = (counts[:, :3].sum(axis=1) > 0) & (counts.sum(axis=1) >= 6)
        return holds, np.full(len(counts), np.nan)

    return Trials(answers, SIZES, most)


def cut(*units):
    return Cut(np.isin(np.arange(12), units).astype(np.int64), proven=False)


def holds_without(asked, removed):
    return bool(asked._answers((SIZES - removed)[None])[0][0])


@pytest.fixture(autouse=True)
def _few_questions_at_last(monkeypatch):
    monkeypatch.setattr(black_box, "_AT_LAST", 0)


def test_a_first_answer_that_is_shorter_is_kept():
    """Trying finds a removal of seven words before the questions run out; the first answer has three."""
    asked = trials(13)
    found = lose_by_asking(asked, np.random.default_rng(0), proof=lambda: 0, start=cut(0, 1, 2))
    assert asked.smallest().sum() > 3
    assert found.removed.tolist() == cut(0, 1, 2).removed.tolist()
    assert (found.proven, found.irreducible) == (False, False)


def test_what_was_lost_on_the_way_is_the_answer_when_questions_run_out():
    """Not called irreducible: no word was put back."""
    asked = trials(13)
    found = lose_by_asking(asked, np.random.default_rng(0), proof=lambda: 0)
    assert found.removed.tolist() == asked.smallest().tolist()
    assert not holds_without(asked, found.removed)
    assert not found.irreducible


def test_a_first_answer_is_shortened_as_far_as_questions_go(monkeypatch):
    """The fourth word is put back, with any number of questions at last: never longer, always lost."""
    lengths = set()
    for more in range(4):
        monkeypatch.setattr(black_box, "_AT_LAST", more / 4)
        asked = trials(13)
        found = lose_by_asking(asked, np.random.default_rng(0), proof=lambda: 0, start=cut(0, 1, 2, 11))
        assert not holds_without(asked, found.removed)
        lengths.add(len(found))
    assert lengths == {3, 4}


@pytest.mark.parametrize(("removed", "fewest"), [((0, 1, 2), 3), ((0, 1, 2, 11), 3)])
def test_a_proof_in_pieces_is_the_proof(removed, fewest, monkeypatch):
    """Five removals at a time, or all of them at once: the fewest are three, and no two will do."""
    found = []
    for cells in (5 * 12, 1 << 22):
        monkeypatch.setattr(black_box, "_CELLS", cells)
        found.append(black_box._proven(trials(0), cut(*removed).removed, proof=1_000))
    assert [one.removed.tolist() for one in found] == 2 * [cut(0, 1, 2).removed.tolist()]
    assert [(len(one), one.proven) for one in found] == 2 * [(fewest, True)]


def test_what_is_remembered_is_bounded(monkeypatch):
    """Of a very long text few rows are kept, all are known again, and the smallest removal is not lost."""
    monkeypatch.setattr(black_box, "_REMEMBERED", 5 * 12)
    monkeypatch.setattr(black_box, "_LONG", 4)  # rows of twelve bytes are long
    asked = trials(100)
    rows = np.array([np.arange(12) < n for n in (0, 9, 4, 3, 8, 2, 1)]).astype(np.int64)
    first = asked.lost(rows)
    assert first.tolist() == [False, True, True, True, True, False, False]
    assert len(asked.counts) == len(asked.holds) == len(asked.odds) == 5
    assert asked.smallest().tolist() == rows[3].tolist()
    assert asked.lost(rows).tolist() == first.tolist()
    assert asked.left == 93


def test_a_proof_that_takes_too_much_arithmetic_is_not_tried(monkeypatch):
    """The answer is then said to be irreducible, not the fewest."""
    monkeypatch.setattr(black_box, "_PROOF", 100)
    monkeypatch.setattr(black_box, "_AT_LAST", 20)
    found = lose_by_asking(trials(500), np.random.default_rng(0), proof=lambda: 10_000)
    assert (found.removed.sum(), found.proven, found.irreducible) == (3, False, True)
