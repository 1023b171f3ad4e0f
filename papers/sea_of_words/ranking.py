"""What the two ranking tables share: which documents, which runs, and how cells are made of them.

The official procedure is run several times on each document; each anchor is compared with as many of the
first words of the ranking as it has.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from . import authors
from .judge import Sample, z_paired
from .published import RANKING
from .result import Cell

__all__ = ["SUBSETS", "Explained", "cells_of", "chosen"]

# Subsets by the predicted probability of the positive class.
SUBSETS = {"full": 1.01, "pr<0.85": 0.85, "pr<0.75": 0.75}

NONE = "no positive test document has so low a probability here"


@dataclass(frozen=True)
class Explained:
    """A document that was explained: the probability of its class, and a similarity for each run."""

    text: str
    probability: float
    similarity: tuple[float, ...]


def chosen(probability: Sequence[float], most: int | None) -> list[int]:
    """Indices of the documents that are explained: the first ``most`` of every subset, in turns."""
    subsets = [[i for i, p in enumerate(probability) if p < bound][:most] for bound in SUBSETS.values()]
    turns = [i for turn in zip_longest(*subsets) for i in turn if i is not None]
    return sorted(dict.fromkeys(turns))


def cells_of(
    model: str, data: str, draws: Sequence[Sequence[Explained]], most: int | None, note: str = ""
) -> list[Cell]:
    """One cell per subset that the paper has, from the documents of one evaluation or of several draws."""
    cells = []
    for subset, bound in SUBSETS.items():
        paper = RANKING[model][subset][data]
        if paper is None:
            continue
        each = [[e for e in found if e.probability < bound][:most] for found in draws]
        samples = [Sample.of([e.similarity for e in found]) for found in each]
        known = tuple(s for s in samples if s is not None)
        here = {e.text: e.similarity for found in each for e in found}
        stored = authors.proba_and_runs(model, data)
        theirs = {text: runs for text, (p, runs) in stored.items() if p < bound}
        several = len(draws) > 1
        cells.append(
            Cell(
                f"{model}, {subset}",
                data,
                *paper,
                Sample.of([e.similarity for found in each for e in found]),
                authors.sample(model, data, bound),
                known if several else (),
                None if several else z_paired(here, theirs),
                NONE if not here else note,
            )
        )
    return cells
