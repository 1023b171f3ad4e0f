"""What is told of the words of a proved anchor: which are needed, and how that is known."""

from collections.abc import Sequence

from kedge.reading.reading import Reading
from kedge.search.guided.leaving import Need
from kedge.typing import Minimality
from kedge.utils.sentences import Option, Sentence

__all__ = ["about_needs", "minimality"]

_TOLD = {
    "estimated": "Probably needed",
    "narrow": "Perhaps not needed, but a proof would take more queries than a word is worth",
    "open": "Perhaps not needed",
}
# A word is worth about whatever its proof takes.
_AT_ANY_PRICE = Option("method", "guided(word=100000, proof=50000, budget=100000)")


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
    told = []
    for verdict, what in _TOLD.items():
        mine = [
            f"{_named(reading, n.unit)} ({n.known.mean:.3f} without it)"
            for n in needs
            if n.verdict == verdict
        ]
        if mine:
            told.append(f"{what}: {', '.join(mine)}.")
    if told and any(n.verdict == "seen" for n in needs):
        told.append(f"The other words were shown to be needed ({100 * (1 - delta):.3g}% confidence).")
    if any(n.verdict == "narrow" for n in needs):
        return (Sentence(" ".join(told), " To pay for such proofs, pass ", _AT_ANY_PRICE, "."),)
    return (" ".join(told),) if told else ()


def _named(reading: Reading, unit: int) -> str:
    """The word of a unit, with its number where the text has several of it."""
    tokens, position = reading.document.tokens, reading.units.members[unit][0]
    same = [k for k, token in enumerate(tokens) if token.word == tokens[position].word]
    often = f" {same.index(position) + 1} of {len(same)}" if len(same) > 1 else ""
    return f"{tokens[position].word!r}{often}"
