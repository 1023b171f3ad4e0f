"""Files as streams of bytes: unpacked on the way, found by name, pattern or folder, or standard input."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from glob import glob, has_magic
from importlib import import_module
from io import BufferedReader
from pathlib import Path
from typing import IO, Any

from kedge.errors import MissingDependency, TextError
from kedge.utils.sentences import Option

__all__ = ["FORMATS", "STDIN", "File", "find_files"]

FORMATS = {".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}
PACKED = {".gz": "gzip", ".bz2": "bz2", ".xz": "lzma", ".zst": "zstd"}
STDIN = "-"
"""The name that stands for standard input."""


@dataclass(frozen=True)
class File:
    """One file of documents.

    Parameters
    ----------
    path
        Where it is; None for standard input.
    format
        ``"csv"``, ``"tsv"``, ``"jsonl"`` or ``"parquet"``.
    """

    path: Path | None
    format: str

    @property
    def name(self) -> str:
        """What sentences call it."""
        return "standard input" if self.path is None else self.path.name

    @contextmanager
    def opened(self) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
        """The content, unpacked, and the file itself, whose position shows how much was read."""
        if self.path is None:
            yield sys.stdin.buffer, sys.stdin.buffer
            return
        packing = PACKED.get(self.path.suffix.lower())
        with self.path.open("rb") as raw:
            if packing is None:
                yield raw, raw
            elif packing == "zstd":
                with BufferedReader(_zstd(raw)) as file:
                    yield file, raw
            else:
                with import_module(packing).open(raw) as file:
                    yield file, raw


def find_files(given: str | Path | Iterable[str | Path], kind: str | None = None) -> tuple[File, ...]:
    """Recognise files by their names.

    Parameters
    ----------
    given
        A file, a folder of files, a pattern such as ``part-*.parquet``, ``"-"`` for standard input, or
        several of these.
    kind
        What they are, where their names do not say.
    """
    names = [given] if isinstance(given, (str, Path)) else list(given)
    files = [file for name in names for file in _found(name, kind)]
    if not files:
        raise TextError("No file was given.")
    if len(files) > 1 and any(file.path is None for file in files):
        raise TextError("Standard input is read alone, not with other files.")
    seen: dict[Path, File] = {}
    for file in files:
        if file.path is not None and seen.setdefault(file.path.resolve(), file) is not file:
            raise TextError(f"{file.name} is given twice.")
    return tuple(files)


def _found(name: str | Path, kind: str | None) -> Sequence[File]:
    if name == STDIN:
        if kind is None:
            raise TextError("Say what standard input holds, by ", Option("format"), ": csv, tsv or jsonl.")
        if kind == "parquet":
            raise TextError("Parquet cannot be read from standard input; save it to a file.")
        return [File(None, kind)]
    path = Path(name)
    if path.is_dir():
        inside = sorted(p for p in path.iterdir() if p.is_file() and not p.name.startswith((".", "_")))
        known = [p for p in inside if kind is not None or _kind(p) is not None]
        if not known:
            raise TextError(f"The folder {path} has no file that ends in one of {', '.join(FORMATS)}.")
        return [_file(p, kind) for p in known]
    if not path.exists() and has_magic(str(path)):
        matching = sorted(glob(str(path)))  # noqa: PTH207  (Path.glob takes no absolute pattern)
        if not matching:
            raise TextError(f"No file matches {path}.")
        return [_file(Path(p), kind) for p in matching]
    return [_file(path, kind)]


def _file(path: Path, kind: str | None) -> File:
    if not path.is_file():
        raise TextError(f"There is no file {path}.")
    found = kind or _kind(path)
    if found is None:
        raise TextError(
            f"The format of {path.name} is not known; its name must end in one of {', '.join(FORMATS)}, or "
            "give ",
            Option("format"),
            ": csv, tsv, jsonl or parquet.",
        )
    return File(path, found)


def _kind(path: Path) -> str | None:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in PACKED:
        suffixes.pop()
    return FORMATS.get(suffixes[-1]) if suffixes else None


def _zstd(raw: IO[bytes]) -> Any:
    try:
        import pyarrow as pa
    except ImportError:
        raise MissingDependency("Files ending in .zst need pyarrow: pip install 'kedge[data]'.") from None
    return pa.CompressedInputStream(pa.PythonFile(raw), "zstd")
