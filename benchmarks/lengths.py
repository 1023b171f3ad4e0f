"""How long anchors of models that are read are, against brute force, and how many are proven.

Every document is one whose samples can all be asked about (up to 2^16 rows of counts), so the optimal
length is known. Pipelines of four classes (customers' questions of banking77, four groups of intents) with
and without the l2 norm; words and pairs of words, and a forest of 100 trees, on pieces of Yelp reviews.
``auto`` would enumerate many of them, so the searches for longer documents are run by name. Cost is a
multiple of one `pipeline.predict([text])`, in processor time.

``python benchmarks/lengths.py`` needs the files in the folder that $KEDGE_DATA names, and writes
``results/lengths.md``.
"""

import argparse
import csv
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from reviews import folder, split
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import kedge
from kedge.evaluators.enumeration import Enumeration, table_size
from kedge.search import Goal
from kedge.search.exact import leading
from kedge.search.exhaustive import Exhaustive, search_all

HERE = Path(__file__).parent
GROUPS = ("card", "top", "transfer", "cash")
LARGEST = 1 << 16


def questions() -> tuple[list[str], list[int]]:
    """Customers' questions and their group: the first of four words that the intent's name contains."""
    with (folder() / "banking77.csv").open(encoding="utf-8", newline="") as file:
        rows = [(row["text"], row["category"]) for row in csv.DictReader(file)]
    found = [(text, [g in name for g in GROUPS]) for text, name in rows]
    kept = [(text, which.index(True)) for text, which in found if any(which)]
    order = np.random.default_rng(0).permutation(len(kept))
    return [kept[i][0] for i in order], [kept[i][1] for i in order]


def models() -> dict[str, tuple]:
    """Name to (pipeline, documents, strategy)."""
    texts, groups = questions()
    cut = 3 * len(texts) // 4
    found = {}
    for norm in ("l2", None):
        pipeline = make_pipeline(TfidfVectorizer(norm=norm), LogisticRegression(max_iter=1000))
        pipeline.fit(texts[:cut], groups[:cut])
        name = "four classes, l2" if norm else "four classes, no norm"
        found[name] = (pipeline, texts[cut:], kedge.Leading())
    train, test, labels, _ = split(folder(), "yelp")
    pairs = make_pipeline(CountVectorizer(ngram_range=(1, 2)), LogisticRegression(max_iter=1000))
    found["words and pairs of words"] = (pairs.fit(train, labels), _sentences(test, 12), kedge.Chain())
    forest = make_pipeline(TfidfVectorizer(norm=None), RandomForestClassifier(100, random_state=0))
    found["forest of 100 trees"] = (forest.fit(train, labels), _sentences(test), kedge.Counted())
    return found


def _sentences(texts: list[str], words: int = 16) -> list[str]:
    """Pieces of reviews, short enough to be enumerated."""
    return [" ".join(t.split()[i : i + words]) for t in texts for i in range(0, len(t.split()), words)]


def row(name: str, pipeline: Any, documents: list[str], strategy: Any, number: int) -> dict:
    """One pipeline: the lengths of the strategy against the optimum."""
    explainer = kedge.Explainer(pipeline)
    kinds: Counter[str] = Counter()
    longer: Counter[int] = Counter()
    ratios, lengths, irreducible, reduced = [], [], 0, 0
    leading.enumerable = lambda _: False  # or documents this short would be enumerated
    for text in documents:
        if sum(kinds.values()) >= number:
            break
        try:
            reading = explainer.read(text)
        except kedge.KedgeError:
            continue
        size = table_size(reading)
        if not 64 < size <= LARGEST:
            continue
        table = Enumeration(reading)
        if table([()]).mean[0] >= 0.95:
            continue  # no word is needed: any one is optimal
        best = search_all(reading, table, Goal(), np.random.default_rng(0), Exhaustive(max_candidates=10**7))
        found = strategy(explainer.read(text), Goal(), np.random.default_rng(0))
        ratios.append(
            multiple(
                lambda t=text: pipeline.predict([t]),
                lambda t=text: strategy(explainer.read(t), Goal(), np.random.default_rng(0)),
            )
        )
        kinds[found.status] += 1
        longer[len(found.kept) - len(best.kept)] += 1
        lengths.append(len(found.kept))
        if found.status == "certified":
            less = [found.kept[:i] + found.kept[i + 1 :] for i in range(len(found.kept))]
            irreducible += 1
            reduced += len(found.kept) > 1 and bool((table(less).mean >= 0.95).any())
    total = sum(kinds.values())
    return {
        "model": name,
        "documents": total,
        "optimal": longer[0] / total,
        "longer": {n: longer[n] for n in sorted(longer) if n},
        "exact": kinds["exact"],
        "certified": kinds["certified"],
        "unfinished": kinds["not_reached"] + kinds["estimated"],
        "reducible": reduced,
        "words": float(np.mean(lengths)),
        "ratio": float(np.median(ratios)),
    }


def multiple(one: Callable[[], object], other: Callable[[], object]) -> float:
    """The processor time of the other over that of the one, each the best of three, taking turns."""
    took: list[list[float]] = [[], []]
    for _ in range(3):
        for kept, call in zip(took, (one, other), strict=True):
            start = time.process_time()
            call()
            kept.append(time.process_time() - start)
    return min(took[1]) / min(took[0])


def markdown(rows: list[dict]) -> str:
    """The table."""
    lines = [
        (
            "| model | documents | optimal length | longer by (documents) | exact | certified | unfinished | "
            "certified and reducible | words | x predict, median |"
        ),
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for r in rows:
        more = ", ".join(f"{n} ({k})" for n, k in r["longer"].items()) or "none"
        lines.append(
            f"| {r['model']} | {r['documents']} | {r['optimal']:.1%} | {more} | {r['exact']} | "
            f"{r['certified']} | {r['unfinished']} | {r['reducible']} | {r['words']:.2f} | {r['ratio']:.1f} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run and write."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--documents", type=int, default=300)
    parser.add_argument("--out", type=Path, default=HERE / "results")
    arguments = parser.parse_args()
    rows = [row(name, *parts, arguments.documents) for name, parts in models().items()]
    table = markdown(rows)
    (arguments.out / "lengths.md").write_text(table)
    print(table)  # noqa: T201  (the table is what it is run for)


if __name__ == "__main__":
    main()
