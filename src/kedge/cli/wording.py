"""Sentences of the library in the words of the command line: ``method='auto'`` is ``--method auto`` here.

Only sentences that are kedge's own are put into other words: what a user's model or file had to say is
left as it is.
"""

import re
import shlex

from kedge.errors import (
    KedgeError,
    LabelError,
    OptionError,
    OutOfQueries,
    OutputError,
    StorageError,
    TextError,
)

__all__ = ["on_one_line", "spoken", "spoken_error"]

# Options of the library that the command line has by the same name.
_OPTIONS = (
    "allow_empty",
    "delta",
    "full",
    "id",
    "label",
    "limit",
    "max_queries",
    "max_rules",
    "method",
    "min_precision",
    "objective",
    "outputs",
    "precision",
    "seed",
    "text",
    "threshold",
    "workers",
)
_NAME = "|".join(_OPTIONS)
_VALUE = r"""'[^']*'|"[^"]*"|-?\d+(?:\.\d+)?(?:e-?\d+)?|True|False|None"""
# name=value or name= wherever it stands on its own; "kedge.Masking(mask=...)" has no such name.
_GIVEN = re.compile(rf"(?<![\w.'\"-])({_NAME})=({_VALUE})?(?![\w'\"])")
# A bare name: at the beginning ("threshold must lie in ..."), or where it cannot be a word of English.
_BARE = re.compile(rf"^(?:{_NAME})(?= must )|(?<![\w.'\"-])(?:{'|'.join(n for n in _OPTIONS if '_' in n)})\b")
# The errors whose sentences hold nothing but our own words.
_OWN = (LabelError, OptionError, OutOfQueries, OutputError, StorageError, TextError)
_OWN_NAMES = {kind.__name__ for kind in _OWN}


def spoken(sentence: str, kind: str | None = None) -> str:
    """A sentence with options as they are typed; other kinds of errors than our own stay as they are.

    >>> spoken("A multi-label model needs label=; raise max_queries or use method='auto'.")
    'A multi-label model needs --label; raise --max-queries or use --method auto.'
    >>> spoken("threshold must lie in (0, 1], got 2.0.")
    '--threshold must lie in (0, 1], got 2.0.'
    >>> spoken("The earlier run was begun with limit=None, not 3.", "StorageError")
    'The earlier run was begun with no --limit, not 3.'
    >>> spoken("The model raised TypeError: no label= here.", "ModelRaised")
    'The model raised TypeError: no label= here.'
    """
    if kind is not None and kind not in _OWN_NAMES:
        return sentence
    sentence = sentence.replace("quotes=False", "--no-quotes")
    sentence = _GIVEN.sub(lambda found: _typed(found[1], found[2]), sentence)
    return _BARE.sub(lambda found: _typed(found[0], None), sentence)


def spoken_error(error: KedgeError) -> str:
    """The sentence of an error, on one line."""
    return on_one_line(spoken(str(error), type(error).__name__))


def on_one_line(text: str) -> str:
    """A text that cannot steer the terminal, on one line."""
    from kedge.render.terminal import visible

    return visible(" ".join(text.split()))


def _typed(name: str, value: str | None) -> str:
    option = "--" + name.replace("_", "-")
    if value is None or value == "True":
        return option
    if value in {"False", "None"}:
        return f"no {option}"
    return f"{option} {shlex.quote(value.strip(chr(39) + chr(34)))}"
