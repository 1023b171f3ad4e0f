"""What a model may return, and what is refused rather than guessed."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from kedge.errors import LabelError, OptionError, OutputError
from kedge.model.answers.outputs import read_outputs

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
        (np.array([[0.2, 0.8], [0.9, 0.1]], dtype=np.float32), [1, 0]),
        ([[0.1, 0.2, 0.7], [0.5, 0.25, 0.25]], [2, 0]),
    ],
)
def test_what_can_be_told_is_read_without_help(raw, labels):
    """Labels of any kind and rows that are probabilities need no outputs=."""
    predictions = read_outputs(raw, 2)
    assert predictions.labels.tolist() == labels
    assert all(type(x) in {int, str, bool} for x in predictions.labels)


@pytest.mark.data
def test_a_column_of_labels_is_read_without_help():
    """As models that work on tables return them."""
    import pandas as pd

    assert read_outputs(pd.Series(["spam", "ham"]), 2).labels.tolist() == ["spam", "ham"]


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
        (7, "returned an int"),
        ((x for x in "ab"), "returned a generator"),
        ([1], "1 answer for 2 texts"),
        ([1, 2, 3], "3 answers for 2 texts"),
        ([[0.5, NAN], [0.5, 0.5]], "NaN or infinite"),
        ([1, None], "None as a label"),
        (np.array([NAN, "x"], dtype=object), "nan as a label"),
        (np.zeros((2, 2, 2)), "shape \\(2, 2, 2\\)"),
        ([[1, 2], [3]], "different lengths"),
        (
            [{"name": "POS"}, {"name": "NEG"}],
            "dictionaries with the keys 'name'; return for each text its label",
        ),
        ([{"flagged": True, "score": 0.9}] * 2, "dictionaries with the keys 'flagged', 'score'"),
        ([{"score": 0.9}, {"score": 0.2}], "dictionaries with the keys 'score'"),
        ([{"labels": ["a", "b"], "scores": [0.9]}] * 2, "dictionaries with the keys 'labels', 'scores'"),
        ([{"spam": 0.9, "ham": NAN}] * 2, "score nan for the label 'ham'"),
        ([{"spam": 0.9, "ham": 0.1}, {"spam": "0.9", "ham": 0.1}], "for one text and records"),
        ([{"label": "POS"}, {"name": "NEG"}], "records with a label for others"),
        ([{"label": "POS", "score": NAN}, {"label": "NEG"}], "score nan for the label 'POS'"),
        ([{"label": "POS"}, "NEG"], "'NEG' for one text and records"),
        (np.zeros((2, 0)), "shape \\(2, 0\\)"),
        (([1, 0], [0.9, 0.8], [0, 0]), "3 answers for 2 texts"),
        ((["a", "b"], np.eye(2), ["a", "b"]), "return one part of the tuple"),
        ([("spam", 0.9), ("ham", 0.8)], "2 values per text, such as 'spam', '0.9'; return the label alone"),
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


ALL = [[{"label": "bad", "score": 0.2}, {"label": "good", "score": 0.8}]]


@pytest.mark.parametrize(
    ("raw", "labels", "probabilities"),
    [
        ([{"label": "good", "score": 0.9}], ["good"], None),
        ([{"label": "good"}], ["good"], None),
        ([[{"label": "good", "score": 0.9}]], ["good"], None),
        (ALL, ["good"], {"bad": 0.2, "good": 0.8}),
        ([ALL[0][::-1]], ["good"], {"bad": 0.2, "good": 0.8}),
        ([{"good": 0.8, "bad": 0.2}], ["good"], {"bad": 0.2, "good": 0.8}),
        ([{"good": np.float32(0.5), "bad": np.float32(0.5)}], ["bad"], {"bad": 0.5, "good": 0.5}),
        ([{"labels": ["good", "bad"], "scores": [0.8, 0.2]}], ["good"], {"bad": 0.2, "good": 0.8}),
        ([*ALL, [{"label": "bad", "score": 0.6}, {"label": "other", "score": 0.3}]], ["good", "bad"], None),
    ],
)
def test_records_with_labels_and_scores_are_read(raw, labels, probabilities):
    """One per text, the best few, or all labels: those are probabilities, whatever their order."""
    predictions = read_outputs(raw, len(raw))
    assert predictions.labels.tolist() == labels
    assert predictions.distribution() == probabilities


def test_records_of_all_labels_that_are_no_probabilities_need_their_meaning():
    """Independent scores are a multi-label model's, and only the user knows."""
    for raw in (
        [[{"label": "food", "score": 0.9}, {"label": "staff", "score": 0.7}]],
        [{"food": 0.9, "staff": 0.7}],
    ):
        with pytest.raises(OutputError, match="outputs='multilabel'"):
            read_outputs(raw, 1)
        assert read_outputs(raw, 1, "multilabel").hold("staff").tolist() == [True]
        assert read_outputs(raw, 1, "scores").labels.tolist() == ["food"]


@pytest.mark.data
def test_the_columns_of_a_table_are_classes():
    """Unless classes= names them otherwise; one column is labels."""
    import pandas as pd

    table = pd.DataFrame([[0.2, 0.8]], columns=["bad", "good"])
    assert read_outputs(table, 1).labels.tolist() == ["good"]
    assert read_outputs(table, 1, classes=["-", "+"]).labels.tolist() == ["+"]
    assert read_outputs(pd.DataFrame({"label": ["spam"]}), 1).labels.tolist() == ["spam"]
    several = read_outputs(pd.DataFrame({"food": [1], "staff": [0]}), 1, "multilabel")
    assert (several.hold("food").tolist(), several.hold("staff").tolist()) == ([True], [False])


def test_a_sparse_matrix_is_read_as_its_rows():
    """Some vectorised models answer sparsely; the numbers are the same."""
    rows = np.array([[0.2, 0.8], [1.0, 0.0]])
    sparse = read_outputs(csr_array(rows), 2)
    assert sparse.labels.tolist() == read_outputs(rows, 2).labels.tolist() == [1, 0]


def test_a_label_that_is_not_there_is_answered_with_the_one_meant():
    """A number for a name, a slip of the pen; of many labels the first are listed."""
    two = read_outputs(np.array([[0.2, 0.8]]), 1, classes=["0", "1"])
    with pytest.raises(LabelError, match=r"no label 1; did you mean '1'\? It has '0', '1'\."):
        two.column(1)
    with pytest.raises(LabelError, match=r"no label 'music'; it has '0', '1'\."):
        two.column("music")
    many = read_outputs(np.full((1, 20), 0.05), 1, classes=[f"topic_{k:02}" for k in range(20)])
    with pytest.raises(LabelError, match=r"did you mean 'topic_07'\? It has .*'topic_09' and 10 more\."):
        many.column("topic07")
