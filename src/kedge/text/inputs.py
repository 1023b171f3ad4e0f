"""Words and texts as users give them: what a bare string means is decided here, once.

Where words are expected a string is its words, split at white space. Where texts are expected a
string is refused: taken for a list it would be read letter by letter. So is a table, which would be read
by the names of its columns.
"""

from collections.abc import Iterable, Mapping
from pathlib import PurePath
from typing import Any

from kedge.errors import OptionError, TextError
from kedge.utils.sentences import Option, Part, Sentence

__all__ = ["as_text", "as_texts", "as_words", "one_text"]


def as_words(words: Any, what: Part = "Words") -> tuple[str, ...]:
    """Words from a list of them, or from a string that holds them.

    >>> as_words("not good"), as_words(["not", "good"])
    (('not', 'good'), ('not', 'good'))
    """
    if isinstance(words, str):
        return tuple(words.split())
    if isinstance(words, Iterable) and not isinstance(words, (bytes, bytearray)):
        found = tuple(words)
        if all(isinstance(word, str) for word in found):
            return found
    raise OptionError(what, f" must be given as a list of strings, or as one string, got {_shown(words)}.")


def as_texts(texts: Any) -> Iterable[Any]:
    """Texts from any iterable of them, not read yet; a single string or a table is refused."""
    if isinstance(texts, (str, bytes, bytearray)) or not isinstance(texts, Iterable):
        got = "one string" if isinstance(texts, str) else type(texts).__name__
        raise TextError(f"Texts must be given as a list of texts, got {got}; put a single text into a list.")
    if isinstance(texts, Mapping):
        raise TextError(
            f"Texts must be given as a list of texts, got {type(texts).__name__}; pass its values, or one of "
            "them."
        )
    # Tables of pandas, polars, pyarrow and others, none of which need be installed here.
    if hasattr(type(texts), "columns") or hasattr(type(texts), "column_names"):
        raise TextError(
            f"Texts must be given as a list of texts, got {type(texts).__name__}; pass one column, "
            "df['text']."
        )
    return texts


def one_text(text: Any) -> str:
    """The text to explain, as a plain string that is not empty."""
    if not isinstance(text, str):
        row = isinstance(text, Mapping) or hasattr(text, "columns") or hasattr(text, "to_dict")
        remedy = Sentence()
        if row:
            remedy = Sentence(
                "; for a row of a table say which column holds the text, with ", Option("column")
            )
        if isinstance(text, (list, tuple)):
            remedy = Sentence("; pass one text, or many to Explainer.explain_corpus")
        elif isinstance(text, (bytes, bytearray)):
            remedy = Sentence("; decode it first, text.decode('utf-8')")
        elif isinstance(text, PurePath):
            remedy = Sentence("; read the file first, path.read_text(encoding='utf-8')")
        elif type(text).__module__ == "numpy":
            remedy = Sentence("; pass one of its elements, or str(text)")
        raise TextError(f"The text must be a string, got {type(text).__name__}", remedy, ".")
    plain: str = str.__str__(text)  # of a numpy string, or a member of a string enumeration
    if not plain.strip():
        raise TextError("The text is empty; there is nothing to explain.")
    return plain


def as_text(text: Any, row: int) -> str:
    """A text of a list, which must be a string."""
    if not isinstance(text, str):
        raise TextError(f"A text must be a string, got {type(text).__name__} at place {row}.")
    return text


def _shown(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else type(value).__name__
