"""ColumnTransformers on one row of a table: read like the text pipelines inside them."""

import brute
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC

import kedge
from kedge.data.demo import reviews

WORDS = ["good", "bad", "food", "friendly", "cold", "the", "was", "not", "lovely", "rude"]
TEXTS, LABELS = reviews()
TABLE = pd.DataFrame(
    {
        "text": TEXTS,
        "title": [text.split()[0] for text in TEXTS],
        "length": [len(text) for text in TEXTS],
        "city": [("Nice", "Bari", "Oslo")[i % 3] for i in range(len(TEXTS))],
    }
)
OTHERS = [("length", StandardScaler(), ["length"]), ("city", OneHotEncoder(), ["city"])]


def characters(**more):
    return TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 3), **more)


KINDS = {
    "l2": (ColumnTransformer([("t", TfidfVectorizer(), "text"), *OTHERS]), LogisticRegression()),
    "numbers first": (
        ColumnTransformer([*OTHERS, ("t", TfidfVectorizer(norm=None), "text")]),
        LogisticRegression(),
    ),
    "pairs": (
        ColumnTransformer([("t", CountVectorizer(ngram_range=(1, 2)), "text")], remainder="drop"),
        LinearSVC(),
    ),
    "two of the text, weighted": (
        ColumnTransformer(
            [
                ("w", TfidfVectorizer(norm=None), "text"),
                ("n", "passthrough", ["length"]),
                ("c", characters(norm=None), "text"),
            ],
            transformer_weights={"c": 0.5, "n": 0.01},
        ),
        LogisticRegression(max_iter=500),
    ),
    "another text": (
        ColumnTransformer([("t", TfidfVectorizer(), "text"), ("title", CountVectorizer(), "title")]),
        LogisticRegression(),
    ),
    "steps behind": (
        ColumnTransformer([("t", make_pipeline(CountVectorizer(), MaxAbsScaler()), "text"), *OTHERS]),
        StandardScaler(with_mean=False),
        SelectKBest(k=40),
        LogisticRegression(),
    ),
    "dense": (
        ColumnTransformer([("t", CountVectorizer(), "text"), *OTHERS], sparse_threshold=0.0),
        StandardScaler(),
        LogisticRegression(),
    ),
    "forest": (
        ColumnTransformer([("t", TfidfVectorizer(), "text"), *OTHERS]),
        RandomForestClassifier(20, random_state=0),
    ),
    "the rest": (
        ColumnTransformer(
            [("t", TfidfVectorizer(), "text")], remainder=OneHotEncoder(handle_unknown="ignore")
        ),
        LogisticRegression(),
    ),
}


@pytest.fixture(scope="module")
def fitted():
    return {name: make_pipeline(*steps).fit(TABLE, LABELS) for name, steps in KINDS.items()}


@pytest.mark.parametrize("name", KINDS)
@settings(max_examples=6)
@given(words=st.lists(st.sampled_from(WORDS), min_size=2, max_size=6), place=st.integers(0, 20))
def test_a_row_is_read_like_brute_force_over_its_text(fitted, name, words, place):
    """One question; the label of every masked text, and so the shortest anchor, are the pipeline's own."""
    pipeline, text = fitted[name], " ".join(words)
    row = {**TABLE.iloc[place].to_dict(), "text": text}

    def predict(texts):
        return pipeline.predict(pd.DataFrame([{**row, "text": each} for each in texts]))

    e = kedge.explain(pipeline, row, column="text")
    tokens = kedge.tokenize.words(text)
    length, best, _ = brute.shortest(
        text, e.label, predict, tokens=tokens, mask="" if e.perturbation.endswith("removal") else "UNK"
    )
    assert (e.status, e.queries, len(e.positions)) == ("exact", 1, length)
    assert e.precision == pytest.approx(best, abs=1e-9)


def test_a_long_row_with_the_l2_norm_is_exact(fitted):
    """Numbers beside the text move the intercept, and leave the norm alone."""
    row = {**TABLE.iloc[0].to_dict(), "text": " ".join(TEXTS[:8])}
    e = kedge.explain(fitted["l2"], row, column="text")
    assert (e.status, e.queries, e.method) == ("exact", 1, "leading")
    held = kedge.precision(fitted["l2"], row, e.words, column="text")
    assert held.precision >= e.threshold


class Own(ColumnTransformer):
    """Looks like what it is not."""


@pytest.mark.parametrize(
    "first",
    [
        Own([("t", TfidfVectorizer(), "text")]),
        ColumnTransformer(
            [
                ("t", TfidfVectorizer(), "text"),
                ("n", FunctionTransformer(lambda t: np.array([[len(x)] for x in t["text"]])), ["text"]),
            ]
        ),
        ColumnTransformer(
            [
                ("t", TfidfVectorizer(), "text"),
                ("n", FunctionTransformer(lambda t: np.array([[len(x)] for x in t.iloc[:, 0]])), [0]),
            ]
        ),
        ColumnTransformer([("t", TfidfVectorizer(tokenizer=str.split, token_pattern=None), "text")]),
        ColumnTransformer([("t", OneHotEncoder(handle_unknown="ignore"), ["text"])]),
    ],
    ids=["subclass", "reads the text too", "reads it by its place", "own tokenizer", "no vectoriser"],
)
def test_what_cannot_be_read_of_a_row_is_asked(first):
    """A subclass, code of the user's own, a block that sees the text in another way."""
    pipeline = make_pipeline(first, LogisticRegression()).fit(TABLE, LABELS)
    e = kedge.explain(pipeline, TABLE.iloc[0], column="text", max_queries=500)
    assert e.queries > 1
