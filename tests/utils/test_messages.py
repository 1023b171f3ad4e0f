"""What sentences show of texts and errors."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kedge.utils.messages import first_line, name_error, shorten


@given(st.text(), st.integers(3, 80), st.sampled_from(["...", "…"]))
def test_a_shortened_text_fits_and_begins_as_the_text_does(text, width, ellipsis):
    """At most ``width`` characters; a text that fits is left alone."""
    short = shorten(text, width, ellipsis)
    assert len(short) <= width
    if len(text) <= width:
        assert short == text
    else:
        assert short.endswith(ellipsis)
        assert text.startswith(short.removesuffix(ellipsis))


@pytest.mark.parametrize("said", ["bad shape\nexpected (2, 3)", "\n  bad shape", "bad shape"])
def test_the_first_line_of_an_error_is_what_is_shown(said):
    """Leading blank lines do not count."""
    assert first_line(ValueError(said)) == "bad shape"
    assert name_error(ValueError(said)) == "ValueError: bad shape"


def test_an_error_that_says_nothing_is_named_by_its_type():
    """No empty reason behind a colon."""
    assert name_error(MemoryError()) == "MemoryError"
