"""The review data and the models of the benchmarks, with scikit-learn alone: peers run it too."""

import csv
import os
import re
import sys
from pathlib import Path
from typing import Any

FILES = {
    "restaurants": ("restaurants.tsv", "\t", csv.QUOTE_NONE),
    "yelp": ("yelp.csv", "|", csv.QUOTE_MINIMAL),
}


def folder() -> Path:
    """Where the review files are: the folder that $KEDGE_DATA names."""
    if "KEDGE_DATA" not in os.environ:
        sys.exit("Set KEDGE_DATA to the folder of the review files (docs/reproduction.md).")
    return Path(os.environ["KEDGE_DATA"])


def clean(text: str) -> str:
    """The paper's preparation: letters, digits and spaces, in lower case."""
    return " ".join(re.sub(r"[^a-z0-9 ]", "", text.lower().replace("\n", " ")).split())


def split(data: Path | str, name: str) -> list[Any]:
    """Texts and labels of a set, 75% to train on and 25% to explain (seed 0)."""
    from sklearn.model_selection import train_test_split

    file, separator, quoting = FILES[name]
    with Path(data, file).open(encoding="utf-8", newline="") as lines:
        rows = list(csv.reader(lines, delimiter=separator, quoting=quoting))[1:]
    texts, labels = [clean(row[0]) for row in rows], [int(row[1]) for row in rows]
    parts: list[Any] = train_test_split(texts, labels, test_size=0.25, random_state=0)
    return parts


def pipeline(data: Path | str, name: str, kind: str = "logistic") -> tuple[Any, list[str]]:
    """A fitted pipeline, and the test documents it labels positive."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline

    models = {
        "logistic": lambda: LogisticRegression(max_iter=1000),
        "forest": lambda: RandomForestClassifier(50, random_state=0),
        "mlp": lambda: MLPClassifier((100,), max_iter=60, random_state=0),
    }
    train, test, labels, _ = split(data, name)
    model = make_pipeline(TfidfVectorizer(norm=None), models[kind]()).fit(train, labels)
    return model, [text for text, y in zip(test, model.predict(test), strict=True) if y == 1 and text]
