"""What is told of the words of a proved anchor: which are needed, and how that is known."""

from collections.abc import Sequence

from kedge.reading.reading import Reading
from kedge.search.guided.leaving import Need
from kedge.typing import Minimality

__all__ = ["about_needs", "minimality"]

_TOLD = {
    "estimated": "Probably needed",
    "narrow": "Perhaps not needed, but a proof would take more queries than a word is worth",
    "open": "Perhaps not needed",
}


def minimality(length: int, needs: Sequence[Need]) -> Minimality:
    """Whether each word of a proved anchor was seen or is estimated to be needed, or nearly so."""
    if length <= 1:
        return "irreducible"  # its own baseline is told
    verdicts = {need.verdict for need in needs}
    if not verdicts or "open" in verdicts:
        return "open"
    return "narrow" if "narrow" in verdicts else "irreducible"


def about_needs(reading: Reading, needs: Sequence[Need], delta: float) -> tuple[str, ...]:
    """Which words are needed by estimate only, or perhaps not."""
    tokens, members = reading.document.tokens, reading.units.members
    told = []
    for verdict, what in _TOLD.items():
        mine = [
            f"{tokens[members[n.unit][0]].word!r} ({n.known.mean:.3f} without it)"
            for n in needs
            if n.verdict == verdict
        ]
        if mine:
            told.append(f"{what}: {', '.join(mine)}.")
    if told and any(n.verdict == "seen" for n in needs):
        told.append(f"The other words were shown to be needed ({100 * (1 - delta):.3g}% confidence).")
    return (" ".join(told),) if told else ()
