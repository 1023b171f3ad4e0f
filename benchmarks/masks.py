"""Masks: what a mask itself says to twelve kinds of models, and what that does to their anchors.

Every model is explained with the mask that kedge chooses for it, and with the paper's UNK. For both: what
the model says about the documents with every word masked, the words of the anchors, the questions asked.

usage: python benchmarks/masks.py [--documents 20] [--set restaurants] [--kinds words characters hashed]

Kinds whose names do not begin as asked keep their rows of an earlier run on as many documents.
"""

import argparse
import csv
import json
import platform
import time
from collections import Counter
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
from masked_models import kinds
from reviews import FILES, folder

import kedge

HERE = Path(__file__).parent
LABELS = ("negative", "positive")
# Documents of this many words: long enough to be explained, short enough for the slowest model here.
SHORTEST, LONGEST = 6, 30
QUESTIONS = 3000
# The part of docs/masks.md that this script writes.
BEGIN, END = "<!-- written by benchmarks/masks.py -->", "<!-- end of what it wrote -->"


def texts_of(name: str) -> tuple[list[str], list[int], list[str]]:
    """Reviews as they were written, with their labels, to train on; and others to explain."""
    from sklearn.model_selection import train_test_split

    file, separator, quoting = FILES[name]
    with Path(folder(), file).open(encoding="utf-8", newline="") as lines:
        rows = list(csv.reader(lines, delimiter=separator, quoting=quoting))[1:]
    train, test, labels, _ = train_test_split(
        [row[0] for row in rows], [int(row[1]) for row in rows], test_size=0.25, random_state=0
    )
    return train, labels, [text for text in test if SHORTEST <= len(text.split()) <= LONGEST]


def measured(model: Any, documents: list[str], mask: str | None = None) -> dict[str, Any]:
    """One model under one mask; None for the one that kedge chooses, text by text."""
    options: Any = {} if mask is None else {"mask": mask}
    explainer = kedge.Explainer(model, max_queries=QUESTIONS, batch_size=128, classes=LABELS, **options)
    found = [explainer.explain(text) for text in documents]
    masked = [explainer.masked(e.text, range(len(e.tokens))) for e in found]
    said = explainer.model.predict(masked)
    positive = said.probabilities[:, list(said.classes).index("positive")]
    return {
        "masks": Counter(e.perturbation for e in found),
        "positive": float(np.mean(positive)),
        "label": LABELS[int(np.mean([label == "positive" for label in said.labels]) >= 0.5)],
        "agree": mean(float(label == e.label) for label, e in zip(said.labels, found, strict=True)),
        "words": mean(len(e.words) for e in found),
        "longest": max(len(e.words) for e in found),
        "reached": mean(e.status in {"exact", "certified"} for e in found),
        "needless": mean(e.baseline is not None and e.baseline.mean >= e.threshold for e in found),
        "questions": mean(e.queries for e in found),
        "speaks": mean(any("itself speaks" in note for note in e.notes) for e in found),
    }


def shown(masks: dict[str, int]) -> str:
    """The masks that were used, as the table has them: with the share of texts where there are several."""
    spelled = {"removal": "removal", "unk": "`UNK`"}
    names = {name: spelled.get(name, f"`{name.removeprefix('mask ')}`") for name in masks}
    if len(masks) == 1:
        return "".join(names.values())
    several = sum(masks.values())
    often = sorted(masks, key=masks.__getitem__, reverse=True)
    return ", ".join(f"{names[name]} ({masks[name] / several:.0%})" for name in often)


def table(rows: list[dict[str, Any]]) -> str:
    """The rows as Markdown: under the chosen mask, and under UNK."""
    lines = [
        "| model | mask chosen | every word masked (UNK) | words (UNK) | queries (UNK) | UNK speaks |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        own, unk = row["own"], row["unk"]
        lines.append(
            f"| {row['model']} | {shown(own['masks'])} "
            f"| {own['label']} {own['positive']:.2f} ({unk['label']} {unk['positive']:.2f}) "
            f"| {own['words']:.1f} ({unk['words']:.1f}) "
            f"| {own['questions']:,.0f} ({unk['questions']:,.0f}) "
            f"| {unk['speaks']:.0%} |"
        )
    return "\n".join(lines)


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


def write_page(about: dict[str, Any]) -> None:
    """Put the table into the documentation."""
    heading = (
        f"Computed by `benchmarks/masks.py`: {about['documents']} {about['set'].capitalize()} reviews of "
        f"{SHORTEST} to {LONGEST} words, threshold 0.95; in brackets the same under the paper's UNK. *Every "
        "word masked*: the label that most such texts get, and the mean probability of *positive*. *Words*: "
        "the mean length of the anchors. *UNK speaks*: the share of explanations with the note about it."
    )
    page = HERE.parent / "docs" / "masks.md"
    before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    shown = f"{heading}\n\n{table(about['rows'])}"
    page.write_text(f"{before}{BEGIN}\n{shown}\n{END}{after}", encoding="utf-8")


def main() -> None:
    """Measure every kind of model and write the results."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--documents", type=int, default=20)
    parser.add_argument("--set", choices=sorted(FILES), default="restaurants")
    parser.add_argument("--kinds", nargs="+", default=[""])
    asked = parser.parse_args()
    import torch

    torch.set_num_threads(1)
    train, labels, documents = texts_of(asked.set)
    documents = documents[: asked.documents]
    earlier = json.loads(text) if (text := _text(HERE / "results" / "masks.json")) else {}
    same = (earlier.get("documents"), earlier.get("set")) == (len(documents), asked.set)
    known = {row["model"]: row for row in earlier.get("rows", [])} if same else {}
    rows = []
    for name, make in kinds(train, labels):
        if name in known and not name.startswith(tuple(asked.kinds)):
            rows.append(known[name])
            continue
        started = time.perf_counter()
        model = make()
        first = measured(model, documents)
        second = first if set(first["masks"]) == {"unk"} else measured(model, documents, "UNK")
        rows.append({"model": name, "own": first, "unk": second})
        print(f"{name}: {time.perf_counter() - started:.0f} s", flush=True)  # noqa: T201  (how far it is)
    results = HERE / "results"
    about = {
        "set": asked.set,
        "documents": len(documents),
        "python": platform.python_version(),
        "kedge": kedge.__version__,
        "rows": rows,
    }
    (results / "masks.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    write_page(about)


if __name__ == "__main__":
    main()
