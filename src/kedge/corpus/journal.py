"""Results that survive anything: one line per document, appended in input order.

While a run lasts its rows are in ``OUT.part``, and what was asked for in ``OUT.run``. When all
documents are done the rows become ``OUT`` in one step (a rename), so ``OUT`` is never half a result.
Whatever interrupts the run, the part holds every row that was written, and at most one torn line at
its end, which is recognised and cut off. Files exist in this order, so that every moment has one
meaning:

========================  ==============================================================
part and run              begun; rows 0..n-1 are in the part
run without part          the part has become OUT; the run still says what it is the answer to
part without run          nothing was written yet
neither                   OUT, if it is there, is complete, and nothing is known of its origin
========================  ==============================================================
"""

import json
import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from kedge.errors import StorageError

__all__ = ["Journal", "intact_rows"]

# Rows reach the disk, not only the operating system, at least this often: what a power cut can cost.
SYNC_SECONDS = 1.0


def intact_rows(file: IO[bytes]) -> Iterator[tuple[dict[str, Any], int]]:
    """The rows of a part and where each ends, up to the first that is torn.

    A line is whole when it ends, is JSON, and has the next row number: after a power cut a file may
    also end in blocks of zeros.
    """
    end = 0
    for number, line in enumerate(file):
        if not line.endswith(b"\n"):
            return
        try:
            row = json.loads(line)
        except ValueError:
            return
        if not isinstance(row, dict) or row.get("row") != number:
            return
        end += len(line)
        yield row, end


class Journal:
    """The rows of one run on their way to ``out``.

    Parameters
    ----------
    out
        Where the result will be.
    asked
        What was asked for, as plain data: a resumed run must ask for the same.
    resume
        Go on where an earlier run ended.
    overwrite
        Begin again, and replace what is there.
    """

    def __init__(
        self, out: Path, asked: Mapping[str, Any], *, resume: bool = False, overwrite: bool = False
    ) -> None:
        self.out, self._asked = out, dict(asked)
        self.part = out.with_name(out.name + ".part")
        self._run = out.with_name(out.name + ".run")
        self._resume, self._overwrite = resume, overwrite
        self._synced = 0.0
        self._file: IO[bytes] | None = None

    @property
    def complete(self) -> bool:
        """Whether ``out`` already is the whole result of an earlier run that is to be resumed."""
        return self._resume and not self._overwrite and self.out.exists() and not self.part.exists()

    def __enter__(self) -> Self:
        begun = self.part.exists() and self._run.exists()
        if not (self._resume or self._overwrite):
            self._refuse_existing(begun=begun)
        try:
            if begun and self._resume and not self._overwrite:
                self.check_asked()
            else:
                self._begin()
            # Unbuffered: a row is with the operating system once it is written.
            self._file = self.part.open("r+b", buffering=0)
        except OSError as error:
            raise StorageError(
                f"{self.part} cannot be written: {error.strerror}. Mend this, or choose another --out."
            ) from error
        try:
            _lock(self._file, self.part)
        except StorageError:
            self._file.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is None:
            return
        self._file.close()
        self._file = None
        if isinstance(error, Exception) and self.part.exists() and not self.part.stat().st_size:
            # Refused before the first row: nothing to go on with, so nothing to be in the way.
            self.part.unlink()
            self._run.unlink(missing_ok=True)

    def recovered(self) -> Iterator[dict[str, Any]]:
        """The rows an earlier run left; what is torn after them is cut off."""
        file = self._open()
        end = 0
        with self.part.open("rb") as reading:
            for row, end in intact_rows(reading):  # noqa: B007
                yield row
        file.truncate(end)
        file.seek(end)

    def append(self, lines: str) -> None:
        """Write whole lines."""
        file = self._open()
        data = memoryview(lines.encode("ascii"))
        try:
            while data:
                data = data[file.write(data) :]
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
        try:
            self.sync()
            (written or self.part).replace(self.out)
            _sync_folder(self.out.parent)
            self.part.unlink(missing_ok=True)
        except OSError as error:
            raise self._lost(error) from error

    def check_asked(self) -> None:
        """Refuse to go on with a run that was asked for something else."""
        try:
            before = json.loads(self._run.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise StorageError(
                f"{self.out.name} is complete, and without {self._run.name} it cannot be told whether it is "
                "the result of this run; choose another --out, or begin again with --overwrite."
            ) from None
        except ValueError as error:
            raise StorageError(
                f"{self._run.name} cannot be read ({error}); begin again with --overwrite."
            ) from None
        now = json.loads(json.dumps(self._asked))
        for name in sorted(before.keys() | now.keys()):
            if before.get(name) != now.get(name):
                raise StorageError(
                    f"The earlier run was begun with {name}={before.get(name)!r}, not {now.get(name)!r}; "
                    "ask for the same, choose another --out, or begin again with --overwrite."
                )

    def _open(self) -> IO[bytes]:
        if self._file is None:
            raise StorageError("The journal is not open.")
        return self._file

    def _refuse_existing(self, *, begun: bool) -> None:
        if begun:
            raise StorageError(
                f"An interrupted run has left {self.part.name}; go on with --resume, or begin again with "
                "--overwrite."
            )
        if self.out.exists():
            raise StorageError(f"{self.out} exists; replace it with --overwrite, or choose another --out.")

    def _begin(self) -> None:
        self._run.unlink(missing_ok=True)
        self.part.write_bytes(b"")
        draft = self._run.with_name(self._run.name + ".new")
        with draft.open("w", encoding="utf-8") as file:
            json.dump(self._asked, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self._run)
        _sync_folder(self.out.parent)

    def _lost(self, error: OSError) -> StorageError:
        return StorageError(
            f"{self.part} cannot be written: {error.strerror}. Every row written so far is safe; mend this "
            "and go on with --resume."
        )


def _lock(file: IO[bytes], path: Path) -> None:
    """Keep two runs from writing one file; where there is no fcntl, that is up to the user."""
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise StorageError(f"Another run is writing {path.name}; wait for it, or stop it.") from None


def _sync_folder(folder: Path) -> None:
    """Have the renames of a folder on the disk."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
