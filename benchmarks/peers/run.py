"""kedge and its peers on the same documents, models and machine, each in a process of its own.

usage: python -m benchmarks.peers.run --peers PYTHON   (from the project's root, in kedge's environment)

``make bench`` calls it. Answers are kept in ``--work``, so that an interrupted run goes on where it stopped;
``--quick`` is a run of a few minutes that tries every part. Writes ``peers.json``, ``peers.md`` and two
plots to ``--out``.
"""

import argparse
import itertools
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from . import report, tasks
from .figures import THRESHOLD, Row, against, asked, figures
from .judge import SAMPLES, SAMPLES_BY_ARITHMETIC, Judges
from .tools import TOOLS
from .worker import Plan, parsed

ROOT = Path(__file__).parents[2]
PEERS, BLACK_BOX = ("anchor-exp", "alibi"), ("kedge-proba", "kedge-labels")
# One thread for everybody: what is compared is work, not the number of cores.
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)
# Parts of ``--budget``: most where the targets are, least for the tools that are there for orientation.
SHARES = {"logistic": 1.0, "logistic-l2": 0.6, "forest": 0.3, "network": 0.3}
SHARES |= {"restaurants": 1.0, "yelp": 1.6, "imdb": 1.0, "lime": 0.1, "shap": 0.1}
# The slowest first, so that the last process does not run alone for long.
ORDER = ("anchor-exp", "alibi", "kedge-labels", "kedge-proba", "kedge", "lime", "shap")


def environment() -> dict[str, str]:
    """What every process sees: one thread, no compiled caches shared."""
    return {**os.environ, **ONE_THREAD, "PYTHONHASHSEED": "0"}


def say(text: str) -> None:
    """Progress, on standard error."""
    sys.stderr.write(f"{time.strftime('%H:%M:%S')} {text}\n")
    sys.stderr.flush()


def call(python: str, module: str, *arguments: str) -> int:
    """Run a module of this package in an environment; gives its exit code."""
    command = [python, "-m", f"{__package__}.{module}", *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment(), check=False).returncode


def ask(options: argparse.Namespace, python: str, name: str, groups: list[tuple[str, str]]) -> int:
    """One tool on all models and sets; gives its exit code."""
    plans = []
    for corpus, kind in groups:
        scale = SHARES[kind] * SHARES[corpus] * SHARES.get(name, 1.0)
        plan = replace(
            options.plan, budget=options.budget * scale, stable_budget=options.stable_budget * scale
        )
        plans.append((corpus, kind, asdict(plan)))
    return call(python, "worker", str(options.work), name, json.dumps(plans))


def answers_file(work: Path, name: str, corpus: str, kind: str) -> Path:
    """Where a tool's answers are."""
    return work / "answers" / f"{corpus}-{kind}-{name}.jsonl"


def answers(work: Path, name: str, corpus: str, kind: str) -> tuple[Row, list[Row]]:
    """The head and the rows of a worker's file."""
    lines = parsed(answers_file(work, name, corpus, kind))
    return lines[0], [line for line in lines[1:] if "cost" in line]


def judged(judges: Judges, by_tool: dict[str, list[Row]]) -> None:
    """Add the truth to every answer, and the shortest length that is known to reach the threshold."""
    for rows in by_tool.values():
        for row in rows:
            if row["error"] is None:
                judge = judges[row["document"]]
                row["true"], row["how"] = judge.precision(row["spans"])
                row["baseline"], _ = judge.precision([])
                row["idle"] = sum(judge.idle(span) for span in row["spans"])
                row["length"] = len(row["spans"])
    every = [row for rows in by_tool.values() for row in rows if row["error"] is None]
    best: dict[int, int] = {}
    for row in every:
        if row["true"] >= THRESHOLD:
            best[row["document"]] = min(row["length"], best.get(row["document"], row["length"]))
    proven = {row["document"] for row in by_tool.get("kedge", []) if row.get("status") == "exact"}
    for row in every:
        row["best"] = best.get(row["document"])
        row["proven"] = row["document"] in proven


def compared(options: argparse.Namespace, corpus: str, kind: str) -> dict[str, Any]:
    """One part of the record: all tools on one model and one set."""
    heads, rows = {}, {}
    there = [name for name in options.tools if answers_file(options.work, name, corpus, kind).exists()]
    for name in there:
        heads[name], rows[name] = answers(options.work, name, corpus, kind)
    model, documents = tasks.load(options.work, "kedge", corpus, kind)
    judges = Judges(options.work / "judged" / f"{corpus}-{kind}.json", model, documents)
    judged(judges, {name: rows[name] for name in there if TOOLS[name].anchors})
    judges.save()
    columns = {
        name: figures(
            rows[name],
            anchors=TOOLS[name].anchors,
            seeds=options.plan.seeds,
            loaded=heads[name]["loaded"],
        )
        for name in there
    }
    relative = {
        name: against(rows["kedge"], rows[name]) for name in there if "kedge" in rows and name != "kedge"
    }
    check = json.loads((options.work / "peers" / f"{corpus}-{kind}.check.json").read_text(encoding="utf-8"))
    return {
        "set": corpus,
        "model": kind,
        "documents": len(documents),
        "words_mean": sum(len(text.split()) for text in documents) / len(documents),
        "fit_differs_by": check["apart"],
        "columns": columns,
        "times_kedge": relative,
        "asked_times_kedge": {
            ours: {name: against(rows[ours], rows[name], asked) for name in there if name in PEERS}
            for ours in there
            if ours in BLACK_BOX
        },
        "heads": heads,
        "rows": rows,
    }


def main() -> None:
    """Read the options and run."""
    options = arguments()
    pythons = {"kedge": sys.executable, "peers": options.peers}
    os.environ.update(environment())
    groups = list(itertools.product(options.sets, options.models))
    if not options.report_only:
        for corpus in options.sets:
            tasks.prepare(options.work, corpus)
        for (corpus, kind), home in itertools.product(groups, pythons):
            if call(pythons[home], "tasks", str(options.work), home, corpus, kind):
                sys.exit(1)
        with ThreadPoolExecutor(options.jobs) as pool:
            names = sorted(options.tools, key=ORDER.index)
            codes = pool.map(lambda name: ask(options, pythons[TOOLS[name].home], name, groups), names)
            if any(list(codes)):
                sys.exit(1)
    parts = []
    for corpus, kind in groups:
        say(f"judging {corpus}, {kind}")
        parts.append(compared(options, corpus, kind))
    settings = asdict(options.plan) | {
        "samples": SAMPLES,
        "samples_by_arithmetic": SAMPLES_BY_ARITHMETIC,
        "threshold": THRESHOLD,
        "shares": SHARES,
        "note": options.note,
        "jobs": options.jobs,
        "budget": options.budget,
        "stable_budget": options.stable_budget,
    }
    report.write(options.out, parts, settings, options.name)
    say(f"written to {options.out}")


def arguments() -> argparse.Namespace:
    """The command line, with a plan made of it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument(
        "--peers", default=str(ROOT / ".venv-peers" / "bin" / "python"), help="the peers' Python"
    )
    parser.add_argument("--work", type=Path, default=ROOT / "benchmarks" / ".peers")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results")
    parser.add_argument("--name", default="peers")
    parser.add_argument("--sets", nargs="+", default=list(tasks.SETS), choices=list(tasks.SETS))
    parser.add_argument("--models", nargs="+", default=list(tasks.MODELS), choices=list(tasks.MODELS))
    parser.add_argument("--tools", nargs="+", default=list(TOOLS), choices=list(TOOLS))
    parser.add_argument("--documents", type=int, default=100, help="of each set, at most")
    parser.add_argument("--seeds", type=int, default=10, help="for the similarity of answers")
    parser.add_argument("--stable", type=int, default=10, help="documents that are explained with every seed")
    parser.add_argument("--limit", type=float, default=60, help="seconds of one explanation")
    parser.add_argument("--memory", type=int, default=8192, help="MiB of address space of one process")
    parser.add_argument("--budget", type=float, default=500, help="seconds of one tool on one model and set")
    parser.add_argument("--stable-budget", type=float, default=75, help="the same for the further seeds")
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time, one thread each")
    parser.add_argument("--note", default="", help="what a reader should know; printed on top")
    parser.add_argument(
        "--quick", action="store_true", help="6 documents, 2 seeds, 10 seconds each; written to --work"
    )
    parser.add_argument("--report-only", action="store_true", help="only judge and write what is there")
    options = parser.parse_args()
    if options.quick:
        options.documents, options.seeds, options.stable, options.budget, options.stable_budget = (
            6,
            2,
            2,
            10,
            5,
        )
        options.name, options.out = "peers-quick", options.work
    options.work, options.out = options.work.resolve(), options.out.resolve()
    options.plan = Plan(
        options.documents,
        options.seeds,
        options.stable,
        options.limit,
        options.memory,
        options.budget,
        options.stable_budget,
    )
    return options


if __name__ == "__main__":
    main()
