"""``kedge explain``: one text, one explanation."""

import sys
from pathlib import Path

import click

from kedge.choose import METHODS
from kedge.cli.models import EMBEDDED, load_model
from kedge.errors import OptionError, TextError
from kedge.explain import explain
from kedge.render.terminal import render, wants_colour

__all__ = ["command"]


@click.command("explain")
@click.argument("text", required=False)
@click.option(
    "--file", type=click.Path(dir_okay=False), help="Read the text from a file; - is standard input."
)
@click.option(
    "--model", default=EMBEDDED, show_default=True, help="The embedded model, module:attribute, or a file."
)
@click.option("--trust", is_flag=True, help="Allow a model file that runs code when it is loaded.")
@click.option("--threshold", type=float, default=0.95, show_default=True, help="The precision to reach.")
@click.option(
    "--delta",
    type=float,
    default=0.05,
    show_default=True,
    help="Share of certified claims that may be wrong.",
)
@click.option(
    "--method", type=click.Choice(METHODS), default="auto", show_default=True, help="How to search."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Same seed, same answer.")
@click.option("--max-queries", type=int, help="How many texts the model may be asked about.")
@click.option("--outputs", default="auto", show_default=True, help="What a callable's numbers mean.")
@click.option("--html", type=click.Path(dir_okay=False), help="Write the explanation as a page to this file.")
@click.option("--json", "as_json", is_flag=True, help="Print the explanation as JSON.")
def command(
    text: str | None,
    file: str | None,
    model: str,
    trust: bool,
    threshold: float,
    delta: float,
    method: str,
    seed: int,
    max_queries: int | None,
    outputs: str,
    html: str | None,
    as_json: bool,
) -> None:
    """Explain the label of TEXT, of a file, or of standard input."""
    found = explain(
        load_model(model, trust=trust),
        _text(text, file),
        threshold=threshold,
        delta=delta,
        method=method,
        seed=seed,
        max_queries=max_queries,
        outputs=outputs,
    )
    if html is not None:
        _write(html, found.to_html())
    click.echo(found.to_json() if as_json else render(found, colour=wants_colour()))


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
