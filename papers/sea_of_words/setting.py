"""The one setting all experiments share: preprocessing, split, models, documents, runs, Jaccard.

The text of the tables is stripped to letters, digits and blanks and lower-cased; the authors' scripts of the
figures leave it as it is (``raw``). A quarter of each set is
held out; scikit-learn's defaults are used on TF-IDF without normalisation; only documents with a
positive prediction are explained.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline, make_pipeline

import kedge

from .position_models import anchor_words, cut, from_linear, from_pipeline

__all__ = [
    "FULL",
    "QUICK",
    "SEED",
    "THRESHOLD",
    "Scale",
    "Split",
    "classifier",
    "corpus",
    "jaccard",
    "official",
    "official_anchors",
    "positives",
    "preprocess",
    "split",
    "top_words",
]

# The seed of the authors' training scripts: it gives their split of the data for the networks, which all
# experiments share here (the scripts of the other tables have no seed).
SEED = 42


# The precision an anchor has to reach.
THRESHOLD = 0.95


@dataclass(frozen=True)
class Scale:
    """How much of the paper's work is done.

    Parameters
    ----------
    name
        ``"full"`` or ``"quick"``.
    most
        Documents per data set, model and subset at the most; None for as many as a table's budget has.
    runs
        Runs per document at the most.
    data
        The data sets of the ranking tables.
    repeats
        Runs of the figures that the paper repeats a hundred times.
    monte_carlo
        Draws behind each Monte-Carlo curve.
    shifts
        Points of a shift curve, and documents of each model.
    epochs
        Share of the training epochs of the networks.
    draws
        How often split and vocabulary are drawn again, where the authors' script did so.
    """

    name: str
    most: int | None
    runs: int
    data: tuple[str, ...]
    repeats: int
    monte_carlo: int
    shifts: tuple[int, int]
    epochs: float
    draws: int

    def of(self, documents: int | None, runs: int) -> tuple[int | None, int]:
        """A table's budget of documents and runs, as far as this scale goes."""
        counts = [n for n in (documents, self.most) if n is not None]
        return min(counts, default=None), min(runs, self.runs)


FULL = Scale("full", None, 10, ("restaurants", "yelp", "imdb"), 100, 100_000, (10, 4), 1.0, 6)
QUICK = Scale("quick", 2, 2, ("restaurants", "yelp", "imdb"), 5, 20_000, (3, 1), 0.02, 2)


@dataclass(frozen=True)
class Split:
    """A data set, split 75/25."""

    name: str
    train: tuple[str, ...]
    train_labels: tuple[int, ...]
    test: tuple[str, ...]
    test_labels: tuple[int, ...]


def preprocess(text: str) -> str:
    """Letters, digits and white space only, in lower case."""
    return re.sub(r"[^a-zA-Z\d\s]", "", text).lower()


@cache
def corpus(name: str, *, raw: bool = False) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """All texts of a data set, preprocessed or as they are, and their labels."""
    data = kedge.datasets.load(name)
    return tuple(data.texts if raw else map(preprocess, data.texts)), data.labels


@cache
def split(name: str, seed: int = SEED, *, raw: bool = False) -> Split:
    """A data set in its two parts, the same on every machine."""
    texts, labels = corpus(name, raw=raw)
    parts = train_test_split(list(texts), list(labels), random_state=seed)
    train, test, train_labels, test_labels = parts
    return Split(name, tuple(train), tuple(train_labels), tuple(test), tuple(test_labels))


@cache
def classifier(data: str, kind: str, seed: int = SEED, *, raw: bool = False) -> Any:
    """One of the models of the paper, fitted on the training part; cached within a run."""
    if kind == "indicator":
        return kedge.rules.present("good")
    if kind == "tree":
        return kedge.rules.any_of(["not", "bad"], ["good"])
    head = {
        "logistic": LogisticRegression(),
        "perceptron": Perceptron(),
        "forest": RandomForestClassifier(random_state=SEED),
    }[kind]
    part = split(data, seed, raw=raw)
    return make_pipeline(TfidfVectorizer(norm=None), head).fit(list(part.train), list(part.train_labels))


def positives(data: str, kind: str, seed: int = SEED) -> list[str]:
    """Test documents that a model labels positive, in order."""
    part = split(data, seed)
    labels = classifier(data, kind, seed).predict(list(part.test))
    return [text for text, label in zip(part.test, labels, strict=True) if label == 1]


@cache
def official(data: str, kind: str, seed: int = SEED) -> kedge.Model:
    """A classifier as the official package sees it: a function that it asks about masked texts."""
    model = classifier(data, kind, seed)
    return from_linear(model) if kind in {"logistic", "perceptron"} else from_pipeline(model)


def official_anchors(model: kedge.Model, text: str, runs: int) -> list[tuple[str, ...]]:
    """The anchors that the official procedure finds, one for each run, as words."""
    tokens = cut(text)
    return [anchor_words(_beam(model, run).explain(tokens)) for run in range(runs)]


@lru_cache(maxsize=64)
def _beam(model: kedge.Model, seed: int) -> kedge.Explainer:
    return kedge.Explainer(model, method="beam", seed=seed)


def jaccard(first: Iterable[str], second: Iterable[str]) -> float:
    """Shared words over all words of two anchors; the paper compares sets of distinct words, letters only."""
    one, two = ({re.sub(r"[^a-zA-Z]", "", word.lower()) for word in words} for words in (first, second))
    return len(one & two) / len(one | two) if one | two else 1.0


def top_words(pipeline: Pipeline, text: str, length: int) -> list[str]:
    """The first occurrences in decreasing order of coefficient times IDF, as words (Prop. 7)."""
    vectorizer, head = pipeline[0], pipeline[-1]
    at = vectorizer.vocabulary_
    words = vectorizer.build_analyzer()(text)
    weight = {w: head.coef_[0, at[w]] * vectorizer.idf_[at[w]] if w in at else 0.0 for w in words}
    return ranked_words(words, weight, length)


def ranked_words(words: Sequence[str], weight: dict[str, float], length: int) -> list[str]:
    """All occurrences of the heaviest word first, then the next word's; the first ``length`` of them."""
    order = sorted(dict.fromkeys(words), key=lambda w: -weight[w])
    return [w for w in order for _ in range(words.count(w))][:length]
