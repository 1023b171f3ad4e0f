"""Removing words from a text so that nothing else changes: the word goes, and one neighbouring blank.

What lies between two words is a gap: blanks and punctuation. Where words are removed the gaps around
them become one. It never has more blanks in a row than one of them had, and two words that are kept
never touch.
"""

import re
import unicodedata
from functools import lru_cache

import numpy as np

from kedge.perturb.perturbation import Writer
from kedge.text.document import Document
from kedge.typing import Bools

__all__ = ["removal_writer"]

# Punctuation that belongs to the word before it, or after it; straight quotes may do either.
_CLOSING = frozenset(".,;:!?%\u2026\u3001\u3002\uff01\uff0c\uff1a\uff1b\uff1f\"'")
_OPENING = frozenset("\u00bf\u00a1\"'")
_BLANK = re.compile(r"\s")
# Most removed runs are short and come back often; of a book not all can be kept in mind.
_REMEMBERED = 1 << 16


def removal_writer(document: Document) -> Writer:
    """Give the texts that remain for (n, b) kept positions.

    >>> from kedge.text.tokenize import words
    >>> text = "Good food, very slow (and rude) staff!"
    >>> write = removal_writer(Document(text, words(text)))
    >>> write(np.array([[1, 0, 1, 0, 1, 1, 0], [0, 1, 0, 0, 0, 0, 1], [0, 0, 0, 0, 0, 0, 0]], dtype=bool))
    ['Good, very (and rude)!', 'food, () staff!', ', ()!']
    """
    text, tokens = document.text, document.tokens
    ends = [0, *(token.stop for token in tokens)]
    starts = [*(token.start for token in tokens), len(text)]
    gaps = [text[end:start] for end, start in zip(ends, starts, strict=True)]
    own = [text[token.start : token.stop] for token in tokens]
    last = len(tokens)

    @lru_cache(maxsize=_REMEMBERED)
    def between(before: int, after: int) -> str:
        """What stands between two kept positions; -1 and ``last`` are the ends of the text."""
        gap = gaps[before + 1]
        if after == before + 1:
            return gap
        for k in range(before + 2, after + 1):
            gap = _merged(gap, gaps[k], before < 0, k == last)
        return gap if before < 0 or after == last else _apart(gap, len(gaps[before + 1]))

    def write(kept: Bools) -> list[str]:
        texts = []
        for row in kept:
            before, pieces = -1, list[str]()
            for k in np.flatnonzero(row).tolist():
                pieces += (gaps[k] if k == before + 1 else between(before, k), own[k])
                before = k
            pieces.append(between(before, last))
            texts.append("".join(pieces))
        return texts

    return write


@lru_cache(maxsize=1024)
def _merged(left: str, right: str, begins: bool, ends: bool) -> str:
    """The gap that remains of two when the word between them is removed.

    ``begins`` and ``ends`` say that the gap reaches the beginning or the end of the text. A blank is
    dropped only where another remains, or nothing is left to hold apart.
    """
    bare, rest = left.rstrip(), right.lstrip()
    before, after = left[len(bare) :], right[: len(right) - len(rest)]
    if before and after:
        # Line breaks say more than blanks, longer runs more than short ones.
        wider = max(after, before, key=lambda run: (run.count("\n"), len(run)))
        return bare + wider + rest
    if before and (ends if not right else _closes(right[0]) and (ends or _has_blank(right))):
        return bare + right
    if after and (begins if not left else _opens(left[-1]) and (begins or _has_blank(left))):
        return left + rest
    return left + right


def _apart(gap: str, at: int) -> str:
    """A gap that holds two words apart; where it has no blank, one goes in at ``at``."""
    return gap if _has_blank(gap) else f"{gap[:at]} {gap[at:]}"


def _has_blank(gap: str) -> bool:
    return _BLANK.search(gap) is not None


def _closes(character: str) -> bool:
    return character in _CLOSING or unicodedata.category(character) in {"Pe", "Pf"}


def _opens(character: str) -> bool:
    return character in _OPENING or unicodedata.category(character) in {"Ps", "Pi"}
