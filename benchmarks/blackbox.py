"""Black boxes: how short, how certain and how stable the answers are, and how many questions they take.

Every model is passed as a bare callable, so that nothing of its inside is known; the same pipeline,
read from the inside, is the judge: exact precision and optimal length for the logistic model,
20,000 samples (and enumeration where it is possible) for the others.

usage: python benchmarks/blackbox.py [--seeds 10] [--documents N] [--models ...]
       [--peer PYTHON]  (an interpreter with anchor-exp; without one its columns are missing)
"""

import argparse
import itertools
import json
import platform
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from statistics import mean, median
from typing import Any

import numpy as np
from judges import Judge, judge_of
from reviews import folder, pipeline, split
from transformer import tiny_transformer

import kedge

Row = dict[str, Any]

HERE = Path(__file__).parent
THRESHOLD = 0.95


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
            timed, started = Timed(ask), time.process_time()
            e = kedge.explain(timed, documents[i], seed=seed, threshold=THRESHOLD, prior=prior)
            own = time.process_time() - started - timed.seconds
            rows.append(
                {
                    "document": i,
                    "seed": seed,
                    "status": e.status,
                    "method": e.method,
                    "queries": e.queries,
                    "spans": [list(span) for span in e.spans],
                    "precision": e.precision,
                    "seconds": e.seconds,
                    "own_milliseconds": 1000 * own / max(e.queries, 1),
                }
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
    return rows


def share(values: Iterable[bool]) -> str:
    """A percentage, or a dash."""
    seen = list(values)
    return f"{100 * mean(seen):.1f}% of {len(seen)}" if seen else "-"


def jaccard(rows: list[Row]) -> str:
    """Mean over documents of the mean pairwise Jaccard similarity over seeds."""
    means = []
    for _, group in itertools.groupby(rows, key=lambda row: row["document"]):
        sets = [frozenset(map(tuple, row["spans"])) for row in group]
        pairs = [len(a & b) / len(a | b) if a | b else 1.0 for a, b in itertools.combinations(sets, 2)]
        if pairs:
            means.append(mean(pairs))
    return f"{mean(means):.3f} ({len(means)} documents)" if means else "-"


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
        "Jaccard over seeds, there": jaccard(needy),
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


Ask = Callable[[list[str]], Any]


def models_of(data: Path, name: str, kind: str) -> tuple[dict[str, Ask], list[str], Any]:
    """The callables of one model, its documents, and the judge of each."""
    if kind == "transformer":
        ask, documents = tiny_transformer(data, name)
        return {"probabilities": ask}, documents, ask
    model, documents = pipeline(data, name, kind)

    def probabilities(texts: list[str]) -> Any:
        return model.predict_proba(texts)

    def labels(texts: list[str]) -> Any:
        return model.predict(texts)

    return {"probabilities": probabilities, "labels": labels}, documents, model


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
    parts: list[str] = [memory()]
    record: dict[str, Any] = {"seeds": options.seeds, "threshold": THRESHOLD, "sets": {}}
    for name, kind in itertools.product(options.sets, options.models):
        asks, documents, model = models_of(folder(), name, kind)
        limit = options.documents if kind == "logistic" else min(options.documents, options.others)
        # The same choice whatever the order of the file: a random one with a fixed seed.
        order = np.random.default_rng(1).permutation(len(documents))[:limit]
        chosen = sorted(int(i) for i in order)
        judges = {i: judge_of(model, kind, documents[i], THRESHOLD) for i in chosen}
        columns = {}
        for how, ask in asks.items():
            started = time.perf_counter()
            rows = judged(explained(ask, documents, chosen, options.seeds), judges)
            columns[f"kedge, {how}"] = summary(rows)
            record["sets"][f"{name}, {kind}, {how}"] = rows
            sys.stderr.write(f"{name} {kind} {how}: {time.perf_counter() - started:.0f} s\n")
            if options.prior and kind != "transformer":
                others = split(folder(), name)[0][: options.prior]  # not explained
                prior = kedge.Prior.learn(ask, others, queries=100 * len(others))
                rows = judged(explained(ask, documents, chosen, options.seeds, prior), judges)
                column = f"kedge, {how}, prior"
                columns[column] = summary(rows) | {
                    "questions to learn, per text of 1,000": f"{prior.queries:,}: {prior.queries / 1000:.1f}"
                }
                record["sets"][f"{name}, {kind}, {how}, prior"] = rows
        if options.peer and kind == "logistic":
            rows = judged(peer_rows(options.peer, folder(), name, options.peer_seeds, chosen), judges)
            columns["anchor-exp, labels"] = summary(rows, "asked")
            columns["anchor-exp, distinct texts"] = summary(rows)
            record["sets"][f"{name}, anchor-exp"] = rows
        words = mean(len(documents[i].split()) for i in chosen)
        parts.append(table(f"{name}, {kind}: {len(chosen)} documents, mean b {words:.0f}", columns))
        sys.stdout.write(parts[-1] + "\n")
        sys.stdout.flush()
    out = Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    made = f"Made on {datetime.now(UTC).date()} by `benchmarks/{Path(__file__).name}`"
    versions = f"kedge {kedge.__version__}, Python {platform.python_version()}, numpy {np.__version__}"
    seeds = f"Seeds: {options.seeds} ({options.peer_seeds} for anchor-exp)"
    head = f"# Black boxes\n\n{seeds}. {made}; {versions}.\n\n"
    (out / f"{options.name}.md").write_text(head + "\n".join(parts), encoding="utf-8")
    record["sets"] = {name: _columns(rows) for name, rows in record["sets"].items()}
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
    parser.add_argument("--models", nargs="+", default=["logistic", "forest", "mlp", "transformer"])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--documents", type=int, default=10**9)
    parser.add_argument("--others", type=int, default=25, help="documents for the other models")
    parser.add_argument("--prior", type=int, default=150, help="texts a prior is learned from; 0 for none")
    parser.add_argument("--peer", help="a Python interpreter with anchor-exp")
    parser.add_argument("--peer-seeds", type=int, default=3)
    run(parser.parse_args())


if __name__ == "__main__":
    main()
