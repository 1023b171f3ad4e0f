"""Removing words: the word goes, one neighbouring blank goes, and nothing else happens."""

import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kedge import Document, Masking, tokenize

# Texts of the characters that matter here: letters, blanks, quotes, brackets, dashes, emoji.
CHARACTERS = st.sampled_from("ab \t\n.,!'\"()-@_#\u00a0\u3000😀é\u200d")
TEXTS = st.text(CHARACTERS, min_size=1, max_size=40) | st.text(min_size=1, max_size=40)


def removed(text, kept):
    document = Document(text, tokenize.spaced(text))
    return Masking(mask="").writer(document)(np.array([kept], dtype=bool))[0]


def longest_run(text):
    """Blanks in a row, not counting those at the ends."""
    return max((len(run) for run in re.findall(r"\s+", text)), default=0)


@given(TEXTS)
def test_nothing_removed_is_the_text_byte_for_byte(text):
    """With every position kept the model gets the caller's own text."""
    assert removed(text, [True] * len(tokenize.spaced(text))) == text


@given(TEXTS, st.randoms(use_true_random=False))
def test_the_kept_words_and_no_others_are_left(text, random):
    """Splitting what remains gives the kept words, in order: none is cut, joined or made up."""
    tokens = tokenize.spaced(text)
    kept = [random.random() < 0.5 for _ in tokens]
    left = removed(text, kept)
    assert [t.word for t in tokenize.spaced(left)] == [
        t.word for t, stays in zip(tokens, kept, strict=True) if stays
    ]


@given(TEXTS, st.randoms(use_true_random=False))
def test_blanks_never_pile_up_and_neighbours_never_touch(text, random):
    """No run of blanks is longer than the text's longest, and a blank stands where words were between two."""
    tokens = tokenize.spaced(text)
    kept = [random.random() < 0.5 for _ in tokens]
    left = removed(text, kept)
    assert longest_run(left) <= max(1, longest_run(text))
    stay = [k for k, here in enumerate(kept) if here]
    found = tokenize.spaced(left)
    for (a, b), (one, two) in zip(pairwise(stay), pairwise(found), strict=True):
        between = left[one.stop : two.start]
        if b > a + 1:
            assert any(c.isspace() for c in between)
        else:
            assert between == text[tokens[a].stop : tokens[b].start]


@pytest.mark.parametrize(
    ("text", "kept", "expected"),
    [
        ("Good, very good!", [1, 0, 1], "Good, good!"),
        ("Good, very good!", [1, 1, 0], "Good, very!"),
        ("Good, very good!", [0, 1, 1], ", very good!"),
        ("the food was cold", [0, 0, 1, 1], "was cold"),
        ("the food was cold", [1, 0, 0, 1], "the cold"),
        ("the food was cold", [1, 1, 0, 0], "the food"),
        ("the food was cold", [0, 0, 0, 0], ""),
        ("a (very old) man", [1, 0, 1, 1], "a (old) man"),
        ("a (very old) man", [1, 1, 0, 1], "a (very) man"),
        ("one\ntwo three", [1, 0, 1], "one\nthree"),
        ("one two\nthree", [1, 0, 1], "one\nthree"),
        ("one\n\ntwo\n\nthree", [1, 0, 1], "one\n\nthree"),
        ("great😀fun", [1, 0, 1], "great fun"),
        ("v3.5.1 is out", [1, 0, 1, 1, 1], "v3. .1 is out"),
        ("ask @bob now", [1, 0, 1], "ask @ now"),
        ("well made-up tale", [1, 0, 1, 1], "well -up tale"),
        ("我 喜欢 它", [1, 0, 1], "我 它"),
    ],
)
def test_what_remains_reads_as_a_person_would_write_it(text, kept, expected):
    """The blank beside a removed word goes with it; line breaks and signs that are no word's stay."""
    assert removed(text, kept) == expected
