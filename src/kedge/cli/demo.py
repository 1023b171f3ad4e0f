"""``kedge demo``: three reviews explained, on a fresh install, in a second or two."""

import click

from kedge.api import explain
from kedge.data.demo import VERY_GOOD, review_model, reviews, very_good
from kedge.render.terminal import render, wants_colour

__all__ = ["command"]

REVIEW = (
    "The service was slow and the soup was cold, but the staff were friendly and the dessert was delicious."
)


@click.command("demo", short_help="Explain three sample reviews.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON explanation per line.")
def command(as_json: bool) -> None:
    """Explain three reviews: one with a model trained on the spot, two with a simple rule."""
    examples = [
        (
            f"A logistic regression, trained just now on {len(reviews()[0])} short reviews",
            review_model(),
            REVIEW,
        ),
        (
            'The rule "very and good": with very four times, both words are needed',
            VERY_GOOD,
            very_good(4),
        ),
        ("One more very, and removing all five is so unlikely that good is enough", VERY_GOOD, very_good(5)),
    ]
    for number, (title, model, text) in enumerate(examples, start=1):
        found = explain(model, text)
        if as_json:
            click.echo(found.to_json())
            continue
        click.secho(f"{number}. {title}", bold=True)
        click.echo(f"\n{render(found, colour=wants_colour())}\n")
