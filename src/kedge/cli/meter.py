"""Progress of a run: a bar on a terminal, an occasional line in a log."""

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from kedge.corpus.summary import Summary

__all__ = ["progress"]

# Seconds between the lines of a log, and between two drawings of the bar.
LOG_EVERY, DRAW_EVERY = 15.0, 0.1

Watcher = Callable[[Summary, int], None]


@dataclass(frozen=True)
class Goal:
    """How far there is to go: the size of the source, if it is known, and the limit on documents."""

    total: int | None = None
    limit: int | None = None

    def documents(self, done: int, position: int) -> float | None:
        """How many documents there are, estimated from those done up to a position."""
        there = self.total / position * done if self.total is not None and position else None
        known = [count for count in (there, self.limit) if count is not None]
        return max(done, min(known)) if known else None


@contextmanager
def progress(total: int | None, *, limit: int | None = None, quiet: bool = False) -> Iterator[Watcher | None]:
    """A function to call after each document with the summary and the position out of ``total``."""
    goal = Goal(total, limit)
    if quiet:
        yield None
    elif sys.stderr.isatty():
        with _bar(goal) as watch:
            yield watch
    else:
        yield _log(goal)


def time_left(summary: Summary, position: int, goal: Goal) -> float | None:
    """Seconds, at the pace so far; what an earlier run had done took no time in this one."""
    documents = goal.documents(summary.documents, position)
    if documents is None or not summary.documents > summary.resumed:
        return None
    return (documents - summary.documents) / summary.rate


def shown_time(seconds: float | None) -> str:
    """A duration as people read it.

    >>> shown_time(59.6), shown_time(3725), shown_time(200000), shown_time(None)
    ('1:00', '1:02:05', '2 days 7:33:20', '?')
    """
    if seconds is None:
        return "?"
    minutes, s = divmod(round(seconds), 60)
    hours, m = divmod(minutes, 60)
    days, h = divmod(hours, 24)
    before = f"{days} day{'s' if days > 1 else ''} " if days else ""
    return before + (f"{h}:{m:02}:{s:02}" if hours else f"{m}:{s:02}")


def _log(goal: Goal) -> Watcher:
    last = time.monotonic()

    def watch(summary: Summary, position: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= LOG_EVERY:
            last = now
            left = shown_time(time_left(summary, position, goal))
            sys.stderr.write(
                f"kedge: {summary.documents:,} documents, {summary.rate:,.1f}/s, {left} left, "
                f"{summary.errors.total():,} errors\n"
            )
            sys.stderr.flush()

    return watch


@contextmanager
def _bar(goal: Goal) -> Iterator[Watcher]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

    columns = (BarColumn(), TaskProgressColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting the workers", total=1.0)
        drawn = 0.0

        def watch(summary: Summary, position: int) -> None:
            nonlocal drawn
            now = time.monotonic()
            if now - drawn >= DRAW_EVERY:
                drawn = now
                left = shown_time(time_left(summary, position, goal))
                wrong = f"  {summary.errors.total():,} errors" if summary.errors else ""
                text = f"{summary.documents:,} documents  {summary.rate:,.1f}/s  {left} left{wrong}"
                share = summary.documents / (goal.documents(summary.documents, position) or math.inf)
                bar.update(task, completed=share, description=text)

        yield watch
