"""One run of the reproduction: where results go, what is known already, how long it will take.

Every piece of work is kept under a key made of what it depends on: the source that makes it (the
experiment, what that imports, the library), the parameters, the document. An interrupted run goes on
where it stopped; a piece that other source made is never used.
"""

import json
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
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

from .provenance import commit, digest, uncommitted
from .setting import Scale

__all__ = ["Session"]

# Without a terminal a line is written at most so often, in seconds.
_EVERY = 30.0


class Session:
    """What an experiment works with.

    Parameters
    ----------
    out
        The folder of the report.
    scale
        How much is done.
    masked_model
        Folder or name of a masked language model for the experiment that needs one; None: one is made of
        a sentence encoder, where that is installed.
    quiet
        Whether to show no progress.
    patience
        Seconds of new work on the documents of one model and data set, after which a table is made of
        those done so far; None for all of them. A later run goes on where this one stopped.
    clean
        Begin with nothing: what earlier runs left is removed.
    """

    def __init__(
        self,
        out: Path,
        scale: Scale,
        *,
        masked_model: str | None = None,
        quiet: bool = False,
        patience: float | None = None,
        clean: bool = False,
    ) -> None:
        self.out, self.scale, self.masked_model, self.clean = out, scale, masked_model, clean
        self.left_out = self.new = self.reused = 0
        self._patience = float("inf") if patience is None else patience
        self.figures = out / "figures"
        self.store = out / "cache"
        if clean and self.store.is_dir():
            shutil.rmtree(self.store)
        for folder in (self.figures, self.store):
            folder.mkdir(parents=True, exist_ok=True)
        self._console = Console(stderr=True, quiet=quiet)
        self._known: dict[str, dict[str, Any]] = {}
        self._state = commit() + ("" if not uncommitted() else " with uncommitted changes")
        self.begun, self.from_nothing = self._beginning()
        self.states: set[str] = set()
        """The commits whose source made the pieces of this report."""
        self.spent = 0.0
        self.worked = 0.0
        self._counted: set[str] = set()
        self._made: set[str] = set()
        self._begun = time.perf_counter()

    def _beginning(self) -> tuple[str, bool]:
        """When the cache was begun, and whether that was a clean run: told to all who add to it."""
        path = self.store / "begun.json"
        if not path.is_file():
            when = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime())
            path.write_text(json.dumps({"begun": when, "clean": self.clean}), encoding="utf-8")
        told = json.loads(path.read_text(encoding="utf-8"))
        return told["begun"], told["clean"]

    def say(self, line: str) -> None:
        """A line for the user, with the time it is said at where there is no terminal."""
        if not self._console.is_terminal:
            line = f"{time.strftime('%H:%M:%S')} +{time.perf_counter() - self._begun:5.0f} s  {line}"
        self._console.print(line, highlight=False, soft_wrap=True)

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
        salt = [title, digest(name)]
        keys = [self._key(salt, item) for item in items]
        known = self._load(name)
        found = []
        begun = time.perf_counter()
        with self._progress(f"{name}: {title}", len(items)) as advance:
            for key, item in zip(keys, items, strict=True):
                self.reused += key in known and key not in self._made
                if key not in known:
                    if partial and time.perf_counter() - begun > self._patience:
                        found.append(None)
                        self.left_out += 1
                        continue
                    started = time.perf_counter()
                    value = work(item)
                    self.new += 1
                    self._made.add(key)
                    entry = {"value": value, "seconds": time.perf_counter() - started, "state": self._state}
                    self._save(name, key, entry)
                self.states.add(known[key]["state"])
                found.append(known[key]["value"])
                advance()
        self.spent = sum(known[key]["seconds"] for key in keys if key in known)
        # Two experiments may rest on the same work; its time counts once.
        fresh = {key for key in keys if key in known} - self._counted
        self.worked += sum(known[key]["seconds"] for key in fresh)
        self._counted |= fresh
        return found

    @contextmanager
    def _progress(self, title: str, total: int) -> Iterator[Callable[[], None]]:
        """A bar on a terminal; elsewhere a line now and then."""
        if not self._console.is_terminal:
            yield self._lines(title, total)
            return
        with Progress(
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
            TextColumn("left"), TimeRemainingColumn(), console=self._console, transient=True,
        ) as progress:  # fmt: skip
            task = progress.add_task(title, total=total)
            yield lambda: progress.advance(task)

    def _lines(self, title: str, total: int) -> Callable[[], None]:
        begun = said = time.perf_counter()
        done = 0

        def advance() -> None:
            nonlocal done, said
            done += 1
            now = time.perf_counter()
            if now - said >= _EVERY or (done == total and now - begun >= 1):
                said = now
                left = (now - begun) / done * (total - done)
                self.say(f"  {title}: {done} of {total}, {now - begun:.0f} s, about {left:.0f} s left")

        return advance

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
