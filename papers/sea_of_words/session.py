"""One run of the reproduction: where results go, what is known already, how long it will take.

Every piece of work is cached under a key made of its content (the experiment's own source, the
parameters, the document), so that an interrupted run goes on where it stopped.
"""

import ast
import inspect
import json
import time
from collections.abc import Callable, Iterable
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

import kedge

from . import setting
from .setting import Scale

__all__ = ["Session"]


class Session:
    """What an experiment works with.

    Parameters
    ----------
    out
        The folder of the report.
    scale
        How much is done.
    masked_model
        Name of a masked language model, for the experiment that needs one.
    quiet
        Whether to show no progress.
    patience
        Seconds of new work on the documents of one model and data set, after which a table is made of
        those done so far; None for all of them. A later run goes on where this one stopped.
    """

    def __init__(
        self,
        out: Path,
        scale: Scale,
        *,
        masked_model: str | None = None,
        quiet: bool = False,
        patience: float | None = None,
    ) -> None:
        self.out, self.scale, self.masked_model = out, scale, masked_model
        self.left_out = self.new = self.reused = 0
        self._patience = float("inf") if patience is None else patience
        self.figures = out / "figures"
        self.store = out / "cache"
        for folder in (self.figures, self.store):
            folder.mkdir(parents=True, exist_ok=True)
        self._console = Console(stderr=True, quiet=quiet)
        self._known: dict[str, dict[str, Any]] = {}
        self.spent = 0.0
        self.worked = 0.0
        self._counted: set[str] = set()

    def say(self, line: str) -> None:
        """A line for the user."""
        self._console.print(line, highlight=False)

    def each(
        self,
        module: ModuleType,
        title: str,
        items: Iterable[Any],
        work: Callable[[Any], Any],
        *,
        partial: bool = False,
    ) -> list[Any]:
        """``work`` on each item, from the cache where its content is known, with the time left.

        Items and results are plain data. With ``partial`` an item that patience does not reach gives
        None.
        """
        items = list(items)
        name = module.__name__.rsplit(".", 1)[-1]
        shared = (setting.preprocess, setting.corpus, setting.split, setting.classifier, setting.official)
        salt = [title, kedge.__version__, *(_meaning(part) for part in (module, *shared))]
        keys = [self._key(salt, item) for item in items]
        known = self._load(name)
        found = []
        with Progress(
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
            TextColumn("left"), TimeRemainingColumn(), console=self._console, transient=True,
        ) as progress:  # fmt: skip
            task = progress.add_task(f"{name}: {title}", total=len(items))
            begun = time.perf_counter()
            for key, item in zip(keys, items, strict=True):
                self.reused += key in known
                if key not in known:
                    if partial and time.perf_counter() - begun > self._patience:
                        found.append(None)
                        self.left_out += 1
                        continue
                    started = time.perf_counter()
                    value = work(item)
                    self.new += 1
                    self._save(name, key, {"value": value, "seconds": time.perf_counter() - started})
                found.append(known[key]["value"])
                progress.advance(task)
        self.spent = sum(known[key]["seconds"] for key in keys if key in known)
        # Two experiments may rest on the same work; its time counts once.
        fresh = {key for key in keys if key in known} - self._counted
        self.worked += sum(known[key]["seconds"] for key in fresh)
        self._counted |= fresh
        return found

    @staticmethod
    def _key(salt: list[str], item: Any) -> str:
        return sha256(json.dumps([salt, item], sort_keys=True).encode()).hexdigest()

    def _load(self, name: str) -> dict[str, Any]:
        if name not in self._known:
            path = self.store / f"{name}.jsonl"
            lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
            self._known[name] = {}
            for line in lines:
                try:
                    entry = json.loads(line)
                except json.JSONDecodeError:
                    continue  # the line that an interruption cut short
                self._known[name][entry["key"]] = entry
        return self._known[name]

    def _save(self, name: str, key: str, entry: dict[str, Any]) -> None:
        entry = {"key": key, **entry}
        with (self.store / f"{name}.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")
        self._known[name][key] = entry


def _meaning(part: object) -> str:
    """A piece of source without its layout, comments and docstrings: what a result depends on."""
    tree = ast.parse(inspect.getsource(part))  # type: ignore[arg-type]
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
            body[:] = [n for n in body if not isinstance(getattr(n, "value", None), ast.Constant)] or [
                ast.Pass()
            ]
    return ast.dump(tree)
