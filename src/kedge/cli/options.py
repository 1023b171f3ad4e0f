"""The options that several commands share: which model, and how to explain."""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import click

from kedge.cli.models import EMBEDDED
from kedge.errors import KedgeError
from kedge.model.model import Model
from kedge.options import option_fields
from kedge.typing import Label

__all__ = ["ASKED", "asking_options", "flip_options", "label_named", "model_options", "quiet_option"]

Command = TypeVar("Command", bound=Callable[..., Any])


class _Keep(click.ParamType[Any]):
    """A probability, or 'auto'."""

    name = "number or auto"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """A number as a number; ``Options`` checks the rest."""
        if value == "auto" or isinstance(value, float):
            return value
        try:
            return float(value)
        except ValueError:
            self.fail(f"{value!r} is neither a number nor 'auto'.", param, ctx)


def _flag(name: str) -> Callable[[Command], Command]:
    """An option of ``Explainer`` as one of the command line, with the same default and choices."""
    option = next(f for f in option_fields() if f.name == name)
    about: dict[str, Any] = {"help": option.metadata["flag"], "default": option.default}
    if isinstance(option.default, bool):
        about["is_flag"] = True
    elif option.metadata["choices"]:
        about["type"] = click.Choice(option.metadata["choices"])
    elif name == "max_queries":
        about["type"] = int  # its default, none, has no type
    elif name == "keep":
        about["type"] = _Keep()
    shown = option.default is not None and not isinstance(option.default, bool)
    return click.option(f"--{name.replace('_', '-')}", show_default=shown, **about)


_MODEL = (
    click.option(
        "--model",
        default=EMBEDDED,
        show_default=True,
        help="reviews (the built-in demo model), module:attribute, or a .skops, .joblib or .pkl file.",
    ),
    click.option("--trust", is_flag=True, help="Allow a model file that runs code when it is loaded."),
    _flag("outputs"),
)

ASKED = tuple(f.name for f in option_fields() if f.metadata["flag"] is not None)
"""The shared options that are options of ``Explainer`` by the same name."""

_ASKING = (
    click.option("--label", help="For a multi-label model: the label to explain."),
    *(_flag(name) for name in ASKED if name != "outputs"),
)


_FLIPPING = (
    click.option("--label", help="For a multi-label model: the label to lose."),
    *(_flag(name) for name in ("seed", "mask", "max_queries")),
)


quiet_option = click.option("--quiet", is_flag=True, help="Show no progress.")
"""Add ``--quiet``."""


def model_options(command: Command) -> Command:
    """Add ``--model``, ``--trust`` and ``--outputs``."""
    return _with(_MODEL, command)


def asking_options(command: Command) -> Command:
    """Add the options that every explanation has."""
    return _with(_ASKING, command)


def flip_options(command: Command) -> Command:
    """Add the options that a search for a flip has."""
    return _with(_FLIPPING, command)


def _with(options: Iterable[Callable[[Command], Command]], command: Command) -> Command:
    for option in reversed(tuple(options)):  # the last decorator is the first in --help
        command = option(command)
    return command


def label_named(name: str | None, model: Model, texts: Iterable[Any]) -> Label | None:
    """The model's label that is written like ``name``, judging by its answer about the first text.

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
