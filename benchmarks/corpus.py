"""Whole corpora, measured: throughput, memory, workers, coverage queries.

    python benchmarks/corpus.py [--documents 10000] [--out benchmarks/results/corpus.json]

Runs the command line as a user would, on the IMDB reviews in $KEDGE_DATA, and writes the figures
with the machine they come from. Needs psutil (it comes with dask.distributed).
"""

import argparse
import csv
import gzip
import json
import os
import platform
import random
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import psutil
from reviews import folder

ROOT = Path(__file__).resolve().parents[1]
IMDB = folder() / "imdb10k.csv.gz"

# Two models that dominate the cost: one that computes, and one that waits, as a remote service does.
MODELS = """
import hashlib
import time


def label(text):
    return "positive" if "good" in text or "great" in text or len(text) % 2 else "negative"


def computing(texts):
    for text in texts:
        hashlib.pbkdf2_hmac("sha256", text.encode(), b"", 800)
    return [label(t) for t in texts]


def waiting(texts):
    time.sleep(0.02)
    return [label(t) for t in texts]
"""


PARTS = ("bars", "throughput", "memory", "scaling", "overhead", "rows", "coverage")


def main() -> None:
    """Measure everything and write one JSON file."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results" / "corpus.json")
    parser.add_argument("--only", choices=PARTS, help="Measure one part, and keep the other figures.")
    options = parser.parse_args()
    figures = json.loads(options.out.read_text("utf-8")) if options.only and options.out.exists() else {}
    figures["machine"] = machine()
    parts = [options.only] if options.only else PARTS
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        train(folder / "imdb.joblib")
        for part in parts:
            figures[part] = globals()[part](folder, options.documents)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    sys.stdout.write(json.dumps(figures, indent=2) + "\n")


def machine() -> dict[str, object]:
    """What the figures were measured on."""
    import sklearn

    import kedge

    return {
        "cores": os.cpu_count(),
        "system": platform.system(),
        "processor": platform.machine(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scikit-learn": sklearn.__version__,
        "kedge": kedge.__version__,
    }


def reviews() -> tuple[list[str], list[str]]:
    """The IMDB reviews and their labels."""
    csv.field_size_limit(sys.maxsize)
    with gzip.open(IMDB, "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [row["review"] for row in rows], [row["sentiment"] for row in rows]


def train(path: Path) -> None:
    """The linear pipeline of the paper, trained on three quarters of the reviews."""
    import joblib
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    texts, labels = reviews()
    cut = len(texts) * 3 // 4
    model = make_pipeline(TfidfVectorizer(norm=None), LogisticRegression(max_iter=1000))
    joblib.dump(model.fit(texts[:cut], labels[:cut]), path)


# Explaining a corpus may cost so many batch predictions of the same texts.
BARS = {"no norm": (None, 5.0), "l2": ("l2", 25.0)}


def bars(_folder: Path, documents: int) -> dict[str, object]:
    """Processor time of explaining reviews in one process against one batch `predict` of them."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    from kedge import Explainer

    texts, labels = reviews()
    cut = len(texts) * 3 // 4
    found: dict[str, object] = {}
    for name, (norm, most) in BARS.items():
        model = make_pipeline(TfidfVectorizer(norm=norm), LogisticRegression(max_iter=1000))
        model.fit(texts[:cut], labels[:cut])
        explainer, some = Explainer(model), texts[:documents]
        explainer.explain(some[0])
        predicting, explaining = [], []
        for _ in range(3):
            started = time.process_time()
            model.predict(some)
            predicting.append(time.process_time() - started)
            started = time.process_time()
            statuses = [
                o.explanation and o.explanation.status for o in explainer.explain_corpus(some, workers=1)
            ]
            explaining.append(time.process_time() - started)
        ratio = min(explaining) / min(predicting)
        found[name] = {
            "documents": len(some),
            "exact": statuses.count("exact"),
            "predict_microseconds": round(1e6 * min(predicting) / len(some), 1),
            "explain_microseconds": round(1e6 * min(explaining) / len(some), 1),
            "times predict": round(ratio, 1),
            "bar": most,
            "verdict": "reached" if ratio <= most else "missed",
        }
    return found


def run(folder: Path, *options: str, out: str = "out.jsonl") -> dict[str, float]:
    """One command: its summary, its wall and processor time, and the peak memory of all its processes."""
    command = [sys.executable, "-m", "kedge", "corpus", *options]
    command += ["--out", str(folder / out), "--overwrite", "--quiet", "--json"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(folder)])}
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=folder, env=environment, text=True)
    peaks = Peaks(process.pid)
    printed, _ = process.communicate()
    wall = time.perf_counter() - started
    peaks.stop()
    if process.returncode:
        raise SystemExit(f"kedge corpus failed with exit code {process.returncode}")
    summary = json.loads(printed)
    return {
        "documents": summary["documents"],
        "exact": summary["statuses"].get("exact", 0),
        "errors": sum(summary["errors"].values()),
        "seconds_of_command": round(wall, 2),
        "seconds_of_run": summary["elapsed_seconds"],
        "documents_per_second": summary["documents_per_second"],
        "milliseconds_per_explanation": round(
            1000 * summary["explaining_seconds"] / max(summary["documents"], 1), 3
        ),
        "processor_seconds": round(peaks.processor, 2),
        "peak_megabytes": round(peaks.memory / 1e6, 1),
        "worker_megabytes": round(peaks.worker / 1e6, 1),
        "load_average_before": round(peaks.load, 2),
        "bytes_per_row": round((folder / out).stat().st_size / max(summary["documents"], 1), 1),
    }


class Peaks:
    """Memory and processor time of a process and all its children, sampled while it runs.

    Memory is what each process has for itself (USS), so that shared libraries are not counted twice;
    ``worker`` is the most that one worker had in all (RSS).
    """

    def __init__(self, pid: int) -> None:
        self.memory, self.worker, self.processor, self.load = 0, 0, 0.0, os.getloadavg()[0]
        self._process = psutil.Process(pid)
        self._times: dict[int, float] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    def _watch(self) -> None:
        while not self._stop.wait(0.2):
            total = 0
            try:
                everyone = [self._process, *self._process.children(recursive=True)]
            except psutil.Error:
                continue
            for one in everyone:
                try:
                    used = one.memory_full_info()
                    total += used.uss
                    if one is not self._process:
                        self.worker = max(self.worker, used.rss)
                    times = one.cpu_times()
                    self._times[one.pid] = times.user + times.system
                except psutil.Error:
                    continue
            self.memory = max(self.memory, total)
        self.processor = sum(self._times.values())

    def stop(self) -> None:
        """End the sampling."""
        self._stop.set()
        self._thread.join()


def throughput(folder: Path, documents: int) -> dict[str, object]:
    """The linear pipeline on IMDB, exact, with one worker and with two."""
    options = [str(IMDB), "--text", "review", "--model", "imdb.joblib", "--trust", "--limit", str(documents)]
    return {f"{n} workers": run(folder, *options, "--workers", str(n)) for n in (1, 2)}


def memory(folder: Path, documents: int) -> dict[str, object]:
    """Peak memory with the number of documents: the same reviews once, four times, sixteen times.

    The same ones, because the peak of a run is that of its hardest document (a fine grid for a long
    review takes a hundred megabytes for a moment), and more reviews would also be more extreme ones.
    """
    lines = [json.dumps({"text": text}) + "\n" for text in reviews()[0][: documents // 16]]
    found: dict[str, object] = {}
    for times in (1, 4, 16):
        (folder / "again.jsonl").write_text("".join(lines * times), encoding="utf-8")
        options = ["again.jsonl", "--text", "text", "--model", "imdb.joblib", "--trust", "--workers", "2"]
        figures = run(folder, *options)
        found[f"{len(lines) * times} documents"] = {
            name: figures[name] for name in ("peak_megabytes", "worker_megabytes")
        }
    return found


def scaling(folder: Path, _: int) -> dict[str, object]:
    """Two workers against one where the model dominates the cost."""
    (folder / "heavy.py").write_text(MODELS, encoding="utf-8")
    rng = random.Random(0)
    words = ["the", "food", "was", "good", "great", "bad", "slow", "cold"]
    texts = [" ".join(rng.choices(words, k=8)) for _ in range(800)]
    (folder / "in.jsonl").write_text("".join(json.dumps({"text": t}) + "\n" for t in texts), encoding="utf-8")
    found: dict[str, object] = {}
    for name in ("computing", "waiting"):
        options = ["in.jsonl", "--text", "text", "--model", f"heavy:{name}"]
        one, two = (run(folder, *options, "--workers", str(n)) for n in (1, 2))
        found[name] = {
            "1 worker": one,
            "2 workers": two,
            "times faster": round(two["documents_per_second"] / one["documents_per_second"], 2),
        }
    return found


def overhead(folder: Path, documents: int) -> dict[str, float]:
    """What the one process that reads, writes and counts costs per document: it bounds a single run."""
    import joblib

    from kedge import Explainer
    from kedge.corpus import Summary, open_source
    from kedge.corpus.files.journal import Journal
    from kedge.corpus.workers.task import explain_batch
    from kedge.corpus.workers.transfer import packed

    started = time.process_time()
    items = list(open_source(IMDB, "review"))[:documents]
    read = time.process_time() - started
    explainer = Explainer(joblib.load(folder / "imdb.joblib"))
    lines, _ = explain_batch(explainer, items[:500], "line")
    summary = Summary()
    with Journal(folder / "journal.jsonl", {}, "overwrite") as journal:
        started = time.process_time()
        for line in lines:
            journal.append(line)
            summary.add(json.loads(line))
        written = time.process_time() - started
    data = packed(explainer).data
    return {
        "read_microseconds": round(1e6 * read / len(items), 1),
        "write_microseconds": round(1e6 * written / len(lines), 1),
        "megabytes_of_explainer": round(len(data) / 1e6, 2),
        "input_bytes_per_document": round(sum(len(i.text.encode()) for i in items) / len(items)),
    }


def rows(folder: Path, documents: int) -> dict[str, float]:
    """Bytes per row of results: as JSONL, as Parquet, and with everything in it (``--full``)."""
    options = [str(IMDB), "--text", "review", "--model", "imdb.joblib", "--trust", "--workers", "2"]
    options += ["--limit", str(documents // 5)]
    return {
        "jsonl": run(folder, *options)["bytes_per_row"],
        "parquet": run(folder, *options, out="out.parquet")["bytes_per_row"],
        "jsonl_full": run(folder, *options, "--full")["bytes_per_row"],
    }


def coverage(_folder: Path, _: int) -> dict[str, object]:
    """An index of 100,000 documents: size, what building it takes, time of a query."""
    import re
    import resource

    from kedge.text.index import CorpusIndex

    texts, _ = reviews()
    rng = random.Random(0)
    pattern = re.compile(r"(?u)\b\w\w+\b")
    # Ten documents of each review, each a random half of its words and of another's: 100,000 different
    # ones, as long as reviews are.
    lists = [pattern.findall(text.lower()) for text in texts]
    documents = [
        " ".join(w for half in (words, rng.choice(lists)) for w in half if rng.random() < 0.5)
        for words in lists
        for _ in range(10)
    ]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.process_time()
    index = CorpusIndex.build(documents, str.split)
    built = time.process_time() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    with tempfile.TemporaryDirectory() as name:
        folder = index.save(Path(name) / "index")
        size = sum(file.stat().st_size for file in folder.iterdir())
        started = time.perf_counter()
        index = CorpusIndex.open(folder)
        opened = time.perf_counter() - started
        times: dict[int, list[float]] = {1: [], 2: [], 3: [], 4: []}
        for _ in range(2000):
            length = rng.choice(list(times))
            words = rng.choices(rng.choice(lists), k=length)
            index.coverage(words)  # the first time reads the disk
            started = time.perf_counter()
            index.coverage(words)
            times[length].append(time.perf_counter() - started)
    return {
        "documents": len(documents),
        "words_per_document": round(float(np.mean([text.count(" ") + 1 for text in documents]))),
        "build_processor_seconds": round(built, 1),
        "build_megabytes": round(peak / 1e3),
        "megabytes": round(size / 1e6, 1),
        "open_milliseconds": round(1000 * opened, 2),
        "median_microseconds": {str(n): round(1e6 * float(np.median(t)), 1) for n, t in times.items()},
        "p99_microseconds": {str(n): round(1e6 * float(np.quantile(t, 0.99)), 1) for n, t in times.items()},
    }


if __name__ == "__main__":
    main()
