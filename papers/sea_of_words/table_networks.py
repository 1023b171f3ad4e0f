"""Table: the official anchor against the ranking by gradient times IDF, for three networks."""

import sys
from pathlib import Path
from typing import Any

import kedge
from kedge.errors import TextError

from .networks import LAYERS, network
from .ranking import CUT, cells_of, chosen
from .result import Cell, Result, Table
from .session import Session
from .setting import jaccard, ranked_words, split

__all__ = ["run"]

TITLE = "Networks: the official anchor against gradient times IDF"

# Documents per subset, and runs of each. One sample costs a network of 20 layers 10 million
# multiplications, and a long review takes thousands of samples.
MOST = {
    "3 layers": {"restaurants": 60, "yelp": 12, "imdb": 8},
    "10 layers": {"restaurants": 40, "yelp": 10, "imdb": 6},
    "20 layers": {"restaurants": 30, "yelp": 6, "imdb": 4},
}
RUNS = {"restaurants": 10, "yelp": 4, "imdb": 2}


def run(session: Session) -> Result:
    """Three networks on three data sets."""
    cells: list[Cell] = []
    extra: list[Cell] = []
    notes = []
    for layers in LAYERS:
        for data, wanted in session.scale.ranked.items():
            most = min(wanted, MOST[layers][data])
            made, answers, probability = _answers(session, layers, data, most)
            cells += cells_of(layers, data, probability, answers, most)
            extra.append(
                Cell(f"{layers}, accuracy", data, None, None, made.accuracy, None, len(split(data).test))
            )
            notes.append(f"{layers}: " + CUT.format(most=most, data=data))
    notes.append(
        "Runs of each document: "
        + ", ".join(f"{d} {min(session.scale.runs, n)}" for d, n in RUNS.items())
        + "."
    )
    text = (
        "Mean and standard deviation of the Jaccard similarity over documents and runs. The "
        "networks are trained here, so their probabilities, and with them the subsets, are not those of "
        "the paper."
    )
    return Result("networks", TITLE, (Table(TITLE, tuple(cells), text, tuple(extra)),), notes=tuple(notes))


def _answers(session: Session, layers: str, data: str, most: int) -> tuple[Any, dict[int, Any], list[float]]:
    import torch

    torch.set_num_threads(1)
    made = network(data, layers, session.scale.epochs, Path(session.store))
    model = made.model()
    scored = zip(split(data).test, made.probabilities(split(data).test)[:, 1].tolist(), strict=True)
    positive = [(text, p) for text, p in scored if p > 0.5]
    texts, probability = [t for t, _ in positive], [p for _, p in positive]
    at = chosen(probability, most)

    def work(item: list[Any]) -> dict[str, Any] | None:
        text, runs = item[2], item[3]
        weight = made.weights(text)
        words = made.vectorizer.build_analyzer()(text)
        try:
            anchors = [kedge.explain(model, text, method="beam", seed=run).words for run in range(runs)]
        except TextError:
            return None
        return {
            "similarity": [jaccard(a, ranked_words(words, weight, len(a))) for a in anchors],
            "lengths": [len(a) for a in anchors],
        }

    runs = min(session.scale.runs, RUNS[data])
    # The network itself is part of what a result depends on: its accuracy and probabilities name it.
    items = [[data, layers, texts[i], runs, round(probability[i], 6)] for i in at]
    found = session.each(sys.modules[__name__], f"{data}, {layers}", items, work, partial=True)
    return made, dict(zip(at, found, strict=True)), probability
