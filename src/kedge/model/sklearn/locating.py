"""Where a scikit-learn vectoriser's words stand in the caller's own text.

A unit that is masked must be a unit the model reads, so the vectoriser's own analyzer decides what
the words are. Its preprocessing (lower case, accents stripped) changes the text before the words
are found; this module maps them back, and says None where that cannot be done.
"""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from kedge.errors import KedgeError, ModelRaised
from kedge.text.document import Token, WordRuns
from kedge.text.forms import is_form_of
from kedge.text.patterns import needs_no_blank
from kedge.text.tokenize import align, spaced
from kedge.utils.messages import first_line, shorten

__all__ = [
    "CONTEXT",
    "WORD_RUNS",
    "is_local",
    "keeps_apart",
    "locate_chunks",
    "locate_words",
    "looks_around",
]

# Patterns whose words are whole runs of word characters, the first scikit-learn's own.
WORD_RUNS = frozenset({r"(?u)\b\w\w+\b", r"(?u)\b\w+\b", r"\b\w\w+\b", r"\b\w+\b"})
# The one letter whose lower case depends on its neighbours (a final sigma), and the one that becomes two.
CONTEXT = frozenset("\u03a3\u0130")


def locate_words(vectorizer: Any, text: str) -> Sequence[Token] | None:
    """The words of ``text`` as the vectoriser's analyzer finds them, with spans in ``text``.

    None when its preprocessing moves characters so that their origin is unknown, or when it makes words
    that do not stand in the text ("be" of "was", say); a stem stands for its word.
    """
    try:
        return _located(vectorizer, text)
    except KedgeError:
        raise
    except Exception as error:
        # A preprocessor or tokenizer of the user's own.
        reason = first_line(error)
        raise ModelRaised(
            f"The vectoriser raised {type(error).__name__} when asked for the words of "
            f"{shorten(text)!r}{': ' + reason if reason else ''}."
        ) from error


def _located(vectorizer: Any, text: str) -> Sequence[Token] | None:
    if _plain(vectorizer):
        lower = text.lower() if vectorizer.lowercase else text
        if len(lower) == len(text):  # character by character: almost every text
            return WordRuns(lower, re.findall(vectorizer.token_pattern, lower))
    seen: str = vectorizer.build_preprocessor()(vectorizer.decode(text))
    origin = _origins(vectorizer, text, seen)
    if origin is None:
        return None
    found = _find(vectorizer, seen)
    if found is None:
        return None
    stop_words = vectorizer.get_stop_words() or ()
    if isinstance(origin, range):  # every character stands where it stood
        return [token for token in found if token.word not in stop_words] if stop_words else found
    tokens = [
        Token(token.word, origin[token.start], origin[token.stop - 1] + 1)
        for token in found
        if token.word not in stop_words
    ]
    # Two words out of one character ("½" spelled out) cannot be masked apart.
    apart = all(a.stop <= b.start for a, b in pairwise(tokens))
    return tokens if apart and all(is_form_of(t.word, text[t.start : t.stop]) for t in tokens) else None


def locate_chunks(vectorizer: Any, text: str) -> list[Token] | None:
    """What stands between blanks, as ``analyzer="char_wb"`` reads it, with spans in ``text``.

    None as in `locate_words`.
    """
    seen: str = vectorizer.build_preprocessor()(vectorizer.decode(text))
    origin = _origins(vectorizer, text, seen)
    if origin is None:
        return None
    found = [Token(m.group(), origin[m.start()], origin[m.end() - 1] + 1) for m in re.finditer(r"\S+", seen)]
    apart = all(a.stop <= b.start for a, b in pairwise(found))
    return found if apart else None


def keeps_apart(vectorizer: Any, text: str) -> bool:
    """Whether masking words of ``text`` is known to leave the other words as they are.

    Where words are whole runs of word characters, what stands beside a word is none. A mask in its
    place touches no other run, and characters become lower case one by one.
    """
    return (
        _only_own_steps(vectorizer)
        and vectorizer.tokenizer is None
        and vectorizer.token_pattern in WORD_RUNS
        and (text.isascii() or (vectorizer.strip_accents is None and CONTEXT.isdisjoint(text)))
    )


def is_local(vectorizer: Any) -> bool:
    """Whether the words between two blanks follow from the characters between them alone.

    Lower case and accents are matters of single characters, but for the final sigma, which asks about the
    letters beside it; no blank vanishes.
    """
    if vectorizer.tokenizer is not None:
        return _only_own_steps(vectorizer) and vectorizer.tokenizer is str.split
    return _only_own_steps(vectorizer) and needs_no_blank(vectorizer.token_pattern)


def _only_own_steps(vectorizer: Any) -> bool:
    """Whether the text becomes that in which words are looked for by scikit-learn's own steps.

    A preprocessor of the user's is code: it may look at the whole text, and what it does to a masked one
    cannot be known.
    """
    return vectorizer.preprocessor is None and vectorizer.strip_accents in {None, "ascii", "unicode"}


def looks_around(pattern: str) -> bool:
    r"""Whether a pattern for words asks what stands farther off, so that masking moves other words.

    Word boundaries ask about the next character only, which stays what it is.

    >>> looks_around(r"(?u)\b\w\w+\b"), looks_around(r"[^\W\d]+"), looks_around(r"\w+(?=.*please)")
    (False, False, True)
    """
    bare = re.sub(r"\\[^AZB]|\[\^?\]?(?:\\.|[^\]\\])*\]", "", pattern)  # no escapes, no sets of characters
    return re.search(r"\(\?<?[=!]|[\^$]|\\[AZB]", bare) is not None


def _plain(vectorizer: Any) -> bool:
    """Whether words are all whole runs of word characters, of a text that is at most put in lower case."""
    return (
        vectorizer.token_pattern in WORD_RUNS
        and vectorizer.tokenizer is vectorizer.preprocessor is vectorizer.strip_accents is None
        and vectorizer.stop_words is None
        and vectorizer.input == "content"
    )


def _origins(vectorizer: Any, text: str, seen: str) -> range | list[int] | None:
    """For each character of the preprocessed text the index of the one it came from."""
    if vectorizer.preprocessor is None and vectorizer.strip_accents is None:
        if len(seen) == len(text):  # lower case, character by character: almost every text
            return range(len(text))
    elif seen == text:
        return range(len(text))
    # Preprocess each character alone; if that spells the same text, each has a known origin.
    preprocess = vectorizer.build_preprocessor()
    pieces = [preprocess(character) for character in text]
    if "".join(pieces) != seen:
        return None
    return [k for k, piece in enumerate(pieces) for _ in piece]


def _find(vectorizer: Any, seen: str) -> list[Token] | None:
    """Token spans in the preprocessed text."""
    if vectorizer.tokenizer is None:
        pattern = re.compile(vectorizer.token_pattern)
        if pattern.groups > 1:
            return None
        group = pattern.groups  # a single group, where there is one, is the word
        spans = [m.span(group) for m in pattern.finditer(seen)]
        return [Token(seen[start:stop], start, stop) for start, stop in spans if stop > start]
    return _by_word(vectorizer.tokenizer, seen)


def _by_word(tokenizer: Any, seen: str) -> list[Token] | None:
    """The words of a tokenizer of the user's own, each a whole word of the text.

    A stemmer makes "amaz" of "amazing": masking four letters of it would leave "ing", which is another word.
    So a word that gives one token alone is its unit, if the tokens of all words alone are the text's.
    """
    found = list(tokenizer(seen))
    spaced_words = spaced(seen)
    alone = [list(tokenizer(word.word)) for word in spaced_words]
    if [token for tokens in alone for token in tokens] != found:
        return align(seen, found)
    placed: list[Token] = []
    for word, tokens in zip(spaced_words, alone, strict=True):
        if len(tokens) == 1 and isinstance(tokens[0], str) and is_form_of(tokens[0], word.word):
            placed.append(Token(tokens[0], word.start, word.stop))
        elif tokens:
            inside = align(word.word, tokens)  # "it", "'s"
            if inside is None or len(tokens) == 1:
                return None
            placed += [Token(t.word, word.start + t.start, word.start + t.stop) for t in inside]
    return placed
