"""A long run whose workers are killed again and again: whether all rows are there, and right.

    python benchmarks/kills.py [--documents 100000] [--every 60] [--workers 2]

Runs ``kedge corpus`` as a user would on documents made of the embedded reviews, with a model that can only be
asked, and kills a worker, chosen at random, every so many seconds. Afterwards each row is compared with the
document that was written for it (order, id, digest of the text, no error), and some of them with the
explanation made in this process. Writes ``results/kills.json``. Needs psutil (it comes with
dask.distributed).
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import psutil

import kedge
from kedge.corpus import result_rows
from kedge.data.demo import review_weights, reviews
from kedge.utils.seeds import digest

ROOT = Path(__file__).resolve().parents[1]
MODEL = """
from kedge.data.demo import review_weights

weights = review_weights()


def labels(texts):
    return weights.predict(texts)
"""
# Words of a document, rows that are made again in this process, and the fields that must be the same.
WORDS, AGAIN = 7, 2000
SAME = ("label", "words", "positions", "precision", "status", "queries")


def main() -> None:
    """Run, kill, compare, write."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--every", type=float, default=60, help="Seconds from one kill to the next.")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results" / "kills.json")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "asked_model.py").write_text(MODEL, encoding="utf-8")
        texts = documents(asked.documents)
        lines = (json.dumps({"name": f"d{k}", "text": text}) + "\n" for k, text in enumerate(texts))
        (folder / "in.jsonl").write_text("".join(lines), encoding="utf-8")
        figures = {"documents": len(texts), "workers": asked.workers, "seconds_between_kills": asked.every}
        figures |= run(folder, asked.workers, asked.every)
        figures |= compare(folder / "out.jsonl", texts)
    asked.out.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    sys.stdout.write(json.dumps(figures, indent=2) + "\n")
    if figures["rows"] != len(texts) or figures["differences"]:
        raise SystemExit("Rows are missing or wrong.")


def labels(texts: list[str]) -> list[object]:
    """The embedded model as a function: it can only be asked."""
    return review_weights().predict(texts)


def documents(count: int) -> list[str]:
    """Short texts of neighbouring words of the embedded reviews, the same ones every time."""
    words = " ".join(reviews()[0]).split()
    rng = random.Random(0)
    starts = (rng.randrange(len(words) - WORDS) for _ in range(count))
    return [f"{' '.join(words[at : at + WORDS])} {k}" for k, at in enumerate(starts)]


def run(folder: Path, workers: int, every: float) -> dict[str, object]:
    """One command, and what was done to it."""
    command = [sys.executable, "-m", "kedge", "corpus", "in.jsonl", "--text", "text", "--id", "name"]
    command += ["--model", "asked_model:labels", "--out", "out.jsonl", "--workers", str(workers)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(folder)])}
    started, load = time.perf_counter(), os.getloadavg()[0]
    process = subprocess.Popen(
        [*command, "--quiet", "--json"], stdout=subprocess.PIPE, cwd=folder, env=environment, text=True
    )
    over, kills = threading.Event(), [0]
    killer = threading.Thread(target=kill_workers, args=(process.pid, every, over, kills))
    killer.start()
    printed, _ = process.communicate()
    over.set()
    killer.join()
    if process.returncode:
        raise SystemExit(f"kedge corpus failed with exit code {process.returncode}.")
    summary = json.loads(printed)
    return {
        "workers_killed": kills[0],
        "seconds": round(time.perf_counter() - started, 1),
        "load_average_before": round(load, 2),
        "statuses": summary["statuses"],
        "errors": summary["errors"],
        "questions": summary["queries"],
    }


def kill_workers(pid: int, every: float, over: threading.Event, kills: list[int]) -> None:
    """Kill one worker of a run after the other."""
    rng = random.Random(1)
    while not over.wait(every):
        try:
            everyone = psutil.Process(pid).children(recursive=True)
            workers = [one for one in everyone if "kedge-worker" in " ".join(one.cmdline())]
            if workers:
                rng.choice(workers).kill()
                kills[0] += 1
        except psutil.Error:
            continue  # it has just ended by itself


def compare(out: Path, texts: list[str]) -> dict[str, object]:
    """Every row with its document; some of them with the explanation made here, in one process."""
    rows = list(result_rows(out))
    wrong = [
        k
        for k, (row, text) in enumerate(zip(rows, texts, strict=False))
        if (row["row"], row["id"], row["digest"], row["error"]) != (k, f"d{k}", digest(text), None)
    ]
    explainer = kedge.Explainer(labels)
    picked = random.Random(2).sample(range(min(len(rows), len(texts))), min(AGAIN, len(rows)))
    for k, outcome in zip(
        picked, explainer.explain_corpus([texts[k] for k in picked], workers=1), strict=True
    ):
        made = json.loads(outcome.to_line())
        if any(made[name] != rows[k][name] for name in SAME):
            wrong.append(k)
    return {"rows": len(rows), "made_again": len(picked), "differences": len(wrong)}


if __name__ == "__main__":
    main()
