"""Reading what a model returned: labels, probabilities, scores, or a multi-label indicator.

What is ambiguous is refused, never guessed: a list of floats may be probabilities of the second
class, decision values, or labels, and only the user knows.
"""

import inspect
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from kedge.errors import OptionError, OutputError
from kedge.model.answers.naming import name_labels, numbered
from kedge.model.answers.records import are_records, read_records
from kedge.model.model import Predictions, python_label
from kedge.typing import Bools, Floats, Label
from kedge.utils.messages import shorten
from kedge.utils.sentences import Option, Sentence

__all__ = ["OUTPUTS", "Outputs", "read_outputs"]

Outputs = Literal["auto", "labels", "probabilities", "scores", "multilabel"]
OUTPUTS: tuple[Outputs, ...] = ("auto", "labels", "probabilities", "scores", "multilabel")

_OF_ONE = " (a function of one text: pass lambda texts: [function(text) for text in texts])"
# Rows of float32 softmax outputs sum to one within a few 1e-6; anything beyond 1e-3 is not rounding.
_SUM_TOLERANCE = 1e-3


def read_outputs(
    raw: Any, n: int, outputs: Outputs = "auto", classes: Sequence[Label] | None = None
) -> Predictions:
    """Make predictions of what the model returned for ``n`` texts.

    Parameters
    ----------
    raw
        The model's answer.
    n
        How many texts it was queried with.
    outputs
        What the numbers mean: ``"labels"``, ``"probabilities"``, ``"scores"`` (the largest wins; one
        column: positive is the second class), ``"multilabel"`` (an indicator per label), or
        ``"auto"`` where that is clear.
    classes
        Names of the columns, or of the labels 0..k-1. Without them those of a table's columns, or numbers.
    """
    if outputs not in OUTPUTS:
        raise OptionError(Option("outputs", outputs), f" is not known; choose one of {', '.join(OUTPUTS)}.")
    array, named = _array(raw, n)
    if outputs == "labels" or (outputs == "auto" and _are_labels(array)):
        predictions = _labels(array)
        return predictions if classes is None else name_labels(predictions, numbered(classes))
    classes = classes if classes is not None or named is None else named
    if outputs == "auto" and array.dtype.kind in "USO":
        raise OutputError(
            f"The model returned {array.shape[1]} values per text, such as {_shown(array[0])}; return the "
            'label alone, or records {"label": ..., "score": ...}.'
        )
    if array.dtype.kind not in "biuf":
        raise OutputError(
            Option("outputs", outputs), f" needs numbers, but the model returned {_described(array)}."
        )
    numbers = array.astype(np.float64)
    if not np.isfinite(numbers).all():
        raise OutputError(
            f"The model returned {_described(array)} with NaN or infinite values; every text needs a "
            "finite answer."
        )
    if outputs == "auto":
        outputs = _guess(array, numbers)
    if outputs == "multilabel":
        return _multilabel(numbers, classes)
    if outputs == "probabilities":
        return _probabilities(numbers, classes)
    return _scores(numbers, classes)


def _array(raw: Any, n: int) -> tuple[NDArray[Any], tuple[Label, ...] | None]:
    """The answer as an array with ``n`` rows, and the names of its columns where it has some."""
    if raw is None:
        raise OutputError("The model returned None; it must return one label or row of numbers per text.")
    if inspect.isawaitable(raw):
        getattr(raw, "close", lambda: None)()
        raise OutputError("The model is asynchronous; pass lambda texts: asyncio.run(function(texts)).")
    raw, named = _plain(raw)
    if isinstance(raw, (str, bytes, Mapping, set)) or not hasattr(raw, "__len__"):
        of_one = "" if isinstance(raw, (set, Iterator)) else _OF_ONE
        raise OutputError(
            f"The model returned {_a(type(raw).__name__)} for a list of {n} text{'s' * (n != 1)}; it must "
            f"return a list or array with one label or row of numbers per text{of_one}."
        )
    if len(raw) != n:
        pair = isinstance(raw, tuple) and all(hasattr(part, "__len__") and len(part) == n for part in raw)
        raise OutputError(
            f"The model returned {len(raw)} answer{'s' * (len(raw) != 1)} for {n} text{'s' * (n != 1)}; it "
            f"must return one per text, in order{'; return one part of the tuple' if pair else ''}."
        )
    if are_records(raw):
        raw, named = read_records(raw)
    if isinstance(raw, (list, tuple)) and any(isinstance(x, str) for x in raw):
        # numpy would turn the label 1 into "1" beside "spam"
        strings = np.empty(len(raw), dtype=object)
        strings[:] = raw
        return strings, None
    try:
        array = np.asarray(raw)
    except ValueError:
        array = None
    if array is None or array.ndim not in {1, 2} or 0 in array.shape:
        shape = "rows of different lengths" if array is None else f"shape {array.shape}"
        raise OutputError(
            f"The model returned {shape}; labels (n,), probabilities (n, k) or scores (n, k) are understood."
        )
    return array, named if array.ndim == 2 and array.shape[1] > 1 else None


def _plain(raw: Any) -> tuple[Any, tuple[Label, ...] | None]:
    """What other libraries return, as numpy has it; of a table the names of its columns, too."""
    if hasattr(raw, "detach"):  # a torch tensor, on whatever device
        return raw.detach().cpu().numpy(), None
    if hasattr(raw, "toarray"):  # a sparse matrix
        return raw.toarray(), None
    if hasattr(raw, "columns") and hasattr(raw, "to_numpy"):  # a table of pandas or polars
        return raw.to_numpy(), tuple(python_label(name) for name in raw.columns)
    return raw, None


def _shown(row: NDArray[Any]) -> str:
    return shorten(", ".join(repr(python_label(value)) for value in row))


def _a(noun: str) -> str:
    return f"{'an' if noun[:1] in 'aeiou' else 'a'} {noun}"


def _described(array: NDArray[Any]) -> str:
    kind = "strings" if array.dtype.kind in "US" else array.dtype.name
    return f"an array of {kind} of shape {array.shape}"


def _are_labels(array: NDArray[Any]) -> bool:
    """Strings, whole numbers and booleans, one per text, can only be labels."""
    flat = array.ndim == 1 or array.shape[1] == 1
    return flat and array.dtype.kind in "biuUSO"


def _labels(array: NDArray[Any]) -> Predictions:
    if array.ndim == 2:
        if array.shape[1] != 1:
            raise OutputError(_several(array))
        array = array[:, 0]
    labels = np.empty(len(array), dtype=object)
    labels[:] = [python_label(x) for x in array.tolist()]
    for label in labels:
        if label is None or label != label:  # noqa: PLR0124  (NaN is the one value unequal to itself)
            raise OutputError(f"The model returned {label} as a label; every text needs a label.")
        if isinstance(label, Mapping):
            keys = shorten(", ".join(map(repr, label)))
            raise OutputError(
                f"The model returned dictionaries with the keys {keys}; return "
                'for each text its label, {"label": ..., "score": ...}, or a probability for each label, '
                '{"spam": 0.9, "ham": 0.1}.'
            )
        if not isinstance(label, (str, bytes, int, float)):
            raise OutputError(
                f"The model returned a label of type {type(label).__name__}; labels are ints, strings or "
                "booleans, or say ",
                Option("outputs"),
                " if these are not labels.",
            )
    return Predictions(labels)


def _several(array: NDArray[Any]) -> Sentence:
    """What to do about several whole numbers per text."""
    k = array.shape[1]
    if array.dtype.kind in "biu" and np.isin(array, (0, 1)).all():
        return Sentence(
            f"The model returned {k} values of 0 or 1 per text, as a multi-label model does: pass ",
            Option("outputs", "multilabel"),
            ", name the labels with ",
            Option("classes"),
            ", and choose the one to explain with ",
            Option("label"),
            " (or pass ",
            Option("outputs", "scores"),
            " if the largest wins).",
        )
    return Sentence(
        f"The model returned {_described(array)}, several numbers per text: say ",
        Option("outputs", "scores"),
        " (the largest wins), or return one label per text.",
    )


def _guess(array: NDArray[Any], numbers: Floats) -> Outputs:
    if array.ndim == 1 or array.shape[1] == 1:
        raise OutputError(
            f"The model returned one {array.dtype.name} per text, which can be read in several ways: say ",
            Option("outputs", "probabilities"),
            " (of the second class), ",
            Option("outputs", "scores"),
            " (positive means the second class) or ",
            Option("outputs", "labels"),
            ".",
        )
    if array.dtype.kind in "biu":
        raise OutputError(_several(array))
    if (numbers < 0).any() or np.abs(numbers.sum(axis=1) - 1).max() > _SUM_TOLERANCE:
        raise OutputError(
            f"The model returned rows of shape {array.shape} that are not probabilities (they do not sum "
            "to one): say ",
            Option("outputs", "scores"),
            " (the largest wins) or ",
            Option("outputs", "multilabel"),
            " (each at least 0.5 holds).",
        )
    return "probabilities"


def _named(classes: Sequence[Label] | None, k: int) -> tuple[Label, ...]:
    if classes is None:
        return tuple(range(k))
    if len(classes) != k:
        raise OutputError(f"{len(classes)} class names were given, but the model has {k} classes.")
    return tuple(python_label(c) for c in classes)


def _winners(columns: Floats, classes: tuple[Label, ...]) -> NDArray[np.object_]:
    names = np.empty(len(classes), dtype=object)
    names[:] = classes
    winners: NDArray[np.object_] = names[columns.argmax(axis=1)]
    return winners


def _probabilities(numbers: Floats, classes: Sequence[Label] | None) -> Predictions:
    if numbers.min() < 0 or numbers.max() > 1 + _SUM_TOLERANCE:
        raise OutputError(
            Option("outputs", "probabilities"),
            " needs numbers between 0 and 1, but they range from "
            f"{numbers.min():.3g} to {numbers.max():.3g}.",
        )
    if numbers.ndim == 1 or numbers.shape[1] == 1:
        second = numbers.reshape(-1)
        numbers = np.column_stack([1 - second, second])
    elif np.abs(numbers.sum(axis=1) - 1).max() > _SUM_TOLERANCE:
        raise OutputError(
            Option("outputs", "probabilities"),
            " needs rows that sum to one; for one independent probability per label say ",
            Option("outputs", "multilabel"),
            ".",
        )
    names = _named(classes, numbers.shape[1])
    return Predictions(_winners(numbers, names), names, numbers)


def _scores(numbers: Floats, classes: Sequence[Label] | None) -> Predictions:
    if numbers.ndim == 1 or numbers.shape[1] == 1:
        second = numbers.reshape(-1)
        numbers = np.column_stack([np.zeros_like(second), second])
    names = _named(classes, numbers.shape[1])
    return Predictions(_winners(numbers, names), names, scores=numbers)


def _multilabel(numbers: Floats, classes: Sequence[Label] | None) -> Predictions:
    if numbers.ndim == 1:
        numbers = numbers[:, None]
    if numbers.min() < 0 or numbers.max() > 1:
        raise OutputError(
            Option("outputs", "multilabel"),
            " needs 0/1 indicators or probabilities, but the numbers range from "
            f"{numbers.min():.3g} to {numbers.max():.3g}.",
        )
    indicator: Bools = numbers >= 0.5
    return Predictions(None, _named(classes, numbers.shape[1]), indicator=indicator)
