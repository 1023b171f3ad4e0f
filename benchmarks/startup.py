"""How long `import kedge` and `kedge explain` take, from a cold process: the best of several.

usage: python -m benchmarks.startup [--runs 7]

The best, because a busy machine only ever adds. The embedded model needs no scikit-learn; a pipeline of
your own does, and importing it is most of that command's time. Writes ``results/startup.json``.
"""

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import joblib

from kedge.data.demo import review_model

HERE = Path(__file__).parent
IMPORT = (
    "import time; t, c = time.perf_counter(), time.process_time(); import kedge; "
    "print(time.perf_counter() - t, time.process_time() - c)"
)
SKLEARN = "import sklearn.feature_extraction.text, sklearn.linear_model, sklearn.pipeline"
EXPLAIN = [sys.executable, "-m", "kedge", "explain", "The food was not good at all"]
# Issued promises: seconds that must not be exceeded.
TARGETS = {"import kedge": 0.3, "kedge explain": 1.5}


def run(command: list[str]) -> tuple[float, float, str]:
    """Seconds, those of the processor, and output of a command."""
    started, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def heaviest(number: int = 8) -> list[tuple[str, float]]:
    """The modules that take longest to import, with what they import; seconds."""
    command = [sys.executable, "-X", "importtime", "-c", "import kedge"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = [line.split("|") for line in done.stderr.splitlines() if line.count("|") == 2]
    found = [(name.strip(), int(total) / 1e6) for _, total, name in rows if total.strip().isdigit()]
    return sorted(found, key=lambda pair: -pair[1])[:number]


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--out", type=Path, default=HERE / "results")
    options = parser.parse_args()
    imports = [list(map(float, run([sys.executable, "-c", IMPORT])[2].split())) for _ in range(options.runs)]
    explains = [run(EXPLAIN)[:2] for _ in range(options.runs)]
    with tempfile.TemporaryDirectory() as folder:
        joblib.dump(review_model(), Path(folder) / "model.joblib")
        own = [*EXPLAIN, "--model", str(Path(folder) / "model.joblib"), "--trust"]
        pipelines = [run(own)[:2] for _ in range(options.runs)]
    models = [run([sys.executable, "-c", SKLEARN])[:2] for _ in range(options.runs)]
    found = {
        "import kedge": imports,
        "kedge explain": explains,
        "kedge explain, a scikit-learn pipeline": pipelines,
        "of which scikit-learn's own import": models,
    }
    record = {
        "date": datetime.now(UTC).date().isoformat(),
        "python": platform.python_version(),
        "kedge": version("kedge"),
        "runs": options.runs,
        "seconds": {name: min(pair[0] for pair in pairs) for name, pairs in found.items()},
        "processor_seconds": {name: min(pair[1] for pair in pairs) for name, pairs in found.items()},
        "load_average": os.getloadavg()[0],
        "targets": TARGETS,
        "heaviest_imports": heaviest(),
    }
    options.out.mkdir(exist_ok=True)
    (options.out / "startup.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    for name, seconds in record["seconds"].items():
        spent = record["processor_seconds"][name]
        print(f"{name}: {seconds:.3f} s, processor {spent:.3f} s (target: {TARGETS.get(name)})")  # noqa: T201  (what it is run for)


if __name__ == "__main__":
    main()
