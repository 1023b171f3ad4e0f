"""Flips on Yelp: what a flip costs where the model is read, and where it can only be asked.

usage: python benchmarks/flips.py [--documents 100]
"""

import argparse
import json
import re
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from reviews import folder, pipeline

import kedge

HERE = Path(__file__).parent


def words(text: str) -> list[str]:
    """The words that the pipeline's vectoriser finds, so that all ways of asking remove the same ones."""
    return re.findall(r"\b\w\w+\b", text)


def in_predictions(explainer: kedge.Explainer, model: Any, texts: list[str]) -> float:
    """What a flip costs, by the median, where one prediction of the text is 1: processor time, in turns."""

    def cost(call: Any) -> float:
        times = []
        for _ in range(5):
            started = time.process_time()
            call()
            times.append(time.process_time() - started)
        return min(times)

    shares = [cost(lambda t=t: explainer.flip(t)) / cost(lambda t=t: model.predict([t])) for t in texts]
    return round(float(np.median(shares)), 2)


def summary(found: list[kedge.Flip], exact: list[kedge.Flip]) -> dict[str, Any]:
    """Questions, lengths and what was promised."""
    asked = [f.queries for f in found]
    flipped = [(f, e) for f, e in zip(found, exact, strict=True) if f.found and e.found]
    longer = [len(f.words) / len(e.words) for f, e in flipped]
    return {
        "documents": len(found),
        "found": len(flipped),
        "queries_median": float(np.median(asked)),
        "queries_p90": float(np.quantile(asked, 0.9)),
        "words_median": float(np.median([len(f.words) for f, _ in flipped])),
        "times_the_smallest_mean": round(float(np.mean(longer)), 3),
        "proven_smallest": sum(f.minimality == "smallest" for f, _ in flipped),
        "irreducible": sum(f.minimality == "irreducible" for f, _ in flipped),
        "milliseconds_median": round(1000 * float(np.median([f.seconds or 0 for f in found])), 2),
    }


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=100)
    given = parser.parse_args()
    model, texts = pipeline(folder(), "yelp")
    texts = texts[: given.documents]
    exact = [kedge.Explainer(model).flip(text) for text in texts]
    ways = {
        "read": model,
        "asked with probabilities": lambda texts: model.predict_proba(texts),  # noqa: PLW0108  (the method itself would be read)
        "asked with labels": lambda texts: model.predict(texts).tolist(),
    }
    rows: dict[str, Any] = {"words_median": float(np.median([len(f.tokens) for f in exact]))}
    for name, way in ways.items():
        explainer = kedge.Explainer(way, tokenizer=None if name == "read" else words)
        rows[name] = summary([explainer.flip(text) for text in texts], exact)
        if name == "read":
            rows[name]["predictions_median"] = in_predictions(explainer, model, texts)
        sys.stdout.write(f"{name}: {rows[name]}\n")
    (HERE / "results" / "flips.json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
