"""The embedded corpus and the small model trained on it: something to explain on a fresh install.

``python -m kedge.data.demo`` trains the model and prints its weights, for ``data/review_weights.json``.
"""

import csv
import json
from functools import cache
from importlib.resources import files
from typing import Any

from kedge.model.rules import Rule, all_present
from kedge.model.weights import WordWeights

__all__ = ["VERY_GOOD", "review_model", "review_weights", "reviews", "very_good"]


def reviews() -> tuple[list[str], list[str]]:
    """The embedded corpus: short reviews, each "positive" or "negative".

    >>> texts, labels = reviews()
    >>> len(texts), sorted(set(labels))
    (420, ['negative', 'positive'])
    """
    table = (files("kedge") / "data" / "reviews.tsv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(table.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))
    return [row["review"] for row in rows], [row["label"] for row in rows]


@cache
def review_model() -> Any:
    """Logistic regression on the paper's non-normalised TF-IDF, trained on the embedded corpus."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    texts, labels = reviews()
    model = make_pipeline(TfidfVectorizer(norm=None), LogisticRegression(max_iter=1000))
    return model.fit(texts, labels)


@cache
def review_weights() -> WordWeights:
    """The same model by its weights, ready without training or scikit-learn: the command line's own."""
    stored = json.loads((files("kedge") / "data" / "review_weights.json").read_text(encoding="utf-8"))
    return WordWeights(stored["weights"], stored["intercept"], tuple(stored["classes"]))


def train_weights() -> dict[str, Any]:
    """What ``data/review_weights.json`` holds: the trained model's coefficients times IDF."""
    vectorizer, classifier = (step for _, step in review_model().steps)
    slopes = (classifier.coef_[0] * vectorizer.idf_).tolist()
    words = vectorizer.get_feature_names_out().tolist()
    return {
        "classes": classifier.classes_.tolist(),
        "intercept": float(classifier.intercept_[0]),
        "weights": dict(zip(words, slopes, strict=True)),
    }


VERY_GOOD: Rule = all_present(["very", "good"])
"""The paper's example: label 1 iff "very" and "good" are both present."""


def very_good(multiplicity: int) -> str:
    """The review of the paper's example: "very" so many times, then "good"."""
    return f"Food is {'very ' * multiplicity}good!"


if __name__ == "__main__":
    print(json.dumps(train_weights(), indent=0))  # noqa: T201  (a file for the package)
