"""Names for labels that are numbers: ``classes=`` of a model trained on encoded labels."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from typing import Any

import numpy as np

from kedge.errors import OptionError, OutputError
from kedge.model.model import Model, Predictions, python_label
from kedge.model.scores.inside import Inside
from kedge.perturb.masking import Masking
from kedge.text.document import Document
from kedge.typing import Counts, Label
from kedge.utils.sentences import Option

__all__ = ["name_labels", "numbered", "rename"]

Names = Mapping[Label, Label]

# Fields of a model that say nothing about labels, and those that take one: words, ..., label, ....
_WITHOUT = frozenset({
    "name", "tokenize", "keeps_apart", "local", "reads", "notes", "notes_for", "mask", "parts", "made_of",
    "matters", "learned", "class_slopes", "repeats",
})  # fmt: skip
_LABEL_AT = {
    "additive": 2,
    "normalised": 1,
    "leads": 2,
    "algebra": 2,
    "leaves": 2,
    "gradient": 2,
    "slopes": 2,
}


def numbered(
    classes: Sequence[Label], labels: Sequence[Label] | None = None, *, columns: bool = False
) -> Names:
    """Names for a model's labels in their order; for 0, 1, ... where the labels are not known.

    Labels that are names already are refused, unless it is ``columns`` that get new ones.

    >>> numbered(["ham", "spam"])
    {0: 'ham', 1: 'spam'}
    """
    if isinstance(classes, str):
        raise OptionError(Option("classes"), f" must be a list of names, got the string {classes!r:.60}.")
    names = [python_label(name) for name in classes]
    if len(set(names)) < len(names):
        raise OptionError(Option("classes"), " must be different names.")
    if labels is None:
        return dict(enumerate(names))
    if any(isinstance(label, str) for label in labels) and not columns:
        shown = ", ".join(repr(label) for label in labels[:4])
        raise OptionError(
            f"The model names its labels itself ({shown}); ", Option("classes"), " is for numbered ones."
        )
    if len(labels) != len(names):
        raise OptionError(
            Option("classes"), f" has {len(names)} names, but the model has {len(labels)} labels."
        )
    return dict(zip(labels, names, strict=True))


def name_labels(predictions: Predictions, names: Names) -> Predictions:
    """The same predictions, with labels called by their names."""
    labels = predictions.labels
    if labels is not None:
        named = np.empty(len(labels), dtype=object)
        named[:] = [_named(label, names) for label in labels]
        labels = named
    classes = predictions.classes and tuple(_named(label, names) for label in predictions.classes)
    return Predictions(labels, classes, predictions.probabilities, predictions.indicator, predictions.scores)


def _named(label: Label, names: Names) -> Label:
    if label in names:
        return names[label]
    known = ", ".join(repr(number) for number in names)
    raise OutputError(
        f"The model answered {label!r}, but ", Option("classes"), f" gives names to the labels {known}."
    )


def _named_inside(
    inside: Inside, names: Names, back: Callable[[Callable[..., Any], int], Callable[..., Any]]
) -> Inside:
    """The same inside, with labels called by their names; most fields take a label first."""
    changes: dict[str, Any] = {"predict": lambda counts: name_labels(inside.predict(counts), names)}
    if (bare := inside.bare) is not None:
        changes["bare"] = lambda: name_labels(bare(), names)
    for field in fields(inside):
        value = getattr(inside, field.name)
        if field.name not in {"units", "predict", "bare", "class_slopes"} and value is not None:
            changes[field.name] = back(value, 0)
    return replace(inside, **changes)


def _named_between(model: Model, names: Names, label: Label, other: Label) -> dict[str, Any]:
    """What can be read of a preference between two labels, by their names."""
    assert model.between is not None  # noqa: S101  (the caller has looked)
    numbers = {name: number for number, name in names.items()}
    read = model.between(numbers[label], numbers[other])
    pair = rename(replace(model, **read), names)
    return {name: getattr(pair, name) for name in read}


def rename(model: Model, names: Names) -> Model:
    """The same model, with labels called by their names, in all that is known of its inside."""
    numbers = {name: number for number, name in names.items()}

    def back(capability: Callable[..., Any], at: int) -> Callable[..., Any]:
        def ask(*given: Any) -> Any:
            return capability(*given[:at], numbers[given[at]], *given[at + 1 :])

        return ask

    own, remake, from_words = model.own, model.remake, model.from_words
    changes: dict[str, Any] = {
        "predict": lambda texts: name_labels(model.predict(texts), names),
        "own": own and (lambda texts: name_labels(own(texts), names)),
        "remake": remake and (lambda: rename(remake(), names)),
        "from_words": from_words and (lambda documents: name_labels(from_words(documents), names)),
    }
    if (from_counts := model.from_counts) is not None:

        def counted(words: Sequence[str]) -> Callable[[Counts], Predictions]:
            predict = from_counts(words)
            return lambda counts: name_labels(predict(counts), names)

        changes["from_counts"] = counted
    if (opened := model.opened) is not None:

        def open_named(document: Document, masking: Masking) -> Inside | None:
            inside = opened(document, masking)
            return None if inside is None else _named_inside(inside, names, back)

        changes["opened"] = open_named
    if model.between is not None:
        changes["between"] = partial(_named_between, model, names)
    for field in fields(model):
        value = getattr(model, field.name)
        if field.name in _WITHOUT or field.name in changes or value is None:
            continue
        # What is not known here is not declared: it might take a label, too.
        at = _LABEL_AT.get(field.name)
        changes[field.name] = None if at is None else back(value, at)
    return replace(model, **changes)
