"""``kedge flip``: the fewest words whose removal changes the label of one text."""

from typing import Any

import click

from kedge.cli.files import read_text, write_file
from kedge.cli.models import load_model
from kedge.cli.options import flip_options, label_named, model_options
from kedge.cli.wording import typed
from kedge.explainer import Explainer
from kedge.render.flips import render_flip
from kedge.render.terminal import wants_colour

__all__ = ["command"]


@click.command("flip", short_help="Find the fewest words whose removal changes a label.")
@click.argument("text", required=False)
@click.option(
    "--file", type=click.Path(dir_okay=False), help="Read the text from a file; - is standard input."
)
@model_options
@click.option("--to", help="The label to reach.  [default: any other]")
@flip_options
@click.option(
    "--html", type=click.Path(dir_okay=False), help="Write the answer to this file as an HTML page."
)
@click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")
def command(
    text: str | None,
    file: str | None,
    model: str,
    trust: bool,
    to: str | None,
    label: str | None,
    html: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Find the fewest words whose removal changes the label of TEXT, of a file, or of standard input."""
    explainer = Explainer(load_model(model, trust=trust), **options)
    content = read_text(text, file)
    known = explainer.model
    found = explainer.flip(
        content, label_named(label, known, [content]), to=label_named(to, known, [content])
    )
    if html is not None:
        write_file(html, found.to_html())
    click.echo(found.to_json() if as_json else render_flip(found, colour=wants_colour(), spell=typed))
