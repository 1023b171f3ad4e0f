"""``kedge evaluate``: the words of several tools for the same texts, judged by the model itself."""

import json
from typing import Any

import click

from kedge.cli.files import read_text
from kedge.cli.models import load_model
from kedge.cli.options import model_options
from kedge.errors import OptionError
from kedge.studies import evaluation

__all__ = ["command"]


@click.command("evaluate", short_help="Score the words that other tools find.")
@click.argument("texts", type=click.Path(dir_okay=False))
@model_options
@click.option(
    "--words",
    multiple=True,
    metavar="NAME=FILE",
    help="A tool's words: one JSON list, or object of weights, per line.",
)
@click.option("--size", type=int, help="How many words to score.  [default: as many as kedge's anchor has]")
@click.option("--threshold", type=float, default=0.95, show_default=True, help="The precision to reach.")
@click.option("--seed", type=int, default=0, show_default=True, help="Same seed, same answer.")
@click.option("--json", "as_json", is_flag=True, help="Print the table as JSON.")
def command(
    texts: str,
    model: str,
    trust: bool,
    words: tuple[str, ...],
    size: int | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Score the words that tools find for TEXTS, a file with one text per line.

    Sufficiency is how often the label holds while the words are held in place, comprehensiveness how often
    it is lost when they are removed.
    """
    known = load_model(model, trust=trust)
    lines = [line for line in read_text(None, texts).splitlines() if line.strip()]
    tools = {}
    for given in words:
        name, _, file = given.partition("=")
        if not file:
            raise OptionError(f"--words takes NAME=FILE, got {given!r}.")
        said = dict(zip(lines, _answers(file, len(lines)), strict=True))
        tools[name] = said.__getitem__
    judged = evaluation.evaluate(known, lines, tools, size=size, **options)
    click.echo(json.dumps(judged.table(), indent=1) if as_json else str(judged))


def _answers(file: str, texts: int) -> list[Any]:
    """What a tool says of each text; a pair of a word and its weight is a list of two in JSON."""
    try:
        rows = [json.loads(line) for line in read_text(None, file).splitlines() if line.strip()]
    except json.JSONDecodeError:
        raise OptionError(f"{file} must have one JSON list, or object, in each line.") from None
    if len(rows) != texts or not all(isinstance(row, (list, dict)) for row in rows):
        raise OptionError(f"{file} must have one JSON list, or object, for each of the {texts} texts.")
    return [
        row if isinstance(row, dict) else [tuple(x) if isinstance(x, list) else x for x in row]
        for row in rows
    ]
