"""Table: the official anchor against the ranking by gradient times IDF, for three networks.

Each published number is computed the way the authors did it: with their own weights where they published
them, on another split and vocabulary than the network was trained on where their script drew these again.
Beside it stands the number as it should be computed, with a network trained and explained on one split.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import authors
from .networks import LAYERS, Network, authors_network, logistic_accuracy, moved, trained_network
from .ranking import Explained, cells_of, chosen
from .result import Beyond, Cell, Result, Table
from .session import Session
from .setting import jaccard, official_anchors, ranked_words, split

__all__ = ["explain_network", "positive_documents", "run", "run_part"]

TITLE = "Networks: the official anchor against gradient times IDF"

# Documents of each subset and runs of each: on the authors' documents, on those of a network trained here,
# and in each draw of split and vocabulary. None: all. A sample costs a network of 20 layers ten million
# multiplications, and a long review takes thousands of samples.
BUDGET: dict[tuple[str, str], dict[str, tuple[int | None, int]]] = {
    ("3 layers", "restaurants"): {"authors": (None, 10), "here": (None, 5)},
    ("3 layers", "yelp"): {"authors": (None, 10), "here": (None, 1)},
    ("3 layers", "imdb"): {"authors": (None, 5), "here": (100, 1)},
    ("10 layers", "restaurants"): {"here": (60, 5), "draws": (30, 10)},
    ("10 layers", "yelp"): {"here": (20, 1), "draws": (12, 1)},
    ("10 layers", "imdb"): {"here": (60, 1)},
    ("20 layers", "restaurants"): {"here": (30, 3), "draws": (30, 3)},
    ("20 layers", "yelp"): {"here": (50, 1)},
    ("20 layers", "imdb"): {"here": (30, 1), "draws": (15, 1)},
}
# The authors explained this many documents of IMDB, the shortest ones.
SHORTEST = 200
# Seeds of the splits that are drawn again.
SEEDS = (1, 2, 3, 4, 5, 6)


def run(session: Session) -> Result:
    """Three networks on three data sets."""
    published: list[Cell] = []
    again: list[Cell] = []
    extra: list[Beyond] = []
    notes = []
    for layers in LAYERS:
        for data in session.scale.data:
            found = run_part(session, f"{layers}, {data}")
            for whole, some in zip((published, again, extra), found, strict=True):
                whole.extend(some)  # type: ignore[arg-type]
    yardstick = "logistic model on the same words, accuracy"
    extra += [Beyond(yardstick, data, logistic_accuracy(data)) for data in session.scale.data]
    notes.append(
        "IMDB: the 200 shortest positively classified test reviews, as the authors took them. Where a budget "
        "is smaller, the first documents of each subset in the order of the split."
    )
    text = (
        "Mean Jaccard similarity with its standard error, computed as the authors computed it: their "
        "weights, "
        "vocabulary and documents for 3 layers; split and vocabulary drawn again after training for 10 "
        "and 20 "
        "layers on Restaurants, 10 on Yelp and 20 on IMDB, which their script does (z then counts the spread "
        "of the draws); the others with networks trained here by their recipes."
    )
    beside = (
        "The same numbers as they should be computed, and with 3-layer networks trained here: every network "
        "is explained on the split, and with the vocabulary, that it was trained on. The published number is "
        "beside it for comparison only."
    )
    tables = (
        Table(TITLE, tuple(published), text, tuple(extra)),
        Table("Networks, evaluated on their own split", tuple(again), beside, counted=False),
    )
    return Result("networks", TITLE, tables, notes=tuple(notes))


def run_part(session: Session, part: str) -> tuple[list[Cell], list[Cell], list[Beyond]]:
    """One network on one data set: its published cells, the same otherwise, and its accuracies."""
    layers, data = part.split(", ")
    made = trained_network(data, layers, session.scale.epochs, Path(session.store))
    theirs = authors_network(data) if layers == "3 layers" else None
    right = _right(session, layers, data, made)
    accuracy = [Beyond(f"{layers}, trained here, accuracy", data, made.accuracy)]
    if (layers, data) in authors.MISEVALUATED:
        return _as_they_did(session, layers, data, made), right, accuracy
    if theirs is None:
        return right, [], accuracy
    accuracy.insert(0, Beyond(f"{layers}, authors' weights, accuracy", data, theirs.accuracy))
    return _with_their_weights(session, layers, data, theirs), right, accuracy


def _right(session: Session, layers: str, data: str, made: Network) -> list[Cell]:
    """A network trained here, on the split it was trained on."""
    most, runs = session.scale.of(*BUDGET[layers, data]["here"])
    found = explain_network(session, f"{layers}, {data}, own split", made, data, split(data).test, most, runs)
    return cells_of(layers, data, [found], most)


def _with_their_weights(session: Session, layers: str, data: str, theirs: Network) -> list[Cell]:
    """The authors' network on the authors' documents."""
    most, runs = session.scale.of(*BUDGET[layers, data]["authors"])
    texts = list(authors.proba_and_runs(layers, data))
    found = explain_network(session, f"{layers}, {data}, authors' weights", theirs, data, texts, most, runs)
    return cells_of(layers, data, [found], most, "authors' weights and documents")


def _as_they_did(session: Session, layers: str, data: str, made: Network) -> list[Cell]:
    """A network on splits and vocabularies that it was not trained on."""
    most, runs = session.scale.of(*BUDGET[layers, data]["draws"])
    draws = []
    for seed in SEEDS[: session.scale.draws]:
        title = f"{layers}, {data}, split {seed}"
        other = moved(made, data, seed)
        draws.append(explain_network(session, title, other, data, split(data, seed).test, most, runs))
    return cells_of(layers, data, draws, most, f"{len(draws)} draws of split and vocabulary")


def positive_documents(made: Network, data: str, texts: Sequence[str]) -> list[tuple[str, float]]:
    """The documents that a network labels positive, and the probability; of IMDB the shortest."""
    scored = zip(texts, made.probabilities(texts).tolist(), strict=True)
    found = [(text, p) for text, p in scored if p > 0.5]
    if data != "imdb":
        return found
    return sorted(found, key=lambda pair: len(pair[0].split()))[:SHORTEST]


def explain_network(
    session: Session,
    title: str,
    made: Network,
    data: str,
    texts: Sequence[str],
    most: int | None,
    runs: int,
) -> list[Explained]:
    """The runs of the official procedure on the documents that a network labels positive."""
    positive = positive_documents(made, data, texts)
    at = chosen([p for _, p in positive], most)

    def work(item: list[Any]) -> list[float]:
        text = item[1]
        weight, words = made.weights(text), made.vectorizer.build_analyzer()(text)
        anchors = official_anchors(made.model, text, item[2])
        return [jaccard(a, ranked_words(words, weight, len(a))) for a in anchors]

    # The network itself is part of what a result depends on.
    items = [[made.name, positive[i][0], runs] for i in at]
    found = session.each(sys.modules[__name__], title, items, work, partial=True)
    return [
        Explained(*positive[i], tuple(values))
        for i, values in zip(at, found, strict=True)
        if values is not None
    ]
