"""What the two ranking tables share: which documents, which runs, and how cells are made of them.

The official procedure is run ten times on each document; each anchor is compared with as many of the
first words of the ranking as it has.
"""

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

from .published import RANKING
from .result import Cell
from .setting import mean_sd

__all__ = ["CUT", "SUBSETS", "cells_of", "chosen"]

# Subsets by the predicted probability of the positive class.
SUBSETS = {"full": 1.01, "pr<0.85": 0.85, "pr<0.75": 0.75}

CUT = "Where a subset has more documents, its first {most} in the order of the split are taken ({data})."


NONE = "no positive test document has so low a probability here"


def chosen(probability: Sequence[float], most: int) -> list[int]:
    """Indices of the documents that are explained: the first ``most`` of every subset, in turns."""
    subsets = [[i for i, p in enumerate(probability) if p < bound][:most] for bound in SUBSETS.values()]
    turns = [i for turn in zip_longest(*subsets) for i in turn if i is not None]
    return list(dict.fromkeys(turns))


def cells_of(
    model: str, data: str, probability: Sequence[float], answers: dict[int, Any], most: int
) -> list[Cell]:
    """One cell per subset, from the runs of its documents."""
    cells = []
    for subset, bound in SUBSETS.items():
        inside = [i for i, p in enumerate(probability) if p < bound][:most]
        values = [value for i in inside if answers[i] for value in answers[i]["similarity"]]
        mean, sd = mean_sd(values)
        paper = RANKING[model][subset][data]
        cells.append(
            Cell(
                f"{model}, {subset}",
                data,
                paper[0] if paper else None,
                paper[1] if paper else None,
                mean,
                sd,
                len([i for i in inside if answers[i]]),
                "" if inside else NONE,
            )
        )
    return cells
