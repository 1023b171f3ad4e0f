"""Names for labels that are numbers."""

from dataclasses import fields

import numpy as np
import pytest
from networks import LABELS, TEXTS
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import kedge
from kedge.errors import OptionError, OutputError
from kedge.model.answers.naming import _LABEL_AT, _WITHOUT, numbered, rename
from kedge.model.model import Model

TEXT = "the food was good and the staff was great"
STARS = [5 if y else 1 for y in LABELS]


@pytest.mark.parametrize(
    "steps",
    [
        (TfidfVectorizer(norm=None), LogisticRegression()),
        (TfidfVectorizer(), LogisticRegression()),
        (CountVectorizer(), DecisionTreeClassifier(random_state=0)),
    ],
)
@pytest.mark.parametrize("labels", [LABELS, STARS])
def test_a_model_that_is_read_stays_readable(steps, labels):
    """The same anchor, precision and status; only the label has another name."""
    model = make_pipeline(*steps).fit(TEXTS, labels)
    for text in (TEXT, "slow and bad wine"):
        numbers, names = kedge.explain(model, text), kedge.explain(model, text, classes=["bad", "good"])
        assert names.label == ("good" if numbers.label == max(labels) else "bad")
        assert (names.words, names.precision, names.status, names.method) == (
            numbers.words, numbers.precision, numbers.status, numbers.method,
        )  # fmt: skip


def test_rules_and_weights_get_names():
    """Their labels are 0 and 1."""
    rule = kedge.rules.present("good")
    assert kedge.explain(rule, TEXT, classes=["without", "with"]).label == "with"
    weights = kedge.WordWeights({"good": 1.0, "bad": -1.0})
    assert kedge.explain(weights, TEXT, classes=["bad", "good"]).label == "good"


def test_every_capability_of_a_model_is_accounted_for():
    """A field that nobody thought of here would be lost in renaming."""
    known = (
        {"predict", "from_counts", "from_words", "opened", "between", "own", "remake"}
        | _WITHOUT
        | set(_LABEL_AT)
    )
    assert {field.name for field in fields(Model)} == known


def test_names_are_in_the_order_of_the_classes():
    """Numbers, truth values; names must be different, as many, and not for names."""
    assert numbered(["low", "high"], [1, 5]) == {1: "low", 5: "high"}
    assert numbered(["no", "yes"], [False, True]) == {False: "no", True: "yes"}
    for classes, labels, message in [
        (["a", "a"], None, "different"),
        ("ab", None, "list of names"),
        (["a"], [0, 1], "1 names, but the model has 2"),
        (["a", "b"], ["x", "y"], "names its labels itself"),
    ]:
        with pytest.raises(OptionError, match=message):
            numbered(classes, labels)


def test_an_answer_without_a_name_is_refused():
    """A third label where two have names."""
    model = rename(kedge.as_model(lambda texts: np.full(len(texts), 2)), numbered(["a", "b"]))
    with pytest.raises(OutputError, match=r"answered 2, but `classes` gives names to the labels 0, 1"):
        model.predict(["x"])
