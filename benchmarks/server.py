"""The workbench under load: how fast it answers one client and eight, and what hostile texts leave behind.

    python benchmarks/server.py [--requests 2000] [--time-limit 10]

Starts ``kedge serve`` as a user would, on a free port of loopback, asks it over HTTP, and ends it. Times are
those that a client sees; what the machine did besides is in the load averages. Then texts made to use up
memory (100 kB of one repeated word, 80,000 different words) are sent with every question there is, to the
embedded model, to one that knows all these words, and to one with scikit-learn's default norm. Writes
``results/server.json`` and ``server.md``. Needs psutil (it comes with dask.distributed).
"""

import argparse
import http.client
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np
import psutil

import kedge
from kedge.data.demo import reviews

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
MEGABYTE = 1 << 20
CLIENTS = 8
QUESTIONS: dict[str, dict[str, object]] = {
    "explain": {},
    "precision": {"words": [0]},
    "influence": {},
    "flip": {},
    "predict": {"removed": [0]},
}
MODELS = """
import numpy as np
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

words = [f"{k:04x}q" if k > 0xFFF else f"{k:03x}q" for k in range(80_000)]


def fitted(vectorizer):
    model = make_pipeline(vectorizer, LogisticRegression())
    model.fit([*words[:2], " ".join(words)], [0, 1, 1])
    model[-1].coef_ = np.random.default_rng(0).normal(size=model[-1].coef_.shape)
    return model


counts, tfidf = (fitted(kind()) for kind in (CountVectorizer, TfidfVectorizer))
"""


def main() -> None:
    """Measure, write, and say it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument(
        "--requests", type=int, default=2000, help="Of eight clients together; of one, a quarter."
    )
    parser.add_argument("--time-limit", type=float, default=10, help="Seconds a hostile request may work.")
    parser.add_argument("--out", type=Path, default=RESULTS / "server.json")
    parser.add_argument("--only", choices=("latency", "memory"), help="Measure one of the two.")
    asked = parser.parse_args()
    kept = json.loads(asked.out.read_text("utf-8")) if asked.only and asked.out.exists() else {}
    figures: dict[str, dict] = {"latency": {}, "memory": {}, **kept, "machine": machine()}
    if asked.only != "memory":
        figures["latency"] = latency(asked.requests)
    if asked.only != "latency":
        figures["memory"] = memories(asked.time_limit)
    asked.out.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    asked.out.with_suffix(".md").write_text(written(figures), encoding="utf-8")
    sys.stdout.write(written(figures))


def memories(seconds: float) -> dict[str, object]:
    """What hostile texts leave behind, by model."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "hostile_models.py").write_text(MODELS, encoding="utf-8")
        models = ("reviews", "hostile_models:counts", "hostile_models:tfidf")
        return {model.rpartition(":")[2]: memory(model, folder, seconds) for model in models}


def machine() -> dict[str, object]:
    """What the figures were measured on."""
    return {
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "kedge": kedge.__version__,
        "load_average_before": round(os.getloadavg()[0], 2),
    }


@contextmanager
def served(model: str, folder: Path, *options: str) -> Iterator[tuple[int, psutil.Process]]:
    """A server in a process of its own; gives its port and the process."""
    command = [sys.executable, "-m", "kedge", "serve", "--port", "0", "--model", model, *options]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, cwd=folder) as process:
        try:
            said = re.search(r":(\d+)/", process.stdout.readline() if process.stdout else "")
            if said is None:
                raise SystemExit("The server did not start.")
            yield int(said[1]), psutil.Process(process.pid)
        finally:
            process.terminate()


def ask(line: http.client.HTTPConnection, question: str, body: dict[str, object]) -> tuple[int, float, dict]:
    """Ask; the status, the seconds until the whole answer was there, and the answer."""
    content = json.dumps(body)
    started = time.perf_counter()
    line.request("POST", f"/api/{question}", content, {"content-type": "application/json"})
    answer = line.getresponse()
    data = answer.read()
    return answer.status, time.perf_counter() - started, json.loads(data)


def latency(requests: int) -> dict[str, object]:
    """Explanations of the embedded reviews by the embedded model, from one client and from eight."""
    texts = reviews()[0]

    def client(port: int, number: int, count: int, form: str = "json") -> list[float]:
        line = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        seconds = []
        for k in range(count):
            status, took, _ = ask(line, f"explain?as={form}", {"text": texts[(number * 53 + k) % len(texts)]})
            if status != 200:
                raise SystemExit(f"The server answered with {status}.")
            seconds.append(took)
        line.close()
        return seconds

    found: dict[str, object] = {}
    with served("reviews", ROOT) as (port, process):
        client(port, 0, 20)  # what is imported with the first answers
        for form, clients in (("row", 1), ("row", CLIENTS), ("json", 1), ("json", CLIENTS)):
            each = (requests if clients > 1 else requests // 4) // clients
            before, load = sum(process.cpu_times()[:2]), os.getloadavg()[0]
            ask_all = partial(client, port, count=each, form=form)
            with ThreadPoolExecutor(clients) as pool:
                runs = list(pool.map(ask_all, range(clients)))
            took = 1000 * np.concatenate(runs)
            used = 1000 * (sum(process.cpu_times()[:2]) - before)
            found[f"{form}, {clients}"] = {
                "requests": len(took),
                "p50_ms": round(float(np.quantile(took, 0.5)), 2),
                "p95_ms": round(float(np.quantile(took, 0.95)), 2),
                "p99_ms": round(float(np.quantile(took, 0.99)), 2),
                "processor_ms_per_request": round(used / len(took), 2),
                "load_average_before": round(load, 2),
            }
    return found


def memory(model: str, folder: Path, seconds: float) -> dict[str, object]:
    """What a server holds before hostile texts, at most meanwhile, and after them."""
    words = " ".join(f"{k:04x}q" if k > 0xFFF else f"{k:03x}q" for k in range(80_000))[:399_999]
    texts = {
        "one word, 100 kB": "002q " * 20_000 if model != "reviews" else "good " * 20_000,
        "80,000 words": words,
    }
    asked: dict[str, dict[str, object]] = {}
    with served(model, folder, "--time-limit", str(seconds)) as (port, process), peak_of(process) as peak:
        line = http.client.HTTPConnection("127.0.0.1", port, timeout=10 * seconds)
        for question, more in QUESTIONS.items():
            ask(line, question, {"text": "a good place with 002q food", **more})
        before = process.memory_info().rss
        for name, text in texts.items():
            for question, more in QUESTIONS.items():
                status, took, answer = ask(line, question, {"text": text, **more})
                kind = answer.get("status") or answer.get("error", {}).get("kind") or "answered"
                asked[f"{question}: {name}"] = {"status": status, "said": kind, "seconds": round(took, 2)}
        time.sleep(1)
        after = process.memory_info().rss
        line.close()
    return {
        "before_mb": round(before / MEGABYTE),
        "peak_mb": round(peak[0] / MEGABYTE),
        "after_mb": round(after / MEGABYTE),
        "kept_mb": round((after - before) / MEGABYTE),
        "questions": asked,
    }


@contextmanager
def peak_of(process: psutil.Process) -> Iterator[list[int]]:
    """The most memory that a process has while the block lasts, in bytes, once it is over."""
    peak, over = [0], threading.Event()

    def look() -> None:
        while not over.wait(0.02):
            try:
                peak[0] = max(peak[0], process.memory_info().rss)
            except psutil.Error:
                return

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        yield peak
    finally:
        over.set()
        watcher.join()


def written(figures: dict) -> str:
    """The figures as tables."""
    machine, lines = figures["machine"], ["# The workbench under load", ""]
    lines += [
        f"`python benchmarks/server.py`: {machine['cores']} cores, Python {machine['python']}. Times are",
        "what a client on the same machine sees, over connections that stay open; the load average says",
        "what else the machine had to do.",
        "",
        "| form, clients | requests | p50 | p95 | p99 | processor time each | load average |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, row in figures["latency"].items():
        quantiles = " | ".join(f"{row[f'{quantile}_ms']:.1f} ms" for quantile in ("p50", "p95", "p99"))
        lines.append(
            f"| {name} | {row['requests']:,} | {quantiles} | "
            f"{row['processor_ms_per_request']:.1f} ms | {row['load_average_before']:.1f} |"
        )
    lines += [
        "",
        "Memory, with every question about 100 kB of one repeated word and about 80,000 different words:",
        "",
        "| model | before | at most | after | kept |",
        "|---|---|---|---|---|",
    ]
    for name, row in figures["memory"].items():
        held = " | ".join(f"{row[f'{when}_mb']:,} MB" for when in ("before", "peak", "after"))
        lines.append(f"| {name} | {held} | {row['kept_mb']:+,} MB |")
    lines += ["", "| model | question | HTTP | answer | seconds |", "|---|---|---|---|---|"]
    lines += [
        f"| {name} | {question} | {one['status']} | {one['said']} | {one['seconds']:.1f} |"
        for name, row in figures["memory"].items()
        for question, one in row["questions"].items()
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
