"""What follows for a regular expression for words from the way it is written."""

import re
from functools import lru_cache
from importlib import import_module
from typing import Any

__all__ = ["BLANKS", "needs_no_blank"]

BLANKS = " \t\n\r\x0b\x0c"
"""The blanks of ASCII: every preprocessing of characters leaves them where they are."""

# What a class of characters says of a blank.
_CATEGORIES = {
    "CATEGORY_DIGIT": False, "CATEGORY_WORD": False, "CATEGORY_SPACE": True,
    "CATEGORY_NOT_DIGIT": True, "CATEGORY_NOT_WORD": True, "CATEGORY_NOT_SPACE": False,
}  # fmt: skip


@lru_cache(maxsize=64)
def needs_no_blank(pattern: str) -> bool:
    r"""Whether no part of a pattern can match a blank, nor tell one from the end of the text.

    Then what it finds between two blanks follows from the characters between them alone.

    >>> [needs_no_blank(p) for p in (r"\b\w+(?:'\w+)?\b", r"[^\W\d]{2,}", r"\w+ \w+", r"\w+(?=.*please)")]
    [True, True, False, False]
    """
    # Python's own parser: private, so that a version without it makes no claim.
    try:
        tree: Any = import_module("re._parser").parse(pattern)
    except (ImportError, AttributeError, re.error):
        return False
    return not tree.state.flags & re.ASCII and all(_blank_free(str(name), about) for name, about in tree)


def _blank_free(name: str, about: Any) -> bool:
    """Whether one part of a parsed pattern is free of blanks; a kind that is not known here is not."""
    match name:
        case "LITERAL":
            return chr(about) not in BLANKS
        case "IN":
            return not any(_matches(about, blank) for blank in BLANKS)
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            inside = [about[2]]
        case "SUBPATTERN":
            inside = [about[3]]
        case "BRANCH":
            inside = about[1]
        case "ATOMIC_GROUP":
            inside = [about]
        case "AT":
            return str(about) == "AT_BOUNDARY"
        case _:
            return False
    return all(_blank_free(str(one), more) for part in inside for one, more in part)


def _matches(items: Any, character: str) -> bool:
    """Whether a set of characters has this one."""
    negated, found = False, False
    for kind, value in items:
        match str(kind):
            case "NEGATE":
                negated = True
            case "LITERAL":
                found |= chr(value) == character
            case "RANGE":
                found |= value[0] <= ord(character) <= value[1]
            case "CATEGORY":
                found |= _CATEGORIES[str(value)]
    return found != negated
