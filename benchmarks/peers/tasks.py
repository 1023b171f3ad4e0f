"""What is explained: review sets, models and documents, the same in both environments.

kedge's environment writes the texts and the documents (``prepare``). Each environment then fits the
models itself from the same split with the same seed, because pickles do not travel between versions of
numpy, and compares the scores of its own fit with those that were written. The network's weights are
trained once and carried over as plain arrays.

usage: python -m benchmarks.peers.tasks WORK HOME SET MODEL   (fit one model, or check that it is there)
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.reviews import clean

from .network import Network, read_weights

# Positively predicted test documents of each set that are explained.
SETS = {"restaurants": 100, "yelp": 50, "imdb": 50}
MODELS = {
    "logistic": "TF-IDF (norm=None) + LogisticRegression",
    "logistic-l2": "TF-IDF (default norm l2) + LogisticRegression",
    "forest": "TF-IDF (norm=None) + RandomForestClassifier(50)",
    "network": "TF-IDF (default norm, words in 0.2% of documents or more) + torch network (32 hidden units)",
}
# Scores of two fits of one model agree within this: solvers of different versions of scipy stop at
# slightly different places. Labels must agree on every test document.
TOLERANCE = 1e-3


def prepare(work: Path, name: str) -> None:
    """Write a set's texts: the paper's preparation, 75% to train on and 25% to explain (seed 0)."""
    target = work / f"{name}.json"
    if target.exists():
        return
    from sklearn.model_selection import train_test_split

    from kedge import datasets

    data = datasets.load(name)
    rows = [(clean(text), label) for text, label in zip(data.texts, data.labels, strict=True)]
    parts = train_test_split(*zip(*rows, strict=True), test_size=0.25, random_state=0)
    work.mkdir(parents=True, exist_ok=True)
    _write(target, dict(zip(("train", "test", "train_labels", "test_labels"), parts, strict=True)))


def fit(work: Path, home: str, name: str, kind: str) -> None:
    """Fit a model in this environment; the first to do so writes documents and scores, others compare."""
    import joblib

    target = work / home / f"{name}-{kind}.joblib"
    if target.exists():
        return
    texts = json.loads((work / f"{name}.json").read_text(encoding="utf-8"))
    model = _fitted(work, name, kind, texts)
    labels, scores = model.predict(texts["test"]), model.predict_proba(texts["test"])[:, 1]
    task = work / f"{name}-{kind}.json"
    if not task.exists():
        positive = [i for i, y in enumerate(labels) if y == 1 and texts["test"][i]]
        chosen = np.random.default_rng(1).permutation(positive)[: SETS[name]]
        documents = [texts["test"][i] for i in chosen]
        _write(task, {"documents": documents, "labels": labels.tolist(), "scores": scores.tolist()})
    known = json.loads(task.read_text(encoding="utf-8"))
    apart = float(np.abs(scores - known["scores"]).max())
    if known["labels"] != labels.tolist() or apart > TOLERANCE:
        sys.exit(f"{name}, {kind}: this environment's fit differs from the other's (scores by {apart:.1e}).")
    target.parent.mkdir(parents=True, exist_ok=True)
    joblib.dump(model, target)
    _write(target.with_suffix(".check.json"), {"apart": apart, "test_documents": len(labels)})


def load(work: Path, home: str, name: str, kind: str) -> tuple[Any, list[str]]:
    """A fitted pipeline, and the documents to explain in their order."""
    import joblib

    model = joblib.load(work / home / f"{name}-{kind}.joblib")
    return model, json.loads((work / f"{name}-{kind}.json").read_text(encoding="utf-8"))["documents"]


def _fitted(work: Path, name: str, kind: str, texts: dict[str, Any]) -> Any:
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    train, labels = texts["train"], texts["train_labels"]
    if kind == "network":
        weights = work / f"{name}-network.npz"
        network = Network(read_weights(weights) if weights.exists() else None)
        model = make_pipeline(TfidfVectorizer(min_df=0.002), network).fit(train, labels)
        np.savez(weights, **network.weights_)
        return model
    parts = {
        "logistic": lambda: (TfidfVectorizer(norm=None), LogisticRegression(max_iter=1000)),
        "logistic-l2": lambda: (TfidfVectorizer(), LogisticRegression(max_iter=1000)),
        "forest": lambda: (TfidfVectorizer(norm=None), RandomForestClassifier(50, random_state=0)),
    }
    return make_pipeline(*parts[kind]()).fit(train, labels)


def _write(path: Path, content: dict[str, Any]) -> None:
    """Write all or nothing: an interrupted run leaves no half file behind."""
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(content), encoding="utf-8")
    partial.rename(path)


if __name__ == "__main__":
    fit(Path(sys.argv[1]), *sys.argv[2:5])
