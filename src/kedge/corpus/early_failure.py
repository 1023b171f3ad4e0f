"""Whether a run fails because of its options or its model, not its documents: then it is refused.

A method that the model does not allow, outputs that can be read in several ways, a model that raises on
everything: a file with the same sentence in every row would be useless. So rows are held back until the
first document is explained. If the first few that could be tried all fail for one reason of the options
or the model, the run ends with that reason, and nothing is written.
"""

from collections.abc import Iterator

from kedge.corpus.outcome import Line
from kedge.errors import (
    Failure,
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

__all__ = ["fail_early"]

# Documents that must all fail: one strange document is a row, five are no accident.
FEW = 5
# Rows held back at most; a file may well begin with many empty texts, which say nothing of the model.
HELD = 64
# Errors that are the model's whatever they say, and those that may also be one document's: a model may
# raise on, and an exact precision cost too much for, some texts only. There the sentences must be the same.
_OF_THE_MODEL = (ModelError, OutputError, Inconsistent, MissingDependency)
_OF_EITHER = (OptionError, ModelRaised)
_KINDS: dict[str, type[KedgeError]] = {e.__name__: e for e in (*_OF_THE_MODEL, *_OF_EITHER, LabelError)}


def fail_early(lines: Iterator[Line], label: Label | None) -> Iterator[Line]:
    """The lines of a run as they come; raises if its first documents blame the options or the model.

    Parameters
    ----------
    lines
        Rows as they are written, in order.
    label
        The requested label. Without one a ``LabelError`` says that the model needs one,
        which is true of every document.
    """
    held: list[Line] = []
    first: Failure | None = None
    blamed: list[str] = []
    for line in lines:
        held.append(line)
        row = line.to_row()
        if row["error"] is None:
            break
        why = Failure(row["error_kind"], row["error"])
        if (reason := _blamed(why, label)) is not None:
            first = first or why
            blamed.append(reason)
        if len(set(blamed)) > 1 or len(held) >= HELD:
            break
        if first is not None and len(blamed) == FEW:
            raise _KINDS[first.kind](first.reason)
    else:
        if first is not None and len(blamed) == len(held) and len(set(blamed)) == 1:
            raise _KINDS[first.kind](first.reason)
    yield from held
    yield from lines


def _blamed(why: Failure, label: Label | None) -> str | None:
    """What an error blames on the options or the model; None if it is the document's fault."""
    known = _KINDS.get(why.kind)
    if known in _OF_EITHER:
        return why.reason
    if known in _OF_THE_MODEL or (known is LabelError and label is None):
        return why.kind
    return None
