"""Sentences that know their options."""

import pickle
from copy import deepcopy

import pytest

import kedge
from kedge.errors import DataError, Failure, MissingDependency, OptionError, OutOfQueries
from kedge.utils.sentences import Option, Sentence, spelled


def shouted(option):
    return option.name.upper() if not option.has_value else f"{option.name.upper()}:{option.value}"


SAID = Sentence("Raise ", Option("max_queries"), " or use ", Option("method", "auto"), ".")


def test_a_sentence_reads_as_python_and_is_spelled_as_asked():
    """It is a string to everybody who does not ask for its parts."""
    assert SAID == "Raise `max_queries` or use `method='auto'`."
    assert spelled(SAID, shouted) == "Raise MAX_QUERIES or use METHOD:auto."


def test_what_only_looks_like_an_option_is_left_alone():
    """A plain string, and strings between options, may hold backticks, flags and equations."""
    plain = "say `label=3` or --label 3"
    assert spelled(plain, shouted) == plain
    assert spelled(Sentence(plain, Option("label", 3)), shouted) == f"{plain}LABEL:3"


def test_none_is_a_value():
    """An option without a value is not one whose value is None."""
    assert (Option("limit").has_value, Option("limit", None).has_value) == (False, True)
    assert str(Option("limit", None)) == "`limit=None`"


@pytest.mark.parametrize("copied", [deepcopy, lambda said: pickle.loads(pickle.dumps(said))])
def test_copies_keep_the_options(copied):
    """Between processes, too."""
    again = copied(SAID)
    assert (again, again.parts) == (SAID, SAID.parts)
    assert not again.options[0].has_value


@pytest.mark.parametrize("kind", [OptionError, OutOfQueries, DataError, MissingDependency])
def test_errors_are_made_of_parts(kind):
    """Those that are system or import errors as well; in another process they are the same."""
    error = kind("Raise ", Option("max_queries"), ".")
    for one in (error, pickle.loads(pickle.dumps(error))):
        assert (type(one), str(one)) == (kind, "Raise `max_queries`.")
        assert one.sentence.options == (Option("max_queries"),)
        assert spelled(Failure.of(one).reason, shouted) == "Raise MAX_QUERIES."


@pytest.mark.parametrize(
    ("error", "option", "value"),
    [
        (OptionError(Option("method", "best"), " is not known; see ", Option("seed"), "."), "method", "best"),
        (OptionError(Option("threshold"), " must lie in (0, 1], got 2.", value=2), "threshold", 2),
        (OptionError("Unknown option: treshold.", option="treshold"), "treshold", None),
        (OptionError("There is nothing to draw."), None, None),
    ],
)
def test_an_error_about_an_option_knows_it(error, option, value):
    """The first option of its sentence with its value, unless something else is said."""
    assert (error.option, error.value) == (option, value)


def test_notes_keep_their_options():
    """Those of an explanation, as long as it is not written down."""
    parity = kedge.explain(lambda texts: [len(t) % 2 for t in texts], "a b c d", method="beam", max_queries=3)
    (note,) = parity.notes
    assert isinstance(note, Sentence)
    assert note.options == (Option("max_queries", 3), Option("max_queries"))
