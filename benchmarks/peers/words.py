"""The words of one tool for some documents, in the tool's own environment: JSON on standard output.

For each document either ``spans`` (an anchor), or ``ranked`` (words with their weights, the best first), or
``error``: what the tool failed of.

usage: PEER_PYTHON -m benchmarks.peers.words DATA SET TOOL DOCUMENTS   (their numbers, as JSON)
"""

import importlib
import json
import resource
import sys
import warnings
from typing import Any

from benchmarks.reviews import pipeline

from .tools import TOOLS, Asked
from .worker import limited

# Seconds of processor time for one document, and bytes of memory for all of them: half of what the larger
# comparison gives, so that two tools fit beside each other.
SECONDS, MEMORY = 60.0, 4 << 30


def main(data: str, name: str, tool: str, chosen: list[int]) -> None:
    """Explain the chosen documents, each with seed 0."""
    warnings.filterwarnings("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.RLIM_INFINITY))
    model, documents = pipeline(data, name)
    module = importlib.import_module(f"{__package__}.tools.{TOOLS[tool].module}")
    explain = module.make(model, Asked())
    rows: list[dict[str, Any]] = []
    for i in chosen:
        answer, error = limited(SECONDS, lambda text=documents[i]: explain(text, 0))
        if answer is None:
            rows.append({"error": error})
        else:
            rows.append({"spans": answer.spans} if answer.ranked is None else {"ranked": answer.ranked})
    json.dump(rows, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], json.loads(sys.argv[4]))
