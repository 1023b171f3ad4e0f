"""Run experiments by name and write the report."""

import platform
import subprocess
import time
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import kedge
from kedge.errors import MissingDependency, OptionError

from .report import write
from .result import Result
from .session import Session
from .setting import SEED

__all__ = ["EXPERIMENTS", "check", "reproduce"]

# Name of each experiment and the module that holds it, in the order of the report.
EXPERIMENTS = {
    "exhaustive": "table_exhaustive",
    "logistic": "table_logistic",
    "networks": "table_networks",
    "infill": "table_infill",
    "sampling": "figure_sampling",
    "algorithm": "figure_scatter",
    "rules": "figure_rules",
    "histograms": "figure_histograms",
    "dummy": "figure_dummy",
    "cdf": "figure_cdf",
    "shift": "figure_shift",
    "jaccard-sd": "figure_sd",
    "corrections": "corrections",
}
_LIBRARIES = ("numpy", "scipy", "scikit-learn", "matplotlib", "torch")


def check(names: Sequence[str], *, masked_model: str | None = None) -> list[str]:
    """The experiments of these names (or ``all``); what cannot be run is refused before anything is done."""
    for name in names:
        if name not in {"all", *EXPERIMENTS}:
            raise OptionError(f"There is no experiment {name!r}; there are all, {', '.join(EXPERIMENTS)}.")
    wanted = list(EXPERIMENTS) if "all" in names else list(dict.fromkeys(names))
    for name in wanted:
        for library, extra in _needed(name, masked_model):
            if find_spec(library) is None:
                raise MissingDependency(
                    f"The experiment {name} needs {library}: pip install 'kedge[{extra}]'."
                )
    return wanted


def _needed(name: str, masked_model: str | None) -> tuple[tuple[str, str], ...]:
    """The optional libraries of an experiment, each with the extra that brings it."""
    if name == "infill":  # skipped where no masked model is named
        return () if masked_model is None else (("torch", "reproduce"), ("transformers", "transformers"))
    if name == "networks":
        return (("torch", "reproduce"),)
    return (("matplotlib", "reproduce"),) if EXPERIMENTS[name].startswith("figure") else ()


def reproduce(names: Sequence[str], session: Session, command: str) -> list[Result]:
    """Run the experiments of these names (or ``all``) and write the report of them."""
    wanted = check(names, masked_model=session.masked_model)
    started = time.perf_counter()
    results = []
    for number, name in enumerate(wanted, start=1):
        session.say(f"[{number}/{len(wanted)}] {name}")
        before, session.worked = time.perf_counter(), 0.0
        result = import_module(f".{EXPERIMENTS[name]}", __package__).run(session)
        # What came from the cache took its time in an earlier run; that time counts.
        seconds = max(time.perf_counter() - before, session.worked)
        results.append(replace(result, seconds=round(seconds, 1)))
    write(session.out, results, _facts(session, command, results, time.perf_counter() - started))
    return results


def _facts(session: Session, command: str, results: Sequence[Result], seconds: float) -> dict[str, Any]:
    """What the numbers rest on."""
    facts: dict[str, Any] = {
        "command": command,
        "commit": _commit(),
        "scale": session.scale.name,
        "seed": SEED,
    }
    facts["kedge"] = kedge.__version__
    facts["Python"] = platform.python_version()
    for name in _LIBRARIES:
        try:
            facts[name] = version(name)
        except PackageNotFoundError:
            facts[name] = "not installed"
    if session.left_out:
        facts["left out"] = f"{session.left_out} documents that patience did not reach"
    facts["pieces of work"] = (
        f"{session.new} done in this run, {session.reused} from the cache, done by earlier runs and commits"
    )
    facts["seconds of this run"] = round(seconds)
    facts["seconds of work, cached work included"] = round(sum(r.seconds for r in results))
    facts["seconds by experiment"] = ", ".join(f"{r.name} {r.seconds:.0f}" for r in results)
    return facts


def _commit() -> str:
    """The commit the source tree is at, where git knows."""
    folder = Path(__file__).parent
    try:
        found = subprocess.run(  # noqa: S603
            ["git", "-C", str(folder), "rev-parse", "--short", "HEAD"],  # noqa: S607
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return found.stdout.strip()
