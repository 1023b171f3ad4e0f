"""Flips on Yelp: what a flip costs and promises where the model is read, and where it can only be asked.

Every flip is checked by asking the model itself: the label changes, and with any one word back it returns.

usage: python benchmarks/flips.py [--documents 100]
"""

import argparse
import json
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from reviews import folder, pipeline, split
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import kedge

RESULTS = Path(__file__).parent / "results"
PAGE = Path(__file__).parents[1] / "docs" / "questions.md"
BEGIN, END = "<!-- benchmarks/results/flips.md -->\n", "<!-- end of flips.md -->\n"


def words(text: str) -> list[str]:
    """The words that the pipeline's vectoriser finds, so that all ways of asking remove the same ones."""
    return re.findall(r"\b\w\w+\b", text)


def models() -> dict[str, tuple[Any, str]]:
    """Fitted models, each with how kedge gets at it."""
    train, _, labels, _ = split(folder(), "yelp")
    logistic = pipeline(folder(), "yelp")[0]
    network = pipeline(folder(), "yelp", "mlp")[0]
    normalised = make_pipeline(TfidfVectorizer(), LogisticRegression(max_iter=1000))
    pairs = make_pipeline(TfidfVectorizer(ngram_range=(1, 2)), LogisticRegression(max_iter=1000))
    tree = make_pipeline(CountVectorizer(), DecisionTreeClassifier(max_depth=20, random_state=0))
    return {
        "logistic, read": (logistic, "read"),
        "logistic, normalised TF-IDF, read": (normalised.fit(train, labels), "read"),
        "logistic, words and pairs, read": (pairs.fit(train, labels), "read"),
        "tree, read": (tree.fit(train, labels), "read"),
        "logistic, asked for probabilities": (logistic, "probabilities"),
        "logistic, asked for labels": (logistic, "labels"),
        "network, asked for labels": (network, "labels"),
    }


def asked(model: Any, how: str) -> kedge.Explainer:
    """An explainer that reads the model, or only gets its answers."""
    if how == "read":
        return kedge.Explainer(model)
    answer: Callable[[list[str]], Any] = model.predict_proba
    if how == "labels":
        answer = lambda texts: model.predict(texts).tolist()  # noqa: E731
    return kedge.Explainer(lambda texts: answer(texts), tokenizer=words)  # noqa: PLW0108  (a method would be read)


def least_time(call: Callable[[], Any]) -> float:
    """Processor time, the least of five."""
    times = []
    for _ in range(5):
        started = time.process_time()
        call()
        times.append(time.process_time() - started)
    return min(times)


def irreducible(explainer: kedge.Explainer, model: Any, flip: kedge.Flip) -> bool:
    """Whether the label changes, and returns with any one of the words back: the model's own answers."""
    masked = [explainer.masked(flip.text, set(flip.positions) - {k}) for k in flip.positions]
    changed, *back = model.predict([flip.after, *masked])
    return bool(changed != flip.label) and all(y == flip.label for y in back)


def measure(model: Any, how: str, texts: list[str], smallest: list[int] | None) -> dict[str, Any]:
    """Questions, lengths, promises, and what the model says of them."""
    explainer = asked(model, how)
    flips = [explainer.flip(text) for text in texts]
    found = [f for f in flips if f.found]
    row = {
        "documents": len(flips),
        "found": len(found),
        "questions_median": float(np.median([f.queries for f in flips])),
        "questions_p90": float(np.quantile([f.queries for f in flips], 0.9)),
        "words_median": float(np.median([len(f.words) for f in found])),
        "proven_fewest": sum(f.minimality == "smallest" for f in found),
        "irreducible": sum(irreducible(explainer, model, f) for f in found),
    }
    if smallest is not None:
        # Of the linear model the fewest are known, and what reading costs is compared with a prediction.
        sizes = [len(f.words) / least for f, least in zip(flips, smallest, strict=True) if f.found]
        row["times_the_fewest"] = round(float(np.mean(sizes)), 3)
    if smallest is not None and how == "read":
        shares = [
            least_time(lambda t=t: explainer.flip(t)) / least_time(lambda t=t: model.predict([t]))
            for t in texts
        ]
        row["cost_in_predictions"] = round(float(np.median(shares)), 1)
    return row


def table(rows: dict[str, dict[str, Any]]) -> str:
    """The results as Markdown."""
    columns = (
        "model",
        "flips found",
        "questions, median (90%)",
        "words",
        "proven fewest",
        "irreducible",
        "times the fewest, mean",
        "cost, in predictions",
    )
    lines = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    for name, row in rows.items():
        longer, cost = row.get("times_the_fewest"), row.get("cost_in_predictions")
        lines.append(
            f"| {name} | {row['found']} of {row['documents']} "
            f"| {row['questions_median']:.0f} ({row['questions_p90']:.0f}) | {row['words_median']:g} "
            f"| {row['proven_fewest']} | {row['irreducible']} "
            f"| {'' if longer is None else f'{longer:.2f}'} | {'' if cost is None else f'{cost:.1f}'} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=100)
    given = parser.parse_args()
    known = models()
    logistic = known["logistic, read"][0]
    texts = pipeline(folder(), "yelp")[1][: given.documents]
    smallest = [len(kedge.flip(logistic, text).words) for text in texts]
    rows = {}
    for name, (model, how) in known.items():
        rows[name] = measure(model, how, texts, smallest if model is logistic else None)
        sys.stdout.write(f"{name}: {rows[name]}\n")
    length = float(np.median([len(words(text)) for text in texts]))
    record = {"set": "yelp", "words_median": length, "rows": rows}
    (RESULTS / "flips.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    (RESULTS / "flips.md").write_text(table(rows), encoding="utf-8")
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}{table(rows)}{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
