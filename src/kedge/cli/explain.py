"""``kedge explain``: one text, one explanation."""

import json
from typing import Any

import click

from kedge.cli.files import read_text, write_file
from kedge.cli.models import load_model
from kedge.cli.options import asking_options, label_named, model_options
from kedge.cli.wording import typed
from kedge.explainer import Explainer
from kedge.render.terminal import render, wants_colour

__all__ = ["command"]


@click.command("explain", short_help="Explain the label of one text.")
@click.argument("text", required=False)
@click.option(
    "--file", type=click.Path(dir_okay=False), help="Read the text from a file; - is standard input."
)
@model_options
@asking_options
@click.option("--against", help="Explain why the text does not have this other label.")
@click.option(
    "--html", type=click.Path(dir_okay=False), help="Write the explanation to this file as an HTML page."
)
@click.option("--json", "as_json", is_flag=True, help="Print the explanation as JSON.")
@click.option(
    "--certificate",
    type=click.Path(dir_okay=False),
    help="Write a proof of the claim to this file, for kedge verify.",
)
def command(
    text: str | None,
    file: str | None,
    model: str,
    trust: bool,
    label: str | None,
    against: str | None,
    html: str | None,
    as_json: bool,
    certificate: str | None,
    **options: Any,
) -> None:
    """Explain the label of TEXT, of a file (--file), or of standard input."""
    explainer = Explainer(load_model(model, trust=trust), certificate=certificate is not None, **options)
    content = read_text(text, file)
    model_label, other = (label_named(name, explainer.model, [content]) for name in (label, against))
    found = explainer.explain(content, model_label, against=other)
    if html is not None:
        write_file(html, found.to_html())
    click.echo(found.to_json() if as_json else render(found, colour=wants_colour(), spell=typed))
    if certificate is not None:  # last: where there is none, the explanation is there all the same
        write_file(certificate, json.dumps(found.certificate(), indent=1))
