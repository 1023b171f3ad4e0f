"""Black boxes: how short, how certain and how stable the answers are, and how many questions they take.

Every model is passed as a bare callable, so that nothing of its inside is known; the same pipeline,
read from the inside, is the judge: exact precision and optimal length for the logistic model,
enumeration where it is possible and many samples elsewhere for the others.

usage: python benchmarks/blackbox.py [--seeds 10] [--documents N] [--models ...] [--jobs 2]
       [--peer PYTHON]  (an interpreter with anchor-exp; without one its columns are missing)
"""

import argparse
import json
import platform
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from multiprocessing import get_context
from pathlib import Path
from statistics import mean, median
from typing import Any

import numpy as np
from bars import THRESHOLD, bars_table, jaccard
from judges import ENCODER_SAMPLES, SAMPLES, TRANSFORMER_SAMPLES, Judge, judge_of
from minilm import embeddings, fine_tuned
from reviews import folder, pipeline, split
from transformer import tiny_transformer

import kedge

Row = dict[str, Any]

HERE = Path(__file__).parent


class Timed:
    """A callable model, and the processor time spent in it."""

    def __init__(self, ask: Any) -> None:
        self.ask, self.seconds = ask, 0.0

    def __call__(self, texts: list[str]) -> Any:
        """The model's answers."""
        started = time.process_time()
        answers = self.ask(texts)
        self.seconds += time.process_time() - started
        return answers


def explained(
    ask: Any, documents: list[str], chosen: list[int], seeds: int, prior: kedge.Prior | None = None
) -> list[Row]:
    """One row per document and seed."""
    rows = []
    for i in chosen:
        for seed in range(seeds):
            timed = Timed(ask) if callable(ask) else None
            started = time.process_time()
            e = kedge.explain(timed or ask, documents[i], seed=seed, threshold=THRESHOLD, prior=prior)
            own = time.process_time() - started - (timed.seconds if timed else 0.0)
            rows.append(
                {
                    "document": i,
                    "seed": seed,
                    "status": e.status,
                    "minimality": e.minimality,
                    "method": e.method,
                    "queries": e.queries,
                    "backward": e.backward,
                    "spans": [list(span) for span in e.spans],
                    "precision": e.precision,
                    "seconds": e.seconds,
                }
                | ({"own_milliseconds": 1000 * own / max(e.queries, 1)} if timed else {})
            )
    return rows


def judged(rows: list[Row], judges: dict[int, Judge]) -> list[Row]:
    """Add the truth to every row."""
    for row in rows:
        judge = judges[row["document"]]
        row["true_precision"] = judge.precision(row["spans"])
        row["baseline"] = judge.baseline
        row["optimal"] = judge.optimal
        row["length"] = len(row["spans"])
        row["idle_word"] = judge.idle(row["spans"])
        row["irreducible"] = judge.irreducible(row["spans"], THRESHOLD)
    return rows


def share(values: Iterable[bool]) -> str:
    """A percentage, or a dash."""
    seen = list(values)
    return f"{100 * mean(seen):.1f}% of {len(seen)}" if seen else "-"


def summary(rows: list[Row], asked: str = "queries") -> dict[str, str]:
    """The figures of one column."""
    claims = [r for r in rows if r.get("status", "claimed") in {"exact", "certified", "claimed"}]
    needy = [r for r in rows if r["baseline"] < THRESHOLD]
    needy_claims = [r for r in claims if r["baseline"] < THRESHOLD]
    count = [r[asked] for r in rows]
    return {
        "answers": str(len(rows)),
        "claimed (exact, certified)": share(
            "status" not in r or r["status"] in {"exact", "certified"} for r in rows
        ),
        "claims whose true precision is below 0.95": share(r["true_precision"] < THRESHOLD for r in claims),
        "the same where the baseline is below": share(r["true_precision"] < THRESHOLD for r in needy_claims),
        "optimal length, there": share(r["length"] == r["optimal"] for r in needy_claims if r["optimal"]),
        "with a word of no influence, there": share(r["idle_word"] for r in needy_claims),
        "with a word of no influence, all": share(r["idle_word"] for r in claims),
        "no word can be left out, there": share(
            r["irreducible"] for r in needy_claims if r["irreducible"] is not None
        ),
        "says that no word can be left out, there": share(
            r["minimality"] in {"shortest", "irreducible"} for r in needy_claims if "minimality" in r
        ),
        "says that one perhaps can, too narrowly to prove, there": share(
            r["minimality"] == "narrow" for r in needy_claims if "minimality" in r
        ),
        "Jaccard over seeds, there": "-" if (same := jaccard(needy)) is None else f"{same:.3f}",
        "texts asked, median / mean / max": f"{median(count):.0f} / {mean(count):.0f} / {max(count)}",
        "own time per text asked, ms, median / mean": "{:.2f} / {:.2f}".format(
            median(r["own_milliseconds"] for r in rows),
            sum(r["own_milliseconds"] * r[asked] for r in rows) / sum(count),
        )
        if "own_milliseconds" in rows[0]
        else "-",
        "seconds, median / mean": "{:.2f} / {:.2f}".format(
            median(r["seconds"] for r in rows), mean(r["seconds"] for r in rows)
        ),
    }


def table(title: str, columns: dict[str, dict[str, str]]) -> str:
    """Markdown: one row per figure, one column per way of asking."""
    figures = list(dict.fromkeys(figure for column in columns.values() for figure in column))
    lines = [f"### {title}", "", f"| | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
    lines += [f"| {f} | {' | '.join(c.get(f, '-') for c in columns.values())} |" for f in figures]
    return "\n".join([*lines, ""])


def peer_rows(peer: str, data: Path, name: str, seeds: int, chosen: list[int]) -> list[Row]:
    """anchor-exp's answers, from its own environment."""
    command = [peer, str(HERE / "peer_anchor_exp.py"), str(data), name, str(seeds), json.dumps(chosen)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=HERE)
    rows: list[Row] = json.loads(done.stdout)
    return rows


# What is asked of each model: by probabilities or labels, with a prior or without.
PLAIN = ("probabilities", "labels")
CELLS = {
    ("yelp", "logistic"): (*PLAIN, "probabilities, prior", "labels, prior"),
    ("yelp", "forest"): ("probabilities, prior",),
    ("yelp", "mlp"): ("probabilities, prior",),
    ("restaurants", "logistic"): (*PLAIN, "labels, prior"),
    ("restaurants", "forest"): PLAIN,
    ("restaurants", "mlp"): PLAIN,
    ("restaurants", "transformer"): ("probabilities",),
    ("restaurants", "minilm"): ("probabilities", "gradient"),
    ("restaurants", "embeddings"): ("gradient",),
    ("yelp", "minilm"): ("gradient",),
}
ENCODERS = {"embeddings", "minilm"}


def models_of(name: str, kind: str, cache: Path | None) -> tuple[dict[str, Any], list[str], Any]:
    """The ways of asking one model, its documents, and the judge of each."""
    data = folder()
    if kind == "transformer":
        ask, documents = tiny_transformer(data, name)
        return {"probabilities": ask}, documents, ask
    if kind in ENCODERS:
        pair, documents = embeddings(data, name) if kind == "embeddings" else fine_tuned(data, name, cache)
        predict = kedge.as_model(pair).predict
        masked = kedge.Model(predict, kind, mask="[MASK]")  # the same without its gradient
        return {"probabilities": masked, "gradient": pair}, documents, pair
    model, documents = pipeline(data, name, kind)
    return (
        {"probabilities": model_method(model, "predict_proba"), "labels": model_method(model, "predict")},
        (documents),
        model,
    )


def model_method(model: Any, method: str) -> Callable[[list[str]], Any]:
    """A bare function, so that nothing of the model's inside is known."""

    def ask(texts: list[str]) -> Any:
        return getattr(model, method)(texts)

    return ask


def limit_of(kind: str, options: argparse.Namespace) -> int:
    """How many documents are explained."""
    if kind in ENCODERS:
        return int(options.encoder)
    return int(options.documents if kind == "logistic" else min(options.documents, options.others))


def part(name: str, kind: str, options: argparse.Namespace) -> tuple[str, dict[str, list[Row]], list[str]]:
    """All that is asked of one model on one set: its table, its answers, and what learning took."""
    ways, documents, model = models_of(name, kind, options.cache)
    # The same choice whatever the order of the file: a random one with a fixed seed.
    order = np.random.default_rng(1).permutation(len(documents))
    if kind in ENCODERS:
        order = np.array([i for i in order if len(documents[i].split()) <= options.words])
    chosen = sorted(int(i) for i in order[: limit_of(kind, options)])
    judges = {i: judge_of(model, kind, documents[i], THRESHOLD) for i in chosen}
    columns, cells, learned = {}, {}, []
    for how in CELLS[name, kind]:
        started, prior = time.process_time(), None
        ask = ways[how.removesuffix(", prior")]
        if how.endswith(", prior"):
            others = split(folder(), name)[0][: options.prior]  # not explained
            prior = kedge.Prior.learn(ask, others, queries=100 * len(others))
            learned.append(f"{name}, {kind}, {how}: {prior.queries:,} questions, {prior.queries / 1000:.1f}")
        rows = judged(explained(ask, documents, chosen, options.seeds, prior), judges)
        columns[f"kedge, {how}"], cells[f"{name}, {kind}, {how}"] = summary(rows), rows
        sys.stderr.write(f"{name} {kind} {how}: {time.process_time() - started:.0f} s\n")
    if options.peer and kind == "logistic":
        first = chosen[: options.peer_documents]
        rows = judged(peer_rows(options.peer, folder(), name, options.peer_seeds, first), judges)
        columns[f"anchor-exp, {len(first)} documents"] = summary(rows)
        cells[f"{name}, anchor-exp"] = rows
    words = mean(len(documents[i].split()) for i in chosen)
    return table(f"{name}, {kind}: {len(chosen)} documents, mean b {words:.0f}", columns), cells, learned


def memory(words: int = 1_000) -> str:
    """Peak of what is allocated while a document of so many words is explained, above the model."""
    rng = np.random.default_rng(0)
    text = " ".join(f"w{k}" for k in rng.integers(0, 600, words))

    def ask(texts: list[str]) -> list[bool]:
        return [len(set(text.split()) & {"w1", "w2", "w3", "w4", "w5"}) > 1 for text in texts]

    tracemalloc.start()
    e = kedge.explain(ask, text)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    spent = f"{peak / 1e6:.0f} MB for {e.queries} texts asked ({e.status})"
    return f"Peak memory for a text of {words} words, labels only: {spent}.\n"


def run(options: argparse.Namespace) -> None:
    """All tables."""
    todo = [(n, k) for n, k in CELLS if n in options.sets and k in options.models]
    cells: dict[str, list[Row]] = {}
    tables, learned = [], []
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as workers:
        for done in [workers.submit(part, n, k, options) for n, k in todo]:
            text, rows, lines = done.result()
            tables.append(text)
            cells |= rows
            learned += lines
            sys.stdout.write(text + "\n")
            sys.stdout.flush()
    lessons = [
        f"A prior is learned from {options.prior} other documents. What that took, and per text of 1,000:",
        "",
        *(f"- {line}" for line in learned),
        "",
    ]
    made = f"Made on {datetime.now(UTC).date()} by `benchmarks/{Path(__file__).name}`"
    versions = f"kedge {kedge.__version__}, Python {platform.python_version()}, numpy {np.__version__}"
    seeds = f"Seeds: {options.seeds} ({options.peer_seeds} for anchor-exp)"
    judge = (
        "The judge is exact for the logistic model and where all texts can be enumerated; else it draws "
        f"{SAMPLES:,} samples ({TRANSFORMER_SAMPLES:,} tiny transformer, {ENCODER_SAMPLES:,} MiniLM)."
    )
    cut = f"MiniLM explains documents of at most {options.words} words."
    head = f"# Black boxes\n\n{seeds}. {made}; {versions}.\n{judge} {cut}\n"
    out = Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    text = "\n".join([head, bars_table(cells), "\n".join(lessons), memory(), *tables])
    (out / f"{options.name}.md").write_text(text, encoding="utf-8")
    record = {
        "seeds": options.seeds,
        "threshold": THRESHOLD,
        "sets": {name: _columns(rows) for name, rows in cells.items()},
    }
    (out / f"{options.name}.json").write_text(json.dumps(record, separators=(",", ":")), encoding="utf-8")


def _columns(rows: list[Row]) -> dict[str, list[Any]]:
    """Answers column by column, with few digits and without their spans."""
    names = [name for name in rows[0] if name != "spans"]
    return {name: [round(v, 4) if isinstance(v := row[name], float) else v for row in rows] for name in names}


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(description="Benchmarks of black boxes.")
    parser.add_argument("--out", type=Path, default=HERE / "results")
    parser.add_argument("--name", default="blackbox")
    parser.add_argument("--sets", nargs="+", default=["restaurants", "yelp"])
    parser.add_argument("--models", nargs="+", default=sorted({kind for _, kind in CELLS}))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--documents", type=int, default=10**9)
    parser.add_argument("--others", type=int, default=25, help="documents for the other models")
    parser.add_argument("--encoder", type=int, default=10, help="documents for MiniLM")
    parser.add_argument("--words", type=int, default=256, help="words of a document for MiniLM, at most")
    parser.add_argument("--prior", type=int, default=150, help="texts that a prior is learned from")
    parser.add_argument("--cache", type=Path, help="a folder where trained networks are kept")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--peer", help="a Python interpreter with anchor-exp")
    parser.add_argument("--peer-seeds", type=int, default=3)
    parser.add_argument("--peer-documents", type=int, default=10**9)
    run(parser.parse_args())


if __name__ == "__main__":
    main()
