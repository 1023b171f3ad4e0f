"""Short documents: where all texts cost less than the search, they are asked about: exact answers."""

import zlib

import numpy as np
import pytest
from functions import labels_by
from hypothesis import given, settings
from hypothesis import strategies as st
from readings import reading_of

import kedge
from kedge import Exhaustive
from kedge.search import Goal
from kedge.search.exact.lazy import ask_the_rest, still_to_ask
from kedge.search.guided.guided import Guided


def random_model(texts):
    """The label of a text follows from nothing one could learn, and holds for two texts in three."""
    return [int(t == "a b c d e f g h i" or zlib.crc32(t.encode()) % 3 > 0) for t in texts]


@settings(max_examples=60, deadline=None)
@given(
    st.integers(2, 6).flatmap(lambda b: st.lists(st.booleans(), min_size=1 << b, max_size=1 << b)),
    st.integers(1, 40),
    st.booleans(),
)
def test_what_was_asked_already_changes_nothing(table, asked, allow_empty):
    """The answer is that of the full table, whichever texts were known before."""
    model, text = labels_by(table)
    goal = Goal(allow_empty=allow_empty)
    reading = reading_of(model, text)
    rows = reading.sample((), asked, np.random.default_rng(0))
    before = still_to_ask(reading, rows[:0])
    found = ask_the_rest(reading, goal, np.random.default_rng(0), (rows, reading.holds(rows)), 0.5)
    want = Exhaustive()(reading_of(model, text), goal, np.random.default_rng(0))
    assert (found.kept, found.interval.mean, found.status) == (want.kept, want.interval.mean, "exact")
    assert still_to_ask(reading, rows) <= before


@settings(max_examples=60, deadline=None)
@given(
    st.integers(2, 6).flatmap(lambda b: st.lists(st.booleans(), min_size=1 << b, max_size=1 << b)),
    st.integers(0, 3),
)
def test_an_exact_answer_is_the_shortest(table, seed):
    """Whenever the guided search says exact, no shorter anchor reaches; else its claim is true."""
    model, text = labels_by(table)
    reading = reading_of(model, text)
    found = Guided()(reading, Goal(seed=seed), np.random.default_rng(seed))
    want = Exhaustive()(reading_of(model, text), Goal(), np.random.default_rng(0))
    if found.status == "exact":
        assert (found.kept, found.interval.mean) == (want.kept, want.interval.mean)
    else:
        assert len(found.kept) >= len(want.kept)


def test_a_short_text_that_nothing_predicts_is_asked_about_to_the_end():
    """No search asks more than there are texts; the answer is exact, and can be checked by others."""
    e = kedge.explain(random_model, "a b c d e f g h i", method="guided", certificate=True)
    assert (e.status, e.minimality, e.method) == ("exact", "shortest", "guided")
    assert e.queries <= 512 + 59 + 3
    assert e.evidence is not None


def test_texts_that_cannot_all_be_asked_about_are_not():
    """Too many of them, or fewer questions than they take."""
    assert still_to_ask(reading_of(random_model, " ".join("abcdefghijklmnop")), np.zeros((0, 16))) == np.inf
    e = kedge.explain(random_model, "a b c d e f g h i", method="guided", max_queries=200)
    assert e.queries <= 200
    assert e.status != "exact"


@pytest.mark.parametrize("seed", range(3))
def test_a_narrow_answer_about_few_texts_is_settled(seed):
    """Two words, one of which hardly counts: all texts cost less than what was asked already."""

    def model(texts):
        kept = [set(t.split()) for t in texts]
        return [
            int("a" in k and ("b" in k or zlib.crc32(t.encode()) % 100 < 92))
            for t, k in zip(texts, kept, strict=True)
        ]

    e = kedge.explain(model, "a b c d e f g h i j", seed=seed)
    assert e.status in {"exact", "certified"}
    assert e.minimality in {"shortest", "irreducible"}
