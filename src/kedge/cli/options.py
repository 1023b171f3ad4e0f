"""The options that several commands share: which model, and what to ask for."""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import click

from kedge.choose import METHODS, PRECISIONS
from kedge.cli.models import EMBEDDED
from kedge.errors import KedgeError
from kedge.model.model import Model
from kedge.model.outputs import OUTPUTS
from kedge.typing import Label

__all__ = ["ASKED", "asking_options", "label_named", "model_options", "quiet_option"]

Command = TypeVar("Command", bound=Callable[..., Any])

_MODEL = (
    click.option(
        "--model",
        default=EMBEDDED,
        show_default=True,
        help="reviews (the embedded model), module:attribute, or a .skops, .joblib or .pkl file.",
    ),
    click.option("--trust", is_flag=True, help="Allow a model file that runs code when it is loaded."),
    click.option(
        "--outputs",
        type=click.Choice(OUTPUTS),
        default="auto",
        show_default=True,
        help="What a callable's numbers mean.",
    ),
)

_ASKING = (
    click.option("--label", help="Which label to explain, for a multi-label model."),
    click.option("--threshold", type=float, default=0.95, show_default=True, help="The precision to reach."),
    click.option(
        "--delta",
        type=float,
        default=0.05,
        show_default=True,
        help="Share of certified claims that may be wrong.",
    ),
    click.option(
        "--method", type=click.Choice(METHODS), default="auto", show_default=True, help="How to search."
    ),
    click.option(
        "--precision",
        type=click.Choice(PRECISIONS),
        default="auto",
        show_default=True,
        help="How the precision of an anchor is found.",
    ),
    click.option("--allow-empty", is_flag=True, help="Let 'no word is needed' be an answer."),
    click.option("--seed", type=int, default=0, show_default=True, help="Same seed, same answer."),
    click.option("--max-queries", type=int, help="How many texts the model may be asked about, per text."),
)

ASKED = ("outputs", "threshold", "delta", "method", "precision", "allow_empty", "seed", "max_queries")
"""The shared options that are options of ``Explainer`` by the same name."""


quiet_option = click.option("--quiet", is_flag=True, help="Show no progress.")
"""Add ``--quiet``."""


def model_options(command: Command) -> Command:
    """Add ``--model``, ``--trust`` and ``--outputs``."""
    return _with(_MODEL, command)


def asking_options(command: Command) -> Command:
    """Add what can be asked of every explanation."""
    return _with(_ASKING, command)


def _with(options: Iterable[Callable[[Command], Command]], command: Command) -> Command:
    for option in reversed(tuple(options)):  # the last decorator is the first in --help
        command = option(command)
    return command


def label_named(name: str | None, model: Model, texts: Iterable[Any]) -> Label | None:
    """The label of a model that is written like ``name``, by the model's answer about the first text.

    A command line has only strings; the labels of a model may be numbers or truth values.
    """
    text = next((t for t in texts if isinstance(t, str) and t.strip()), None) if name is not None else None
    if text is None:
        return name
    try:
        answer = model.predict([text])
    except KedgeError:
        return name  # explaining will say it, with the text it fails on
    known: list[Label] = list(answer.classes or ()) + list(() if answer.labels is None else answer.labels)
    for label in known:
        if str(label) == name:
            return label
    if known and all(type(label) is int for label in known) and str(name).lstrip("-").isdecimal():
        return int(str(name))
    return {"True": True, "False": False}.get(str(name), name) if known and type(known[0]) is bool else name
