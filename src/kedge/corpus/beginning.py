"""Whether a run fails for what was asked, not for its documents: then it is refused, not written down.

A method that the model does not allow, outputs that can be read in several ways, a model that raises on
everything: a file with the same sentence in every row would help nobody. So rows are held back until the
first document is explained. If the first few that could be tried all fail for one reason of the options
or the model, the run ends with that reason, and nothing is written.
"""

import json
from collections.abc import Iterator

from kedge.errors import (
    Inconsistent,
    KedgeError,
    LabelError,
    MissingDependency,
    ModelError,
    ModelRaised,
    OptionError,
    OutputError,
)
from kedge.typing import Label

__all__ = ["worth_writing"]

# Documents that must all fail: one strange document is a row, five are no accident.
FEW = 5
# Rows held back at most; a file may well begin with many empty texts, which say nothing of the model.
HELD = 64
# Errors that are the model's whatever they say, and those that may also be one document's: a model may
# raise on, and an exact precision cost too much for, some texts only. There the sentences must be the same.
_OF_THE_MODEL = (ModelError, OutputError, Inconsistent, MissingDependency)
_OF_EITHER = (OptionError, ModelRaised)
_KINDS: dict[str, type[KedgeError]] = {e.__name__: e for e in (*_OF_THE_MODEL, *_OF_EITHER, LabelError)}


def worth_writing(lines: Iterator[str], label: Label | None) -> Iterator[str]:
    """The lines of a run as they come, unless its first documents fail for what was asked.

    Parameters
    ----------
    lines
        Rows as JSON, in order.
    label
        The label that was asked about. Without one a ``LabelError`` says that the model needs one,
        which is true of every document.
    """
    held: list[str] = []
    first, blamed = "", []
    for line in lines:
        held.append(line)
        error = json.loads(line)["error"]
        if error is None:
            break
        if (reason := _blamed(error, label)) is not None:
            first = first or error
            blamed.append(reason)
        if len(set(blamed)) > 1 or len(held) >= HELD:
            break
        if len(blamed) == FEW:
            raise _refusal(first)
    else:
        if blamed and len(blamed) == len(held) and len(set(blamed)) == 1:
            raise _refusal(first)
    yield from held
    yield from lines


def _blamed(error: str, label: Label | None) -> str | None:
    """What an error lays at the door of the options or the model; None if it is the document's."""
    kind, _, sentence = error.partition(": ")
    known = _KINDS.get(kind)
    if known in _OF_EITHER:
        return sentence
    if known in _OF_THE_MODEL or (known is LabelError and label is None):
        return kind
    return None


def _refusal(error: str) -> KedgeError:
    kind, _, sentence = error.partition(": ")
    return _KINDS[kind](sentence)
