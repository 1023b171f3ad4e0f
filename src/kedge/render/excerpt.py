"""A text in a terminal: whole where it is short, else what stands around its marks."""

from kedge.utils.messages import visible

__all__ = ["gap", "is_long"]

# A text longer than this is shown as the surroundings of its marks only.
_LONG = 1200
_AROUND = 60


def is_long(text: str) -> bool:
    """Whether only the surroundings of the marks are shown."""
    return len(text) > _LONG


def gap(text: str, *, first: bool, last: bool, short: bool) -> str:
    """Text between two marks, or before the first or after the last; its middle is left out if ``short``.

    >>> gap("a few words", first=False, last=False, short=True)
    'a few words'
    >>> gap("some words " * 30, first=True, last=False, short=True)[:26]
    '... some words some words '
    """
    if not short or len(text) <= 2 * _AROUND + 3:
        return visible(text)
    whole = first and last  # nothing is marked: the beginning says more than sixty characters
    head = "" if first and not last else _whole_words(text[: _LONG if whole else _AROUND])
    tail = "" if last else _whole_words(text[: -_AROUND - 1 : -1])[::-1]
    return f"{visible(head)}{' ' * bool(head)}...{' ' * bool(tail)}{visible(tail)}"


def _whole_words(text: str) -> str:
    """A beginning that ends where a word does; as it is where it has no blank."""
    return text.rsplit(maxsplit=1)[0] if len(text.split()) > 1 else text
