"""Run experiments by name and write the report."""

import platform
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any

import kedge
from kedge.errors import MissingDependency, OptionError

from .provenance import commit, uncommitted
from .report import counts, write
from .result import Result
from .session import Session
from .setting import SEED

__all__ = ["EXPERIMENTS", "check", "counts", "in_parallel", "refuse_unclean", "reproduce", "work"]

# Name of each experiment and the module that holds it, in the order of the report.
EXPERIMENTS = {
    "exhaustive": "table_exhaustive",
    "logistic": "table_logistic",
    "networks": "table_networks",
    "infill": "table_infill",
    "package": "official_package",
    "example": "figure_example",
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
# Those that take long enough to be worth a process of their own, the longest first. What they leave in the
# cache is put together by the process that writes the report, which does the others itself.
_LONG = ["exhaustive", "networks", "infill", "shift", "logistic", "package"]
# Parts that an experiment can be done in.
_PARTS = {
    "networks": tuple(
        f"{layers} layers, {data}" for layers in (10, 20, 3) for data in ("yelp", "restaurants", "imdb")
    )
}
_TORCH = {"networks", "jaccard-sd", "package"}
# Those with the official procedure, which cuts texts with spaCy.
_SPACY = {"exhaustive", "logistic", "networks", "package", "rules", "dummy", "shift", "jaccard-sd"}


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
    if name == "infill":  # skipped where there is no masked model
        return () if masked_model is None else (("torch", "reproduce"), ("transformers", "transformers"))
    needed: tuple[tuple[str, str], ...] = (("torch", "reproduce"),) if name in _TORCH else ()
    needed += (("spacy", "reproduce"),) if name in _SPACY else ()
    return (*needed, ("matplotlib", "reproduce")) if EXPERIMENTS[name].startswith("figure") else needed


def refuse_unclean() -> None:
    """A clean run is one of a commit: no file of the source tree may differ from it."""
    if commit() == "unknown":
        raise OptionError("--clean needs a checkout of the source tree; git does not know this one.")
    if changed := uncommitted():
        raise OptionError(
            f"--clean runs one commit, but {len(changed)} file{'s' if len(changed) > 1 else ''} of the "
            "source "
            f"tree differ{'' if len(changed) > 1 else 's'} from it ({changed[0][3:]}); commit or stash first."
        )


def reproduce(names: Sequence[str], session: Session, command: str) -> list[Result]:
    """Run the experiments of these names (or ``all``) and write the report of them."""
    wanted = check(names, masked_model=session.masked_model)
    results = []
    for number, name in enumerate(wanted, start=1):
        session.say(f"[{number}/{len(wanted)}] {name}")
        before, session.worked = time.perf_counter(), 0.0
        result = import_module(f".{EXPERIMENTS[name]}", __package__).run(session)
        # What came from the cache took its time in an earlier run; that time counts.
        seconds = max(time.perf_counter() - before, session.worked)
        results.append(replace(result, seconds=round(seconds, 1)))
    ended = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime())
    facts = _facts(session, command, results) | {"begun": session.begun, "ended": ended}
    write(session.out, results, facts)
    return results


def work(name: str, part: str, session: Session) -> None:
    """Do the work of an experiment, or of a part of it, and write no report: another process will."""
    module = import_module(f".{EXPERIMENTS[name]}", __package__)
    title = f"{name} {part}".strip()
    session.say(f"{title}: begun")
    if part:
        module.run_part(session, part)
    else:
        module.run(session)
    session.say(f"{title}: done")


def in_parallel(names: Sequence[str], session: Session, jobs: int, arguments: Sequence[str]) -> None:
    """Do the work of several experiments at a time, each in a process of its own, the longest first."""
    wanted = check(names, masked_model=session.masked_model)
    long = sorted((n for n in wanted if n in _LONG), key=_LONG.index)
    todo = [(name, part) for name in long for part in _PARTS.get(name, ("",))]
    running: dict[str, subprocess.Popen[bytes]] = {}
    try:
        while todo or running:
            while todo and len(running) < jobs:
                name, part = todo.pop(0)
                line = [sys.executable, "-m", "kedge", "reproduce", name, "--work", part, *arguments]
                # A session of its own: it is this process that Ctrl-C stops, and that ends the others.
                process = subprocess.Popen(line, start_new_session=True)  # noqa: S603  (this very program)
                running[f"{name} {part}".strip()] = process
            time.sleep(0.2)
            for name in [n for n, process in running.items() if process.poll() is not None]:
                if code := running.pop(name).returncode:
                    raise OptionError(
                        f"The experiment {name} failed (exit code {code}); its words are above."
                    )
    finally:
        for process in running.values():
            process.terminate()
            process.wait()


def _facts(session: Session, command: str, results: Sequence[Result]) -> dict[str, Any]:
    """What the numbers rest on."""
    states = sorted(session.states) or [commit()]
    clean = session.from_nothing and len(states) == 1 and not states[0].endswith("changes")
    facts: dict[str, Any] = {
        "command": command,
        "source": f"commit {', '.join(states)}"
        + (", a clean tree: every piece was made by it, beginning with nothing" if clean else ""),
        "scale": session.scale.name,
        "seeds": f"{SEED} for splits, networks and forests (0 for the figures of shifts and of the dummy "
        "word, as "
        "the authors' scripts; 1 to 6 for splits drawn again); run k of a document has seed k",
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
    facts["pieces of work"] = session.new + session.reused
    facts["seconds of work"] = round(sum(r.seconds for r in results))
    facts["seconds by experiment"] = ", ".join(f"{r.name} {r.seconds:.0f}" for r in results)
    return facts
