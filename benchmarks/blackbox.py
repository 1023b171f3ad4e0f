"""Black boxes: how short, how certain and how stable the answers are, and how many questions they take.

Every model is passed as a bare callable, so that nothing of its inside is known; the same pipeline,
read from the inside, is the judge: exact precision and optimal length for the logistic model,
enumeration where it is possible and many samples elsewhere for the others.

usage: python benchmarks/blackbox.py [--seeds 10] [--documents N] [--models ...] [--jobs 2]
       [--peer PYTHON]  (an interpreter with anchor-exp; without one its columns are missing)
       [--report]  (only the page, from the answers that are there)

Sets and models that are not asked for keep their answers of an earlier run.
"""

import argparse
import json
import platform
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from multiprocessing import get_context
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
from bars import THRESHOLD
from blackbox_page import new_record, page, take_in, write
from judges import Judge, judge_of
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
    ("yelp", "embeddings"): ("gradient",),
}
ENCODERS = {"embeddings", "minilm"}
# A look at whether a document needs a word: samples, and how far below the threshold they must be.
LOOKS, MARGIN = 60, 0.03


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


def needing(model: Any, documents: list[str], order: Any, n: int) -> Any:
    """The first documents that seem to need a word: with none kept, some of sixty samples lose the label."""
    explainer, found = kedge.Explainer(model, batch_size=64), []
    for i in order:
        reading = explainer.read(documents[i])
        held = reading.holds(reading.sample((), LOOKS, np.random.default_rng(int(i))))
        if held.mean() < THRESHOLD - MARGIN:
            found.append(i)
        if len(found) == n:
            break
    return np.array(found)


def part(name: str, kind: str, options: argparse.Namespace) -> tuple[str, Row, dict[str, list[Row]]]:
    """All that is asked of one model on one set: its name, what is to be told of it, its answers."""
    ways, documents, model = models_of(name, kind, options.cache)
    # The same choice whatever the order of the file: a random one with a fixed seed.
    order = np.random.default_rng(1).permutation(len(documents))
    if kind in ENCODERS:
        order = np.array([i for i in order if len(documents[i].split()) <= options.words])
        if options.needy:
            order = needing(model, documents, order, limit_of(kind, options))
    chosen = sorted(int(i) for i in order[: limit_of(kind, options)])
    judges = {i: judge_of(model, kind, documents[i], THRESHOLD) for i in chosen}
    about: Row = {
        "documents": len(chosen),
        "words": mean(len(documents[i].split()) for i in chosen),
        "longest": options.words if kind in ENCODERS else None,
        "needy": options.needy and kind in ENCODERS,
        "seeds": options.seeds,
        "learned": [],
    }
    cells = {}
    for how in CELLS[name, kind]:
        started, prior = time.process_time(), None
        ask = ways[how.removesuffix(", prior")]
        if how.endswith(", prior"):
            others = split(folder(), name)[0][: options.prior]  # not explained
            prior = kedge.Prior.learn(ask, others, queries=100 * len(others))
            told = f"{prior.queries:,} questions, {prior.queries / 1000:.1f}"
            about["learned"].append(f"{name}, {kind}, {how}: {told}")
        cells[how] = judged(explained(ask, documents, chosen, options.seeds, prior), judges)
        sys.stderr.write(f"{name} {kind} {how}: {time.process_time() - started:.0f} s\n")
    if options.peer and kind == "logistic":
        first = chosen[: options.peer_documents]
        about |= {"peer": len(first), "peer_seeds": options.peer_seeds}
        cells["anchor-exp"] = judged(
            peer_rows(options.peer, folder(), name, options.peer_seeds, first), judges
        )
    return f"{name}, {kind}", about, cells


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
    return f"Peak memory for a text of {words} words, labels only: {spent}."


def run(options: argparse.Namespace) -> None:
    """Ask what is asked for, and write it beside what is there of other models and sets."""
    file = Path(options.out) / f"{options.name}.json"
    record = json.loads(file.read_text("utf-8")) if file.exists() else new_record()
    if not options.report:
        record |= {"made": f"Made on {datetime.now(UTC).date()}", "versions": versions(), "memory": memory()}
        todo = [(n, k) for n, k in CELLS if n in options.sets and k in options.models]
        with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as workers:
            for done in [workers.submit(part, n, k, options) for n, k in todo]:
                key, about, cells = done.result()
                take_in(record, key, about, cells)
                write(record, file, CELLS)  # each part as it comes: a run that is interrupted has these
    write(record, file, CELLS)
    sys.stdout.write(page(record, CELLS))


def versions() -> str:
    """What it was measured with."""
    return f"kedge {kedge.__version__}, Python {platform.python_version()}, numpy {np.__version__}"


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(description="Benchmarks of black boxes.")
    parser.add_argument("--out", type=Path, default=HERE / "results")
    parser.add_argument("--name", default="blackbox")
    parser.add_argument(
        "--report", action="store_true", help="only write the page, from the answers that are there"
    )
    parser.add_argument("--sets", nargs="+", default=["restaurants", "yelp"])
    parser.add_argument("--models", nargs="+", default=sorted({kind for _, kind in CELLS}))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--documents", type=int, default=10**9)
    parser.add_argument("--others", type=int, default=25, help="documents for the other models")
    parser.add_argument("--encoder", type=int, default=10, help="documents for MiniLM")
    parser.add_argument("--needy", action="store_true", help="for MiniLM only documents that need a word")
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
