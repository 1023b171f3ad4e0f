"""One tool, and for every model and set a process of its own: a line of JSON per answer.

The tool is imported once and warmed up on a toy; then each model and set gets a forked process, so that
memory is its own and a process that is killed takes nothing with it. An interrupted run goes on where it
stopped: answers that are in the file are not asked for again. It starts afresh when the tool, kedge's
own source, or a limit has changed.

usage: python -m benchmarks.peers.worker WORK TOOL GROUPS   (JSON: a list of [set, model, plan], see ``Plan``)
"""

import gc
import importlib
import json
import os
import resource
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from . import tasks
from .tools import TOOLS, Answer, Asked, Tool

Row = dict[str, Any]

# Raised when answers or costs are measured in another way, so that old ones are not mixed with new.
MEASURED = 1
# Predictions timed before and after an explanation; what is reported is the middle of them.
PREDICTIONS = 3
# Explanations quicker than this, in seconds, are timed so often, taking turns with predictions.
QUICK, TURNS = 0.02, 7
# Explained before the first measured document, so that nobody pays for late imports.
WARM_UP = "the food was good and the staff were very friendly"


# A process that is killed over a document is started again, at most so often for one model and set.
KILLED = 10


class TimeLimit(BaseException):
    """The document's time is up. Not an Exception, so that no tool catches it by accident."""


@dataclass(frozen=True)
class Plan:
    """How much is done. Seconds are processor time of this process.

    ``documents`` and ``seeds`` are what to do: every document with the first seed, the first
    ``stable`` of them with all ``seeds``. Each of the two parts ends early after ``budget`` and
    ``stable_budget`` seconds.
    """

    documents: int
    seeds: int
    stable: int
    limit: float
    memory: int
    budget: float
    stable_budget: float


def stamp(tool: Tool, plan: Plan) -> str:
    """What the answers depend on besides document and seed."""
    parts = [tool.title, *(f"{name} {version(name)}" for name in (*tool.packages, "scikit-learn", "numpy"))]
    parts += [f"{plan.limit} s", f"{plan.memory} MiB", f"measured {MEASURED}"]
    if tool.home == "kedge":
        import kedge

        source = Path(kedge.__file__).parent
        parts += [path.read_text(encoding="utf-8") for path in sorted(source.rglob("*.py"))]
    return sha256("\n".join(parts).encode()).hexdigest()[:16]


def peak() -> float:
    """The most memory this process has had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def limited(seconds: float, call: Callable[[], Answer]) -> tuple[Answer | None, str | None]:
    """Call with a limit on processor time; gives the answer, or what went wrong."""

    def stop(_signal: int, _frame: Any) -> None:
        raise TimeLimit

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        return call(), None
    except TimeLimit:
        return None, f"time limit ({seconds:g} s)"
    except MemoryError as error:
        return None, f"MemoryError: {error}"[:120]
    except Exception as error:  # noqa: BLE001  (a failure of the tool is a result)
        return None, f"{type(error).__name__}: {error}"[:120]
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """Processor time of a call, and what it gave.

    The thread's clock: while a timer for the limit runs, Linux updates that of the process only at ticks.
    """
    started = time.thread_time()
    given = call()
    return time.thread_time() - started, given


def measured(explain: Any, model: Any, asked: Asked, text: str, seed: int, limit: float) -> Row:
    """One answer with its cost and that of a prediction, taken in turns."""

    def predictions(number: int) -> list[float]:
        return [timed(lambda: model.predict([text]))[0] for _ in range(number)]

    predict, costs = predictions(PREDICTIONS), []
    for _ in range(TURNS):
        asked.clear()
        started = time.perf_counter()
        cost, (answer, error) = timed(lambda: limited(limit, lambda: explain(text, seed)))
        wall = time.perf_counter() - started
        costs.append(cost)
        predict += predictions(1)
        if error is not None or cost > QUICK or seed > 0:
            break
    predict += predictions(PREDICTIONS)
    row: Row = {"cost": median(costs), "predict": median(predict), "wall": wall, "calls": asked.calls}
    row |= {"asked": asked.texts, "error": error, "peak": peak(), "words": len(text.split())}
    if answer is not None:
        row |= {k: v for k, v in asdict(answer).items() if v is not None}
    return row


def parsed(path: Path) -> list[Row]:
    """The lines of a file; one that an interrupted run left half written is passed over."""
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        with suppress(json.JSONDecodeError):
            found.append(json.loads(line))
    return found


def read_rows(path: Path, mark: str) -> tuple[list[Row], list[Row]]:
    """Answers of an earlier run, and the question that it ended over; nothing if it was another tool."""
    if not path.exists():
        return [], []
    lines = parsed(path)
    if not lines or lines[0].get("stamp") != mark:
        return [], []
    rows = [line for line in lines[1:] if "cost" in line]
    done = {(row["document"], row["seed"]) for row in rows}
    open_ones = [line for line in lines[1:] if "cost" not in line]
    return rows, [line for line in open_ones[-1:] if (line["document"], line["seed"]) not in done]


def questions(plan: Plan, count: int) -> list[tuple[int, int, str]]:
    """Document, seed and the part of the plan they belong to."""
    documents = min(plan.documents, count)
    main = [(i, 0, "main") for i in range(documents)]
    more = [(i, s, "stable") for i in range(min(plan.stable, documents)) for s in range(1, plan.seeds)]
    return main + more


class Toy:
    """A model to warm up on."""

    def predict(self, texts: list[str]) -> Any:
        """Label 1 for texts with the word "good"."""
        return self.predict_proba(texts).argmax(axis=1)

    def predict_proba(self, texts: list[str]) -> Any:
        """Probabilities of that."""
        return np.array([[0.1, 0.9] if "good" in text else [0.9, 0.1] for text in texts])


def run(work: Path, name: str, module: Any, task: tuple[str, str], plan: Plan, *, killed: bool) -> None:
    """Ask what is missing; ``killed`` says that the process before this one died over its last question."""
    corpus, kind = task
    tool = TOOLS[name]
    path = work / "answers" / f"{corpus}-{kind}-{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    mark = stamp(tool, plan)
    rows, died = read_rows(path, mark)
    model, documents = tasks.load(work, tool.home, corpus, kind)
    asked = Asked()
    explain = module.make(model, asked, *tool.options)
    limited(plan.limit, lambda: explain(WARM_UP, 0))
    packages = {n: version(n) for n in (*tool.packages, "scikit-learn", "numpy", "scipy")}
    head = {"stamp": mark, "packages": packages, "python": sys.version.split()[0], "loaded": peak()}
    head |= {"date": datetime.now(UTC).isoformat(timespec="minutes"), "plan": asdict(plan)}
    with path.open("a" if rows or died else "w", encoding="utf-8") as file:

        def write(line: Row) -> None:
            file.write(json.dumps(line, separators=(",", ":")) + "\n")
            file.flush()

        if not rows and not died:
            write(head)
        for row in died if killed else ():
            row |= {"cost": 0.0, "predict": 0.0, "asked": 0, "error": "the process was killed", "peak": 0.0}
            write(row)
            rows.append(row)
        done = {(row["document"], row["seed"]) for row in rows}
        spent = {"main": 0.0, "stable": 0.0}
        for row in rows:
            spent[row["part"]] += row["cost"]
        most = {"main": plan.budget, "stable": plan.stable_budget}
        for document, seed, part in questions(plan, len(documents)):
            if (document, seed) in done or spent[part] > most[part]:
                continue
            key = {"document": document, "seed": seed, "part": part}
            write(key)
            row = key | measured(explain, model, asked, documents[document], seed, plan.limit)
            write(row)
            spent[part] += row["cost"]
            gc.collect()


def apart(call: Callable[[], None]) -> int:
    """Run a call in a forked process; gives its exit code, or minus the signal that killed it."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code = 1
    try:
        call()
        code = 0
    except BaseException:  # noqa: BLE001  (a child must never return into the parent's code)
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def main(work: Path, name: str, groups: list[tuple[str, str, dict[str, Any]]]) -> None:
    """Import the tool, warm it up, and run the groups one after the other."""
    warnings.filterwarnings("ignore")
    tool = TOOLS[name]
    module = importlib.import_module(f"{__package__}.tools.{tool.module}")
    importlib.import_module("sklearn.pipeline")
    options = ("predict_proba",) if tool.options else ()
    module.make(Toy(), Asked(), *options)(WARM_UP, 0)
    for corpus, kind, settings in groups:
        plan = Plan(**settings)
        resource.setrlimit(resource.RLIMIT_AS, (plan.memory << 20, resource.RLIM_INFINITY))
        started = time.perf_counter()
        for again in range(KILLED):
            code = apart(
                lambda c=corpus, k=kind, p=plan, a=again: run(work, name, module, (c, k), p, killed=a > 0)
            )
            if code >= 0:
                break
        seconds = time.perf_counter() - started
        sys.stderr.write(f"{time.strftime('%H:%M:%S')} {name}: {corpus}, {kind}: {seconds:.0f} s\n")
        if code:
            sys.exit(f"{name} on {corpus}, {kind} ended with exit code {code}.")


if __name__ == "__main__":
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    main(Path(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3]))
