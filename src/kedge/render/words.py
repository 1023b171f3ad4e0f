"""Words and numbers as sentences have them."""

from collections import Counter
from collections.abc import Sequence

from kedge.results.interval import Interval
from kedge.utils.rounding import is_wide

__all__ = ["about", "listed"]


def listed(words: Sequence[str]) -> str:
    """Words as a sentence lists them, repeated ones counted.

    >>> listed(["very", "very", "good"]), listed(["slow", "cold", "rude"])
    ('“very” (2 times) and “good”', '“slow”, “cold” and “rude”')
    """
    named = [f"“{word}”" if n == 1 else f"“{word}” ({n} times)" for word, n in Counter(words).items()]
    return " and ".join([", ".join(named[:-1]), named[-1]]) if len(named) > 1 else "".join(named)


def about(known: Interval) -> str:
    """``"about "`` before a number that is an estimate."""
    return "about " if is_wide(known) else ""
