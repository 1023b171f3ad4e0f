"""How messages show a text, a value or an error."""

import json
import re
import unicodedata
from typing import Any

__all__ = ["first_line", "name_error", "readable_json", "shorten", "visible"]

# Beyond what JSON itself escapes: delete, the C1 controls (a terminal obeys them, too), lone surrogates.
_UNREADABLE = re.compile("[\x7f-\x9f\ud800-\udfff]")


def shorten(text: str, width: int = 60, ellipsis: str = "...") -> str:
    """The text, cut off with an ellipsis where it has more than ``width`` characters.

    >>> shorten("The food was not good at all", 12), shorten("short", 12)
    ('The food ...', 'short')
    """
    return text if len(text) <= width else text[: width - len(ellipsis)] + ellipsis


def first_line(error: BaseException) -> str:
    r"""The first line of what an exception says; libraries write whole pages.

    >>> first_line(ValueError("bad shape\nexpected (2, 3)")), first_line(KeyError())
    ('bad shape', '')
    """
    return str(error).strip().split("\n", maxsplit=1)[0]


def name_error(error: BaseException) -> str:
    """An exception's type and, if it says something, the first line of that.

    >>> name_error(ValueError("bad shape")), name_error(KeyError())
    ('ValueError: bad shape', 'KeyError')
    """
    reason = first_line(error)
    return f"{type(error).__name__}: {reason}" if reason else type(error).__name__


def visible(text: str) -> str:
    """Control characters shown, not obeyed: a document must not be able to control the terminal."""
    if text.isprintable():
        return text
    return "".join(
        c if c in "\n\t" or unicodedata.category(c) not in {"Cc", "Cs"} else _symbol(c) for c in text
    )


def _symbol(character: str) -> str:
    code = ord(character)
    return chr(0x2400 + code) if code < 0x20 else "\ufffd"


def readable_json(value: Any, indent: int | None = None) -> str:
    r"""JSON with letters of every script as they are, and everything that controls a terminal escaped.

    >>> readable_json({"é": "\x9b2J"})
    '{"é": "\\u009b2J"}'
    """
    written = json.dumps(value, ensure_ascii=False, indent=indent)
    return _UNREADABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", written)
