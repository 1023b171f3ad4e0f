"""Models of tables: one column is explained, the others are held fixed."""

import pickle

import pandas as pd
import polars as pl
import pytest
from networks import LABELS, TEXTS
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import kedge
from kedge.errors import ModelError, OptionError, TextError
from kedge.model.columns import hold_row

TABLE = pd.DataFrame({"text": TEXTS, "stars": [4 + y for y in LABELS], "city": ["Nice", "Bari"] * 12})
NAMES = ["bad" if y == 0 else "good" for y in LABELS]


@pytest.fixture(scope="module")
def pipeline():
    columns = ColumnTransformer(
        [
            ("words", TfidfVectorizer(), "text"),
            ("stars", StandardScaler(), ["stars"]),
            ("city", OneHotEncoder(), ["city"]),
        ]
    )
    return make_pipeline(columns, LogisticRegression()).fit(TABLE, NAMES)


@pytest.mark.parametrize(
    "row",
    [TABLE.iloc[0], TABLE.iloc[0].to_dict(), TABLE.iloc[[0]], pl.from_pandas(TABLE)[0]],
    ids=["series", "dictionary", "table", "polars"],
)
def test_a_row_is_explained_by_its_text(pipeline, row):
    """A Series, a dictionary, a table of one row: the words of its text keep the label."""
    e = kedge.explain(pipeline, row, column="text")
    assert e.text == TEXTS[0]
    assert e.label == "good"
    assert set(e.words) <= set(TEXTS[0].split())
    assert e.model == "Pipeline on the column 'text'"
    assert dict(e.probabilities).keys() == {"bad", "good"}


def test_the_other_columns_stay_what_they_are(pipeline):
    """Every question has the row's own stars and city; only the text changes."""
    seen = []

    class Watching:
        classes_ = pipeline.classes_

        def predict(self, table):
            seen.append(table)
            return pipeline.predict(table)

    verdict = kedge.precision(Watching(), TABLE.iloc[3], ["slow"], column="text")
    asked = pd.concat(seen)
    assert asked["stars"].eq(4).all()
    assert asked["city"].eq("Bari").all()
    assert asked["text"].nunique() > 4
    assert verdict.status == "exact"


def test_influences_and_flips_of_a_row_are_those_of_its_text():
    """Every question takes a row and a column."""

    def model(table):
        return [int("good" in text) for text in table["text"]]

    row = {"text": "good food", "stars": 5}
    held, text = hold_row(model, row, "text")
    assert kedge.influence(model, row, column="text") == kedge.influence(held, text)
    flip = kedge.flip(model, row, column="text")
    assert (flip.text, flip.words, flip.new_label) == ("good food", ("good",), 0)
    assert flip == kedge.flip(held, text)


def test_a_function_of_tables_and_a_pipeline_of_texts(pipeline):
    """A function gets the table; a pipeline that reads the text alone is still read."""
    e = kedge.explain(lambda table: pipeline.predict(table), TABLE.iloc[0], column="text")  # noqa: PLW0108
    assert e.label == "good"
    plain = make_pipeline(TfidfVectorizer(norm=None), LogisticRegression()).fit(TEXTS, NAMES)
    assert kedge.explain(plain, TABLE.iloc[0], column="text") == kedge.explain(plain, TEXTS[0])


def test_a_held_row_travels(pipeline):
    """An explainer of it can be pickled, for workers."""
    model, text = hold_row(pipeline, TABLE.iloc[0], "text")
    explainer = pickle.loads(pickle.dumps(kedge.Explainer(model)))
    assert explainer.explain(text) == kedge.explain(pipeline, TABLE.iloc[0], column="text")


def test_without_a_column_the_sentence_names_one(pipeline):
    """A text, or a row, without column=."""
    for given in (TEXTS[0], TABLE.iloc[0]):
        with pytest.raises(ModelError, match=r"kedge\.explain\(pipeline, df\.iloc\[0\], column='text'\)"):
            kedge.explain(pipeline, given)
    with pytest.raises(TextError, match=r"got Series; for a row of a table .*`column`"):
        kedge.explain(kedge.rules.present("good"), TABLE.iloc[0])


@pytest.mark.parametrize(
    ("row", "column", "error", "message"),
    [
        (TABLE, "text", OptionError, r"got 24 rows; pass df\.iloc\[0\]"),
        (TABLE.iloc[0], "review", OptionError, "no column 'review'; it has 'text', 'stars', 'city'"),
        (TABLE.iloc[0], "stars", TextError, "'stars' must hold a text, got int"),
        ("good food", "text", OptionError, "a row: a dictionary, a Series or a table of one row, got str"),
    ],
)
def test_what_is_no_row_is_refused(pipeline, row, column, error, message):
    """One sentence each."""
    with pytest.raises(error, match=message) as caught:
        kedge.explain(pipeline, row, column=column)
    assert "\n" not in str(caught.value)
