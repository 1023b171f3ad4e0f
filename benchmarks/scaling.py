"""How the cost of an explanation grows with the length of the document and with the vocabulary.

usage: python -m benchmarks.scaling [--quick]   (or ``python benchmarks/scaling.py``)

Documents of 10 to 10,000 words are made up: Zipf's law for the words, coefficients so that the samples
score one standard deviation below zero, which needs an anchor of about the square root of the length.
The exponent is the slope of log cost over log length, fitted to documents of 100 words and more: below that
the cost of a call is constant; b log b is fitted beside it. Writes ``results/scaling.json`` and
``results/scaling.md``.
"""

import argparse
import json
import platform
import time
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import kedge

HERE = Path(__file__).parent
LENGTHS = (10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000)
VOCABULARIES = (1_000, 10_000, 100_000)
# Documents of each length; the exponent is fitted from this length on.
DOCUMENTS, FROM = 5, 100
# The normalised score is sampled, a second and more for longer documents than this.
SAMPLED = 2_000
# A vocabulary's documents have so many words.
WORDS = 200


def zipf(words: int, rng: np.random.Generator) -> np.ndarray:
    """Ranks of ``words`` words drawn by Zipf's law from a vocabulary that grows with the square root."""
    ranks = np.arange(1, int(10 * words**0.5) + 1)
    return rng.choice(len(ranks), words, p=(1 / ranks) / (1 / ranks).sum())


def task(words: int, vocabulary: int | None, norm: str | None, seed: int) -> tuple[Any, str]:
    """A pipeline and a document that it labels positive, undecided enough to need many words."""
    rng = np.random.default_rng([words, seed])
    ranks = zipf(words, rng)
    names = [f"w{i}x" for i in range(max(vocabulary or 0, int(ranks.max()) + 1))]
    drawn = [names[r] for r in ranks]
    pipeline = make_pipeline(TfidfVectorizer(norm=norm), LogisticRegression())
    pipeline.fit([" ".join(names), names[0]], [1, 0])
    used, counts = np.unique(ranks, return_counts=True)
    slopes = rng.normal(size=len(used)) * rng.exponential(size=len(used))
    spread = np.sqrt(counts @ slopes**2) / 2
    slopes += (0.6 * np.sqrt(words) * spread - counts @ slopes) / words
    columns = [pipeline[0].vocabulary_[names[r]] for r in used]
    # Divided by the document's norm the score of the whole document is the same as without.
    scale = 1.0 if norm is None else float(np.sqrt(((counts * pipeline[0].idf_[columns]) ** 2).sum()))
    pipeline[-1].coef_[0, :] = 0.0
    pipeline[-1].coef_[0, columns] = slopes / pipeline[0].idf_[columns] * scale
    pipeline[-1].intercept_[0] = -0.5 * counts @ slopes - spread
    if pipeline.decision_function([" ".join(drawn)])[0] <= 0:
        pipeline[-1].intercept_[0] = -0.5 * counts @ slopes
    return pipeline, " ".join(rng.permutation(drawn))


def turns(*calls: Callable[[], object]) -> list[float]:
    """Processor time of each call, taking turns: the middle of three."""
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(3):
        for kept, call in zip(times, calls, strict=True):
            started = time.thread_time()
            call()
            kept.append(time.thread_time() - started)
    return [median(found) for found in times]


def row(words: int, vocabulary: int | None, norm: str | None) -> dict[str, Any]:
    """The middle document of a length."""
    found = []
    for seed in range(DOCUMENTS):
        pipeline, text = task(words, vocabulary, norm, seed)
        explainer = kedge.Explainer(pipeline)
        e = explainer.explain(text)
        predict, explain = turns(
            lambda p=pipeline, t=text: p.predict([t]), lambda x=explainer, t=text: x.explain(t)
        )
        found.append((explain, predict, len(e.words), e.status))
    explain, predict, anchor, _ = map(median, zip(*((*f[:3], 0) for f in found), strict=True))
    return {
        "words": words,
        "vocabulary": len(pipeline[0].vocabulary_),
        "milliseconds": 1e3 * explain,
        "x_predict": median(f[0] / f[1] for f in found),
        "predict_milliseconds": 1e3 * predict,
        "anchor": anchor,
        "exact": sum(f[3] == "exact" for f in found),
        "documents": DOCUMENTS,
    }


def exponent(sizes: list[float], costs: list[float]) -> float:
    """The slope of log cost over log size."""
    return float(np.polyfit(np.log(sizes), np.log(costs), 1)[0])


def markdown(record: dict[str, Any]) -> str:
    """The tables."""
    with_what = ", ".join(f"{name} {record[name]}" for name in ("kedge", "scikit-learn", "numpy", "python"))
    made = (
        f"Made by `python -m benchmarks.scaling` on {record['date']} with {with_what}: the middle of "
        f"{DOCUMENTS} documents of undecided tone, processor time."
    )
    lines = ["# How the cost grows", "", made, ""]
    for name, part in record["parts"].items():
        lines += [
            f"## {name}",
            "",
            f"Fitted exponent of the {part['of']}: {part['exponent']:.2f}"
            + (
                f" (prediction: {part['predict_exponent']:.2f}; b log b: {part['b_log_b']:.2f})."
                if "b_log_b" in part
                else "."
            ),
            "",
            "| words | vocabulary | explanation, ms | x predict | words of the anchor | exact |",
            "|---|---|---|---|---|---|",
        ]
        lines += [
            f"| {r['words']:,} | {r['vocabulary']:,} | {r['milliseconds']:.2f} | {r['x_predict']:.1f} | "
            f"{r['anchor']:.0f} | {r['exact']} of {r['documents']} |"
            for r in part["rows"]
        ]
        lines.append("")
    return "\n".join(lines)


def main() -> None:
    """Run and write."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--out", type=Path, default=HERE / "results")
    parser.add_argument("--quick", action="store_true", help="up to 1,000 words; written nowhere")
    options = parser.parse_args()
    lengths = [n for n in LENGTHS if not options.quick or n <= 1_000]
    parts: dict[str, Any] = {}
    for name, norm in (("linear, no norm", None), ("linear, norm l2", "l2")):
        rows = [row(words, None, norm) for words in lengths if norm is None or words <= SAMPLED]
        long = [r for r in rows if r["words"] >= FROM]
        sizes = [r["words"] for r in long]
        parts[f"{name}: length"] = {
            "of": f"cost over the length, from {FROM} words on",
            "exponent": exponent(sizes, [r["milliseconds"] for r in long]),
            "predict_exponent": exponent(sizes, [r["predict_milliseconds"] for r in long]),
            "b_log_b": exponent(sizes, [b * np.log(b) for b in sizes]),
            "rows": rows,
        }
    rows = [row(WORDS, v, None) for v in VOCABULARIES]
    parts["linear, no norm: vocabulary"] = {
        "of": f"cost over the vocabulary, documents of {WORDS} words",
        "exponent": exponent([r["vocabulary"] for r in rows], [r["milliseconds"] for r in rows]),
        "rows": rows,
    }
    record = {
        "date": datetime.now(UTC).date().isoformat(),
        "python": platform.python_version(),
        **{name: version(name) for name in ("kedge", "numpy", "scikit-learn")},
        "parts": parts,
    }
    table = markdown(record)
    print(table)  # noqa: T201  (the table is what it is run for)
    if not options.quick:
        options.out.mkdir(exist_ok=True)
        (options.out / "scaling.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        (options.out / "scaling.md").write_text(table, encoding="utf-8")


if __name__ == "__main__":
    main()
