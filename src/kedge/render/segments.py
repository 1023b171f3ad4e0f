"""A document cut into segments that are shown differently: what every picture of a text is made of."""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Literal

from kedge.results.explanation import Explanation

__all__ = ["Segment", "document_segments", "example_segments"]


@dataclass(frozen=True)
class Segment:
    """A stretch of the text and how to show it.

    ``copy`` is a further occurrence of a word of the anchor that is not part of it; ``nth`` of
    ``of`` distinguishes the occurrences of a repeated word (0: the word is there once). ``carried`` are the
    words that carry a label that needs no word, when more is removed. ``token`` is the number of the word
    that it is.
    """

    text: str
    kind: Literal["plain", "kept", "copy", "carried", "removed"] = "plain"
    nth: int = 0
    of: int = 0
    token: int | None = None


def document_segments(e: Explanation, shaded: Collection[int] = ()) -> list[Segment]:
    """The document with its anchor marked and the occurrences of its words numbered.

    Tokens that are ``shaded`` are segments of their own, too.
    """
    if not e.tokens:  # made by hand, without the units of the text: the anchor's own places are enough
        e = replace(e, tokens=e.spans, positions=tuple(range(len(e.spans))))
    if e.needs_no_word:
        # Any word would do, so that none is marked; but some may carry the label when more is removed.
        carried = () if e.carried_by is None else e.carried_by.positions
        return _filled(e, [(k, Segment(e.text[slice(*e.tokens[k])], "carried")) for k in carried], shaded)
    kept = set(e.positions)
    # A position in the explanation has a span only; two occurrences of a word look the same but for case.
    written = [e.text[start:stop].casefold() for start, stop in e.tokens]
    wanted = {written[k] for k in kept}
    total = Counter(word for word in written if word in wanted)
    seen: Counter[str] = Counter()
    shown: list[tuple[int, Segment]] = []
    for k, word in enumerate(written):
        if word not in wanted:
            continue
        seen[word] += 1
        of = total[word] if total[word] > 1 else 0
        start, stop = e.tokens[k]
        kind: Literal["kept", "copy"] = "kept" if k in kept else "copy"
        shown.append((k, Segment(e.text[start:stop], kind, seen[word] if of else 0, of)))
    return _filled(e, shown, shaded)


def example_segments(e: Explanation, removed: Iterable[int]) -> list[Segment]:
    """A perturbed sample: the anchor marked, the removed words to be struck out."""
    gone = set(removed)
    marked = set() if e.needs_no_word else set(e.positions)
    shown = [
        (k, Segment(e.text[slice(*e.tokens[k])], "removed" if k in gone else "kept"))
        for k in sorted(gone | marked)
    ]
    return _filled(e, shown)


def _filled(
    e: Explanation, shown: Iterable[tuple[int, Segment]], shaded: Collection[int] = ()
) -> list[Segment]:
    """The segments with the plain text between them, so that together they spell the document."""
    own = {k: replace(segment, token=k) for k, segment in shown}
    for k in shaded:
        own.setdefault(k, Segment(e.text[slice(*e.tokens[k])], token=k))
    shown = sorted(own.items())
    segments, end = [], 0
    for k, segment in shown:
        start, stop = e.tokens[k]
        if start > end:
            segments.append(Segment(e.text[end:start]))
        segments.append(segment)
        end = stop
    if end < len(e.text):
        segments.append(Segment(e.text[end:]))
    return segments
