"""How far a run has come: a bar on a terminal, a line now and then in a log."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from kedge.corpus.summary import Summary

__all__ = ["progress"]

# Seconds between the lines of a log, and between two drawings of the bar.
LOG_EVERY, DRAW_EVERY = 15.0, 0.1

Watcher = Callable[[Summary, int], None]


@contextmanager
def progress(total: int, *, quiet: bool = False) -> Iterator[Watcher | None]:
    """A function to call after each document with the summary and the position out of ``total``."""
    if quiet:
        yield None
    elif sys.stderr.isatty():
        with _bar(total) as watch:
            yield watch
    else:
        yield _log(total)


def time_left(summary: Summary, position: int, total: int) -> float | None:
    """Seconds, at the pace so far; what an earlier run had done took no time in this one."""
    if not position or not summary.documents > summary.resumed:
        return None
    per_document = position / summary.documents
    left = (total - position) / per_document
    return left / summary.rate


def shown_time(seconds: float | None) -> str:
    """A duration for reading.

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


def _log(total: int) -> Watcher:
    last = time.monotonic()

    def watch(summary: Summary, position: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= LOG_EVERY:
            last = now
            left = shown_time(time_left(summary, position, total))
            sys.stderr.write(
                f"kedge: {summary.documents:,} documents, {summary.rate:,.1f}/s, {left} left, "
                f"{summary.errors.total():,} errors\n"
            )
            sys.stderr.flush()

    return watch


@contextmanager
def _bar(total: int) -> Iterator[Watcher]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

    columns = (BarColumn(), TaskProgressColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting the workers", total=max(total, 1))
        drawn = 0.0

        def watch(summary: Summary, position: int) -> None:
            nonlocal drawn
            now = time.monotonic()
            if now - drawn >= DRAW_EVERY:
                drawn = now
                left = shown_time(time_left(summary, position, total))
                wrong = f"  {summary.errors.total():,} errors" if summary.errors else ""
                text = f"{summary.documents:,} documents  {summary.rate:,.1f}/s  {left} left{wrong}"
                bar.update(task, completed=position, description=text)

        yield watch
