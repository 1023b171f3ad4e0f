"""anchor-exp on the same documents, in a process and an environment of its own.

usage: PEER_PYTHON peer_anchor_exp.py DATA SET SEEDS DOCUMENTS   (prints JSON, one row per answer)
"""

import json
import sys
import time
import warnings

from peers.tools import Asked
from peers.tools.anchor_exp import make
from reviews import pipeline

warnings.filterwarnings("ignore")


def main(data: str, name: str, seeds: int, chosen: list[int]) -> None:
    """Explain the chosen documents with every seed."""
    model, documents = pipeline(data, name)
    asked = Asked(remember=True)
    explain = make(model, asked)
    rows = []
    for i in chosen:
        for seed in range(seeds):
            asked.clear()
            started = time.perf_counter()
            answer = explain(documents[i], seed)
            rows.append(
                {
                    "document": i,
                    "seed": seed,
                    "asked": asked.texts,
                    "queries": len(asked.distinct),
                    "spans": answer.spans,
                    "seconds": time.perf_counter() - started,
                }
            )
    json.dump(rows, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), json.loads(sys.argv[4]))
