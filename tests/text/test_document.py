"""Documents, anchors and units."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kedge import Anchor, Document, Token, tokenize
from kedge.errors import TextError
from kedge.text.document import WordRuns
from kedge.text.units import Units, interchangeable, one_per_position


def document(text):
    return Document(text, tokenize.words(text))


@given(st.lists(st.sampled_from(["so", "very", "good", "food"]), min_size=1, max_size=12))
def test_multiplicities_count_every_occurrence(words):
    """m_j is how often w_j occurs, and the multiplicities sum to the length of the document."""
    doc = document(" ".join(words))
    assert doc.multiplicity.sum() == len(doc) == len(words)
    for word, m in zip(doc.vocabulary, doc.multiplicity, strict=True):
        assert words.count(word) == m
    assert [doc.vocabulary[j] for j in doc.word_of] == words


def test_repeated_words_are_separate_positions():
    """An anchor on the second "very" points at the second "very"."""
    doc = document("very very good")
    assert Anchor([1]).spans(doc) == ((5, 9),)
    assert Anchor([2, 1, 1]).words(doc) == ("very", "good")


@pytest.mark.parametrize("spans", [[(0, 3), (2, 5)], [(0, 0)], [(2, 4), (0, 1)], [(0, 99)]])
def test_bad_spans_are_refused(spans):
    """Overlapping, empty, unordered or outlying spans are refused with the offending span."""
    with pytest.raises(TextError, match="spans must be"):
        Document("hello", [Token("x", a, b) for a, b in spans])


def test_units_group_the_occurrences_a_counting_model_cannot_tell_apart():
    """A counting model has one unit per word it reads; any other model one per position."""
    doc = document("very very good food")
    units = interchangeable(doc, {"very", "good"}.__contains__)
    assert units.members == ((0, 1), (2,))
    assert units.sizes.tolist() == [2, 1]
    assert len(one_per_position(doc)) == 4


@given(st.data())
def test_anchors_round_trip_through_unit_space(data):
    """kept -> positions -> kept is the identity, and counts agree."""
    doc = document("a a a b b c")
    units = interchangeable(doc, lambda _: True)
    counts = [data.draw(st.integers(0, int(m))) for m in units.sizes]
    kept = tuple(np.repeat(np.arange(len(units)), counts).tolist())
    assert units.kept(units.anchor(kept)) == kept
    assert units.counts(kept).tolist() == counts


@given(st.text(alphabet="ab_1 .-é\u0130'", max_size=40), st.sampled_from([r"(?u)\b\w\w+\b", r"(?u)\b\w+\b"]))
def test_runs_of_word_characters_are_found_where_the_pattern_finds_them(text, pattern):
    """Each by itself and all together, in a text where short runs are left out."""
    runs = WordRuns(text, re.findall(pattern, text))
    truth = [Token(m.group(), *m.span()) for m in re.finditer(pattern, text)]
    assert list(runs) == truth
    assert [runs.span(k) for k in range(len(runs))] == [(t.start, t.stop) for t in truth]
    assert runs == tuple(truth)
    assert Document(text, runs) == Document(text, truth)
    assert repr(runs) == repr(tuple(truth))
    assert hash(runs) == hash(tuple(truth))
    assert runs != "another thing"


def test_units_look_for_positions_only_where_somebody_does():
    """What is known of the units of a counting model is the same as if all positions had been grouped."""
    doc = document("so so good so bad food")
    units = interchangeable(doc, {"so", "bad"}.__contains__)
    grouped = Units(((0, 1, 3), (4,)))
    assert units == grouped
    assert units.words(doc) == grouped.words(doc) == ["so", "bad"]
    assert units.anchor((0, 0, 1)) == grouped.anchor((0, 0, 1)) == Anchor([0, 1, 4])
    assert units.members[1:] == ((4,),)
    assert (repr(units.members), hash(units.members)) == (repr(grouped.members), hash(grouped.members))
    assert units.members != "another thing"
