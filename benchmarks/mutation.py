"""Mutants of the modules that carry a promise, and which tests kill them.

``python benchmarks/mutation.py --sample 200`` writes ``results/mutation.md`` and ``results/mutation.json``. A
mutant is one change by one operator of cosmic-ray (``pip install cosmic-ray``); a seed draws the sample. Each
runs in a forked process in which the changed module takes the place of its own, until the first test fails.
"""

import argparse
import importlib.abc
import importlib.util
import json
import os
import random
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
ROOT = HERE.parent
SOURCE = ROOT / "src"
# The modules whose answers are promises, and the tests that are to notice.
MODULES = ("kedge/evaluators/**/*.py", "kedge/search/exact/*.py", "kedge/search/guided/proof.py")
TESTS = (
    "tests/evaluators/test_reference.py", "tests/evaluators/grids/test_gridsum.py",
    "tests/evaluators/test_bets.py",
    "tests/adversarial", "tests/evaluators", "tests/search/exact", "tests/test_promises.py",
    "tests/search/guided/test_steps.py",
)  # fmt: skip
# Operators whose mutants say nothing here (decorators such as dataclass), or need to be told of a variable.
_LEFT_OUT = ("core/RemoveDecorator", "core/Variable")


class Mutant(NamedTuple):
    """One change of one module."""

    path: Path
    operator: str
    occurrence: int


class Replaced(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives one module its changed source."""

    def __init__(self, name: str, path: Path, code: str) -> None:
        self.name, self.path, self.code = name, path, code

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        """Only the one."""
        del path, target
        if fullname != self.name:
            return None
        return importlib.util.spec_from_loader(fullname, self, origin=str(self.path))

    def exec_module(self, module: Any) -> None:
        """Run the changed source in its place."""
        exec(compile(self.code, str(self.path), "exec"), vars(module))  # noqa: S102


def mutants() -> Iterator[Mutant]:
    """Every mutant there is."""
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.plugins import get_operator, operator_names

    for pattern in MODULES:
        for path in sorted(SOURCE.glob(pattern)):
            tree = get_ast(path.read_text(encoding="utf-8"))
            for name in operator_names():
                if name.startswith(_LEFT_OUT):
                    continue
                operator = get_operator(name)()
                places = sum(len(list(operator.mutation_positions(node))) for node in ast_nodes(tree))
                yield from (Mutant(path, name, k) for k in range(places))


def changed(mutant: Mutant) -> tuple[str, str]:
    """The changed source, and the line before and after."""
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator

    source = mutant.path.read_text(encoding="utf-8")
    code = mutate_code(source, get_operator(mutant.operator)(), mutant.occurrence)
    if code is None:
        return source, ""
    pairs = zip(source.splitlines(), code.splitlines(), strict=False)
    number, (old, new) = next((k, pair) for k, pair in enumerate(pairs, start=1) if pair[0] != pair[1])
    return code, f"{number}: `{old.strip()}` became `{new.strip()}`"


def killed(mutant: Mutant, code: str, seconds: float) -> str:
    """Run the tests in a forked process: "killed", "timeout" or "survived"."""
    child = os.fork()
    if not child:
        _in_child(mutant, code)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return "survived" if status == 0 else "killed"
        time.sleep(0.05)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "timeout"


def _in_child(mutant: Mutant, code: str) -> None:
    import pytest

    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    name = ".".join(mutant.path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
    sys.meta_path.insert(0, Replaced(name, mutant.path, code))
    os.chdir(ROOT)
    options = ["-q", "-x", "-p", "no:cacheprovider", "--no-header"]
    os._exit(int(pytest.main([*options, *TESTS])))


def preload() -> None:
    """Import what every test needs but kedge itself, once."""
    for name in ("numpy", "scipy.stats", "scipy.sparse", "flint", "pytest", "sklearn.ensemble",
                 "sklearn.linear_model", "sklearn.feature_extraction.text", "sklearn.naive_bayes",
                 "sklearn.svm", "sklearn.tree", "sklearn.pipeline", "sklearn.neural_network"):  # fmt: skip
        importlib.import_module(name)


def report(rows: list[dict[str, Any]], everything: int, seed: int, reasons: dict[str, str]) -> str:
    """The page."""
    dead = [row for row in rows if row["outcome"] != "survived"]
    alive = [row for row in rows if row["outcome"] == "survived"]
    timeouts = sum(row["outcome"] == "timeout" for row in rows)
    share = len(dead) / max(len(rows), 1)
    equal = sum(bool(reasons.get(row["key"], "").startswith("equivalent")) for row in alive)
    among = len(dead) / max(len(rows) - equal, 1)
    listed = "\n".join(
        f"- `{row['path']}`, line {row['change']} ({row['operator'].removeprefix('core/')}): "
        f"{reasons.get(row['key'], 'no reason known yet.')}"
        for row in alive
    )
    return f"""# Mutants

Written by `benchmarks/mutation.py`. Mutants of the evaluators and of the proofs by the operators of
cosmic-ray: {everything:,} in all, of which {len(rows):,} were drawn (seed {seed}). Killed: **{len(dead):,}**
({share:.1%}), {timeouts} of them by a time-out; of those that are not equivalent {among:.1%}. Tests:
{", ".join(f"`{test}`" for test in TESTS)}.

Survivors:

{listed or "none."}
"""


def main() -> None:
    """Draw mutants, run each, and write what became of them after every one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=240.0, help="that the tests of one mutant may take")
    parser.add_argument("--minutes", type=float, default=600.0)
    parser.add_argument("--out", type=Path, default=HERE / "results")
    args = parser.parse_args()
    preload()
    known = HERE / "survivors.json"
    reasons = json.loads(known.read_text(encoding="utf-8")) if known.exists() else {}
    everything = list(mutants())
    drawn = random.Random(args.seed).sample(everything, min(args.sample, len(everything)))
    whole = drawn[0]._replace(path=SOURCE / "kedge" / "evaluators" / "tails.py")
    if killed(whole, whole.path.read_text(encoding="utf-8"), args.seconds) != "survived":
        sys.exit("The tests fail without any change.")
    rows: list[dict[str, Any]] = []
    end = time.monotonic() + 60 * args.minutes
    for mutant in drawn:
        if time.monotonic() > end:
            break
        code, change = changed(mutant)
        path = str(mutant.path.relative_to(SOURCE))
        outcome = killed(mutant, code, args.seconds) if change else "killed"
        key = f"{path}:{mutant.operator}:{mutant.occurrence}"
        row = {"key": key, "path": path, "operator": mutant.operator, "change": change, "outcome": outcome}
        rows.append(row)
        sys.stdout.write(f"{len(rows)} {outcome} {path} {change}\n")
        sys.stdout.flush()
        page = report(rows, len(everything), args.seed, reasons)
        (args.out / "mutation.md").write_text(page, encoding="utf-8")
        data = {"seed": args.seed, "all": len(everything), "mutants": rows}
        (args.out / "mutation.json").write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
