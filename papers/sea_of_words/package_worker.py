"""anchor-exp in an environment of its own: PYTHON package_worker.py FOLDER, which holds a job.json.

It imports nothing of kedge. A model is a scikit-learn pipeline (model.pkl) or the layers of a network
(model.npz) with the words and IDF of its vectoriser.
"""

import json
import pickle
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

warnings.filterwarnings("ignore")


def predictor(folder: Path) -> Any:
    """Texts to labels."""
    if (folder / "model.pkl").is_file():
        with (folder / "model.pkl").open("rb") as file:
            return pickle.load(file).predict  # noqa: S301  (written by the process that asks)
    from sklearn.feature_extraction.text import CountVectorizer

    stored = np.load(folder / "model.npz")
    counter = CountVectorizer(vocabulary=stored["words"].tolist())
    layers = [(stored[f"weight{k}"].T, stored[f"bias{k}"]) for k in range(int(stored["layers"]))]

    def predict(texts: Any) -> Any:
        rows = counter.transform(texts).toarray() * stored["idf"]
        for k, (weight, bias) in enumerate(layers):
            rows = (rows if k == 0 else np.maximum(rows, 0)) @ weight + bias
        return rows.argmax(axis=1)

    return predict


def main(folder: Path) -> None:
    """Explain every document as often as asked, within the time allowed."""
    import spacy
    from anchor.anchor_text import AnchorText

    job = json.loads((folder / "job.json").read_text(encoding="utf-8"))
    predict = predictor(folder)
    explainer = AnchorText(spacy.blank("en"), ["0", "1"], use_unk_distribution=True)
    if job["scalar"]:  # long doubles are sorted as doubles were before numpy 1.25
        sort = np.argsort
        np.argsort = lambda a, *rest, **named: sort(np.asarray(a, dtype=np.longdouble), *rest, **named)
    begun, found = time.perf_counter(), []
    for text in job["texts"]:
        if time.perf_counter() - begun > job["seconds"]:
            break
        anchors = []
        for run in range(job["runs"]):
            np.random.seed(run)  # noqa: NPY002  (it draws from the global state)
            names = explainer.explain_instance(text, predict, threshold=0.95).names()
            anchors.append([str(name).lower() for name in names])
        found.append(anchors)
    json.dump({"anchors": found, "seconds": time.perf_counter() - begun}, sys.stdout)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
