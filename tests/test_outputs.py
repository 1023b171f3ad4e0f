"""What a model may return, and what is refused rather than guessed."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from kedge.errors import LabelError, OptionError, OutputError
from kedge.model.outputs import read_outputs

NAN = float("nan")


@pytest.mark.parametrize(
    ("raw", "labels"),
    [
        ([1, 0], [1, 0]),
        (np.array([1, 0], dtype=np.uint8), [1, 0]),
        (["spam", "ham"], ["spam", "ham"]),
        (np.array(["spam", "ham"]), ["spam", "ham"]),
        (np.array([b"spam", b"ham"]), ["spam", "ham"]),
        ([True, False], [True, False]),
        (np.array([[1], [0]]), [1, 0]),
        (pd.Series(["spam", "ham"]), ["spam", "ham"]),
        (np.array([[0.2, 0.8], [0.9, 0.1]], dtype=np.float32), [1, 0]),
        ([[0.1, 0.2, 0.7], [0.5, 0.25, 0.25]], [2, 0]),
    ],
)
def test_what_can_be_told_is_read_without_help(raw, labels):
    """Labels of any kind and rows that are probabilities need no outputs=."""
    predictions = read_outputs(raw, 2)
    assert predictions.labels.tolist() == labels
    assert all(type(x) in {int, str, bool} for x in predictions.labels)


@pytest.mark.parametrize(
    ("raw", "outputs", "labels"),
    [
        ([0.2, 0.8], "probabilities", [0, 1]),
        ([[0.2], [0.8]], "probabilities", [0, 1]),
        ([-3.0, 0.1], "scores", [0, 1]),
        ([[-3.0], [0.1]], "scores", [0, 1]),
        ([[2.0, -1.0], [0.0, 7.0]], "scores", [0, 1]),
        ([[0, 1], [1, 0]], "scores", [1, 0]),
        ([0.0, 1.0], "labels", [0.0, 1.0]),
    ],
)
def test_what_is_ambiguous_is_read_as_the_user_says(raw, outputs, labels):
    """outputs= says what one number per text, or rows that are no probabilities, mean."""
    assert read_outputs(raw, 2, outputs).labels.tolist() == labels


@pytest.mark.parametrize("raw", [[0.2, 0.8], [[0.2], [0.8]], [[0, 1], [1, 0]], [[2.0, -1.0], [0.0, 7.0]]])
def test_ambiguous_numbers_are_never_guessed(raw):
    """Without outputs= the message names the choices."""
    with pytest.raises(OutputError, match="outputs='"):
        read_outputs(raw, 2)


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (None, "returned None"),
        ("spam", "returned a str"),
        ({"a": 1}, "returned a dict"),
        (7, "returned a int"),
        ([1], "1 answer for 2 texts"),
        ([1, 2, 3], "3 answers for 2 texts"),
        ([[0.5, NAN], [0.5, 0.5]], "NaN or infinite"),
        ([1, None], "None as a label"),
        (np.array([NAN, "x"], dtype=object), "nan as a label"),
        (np.zeros((2, 2, 2)), "shape \\(2, 2, 2\\)"),
        ([[1, 2], [3]], "different lengths"),
        ([{"label": "POS"}, {"label": "NEG"}], "label of type dict"),
        (np.zeros((2, 0)), "shape \\(2, 0\\)"),
    ],
)
def test_rubbish_is_refused_in_one_sentence(raw, message):
    """The sentence says what was returned."""
    with pytest.raises(OutputError, match=message):
        read_outputs(raw, 2)


def test_numbers_that_contradict_outputs_are_refused():
    """Probabilities beyond [0, 1], rows that do not sum to one, labels in rows, strings as scores."""
    for raw, outputs in [
        ([1.5, 0.2], "probabilities"),
        ([[0.9, 0.9], [0.1, 0.1]], "probabilities"),
        ([[1, 2], [3, 4]], "labels"),
        (["a", "b"], "scores"),
        ([[3.0, 2.0], [0.0, 1.0]], "multilabel"),
    ]:
        with pytest.raises(OutputError):
            read_outputs(raw, 2, outputs)
    with pytest.raises(OptionError, match="multilabel"):
        read_outputs([1, 0], 2, "numbers")


def test_class_names_replace_column_numbers():
    """classes= names the columns; a wrong number of names is refused."""
    assert read_outputs([[0.2, 0.8]], 1, classes=["neg", "pos"]).labels.tolist() == ["pos"]
    with pytest.raises(OutputError, match="3 class names"):
        read_outputs([[0.2, 0.8]], 1, classes=["a", "b", "c"])


def test_a_multilabel_indicator_answers_for_each_label():
    """Each column holds or not on its own; an unknown label is refused by name."""
    predictions = read_outputs([[1, 0, 1], [0, 0, 1]], 2, "multilabel", ["food", "price", "staff"])
    assert predictions.hold("food").tolist() == [True, False]
    assert predictions.hold("staff").tolist() == [True, True]
    with pytest.raises(LabelError, match="no label 'music'"):
        predictions.hold("music")


def test_log_odds_come_from_the_label_s_own_probability():
    """ln p/(1-p), finite even at 0 and 1; None for a model without probabilities."""
    odds = read_outputs([[0.5, 0.5], [0.0, 1.0]], 2).log_odds(1)
    assert odds[0] == pytest.approx(0)
    assert np.isfinite(odds).all()
    assert read_outputs([1, 0], 2).log_odds(1) is None


def test_a_sparse_matrix_is_read_as_its_rows():
    """Some vectorised models answer sparsely; the numbers are the same."""
    rows = np.array([[0.2, 0.8], [1.0, 0.0]])
    sparse = read_outputs(csr_array(rows), 2)
    assert sparse.labels.tolist() == read_outputs(rows, 2).labels.tolist() == [1, 0]
