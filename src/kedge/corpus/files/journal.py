"""Results that survive anything: one line per document, appended in input order.

While a run lasts its rows are in ``OUT.part``, and its options in ``OUT.run``, which is locked. When
all documents are done the rows become ``OUT`` in one step (a rename), so ``OUT`` is never half a result.
Whatever interrupts the run, the part holds every row that was written, and at most one torn line at
its end, which is recognised and cut off. Files mean, in this order:

===============  ==============================================================================
part with rows   a run has started; rows 0..n-1 are in the part
before           errors are being retried: rows that the part does not have yet are there
OUT              a whole result; the run says what it is the answer to
===============  ==============================================================================

Nothing is looked at, or changed, before the lock is held: of two runs that start at once one is refused, and
the other never notices.
"""

import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Literal, Self

from kedge.corpus.files.columns import is_row
from kedge.corpus.files.disk import link, locked, sync_folder
from kedge.corpus.remedies import CONTINUE, OTHER_OUT, START_OVER
from kedge.errors import StorageError
from kedge.utils.sentences import Option

__all__ = ["Intent", "Journal", "intact_rows"]

Intent = Literal["begin", "resume", "overwrite", "retry"]
"""Start where nothing is; continue; start over; continue, and redo what failed."""

# Rows reach the disk, not only the operating system, at least this often: what a power cut can cost.
SYNC_SECONDS = 1.0


def intact_rows(file: IO[bytes]) -> Iterator[tuple[dict[str, Any], int]]:
    """The rows of a part and where each ends, up to the first that is torn.

    A line is whole when it ends, is JSON, and is the row of the next number: after a power cut a file may
    also end in blocks of zeros.
    """
    end = 0
    for number, line in enumerate(file):
        if not line.endswith(b"\n"):
            return
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            return
        if not is_row(row, number):
            return
        end += len(line)
        yield row, end


class Journal:
    """The rows of one run on their way to ``out``.

    Parameters
    ----------
    out
        Where the result will be.
    options
        The options of the run, as plain data: a resumed run must have the same.
    intent
        What to do with what is there.
    """

    def __init__(self, out: Path, options: Mapping[str, Any], intent: Intent = "begin") -> None:
        self.out, self._options, self._intent = out, json.loads(json.dumps(dict(options))), intent
        self.part = out.with_name(out.name + ".part")
        self.before = out.with_name(out.name + ".before")
        self.damaged = out.with_name(out.name + ".damaged")
        self.audit = out.with_name(out.name + ".audit")
        self._run_path = out.with_name(out.name + ".run")
        self.complete, self.fresh = False, True
        self._earlier = b""  # what the run said before this one
        self._synced, self._end = 0.0, 0
        self._run: IO[bytes] | None = None
        self._file: IO[bytes] | None = None

    def __enter__(self) -> Self:
        try:
            self._run = locked(self._run_path)
        except OSError as error:
            raise self._cannot_write(error) from error
        try:
            self._earlier = self._run.read()
            self._take_up()
        except OSError as error:
            self._leave(refused=True)
            raise self._cannot_write(error) from error
        except BaseException:
            self._leave(refused=True)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        empty = self._file is not None and not os.fstat(self._file.fileno()).st_size
        if error is not None and empty and not self.before.exists():
            # Refused before the first row: nothing to continue, so nothing to be in the way.
            self.part.unlink(missing_ok=True)
            self._leave(refused=True)
        else:
            self._leave()

    def _take_up(self) -> None:
        """Find out what is there, and whether it may be gone on with, or replaced."""
        rows = self.part.exists() and self.part.stat().st_size > 0
        begun = rows or self.before.exists()
        whole = self.out.exists() and not self.part.exists() and not begun
        if self._intent == "begin":
            self._refuse_existing(begun=begun)
        elif self._intent == "overwrite":
            self.before.unlink(missing_ok=True)
        else:
            if begun or whole or self._earlier:
                self._check_options()
            if whole and self._intent == "resume":
                self.complete = True
                return
            if self._intent == "retry" and not self.before.exists():
                if whole:
                    link(self.out, self.before)
                elif rows:
                    self.part.replace(self.before)
        self._open_part(fresh=self._intent == "overwrite" or not begun)

    def _open_part(self, *, fresh: bool) -> None:
        # Unbuffered: a row is with the operating system once it is written.
        self._file = open(self.part, "ab", buffering=0)  # noqa: SIM115, PTH123  (closed with the journal)
        self.fresh = fresh and not self.before.exists()
        if fresh:
            self._file.truncate(0)
            self._write_run(json.dumps(self._options, indent=1).encode())
            sync_folder(self.out.parent)

    def recovered(self) -> Iterator[dict[str, Any]]:
        """The rows an earlier run left; what is torn after them is cut off, and set aside if it was more."""
        file = self._open()
        end = 0
        with self.part.open("rb") as reading:
            for row, end in intact_rows(reading):  # noqa: B007
                yield row
            reading.seek(end)
            rest = reading.read()
        if b"\n" in rest:  # not one line that was being written when the run ended
            with self.damaged.open("ab") as aside:
                aside.write(rest)
        file.truncate(end)
        self._end = end

    def rows(self) -> Iterator[dict[str, Any]]:
        """The rows written so far."""
        with self.part.open("rb") as reading:
            for row, _ in intact_rows(reading):
                yield row

    def append(self, lines: str) -> None:
        """Write whole lines. It is one call of the system, so an interruption comes before it or after it."""
        file = self._open()
        data = memoryview(lines.encode("ascii"))
        size = len(data)
        try:
            while data:
                data = data[file.write(data) :]
            self._end += size
            if time.monotonic() - self._synced >= SYNC_SECONDS:
                self.sync()
        except OSError as error:
            raise self._lost(error) from error

    def sync(self) -> None:
        """Wait until everything written is on the disk."""
        os.fsync(self._open().fileno())
        self._synced = time.monotonic()

    def finish(self, written: Path | None = None) -> None:
        """Make the rows, or the file ``written`` from them, the result, in one step."""
        self._check_part()
        try:
            self.sync()
            (written or self.part).replace(self.out)
            sync_folder(self.out.parent)
            self.part.unlink(missing_ok=True)
            self.before.unlink(missing_ok=True)
        except OSError as error:
            raise self._lost(error) from error

    def _check_part(self) -> None:
        """Whether the part is what was written: nothing else may have changed or replaced it."""
        mine = os.fstat(self._open().fileno())
        try:
            there = self.part.stat()
        except OSError:
            there = None
        if mine.st_size != self._end or there is None or there.st_ino != mine.st_ino:
            raise StorageError(
                f"{self.part.name} is not what this run has written: something else has changed it; ",
                START_OVER,
            )

    def _check_options(self) -> None:
        """Refuse to continue a run that has other options."""
        if not self._earlier.strip():
            which = self.out if self.out.exists() else self.part
            raise StorageError(
                f"{which.name} has rows, and without {self._run_path.name} it cannot be told whether they "
                "are those of this run; ",
                OTHER_OUT,
            )
        try:
            before = json.loads(self._earlier)
            names = sorted(before.keys() | self._options.keys())
        except (ValueError, AttributeError, RecursionError):
            raise StorageError(f"{self._run_path.name} cannot be read; ", START_OVER) from None
        for name in names:
            if before.get(name) == self._options.get(name):
                continue
            if name == "model_digest":
                raise StorageError(
                    "This is not the model the run was started with (it has another digest); ", OTHER_OUT
                )
            raise StorageError(
                "The earlier run was started with ",
                Option(name, before.get(name)),
                f", not {self._options.get(name)!r}; use the same, ",
                OTHER_OUT,
            )

    def _refuse_existing(self, *, begun: bool) -> None:
        if begun:
            raise StorageError(
                f"An interrupted run has left {self.part.name}; continue with ",
                Option("resume", True),
                ", or ",
                START_OVER,
            )
        if self.out.exists():
            raise StorageError(
                f"{self.out} exists; replace it with ",
                Option("overwrite", True),
                ", or choose another ",
                Option("out"),
                ".",
            )

    def _open(self) -> IO[bytes]:
        if self._file is None:
            raise StorageError("The journal is not open.")
        return self._file

    def _write_run(self, content: bytes) -> None:
        assert self._run is not None  # noqa: S101  (it is locked)
        self._run.seek(0)
        self._run.truncate()
        self._run.write(content)
        os.fsync(self._run.fileno())

    def _leave(self, *, refused: bool = False) -> None:
        """Close everything; after a refusal the options file is what it was before."""
        if self._run is not None:
            with suppress(OSError):
                if refused and not self._earlier:
                    self._run_path.unlink(missing_ok=True)
                elif refused:
                    self._write_run(self._earlier)
            self._run.close()
        if self._file is not None:
            self._file.close()
        self._run = self._file = None

    def _cannot_write(self, error: OSError) -> StorageError:
        why = f"{self.part} cannot be written: {error.strerror}. Fix this, or choose another "
        return StorageError(why, Option("out"), ".")

    def _lost(self, error: OSError) -> StorageError:
        return StorageError(
            f"{self.part} cannot be written: {error.strerror}. Every row written so far is safe; fix this "
            "and ",
            CONTINUE,
        )
