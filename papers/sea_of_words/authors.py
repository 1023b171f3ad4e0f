"""The authors' own runs and networks, where they are: ``authors`` in the folder of $KEDGE_DATA.

One JSON line per document and run, as published with the paper's code; see the README beside them.
"""

import gzip
import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from .judge import Sample

__all__ = ["MISEVALUATED", "RUNS", "proba_and_runs", "published_runs", "sample", "weights"]

# The files of the ranking tables, by model and data set. None was published for the logistic model on IMDB.
RUNS = {
    **{
        (f"{n} layers", data): f"{data}_nn_{n}_similarity"
        for n in (3, 10, 20)
        for data in ("restaurants", "yelp", "imdb")
    },
    ("logistic", "restaurants"): "logistic_restaurants",
    ("logistic", "yelp"): "logistic_yelp",
}
# Networks that the authors' script explained on another split, and with another vocabulary, than those
# they were trained on: it draws both again for every model but the first.
MISEVALUATED = {
    ("10 layers", "restaurants"),
    ("20 layers", "restaurants"),
    ("10 layers", "yelp"),
    ("20 layers", "imdb"),
}


def _folder() -> Path | None:
    place = os.environ.get("KEDGE_DATA")
    folder = Path(place) / "authors" if place else None
    return folder if folder is not None and folder.is_dir() else None


@cache
def published_runs(name: str) -> tuple[dict[str, Any], ...]:
    """The records of one file, in order; nothing where the file is not there."""
    folder = _folder()
    path = folder / f"{name}.jsonl.gz" if folder else None
    if path is None or not path.is_file():
        return ()
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return tuple(json.loads(line) for line in file)


@cache
def proba_and_runs(model: str, data: str) -> dict[str, tuple[float, tuple[float, ...]]]:
    """For each document of the authors the probability of the positive class, and a similarity per run."""
    found: dict[str, tuple[float, list[float]]] = {}
    for row in published_runs(RUNS.get((model, data), "")):
        proba = row["Proba"][0] if isinstance(row["Proba"], list) else row["Proba"]
        same = row.get("Similarity")
        if same is None:  # the logistic files hold the two lists of words only
            one, two = set(map(str.lower, row["Anchor"])), set(row["Expected"])
            same = len(one & two) / len(one | two)
        found.setdefault(row["Example"], (float(proba), []))[1].append(float(same))
    return {text: (proba, tuple(runs)) for text, (proba, runs) in found.items()}


def sample(model: str, data: str, below: float) -> Sample | None:
    """The authors' similarities on documents below a probability; None where there is none."""
    each = [runs for proba, runs in proba_and_runs(model, data).values() if proba < below]
    return Sample.of(each)


@cache
def weights(data: str) -> tuple[tuple[Any, Any], ...]:
    """(weight, bias) of each layer of the authors' 3-layer network; nothing where it is not there."""
    folder = _folder()
    path = folder / f"nn_3_{data}.npz" if folder else None
    if path is None or not path.is_file():
        return ()
    with np.load(path) as stored:
        return tuple((stored[f"{k}.weight"], stored[f"{k}.bias"]) for k in (0, 2, 4))
