"""Scripts that are written without spaces: which words a run of them has is decided by a segmenter.

from kedge.utils.sentences import Option, Sentence
One is used if it is installed (jieba for Chinese, fugashi or janome for Japanese, PyThaiNLP for Thai); else
every character is a word of its own. ``splitting_note`` says which it was.
"""

import re
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from threading import Lock
from typing import NamedTuple

from kedge.utils.sentences import Option, Sentence

__all__ = ["segment", "splitting_note", "unspaced_runs"]

_HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_KANA = "\u3040-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"
_THAI = "\u0e01-\u0e3a\u0e40-\u0e4e"
# Lao, Burmese and Khmer are written without spaces, too.
_OTHERS = "\u0e81-\u0edf\u1000-\u1049\u1050-\u109f\u1780-\u17dd"
_MARKS = "\u200c\u200d\ufe00-\ufe0f\U000e0100-\U000e01ef"
_RUN = re.compile(f"[{_HAN}{_KANA}{_THAI}{_OTHERS}][{_HAN}{_KANA}{_THAI}{_OTHERS}{_MARKS}]*")
_IS_KANA, _IS_HAN, _IS_THAI = re.compile(f"[{_KANA}]"), re.compile(f"[{_HAN}]"), re.compile(f"[{_THAI}]")

Split = Callable[[str], Iterable[str]]


class _Segmenter(NamedTuple):
    """Something that splits a run into words, under the name of its package."""

    name: str
    split: Split


# Segmenters keep notes while they work, and not all of them one set per thread.
_LOCK = Lock()


def unspaced_runs(text: str) -> Iterator[tuple[int, int]]:
    """Where a text has runs of a script without spaces: (start, stop)."""
    return (match.span() for match in _RUN.finditer(text))


def segment(run: str, text: str) -> list[str]:
    """The words of a run of a text; put together they are the run."""
    known = _segmenter(_language(run, text))
    if known is not None:
        with _LOCK:
            pieces = [piece for piece in known.split(run) if piece]
        if "".join(pieces) == run:
            return _with_marks(pieces)
    return _with_marks(run)


def splitting_note(text: str) -> tuple[str, ...]:
    """How a text that is written without spaces was split; nothing about any other."""
    languages = dict.fromkeys(_language(text[start:stop], text) for start, stop in unspaced_runs(text))
    return tuple(_said(language) for language in languages)


def _said(language: str) -> str:
    known = _segmenter(language)
    if known is not None:
        return f"Words written without spaces were split by {known.name}."
    package = next(iter(_PACKAGES.get(language, ())), None)
    return Sentence(
        "No segmenter is installed for words written without spaces, so every character is a word of its "
        f"own; {f'pip install {package}, or ' if package else ''}pass ",
        Option("tokenizer"),
        "." if package else " to split words.",
    )


def _language(run: str, text: str) -> str:
    if _IS_THAI.search(run):
        return "Thai"
    if _IS_HAN.search(run) or _IS_KANA.search(run):
        return "Japanese" if _IS_KANA.search(text) else "Chinese"
    return "other"


def _with_marks(pieces: Iterable[str]) -> list[str]:
    """Pieces, or characters, each with the marks that belong to it."""
    found: list[str] = []
    for piece in pieces:
        if found and (unicodedata.category(piece[0]).startswith("M") or piece[0] in "\u200c\u200d"):
            found[-1] += piece
        else:
            found.append(piece)
    return found


def _jieba() -> Split:
    import logging

    import jieba

    jieba.setLogLevel(logging.WARNING)  # it logs that it is loading to standard error
    cut: Split = jieba.cut
    return cut


def _fugashi() -> Split:
    import fugashi

    tagger = fugashi.Tagger()
    return lambda run: [str(word.surface) for word in tagger(run)]


def _janome() -> Split:
    from janome.tokenizer import Tokenizer

    tokenizer = Tokenizer()
    return lambda run: tokenizer.tokenize(run, wakati=True)


def _pythainlp() -> Split:
    from pythainlp.tokenize import word_tokenize

    return lambda run: word_tokenize(run, engine="newmm")


_LOADERS: dict[str, Callable[[], Split]] = {
    "jieba": _jieba, "fugashi": _fugashi, "janome": _janome, "pythainlp": _pythainlp,
}  # fmt: skip
_PACKAGES = {"Chinese": ("jieba",), "Japanese": ("janome", "fugashi"), "Thai": ("pythainlp",)}


@cache
def _segmenter(language: str) -> _Segmenter | None:
    """The first segmenter of a language that is installed and loads, looked for once."""
    for name in _PACKAGES.get(language, ()):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # other people's regular expressions
                return _Segmenter(name, _LOADERS[name]())
        except Exception:  # noqa: BLE001, S112  (not installed, or without its dictionary)
            continue
    return None
