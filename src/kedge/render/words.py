"""Words and numbers as sentences have them."""

from collections import Counter
from collections.abc import Sequence

from kedge.results.interval import Interval
from kedge.utils.rounding import is_wide

__all__ = ["about", "duration", "listed", "queries"]


def listed(words: Sequence[str], among: Sequence[str] = ()) -> str:
    """Words as a sentence lists them, repeated ones counted; ``among`` are all words of the text.

    >>> listed(["very", "very", "good"]), listed(["slow", "cold", "rude"])
    ('“very” (2 times) and “good”', '“slow”, “cold” and “rude”')
    >>> listed(["cold"], among=["Cold", "soup", "cold", "tea"])
    '“cold” (1 of 2)'
    """
    there, here = (Counter(word.casefold() for word in some) for some in (among, words))

    def named_with(word: str, n: int) -> str:
        if (of := there[word.casefold()]) > here[word.casefold()]:
            return f"“{word}” ({n} of {of})"
        return f"“{word}”" if n == 1 else f"“{word}” ({n} times)"

    named = [named_with(word, n) for word, n in Counter(words).items()]
    return " and ".join([", ".join(named[:-1]), named[-1]]) if len(named) > 1 else "".join(named)


def about(known: Interval) -> str:
    """``"about "`` before a number that is an estimate."""
    return "about " if is_wide(known) else ""


def queries(number: int) -> str:
    """How many texts were sent to the model.

    >>> queries(1), queries(1200)
    ('1 query', '1,200 queries')
    """
    return f"{number:,} {'query' if number == 1 else 'queries'}"


def duration(seconds: float | None) -> str:
    """How long it took; empty where that is not known.

    >>> duration(0.0025), duration(1.5), duration(None)
    ('2.5 ms', '1.5 s', '')
    """
    if seconds is None:
        return ""
    return f"{seconds * 1000:.1f} ms" if seconds < 1 else f"{seconds:.1f} s"
