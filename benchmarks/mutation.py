"""Mutants of the evaluators and of the proofs, and whether the tests kill them.

``python benchmarks/mutation.py --sample 500`` writes ``results/mutation.md`` and ``results/mutation.json``.
It needs cosmic-ray (``pip install cosmic-ray``). The tests are collected once and run once to see which of
them execute which lines. Each mutant then gets a forked process, in which the tests that execute the changed
statement run, the fastest first, until one fails. Results of an earlier run are kept for mutants that were
killed, or are known to be equivalent or tuning, and whose function has not been edited since.
``survivors.json`` says why a mutant may survive, ``tuning.py`` which ones only choose how to look.
"""

import argparse
import gc
import json
import os
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import coverage
import pytest
from engine import engine
from mutants import SOURCE, Mutant, drawn, put_in_place
from tuning import is_tuning, why_tuning

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
# The tests that are to notice.
TESTS = (
    "tests/evaluators", "tests/search", "tests/certificates", "tests/studies", "tests/test_promises.py",
    "tests/adversarial",
)  # fmt: skip
# A test may take so many times its own time, and so many seconds more, before its mutant counts as endless.
PATIENCE, GRACE = 10, 3.0
_BROKEN = 70  # the exit code of a process that could not put its mutant in place


class Driver:
    """A pytest plugin: collects as pytest does, then runs mutants in place of the tests."""

    def __init__(self, given: argparse.Namespace) -> None:
        self.given, self.failed = given, False
        self.items: dict[str, pytest.Item] = {}
        self.seconds: dict[str, float] = {}
        self.executed: dict[str, dict[int, list[str]]] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> None:
        """The same examples each time, and no time spent on making a failing one smaller."""
        from hypothesis import HealthCheck, Phase, settings  # pytest wants to be imported before it

        phases = (Phase.explicit, Phase.generate)
        slow = [HealthCheck.too_slow]
        settings.register_profile(
            "mutation", deadline=None, suppress_health_check=slow, derandomize=True, database=None,
            phases=phases, max_examples=self.given.examples,
        )  # fmt: skip
        settings.load_profile("mutation")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember that something failed."""
        self.failed = self.failed or report.failed

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Look at what each test executes; then mutant after mutant."""
        self.items = {item.nodeid: item for item in session.items}
        gc.freeze()
        self._map()
        mutants, everything = drawn(self.given.sample, self.given.seed)
        file = self.given.out / "mutation.json"
        stored = json.loads(file.read_text(encoding="utf-8"))["mutants"] if file.exists() else []
        known = {(row["key"], row["origin"]): row for row in stored}
        rows, settled = list[dict[str, Any]](), reasons()
        end = time.monotonic() + 60 * self.given.minutes
        for mutant in mutants[self.given.first :]:
            if not mutant.is_python:
                continue
            row = known.get((mutant.key, mutant.origin))
            alive = row is not None and row["outcome"] == "survived"
            again = alive and not (is_tuning(mutant.key) or settled.get(mutant.key, "").startswith("Equiv"))
            if (row is None or again) and time.monotonic() < end:
                start = os.times()
                outcome, tests = self.try_(mutant)
                now = os.times()
                spent = now.children_user + now.children_system - start.children_user - start.children_system
                row = {
                    "key": mutant.key,
                    "origin": mutant.origin,
                    "change": mutant.change,
                    "outcome": outcome,
                }
                row |= {"tests": tests, "seconds": round(spent, 2)}
                sys.stderr.write(
                    f"{len(rows)} {outcome} {tests} {spent:.1f} s {mutant.key} {mutant.change}\n"
                )
            if row is not None:
                rows.append(row)
                self._write(rows, everything)
        return True

    def _write(self, rows: list[dict[str, Any]], everything: int) -> None:
        data = {"seed": self.given.seed, "all": everything, "commit": engine(), "mutants": rows}
        content = json.dumps(data, indent=1) + "\n"
        (self.given.out / "mutation.json").write_text(content, encoding="utf-8")
        (self.given.out / "mutation.md").write_text(report(data, reasons()), encoding="utf-8")

    def _run(self, nodeid: str) -> bool:
        """Run one test here; whether it passed."""
        self.failed = False
        item = self.items[nodeid]
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        return not self.failed

    def _map(self) -> None:
        """Every test once, in a forked process: its time, and the lines that it executes.

        A map that is kept holds as long as the modules are the same; tests that are new are added to it.
        """
        folder = Path(tempfile.mkdtemp())
        found = self.given.map or folder / "map.json"
        if found.exists():
            self._read(found)
        if new := [nodeid for nodeid in self.items if nodeid not in self.seconds]:
            child = os.fork()
            if not child:
                os._exit(self._watch(new, folder, found))
            if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
                sys.exit("The tests could not be run.")
            self._read(found)

    def _read(self, found: Path) -> None:
        self.seconds, executed = json.loads(found.read_text(encoding="utf-8"))
        self.executed = {
            path: {int(k): tests for k, tests in rows.items()} for path, rows in executed.items()
        }

    def _watch(self, new: Sequence[str], folder: Path, found: Path) -> int:
        kedge = [str(SOURCE / "kedge" / "*")]
        cover = coverage.Coverage(data_file=folder / "coverage", include=kedge, config_file=False)
        cover.start()
        for nodeid in new:
            _forget()
            cover.switch_context(nodeid)
            start = time.process_time()
            if self._run(nodeid):
                self.seconds[nodeid] = time.process_time() - start
            else:
                sys.stderr.write(f"{nodeid} fails without any change, and is left out.\n")
        cover.stop()
        data = cover.get_data()
        for path in data.measured_files():
            rows = self.executed.setdefault(path, {})
            for line, tests in data.contexts_by_lineno(path).items():
                rows[line] = sorted({*rows.get(line, ()), *filter(None, tests)})
        found.write_text(json.dumps([self.seconds, self.executed]), encoding="utf-8")
        return 0

    def chosen(self, mutant: Mutant) -> list[str]:
        """The tests that execute what was changed, the fastest first.

        What stands in no function is executed before any test; there the files of those that execute
        anything of the module are taken.
        """
        rows = self.executed.get(str(mutant.path), {})
        for first, last in (mutant.lines, mutant.body):
            tests = {t for k in range(first, last + 1) for t in rows.get(k, ()) if t in self.seconds}
            if tests:
                break
        if mutant.everywhere:
            files = {test.partition("::")[0] for test in tests}
            tests = {test for test in self.seconds if test.partition("::")[0] in files}
        return sorted(tests & self.items.keys(), key=self.seconds.__getitem__)

    def try_(self, mutant: Mutant) -> tuple[str, int]:
        """Run the tests in a forked process: "killed", "endless" or "survived", and by how many tests."""
        tests = self.chosen(mutant)
        readable, writable = os.pipe()
        child = os.fork()
        if not child:
            os._exit(self._in_child(mutant, tests, writable))
        os.close(writable)
        with os.fdopen(readable, "rb") as pipe:
            ran = len(pipe.read())
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code == _BROKEN:
            raise RuntimeError(f"The mutant cannot be put in place: {mutant.key}")
        if code == 0:
            return "survived", ran
        return "endless" if code in {-signal.SIGPROF, -signal.SIGALRM} else "killed", ran

    def _in_child(self, mutant: Mutant, tests: Sequence[str], pipe: int) -> int:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        room = 6 << 30  # a mutant that wants more memory gets an error instead
        resource.setrlimit(resource.RLIMIT_AS, (room, room))
        signal.setitimer(signal.ITIMER_REAL, 20 * self.given.seconds)  # for one that waits for ever
        try:
            put_in_place(mutant)
        except ImportError:  # a module that cannot even be loaded is noticed by anyone
            return 1
        except Exception:  # noqa: BLE001  (our own mistake, which must not count as a kill)
            return _BROKEN
        start = time.process_time()
        for nodeid in tests:
            took = self.seconds[nodeid]
            if time.process_time() - start + took > self.given.seconds:
                break
            signal.setitimer(signal.ITIMER_PROF, PATIENCE * took + GRACE)
            os.write(pipe, b".")
            if not self._run(nodeid):
                return 1
        return 0


def _forget() -> None:
    """What was worked out before and is remembered, so that each test is seen to execute what it rests on."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "kedge":
            for made in list(vars(module).values()):
                getattr(made, "cache_clear", lambda: None)()


def reasons() -> dict[str, str]:
    """Why mutants may survive, by key."""
    known = HERE / "survivors.json"
    return json.loads(known.read_text(encoding="utf-8")) if known.exists() else {}


class Tally(NamedTuple):
    """What became of some mutants."""

    drawn: int
    killed: int
    tuning: int
    equivalent: int
    open: int
    telling: float  # the share killed of those that are neither tuning nor equivalent

    @classmethod
    def of(cls, rows: Sequence[dict[str, Any]], known: dict[str, str]) -> "Tally":
        """Count; a survivor in a place of `tuning.py` is tuning, whatever else is known of it."""
        alive = [row["key"] for row in rows if row["outcome"] == "survived"]
        tuning = sum(map(is_tuning, alive))
        equal = sum(known.get(key, "").startswith("Equivalent") for key in alive if not is_tuning(key))
        still = len(alive) - tuning - equal
        dead = sum(row["outcome"] != "survived" and not is_tuning(row["key"]) for row in rows)
        return cls(len(rows), len(rows) - len(alive), tuning, equal, still, dead / max(dead + still, 1))

    def row(self, name: str) -> str:
        """A line of a table."""
        killed = f"{self.killed:,} ({self.killed / max(self.drawn, 1):.1%})"
        cells = (name, self.drawn, killed, self.tuning, self.equivalent, self.open, f"{self.telling:.1%}")
        return "| " + " | ".join(map(str, cells)) + " |"


HEAD = """| | drawn | killed | tuning | equivalent | not killed | killed of those that matter |
| --- | ---: | ---: | ---: | ---: | ---: | ---: |"""
# What a mutant is of, by the beginning of its key.
PARTS = {
    "evaluators": "kedge/evaluators/",
    "proofs that nothing shorter reaches": "kedge/search/exact/",
    "proofs by sampling": "kedge/search/guided/",
    "checker of certificates": "kedge/certificates/",
}


def reasons_for_tuning(rows: Sequence[dict[str, Any]]) -> dict[str, str]:
    """Why it does not matter, by key, of those that are in a listed place."""
    return {row["key"]: reason for row in rows if (reason := why_tuning(row["key"]))}


def earlier(known: dict[str, str]) -> str:
    """What came of other samples, and of this one at first, from the files kept (``mutation-*.json``)."""
    rows = []
    for file in sorted((HERE / "results").glob("mutation-*.json")):
        data = json.loads(file.read_text(encoding="utf-8"))
        name = f"{file.stem} (seed {data['seed']}, commit {data['commit']})"
        rows.append(Tally.of(data["mutants"], known).row(name))
    return (
        "\nOther samples, and this one before tests were written for it (`first`):\n\n"
        + "\n".join([HEAD, *rows])
        + "\n"
        if rows
        else ""
    )


def listed(rows: Sequence[dict[str, Any]], known: dict[str, str]) -> str:
    """Mutants that live, with the reason."""
    lines = (
        f"- `{row['key'].partition(':')[0]}`: `{row['change'][0]}` became `{row['change'][1]}`. "
        f"{known.get(row['key'], 'No reason is known yet.')}"
        for row in sorted(rows, key=lambda row: row["key"])
    )
    return "\n".join(lines) or "None."


def report(data: dict[str, Any], known: dict[str, str]) -> str:
    """The page."""
    rows, alive = data["mutants"], [row for row in data["mutants"] if row["outcome"] == "survived"]
    endless = sum(row["outcome"] == "endless" for row in rows)
    seconds = sum(row["seconds"] for row in rows)
    parts = {name: [r for r in rows if r["key"].startswith(path)] for name, path in PARTS.items()}
    table = [Tally.of(some, known).row(name) for name, some in parts.items()]
    table.append(Tally.of(rows, known).row("**all**"))
    newline = "\n"
    return f"""# Mutants

Written by `benchmarks/mutation.py`, kedge at commit {data["commit"]}. Mutants of the evaluators, the exact
searches, the proofs by sampling and the checker of certificates, by the operators of cosmic-ray:
{data["all"]:,} in all, of which {len(rows):,} were drawn (seed {data["seed"]}). {endless} of those that were
killed do not end. {seconds:,.0f} s of CPU time.

{HEAD}
{newline.join(table)}

- *Tuning* is what survives in the places that `benchmarks/tuning.py` lists, which only choose how to look; a
  test puts other choices there and finds every claim true.
- *Equivalent* is what changes nothing that can be asked for, judged by reading, with the reason below.
- *Not killed* is everything else that survives; margins for rounding are among these.
- The last column leaves out tuning, killed or not, and what is equivalent.

Tests: {", ".join(f"`{t}`" for t in TESTS)}. What was killed earlier is not run again while its function
stays as it is. Tests that are written for the survivors of a sample make its share say more of these mutants
than of all, so a sample of another seed is taken then.
{earlier(known)}
Not killed, and equivalent:

{listed([row for row in alive if not is_tuning(row["key"])], known)}

Tuning:

{listed([row for row in alive if is_tuning(row["key"])], known | reasons_for_tuning(alive))}
"""


def main() -> None:
    """Draw mutants, run each, and write what became of them after every one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, default=500)
    parser.add_argument("--first", type=int, default=0, help="leave out as many of those that are drawn")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=30.0, help="that the tests of one mutant may take")
    parser.add_argument("--examples", type=int, default=100, help="of a test with random ones, at most")
    parser.add_argument("--minutes", type=float, default=600.0)
    parser.add_argument("--map", type=Path, help="where to keep what each test executes")
    parser.add_argument("--out", type=Path, default=HERE / "results")
    parser.add_argument("--page", action="store_true", help="rewrite the page from what is stored")
    given = parser.parse_args()
    if given.page:
        data = json.loads((given.out / "mutation.json").read_text(encoding="utf-8"))
        (given.out / "mutation.md").write_text(report(data, reasons()), encoding="utf-8")
        return
    os.chdir(ROOT)
    options = ["-q", "-s", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:cov", "-m", "not slow"]
    sys.exit(pytest.main([*options, *TESTS], plugins=[Driver(given)]))


if __name__ == "__main__":
    main()
