"""The embedded corpus of short reviews: its form, and what a simple model learns from it."""

import csv
import io
import re
import unicodedata
from collections import Counter
from importlib.resources import files

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline

POSITIVE = ["good", "great", "excellent", "love", "delicious", "friendly"]
NEGATIVE = ["bad", "awful", "terrible", "worst", "rude", "slow", "disappointing"]


def new_model():
    return make_pipeline(TfidfVectorizer(norm=None), LogisticRegression(max_iter=1000))


@pytest.fixture(scope="module")
def raw() -> bytes:
    return (files("kedge") / "data" / "reviews.tsv").read_bytes()


@pytest.fixture(scope="module")
def rows(raw: bytes) -> list[list[str]]:
    return [line.split("\t") for line in raw.decode("utf-8").removesuffix("\n").split("\n")]


@pytest.fixture(scope="module")
def texts(rows: list[list[str]]) -> list[str]:
    return [row[0] for row in rows[1:]]


@pytest.fixture(scope="module")
def labels(rows: list[list[str]]) -> list[str]:
    return [row[1] for row in rows[1:]]


@pytest.fixture(scope="module")
def fitted(texts: list[str], labels: list[str]) -> Pipeline:
    return new_model().fit(texts, labels)


def slopes(model: Pipeline) -> dict[str, float]:
    """Return what one occurrence of each word adds to the log odds of `positive`."""
    vectorizer, classifier = model[0], model[1]
    assert list(classifier.classes_) == ["negative", "positive"]
    slope = classifier.coef_[0] * vectorizer.idf_
    return dict(zip(vectorizer.get_feature_names_out(), slope, strict=True))


def test_columns(rows):
    """The header names the two columns and every line has exactly these two."""
    assert rows[0] == ["review", "label"]
    assert {len(row) for row in rows} == {2}


def test_bytes_are_plain(raw):
    """The file is UTF-8 in composed form, without a byte order mark, with Unix line ends."""
    text = raw.decode("utf-8")
    assert not text.startswith("\ufeff")
    assert "\r" not in text
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    assert unicodedata.is_normalized("NFC", text)


def test_any_reader_of_tables_agrees(raw, rows):
    """A CSV reader that knows quotes reads the same cells as a plain split at tabs."""
    assert list(csv.reader(io.StringIO(raw.decode("utf-8")), delimiter="\t")) == rows


def test_size_and_balance(labels):
    """There are 420 reviews, one half of each label."""
    assert Counter(labels) == {"positive": 210, "negative": 210}


def test_labels_are_mixed(labels):
    """The order says nothing: no quarter of the file is two thirds one label."""
    for quarter in np.array_split(np.array(labels), 4):
        assert 1 / 3 < np.mean(quarter == "positive") < 2 / 3


def test_no_empty_or_untidy_text(texts):
    """Every review is a text of 5 to 25 words without stray white space."""
    for text in texts:
        assert text == " ".join(text.split())
        assert 5 <= len(text.split()) <= 25, text


def test_no_duplicates(texts):
    """No review occurs twice, not even up to case and punctuation."""
    seen = Counter(" ".join(re.findall(r"\w+", text.lower())) for text in texts)
    assert [text for text, count in seen.items() if count > 1] == []


def test_characters_are_common(texts):
    """Letters are Latin, with a few accents; nothing is invisible or beyond plain punctuation."""
    accented = {c for text in texts for c in text if ord(c) > 126}
    assert accented
    assert all(unicodedata.name(c).startswith("LATIN SMALL LETTER") for c in accented)
    assert all(c.isprintable() for text in texts for c in text)


def test_some_reviews_repeat_a_word(texts):
    """Words that occur twice in one review are there: anchors count occurrences."""
    twice = re.compile(r"\b(\w+) \1\b", re.IGNORECASE)
    assert sum(bool(twice.search(text)) for text in texts) >= 5


@pytest.mark.parametrize("word", ["very", "food", "service"])
def test_neutral_words_are_in_both_classes(word, texts, labels):
    """Words that carry no opinion are spread over both labels, neither with over 60 percent."""
    has = [bool(re.search(rf"\b{word}\b", text.lower())) for text in texts]
    count = Counter(label for label, hit in zip(labels, has, strict=True) if hit)
    assert sum(count.values()) >= 15
    assert max(count.values()) <= 0.6 * sum(count.values())


def test_a_model_learns_it(texts, labels):
    """TF-IDF and logistic regression reach 0.8 in cross-validation."""
    folds = StratifiedKFold(n_splits=5, shuffle=True, random_state=0)
    assert cross_val_score(new_model(), texts, labels, cv=folds).mean() >= 0.8


@pytest.mark.parametrize("word", POSITIVE)
def test_praise_weighs_for_positive(word, fitted):
    """One word of praise adds at least 1 to the log odds of `positive`."""
    assert slopes(fitted)[word] > 1


@pytest.mark.parametrize("word", NEGATIVE)
def test_blame_weighs_for_negative(word, fitted):
    """One word of blame takes at least 1 off the log odds of `positive`."""
    assert slopes(fitted)[word] < -1


@pytest.mark.parametrize("word", ["food", "is", "very"])
def test_neutral_words_weigh_little(word, fitted):
    """A neutral word moves the log odds by less than a fifth of what `good` does."""
    slope = slopes(fitted)
    assert abs(slope[word]) < slope["good"] / 5


@pytest.mark.parametrize("times", [4, 5])
def test_very_good_food_is_positive(times, fitted):
    """The example with `very` four and five times is labelled positive."""
    assert fitted.predict([f"Food is {'very ' * times}good!"]) == ["positive"]
