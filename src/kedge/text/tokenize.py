"""Splitting a text into units: the default splitter, sentences, chunks, and anything the user passes.

A tokenizer is a function from text to tokens. ``as_tokenizer`` makes one of the usual kinds: a
callable that gives spans, tokens or strings, a spaCy pipeline, a Hugging Face tokenizer.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from numbers import Integral
from typing import Any

from kedge.errors import OptionError, TextError
from kedge.text.document import Token
from kedge.text.forms import is_form_of
from kedge.text.scripts import segment, unspaced_runs
from kedge.utils.sentences import Option

__all__ = ["Tokenizer", "align", "as_tokenizer", "chunks", "sentences", "spaced", "words"]

Tokenizer = Callable[[str], Sequence[Token]]

# What separates words: white space, control characters, and the punctuation of the scripts that
# write with spaces. Everything else is part of a word, combining marks included (``\w`` would cut
# Hindi or Arabic words at their vowel signs).
_BREAKS = (
    r"\s\x00-\x1f\x7f-\x9f"
    r"!-&(-,\-./:-@\[-^`{-~"  # ASCII punctuation but for ' and _
    "\u00a1-\u00a9\u00ab-\u00b1\u00b4\u00b6-\u00b8\u00bb-\u00bf\u00d7\u00f7"  # Latin-1 signs
    "\u055a-\u055f\u0589\u05be\u05c0\u05c3\u060c\u061b\u061f\u066a-\u066d\u06d4"  # Armenian to Arabic
    "\u0964\u0965\u2010-\u2018\u201a-\u206f\u20a0-\u20cf\u3000-\u3004\u3008-\u303f\u30fb\uff01-\uff0f\uff1a-\uff20"
    "\u200b\u200e\u200f\ufeff"
)
# Marks that change what stands before them: variation selectors, keycaps, the tags of some flags. Where
# that is a sign, they are no word.
_MODIFIERS = "\ufe00-\ufe0f\u20d0-\u20ff\U000e0020-\U000e007f\U000e0100-\U000e01ef"
_SYMBOLS = "\u2190-\u2bff\U0001f000-\U0001faff"
_JOINED = "\u200d"  # zero-width joiner: holds emoji (and letters of some scripts) together
_EMOJI = (
    "(?:[\U0001f1e6-\U0001f1ff]{2}"  # a flag: two regional indicators
    f"|[{_SYMBOLS}][{_MODIFIERS}\U0001f3fb-\U0001f3ff]*"
    f"(?:{_JOINED}[{_SYMBOLS}][{_MODIFIERS}\U0001f3fb-\U0001f3ff]*)*)"
)
_LETTER = f"[^{_BREAKS}{_SYMBOLS}'\u2019]"
_WORD = re.compile(f"{_EMOJI}|(?![{_MODIFIERS}\u200c\u200d]){_LETTER}+(?:['\u2019\u200c\u200d]{_LETTER}+)*")
_SENTENCE = re.compile(
    r"\S(?:.*?[.!?\u2026\u3002\uff01\uff1f\u061f\u0964]+(?=\s|$)|.*?(?=\n\s*\n|\Z))", re.DOTALL
)

_KINDS = "(start, stop) offsets, kedge tokens, spaCy tokens or strings"


def spaced(text: str) -> list[Token]:
    """Words and emoji, each with its place; what no space or sign separates is one word.

    >>> [t.word for t in spaced("It's great, isn't it? 😀😀 (très bon)")]
    ["It's", 'great', "isn't", 'it', '😀', '😀', 'très', 'bon']
    """
    return [Token(m.group(), m.start(), m.end()) for m in _WORD.finditer(text)]


def words(text: str) -> list[Token]:
    """Words and emoji, those of scripts without spaces included: the default.

    Chinese, Japanese and Thai are split by a segmenter where one is installed, else by characters.
    """
    runs = list(unspaced_runs(text))
    return spaced(text) if not runs else [piece for token in spaced(text) for piece in _cut(token, text)]


def _cut(token: Token, text: str) -> Iterator[Token]:
    """The words of a token that may have some without spaces between them."""
    at = 0
    for start, stop in unspaced_runs(token.word):
        if at < start:
            yield Token(token.word[at:start], token.start + at, token.start + start)
        at = start
        for word in segment(token.word[start:stop], text):
            yield Token(word, token.start + at, token.start + at + len(word))
            at += len(word)
    if at < len(token.word):
        yield Token(token.word[at:], token.start + at, token.stop)


def sentences(text: str) -> list[Token]:
    """Whole sentences as units.

    >>> [t.word for t in sentences("Good food. The waiter was rude! Never again")]
    ['Good food.', 'The waiter was rude!', 'Never again']
    """
    return [
        Token(m.group().rstrip(), m.start(), m.start() + len(m.group().rstrip()))
        for m in _SENTENCE.finditer(text)
    ]


def chunks(size: int, of: Tokenizer = words) -> Tokenizer:
    """Units of ``size`` consecutive words.

    >>> [t.word for t in chunks(2)("the food was very good")]
    ['the food', 'was very', 'good']
    """
    if size < 1:
        raise OptionError(f"A chunk needs at least one word, got size={size}.")

    def split(text: str) -> list[Token]:
        tokens = of(text)
        runs = [tokens[i : i + size] for i in range(0, len(tokens), size)]
        return [Token(text[r[0].start : r[-1].stop], r[0].start, r[-1].stop) for r in runs]

    return split


def align(text: str, parts: Iterable[str]) -> list[Token] | None:
    """Find strings in a text, one after the other; None where one is not there."""
    found, at = [], 0
    for part in parts:
        # Whole words first: "a" must not be found inside a "cat" that the tokenizer left out.
        whole = re.compile(rf"(?<!\w){re.escape(part)}(?!\w)").search(text, at)
        start = whole.start() if whole else text.find(part, at)
        if start < 0 or not part:
            return None
        at = start + len(part)
        found.append(Token(part, start, at))
    return found


def as_tokenizer(tokenizer: Any) -> Tokenizer:
    """One type of tokenizer, from any of the usual ones."""
    if tokenizer is None:
        return words
    if not callable(tokenizer):
        raise OptionError(
            Option("tokenizer"),
            f" must be a function from text to spans, tokens or strings, got {type(tokenizer).__name__}.",
        )
    if hasattr(tokenizer, "is_fast"):
        return _hugging_face(tokenizer)
    return lambda text: _tokens(text, _answer(tokenizer, text))


def _answer(tokenizer: Any, text: str) -> list[Any]:
    """What a user's tokenizer says about a text, as a list."""
    try:
        answer = tokenizer(text)
    except Exception as error:
        raise TextError(f"The tokenizer raised {type(error).__name__}: {error}.") from error
    if isinstance(answer, str) or not isinstance(answer, Iterable):
        raise TextError(f"The tokenizer must return a list of {_KINDS}; it returned {answer!r:.60}.")
    return list(answer)


def _tokens(text: str, parts: list[Any]) -> list[Token]:
    """Read a tokenizer's answer: tokens, spaCy tokens, (start, stop) pairs, or strings."""
    if all(isinstance(p, Token) for p in parts):
        for word, start, stop in parts:
            if text[start:stop] and not is_form_of(word, text[start:stop]):
                raise TextError(
                    f"The tokenizer gave {word!r:.40} where the text has {text[start:stop]!r:.40}."
                )
        return [*parts]
    if all(hasattr(p, "idx") and hasattr(p, "text") for p in parts):  # spaCy
        return [Token(p.text, p.idx, p.idx + len(p.text)) for p in parts if not p.text.isspace()]
    if all(isinstance(p, str) for p in parts):
        found = align(text, parts)
        if found is None:
            raise TextError(
                "The tokenizer's strings do not occur in the text in this order; let it return "
                "(start, stop) character offsets instead."
            )
        return found
    if all(isinstance(p, tuple) and len(p) == 2 and all(isinstance(x, Integral) for x in p) for p in parts):
        return [Token(text[int(a) : int(b)], int(a), int(b)) for a, b in parts]
    raise TextError(f"The tokenizer must return a list of {_KINDS}; it returned one with {parts[0]!r:.60}.")


def _hugging_face(tokenizer: Any) -> Tokenizer:
    """Whole words from a fast Hugging Face tokenizer: its word pieces are joined by word id."""
    if not tokenizer.is_fast:
        raise OptionError(
            "This Hugging Face tokenizer cannot give character offsets; load it with use_fast=True."
        )

    def split(text: str) -> list[Token]:
        encoded = tokenizer(text, return_offsets_mapping=True, add_special_tokens=False, truncation=False)
        spans: dict[int, tuple[int, int]] = {}
        for word, (start, stop) in zip(encoded.word_ids(), encoded["offset_mapping"], strict=True):
            if word is not None and stop > start:
                first = spans.get(word, (start, stop))[0]
                spans[word] = (first, stop)
        tokens = []
        for start, stop in spans.values():
            piece = text[start:stop].lstrip()  # some tokenizers count the blank before a word
            if piece:
                tokens.append(Token(piece, stop - len(piece), stop))
        return tokens

    return split
