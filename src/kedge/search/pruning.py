"""Leaving out what an anchor does not need, until no single word can go."""

from collections.abc import Callable, Iterable

from kedge.typing import Kept

__all__ = ["prune", "without"]


def without(kept: Kept, unit: int) -> Kept:
    """An anchor with one occurrence of a unit less.

    >>> without((0, 3, 3), 3)
    (0, 3)
    """
    at = kept.index(unit)
    return kept[:at] + kept[at + 1 :]


def prune(
    kept: Kept, reaches: Callable[[Kept], bool], *, shortest: int = 1, order: Iterable[int] | None = None
) -> Kept:
    """An anchor of which no word can be left out any more, as ``reaches`` judges.

    Words are tried in the given order, the least useful first; one that was needed once is needed for
    every smaller set too where keeping more never hurts, and is tried again where it might.
    """
    while len(kept) > shortest:
        tried = dict.fromkeys(unit for unit in (order or kept) if unit in kept)
        smaller = next((less for unit in tried if reaches(less := without(kept, unit))), None)
        if smaller is None:
            break
        kept = smaller
    return kept
