"""Texts in and answers out: what the commands read and write."""

import sys
from pathlib import Path

import click

from kedge.errors import OptionError, TextError

__all__ = ["read_text", "write_file"]


def write_file(file: str, content: str) -> None:
    """Write a file, and say so; standard output is the answer's alone."""
    try:
        Path(file).write_text(content, encoding="utf-8")
    except OSError as error:
        raise OptionError(f"{file} cannot be written: {error.strerror}.") from error
    click.echo(f"written to {file}", err=True)


def read_text(text: str | None, file: str | None) -> str:
    """The text from the one place it was given."""
    if text is not None and file is not None:
        raise TextError("Give the text or --file, not both.")
    if text is not None:
        return text
    if file is None and sys.stdin.isatty():
        raise TextError("There is no text; give it as an argument, with --file, or on standard input.")
    try:
        data = sys.stdin.buffer.read() if file in {None, "-"} else Path(str(file)).read_bytes()
        return data.decode("utf-8-sig")
    except OSError as error:
        raise TextError(f"{file} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError:
        raise TextError(f"{file or 'Standard input'} is not UTF-8 text.") from None
