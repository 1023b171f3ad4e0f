"""anchor-exp on the same documents, in a process and an environment of its own.

usage: PEER_PYTHON peer_anchor_exp.py DATA SET SEEDS DOCUMENTS   (prints JSON, one row per answer)
"""

import json
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import spacy
from anchor.anchor_text import AnchorText
from reviews import pipeline

warnings.filterwarnings("ignore")


def counting(model: Any, asked: list[str]) -> Callable[[list[str]], Any]:
    """The model's labels, and a record of every text it was asked about."""

    def predict(texts: list[str]) -> Any:
        asked.extend(texts)
        return model.predict(texts)

    return predict


def main(data: str, name: str, seeds: int, chosen: list[int]) -> None:
    """Explain the chosen documents with every seed."""
    model, documents = pipeline(data, name)
    explainer = AnchorText(spacy.blank("en"), ["0", "1"], use_unk_distribution=True)
    rows = []
    for i in chosen:
        for seed in range(seeds):
            asked: list[str] = []
            np.random.seed(seed)  # noqa: NPY002  (the peer draws from the global state)
            started = time.perf_counter()
            e = explainer.explain_instance(documents[i], counting(model, asked), threshold=0.95)
            seconds = time.perf_counter() - started
            spans = [[t.idx, t.idx + len(t)] for t in explainer.nlp(documents[i])]
            positions = [spans[int(k)] for k in e.features()]
            rows.append(
                {
                    "document": i,
                    "seed": seed,
                    "asked": len(asked),
                    "queries": len(set(asked)),
                    "spans": positions,
                    "seconds": seconds,
                }
            )
    json.dump(rows, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), json.loads(sys.argv[4]))
