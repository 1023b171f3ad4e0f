"""How long `import kedge` and `kedge explain` take, from a cold process: the best of several.

usage: python -m benchmarks.startup [--runs 7]

The best, because a busy machine only ever adds. Writes ``results/startup.json``.
"""

import argparse
import json
import platform
import subprocess
import sys
import time
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).parent
IMPORT = "import time; t = time.perf_counter(); import kedge; print(time.perf_counter() - t)"
EXPLAIN = [sys.executable, "-m", "kedge", "explain", "The food was not good at all"]
# Issued promises: seconds that must not be exceeded.
TARGETS = {"import kedge": 0.3, "kedge explain": 1.5}


def run(command: list[str]) -> tuple[float, str]:
    """Seconds and output of a command."""
    started = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return time.perf_counter() - started, done.stdout


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
    imports = [float(run([sys.executable, "-c", IMPORT])[1]) for _ in range(options.runs)]
    explains = [run(EXPLAIN)[0] for _ in range(options.runs)]
    record = {
        "date": datetime.now(UTC).date().isoformat(),
        "python": platform.python_version(),
        "kedge": version("kedge"),
        "runs": options.runs,
        "seconds": {"import kedge": min(imports), "kedge explain": min(explains)},
        "targets": TARGETS,
        "heaviest_imports": heaviest(),
    }
    options.out.mkdir(exist_ok=True)
    (options.out / "startup.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    for name, seconds in record["seconds"].items():
        print(f"{name}: {seconds:.3f} s (target: {TARGETS[name]} s)")  # noqa: T201


if __name__ == "__main__":
    main()
