"""``kedge explain``: one text, one explanation."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from kedge.cli.models import load_model
from kedge.cli.options import asking_options, label_named, model_options
from kedge.cli.wording import spoken
from kedge.errors import OptionError, TextError
from kedge.explain import Explainer
from kedge.render.terminal import render, wants_colour

__all__ = ["command"]


@click.command("explain", short_help="Explain the label of one text.")
@click.argument("text", required=False)
@click.option(
    "--file", type=click.Path(dir_okay=False), help="Read the text from a file; - is standard input."
)
@model_options
@asking_options
@click.option("--html", type=click.Path(dir_okay=False), help="Write the explanation as a page to this file.")
@click.option("--json", "as_json", is_flag=True, help="Print the explanation as JSON.")
def command(
    text: str | None,
    file: str | None,
    model: str,
    trust: bool,
    label: str | None,
    html: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Explain the label of TEXT, of a file, or of standard input."""
    explainer = Explainer(load_model(model, trust=trust), **options)
    content = _text(text, file)
    found = explainer.explain(content, label_named(label, explainer.model, [content]))
    if html is not None:
        _write(html, found.to_html())
        click.echo(f"written to {html}", err=True)  # standard output is the explanation's alone
    if as_json:
        click.echo(found.to_json())
        return
    notes = tuple(spoken(note) for note in found.notes)
    click.echo(render(replace(found, notes=notes), colour=wants_colour()))


def _write(file: str, content: str) -> None:
    try:
        Path(file).write_text(content, encoding="utf-8")
    except OSError as error:
        raise OptionError(f"{file} cannot be written: {error.strerror}.") from error


def _text(text: str | None, file: str | None) -> str:
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
