"""The influence of words as shades: blue speaks for the label, orange against it, the stronger the deeper.

Blue and orange are told apart by readers with any kind of colour blindness (Okabe and Ito 2008).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from kedge.results.banzhaf import WordInfluence
from kedge.results.explanation import Explanation

__all__ = ["View", "strongest", "unclear", "views"]

# Classes that can be switched to: the most probable ones, the label always among them.
_CLASSES = 6
# What is smaller than this share of the largest value is not shaded.
_FAINT = 0.05
# How many depths a shade has (templates/shades.css).
_LEVELS = 5
# A probability that no word changes by this much is no picture of the words: the log-odds come first then.
_FLAT = 0.005


@dataclass(frozen=True)
class View:
    """One way of shading a document.

    Parameters
    ----------
    name
        What the shades are of.
    shades
        One number for each token, from -1 (the strongest against) to 1 (the strongest for); 0: none.
    values
        The same as they are written: ``+0.21``, with their error where there is one.
    most
        The largest value by size, as it is written.
    """

    name: str
    shades: tuple[float, ...]
    values: tuple[str, ...]
    most: str

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for a page that shades by itself: a class of the style sheet for each token."""
        marks = [self.mark(0, k).strip() for k in range(len(self.shades))]
        return {"name": self.name, "marks": marks, "values": self.values, "most": self.most}

    def mark(self, number: int, token: int) -> str:
        """The class of a style sheet that shades a token in this view; nothing for none."""
        shade = self.shades[token]
        level = ceil(abs(shade) * _LEVELS)
        return f" s{number}{'p' if shade > 0 else 'n'}{level}" if level else ""


def views(e: Explanation) -> list[View]:
    """The ways of shading a document, the most telling first; none where nothing is known of its words."""
    known = e.influence
    if known is None or len(known.values) != len(e.tokens):
        return []
    ahead = "" if e.against is None else f" ahead of “{e.against}”"
    held = _view(f"chance of “{e.label}”{ahead}", known.values, known.errors, known.margin, exact=known.exact)
    chances = dict(e.probabilities or ())
    order = sorted(known.classes, key=lambda c: (c.label != e.label, -chances.get(c.label, 0.0)))
    if len(order) == 2:  # what speaks for one speaks against the other
        order = order[:1]
    scores = [
        _view(f"{known.scale} of “{c.label}”", c.values, c.errors, known.margin, exact=not any(c.errors))
        for c in order[:_CLASSES]
    ]
    flat = max(map(abs, known.values), default=0.0) < _FLAT
    found = [*scores, held] if flat and scores else [held, *scores]
    return [view for view in found if any(view.shades)]


def unclear(e: Explanation) -> str:
    """One sentence where the samples say nothing of any word; else nothing."""
    known = e.influence
    if known is None or known.exact or views(e):
        return ""
    return (
        f"No word stands out in the {known.samples:,} samples that tell words apart; "
        "kedge.influence(model, text, samples=20_000) draws more."
    )


def _view(
    name: str, values: tuple[float, ...], errors: tuple[float, ...], margin: float, *, exact: bool
) -> View:
    most = max(map(abs, values), default=0.0)
    shades = [
        round(value / most, 2) if most and abs(value) >= max(_FAINT * most, margin * error) else 0.0
        for value, error in zip(values, errors, strict=True)
    ]
    written = [
        f"{value:+.2f}" if exact else f"{value:+.2f} ± {error:.2f}"
        for value, error in zip(values, errors, strict=True)
    ]
    return View(name, tuple(shades), tuple(written), f"{most:.2f}")


def strongest(e: Explanation, most: int = 6) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """The words that speak for the label and those against it, the strongest first, with their values."""
    known = e.influence
    if known is None:
        return [], []

    def told(words: Sequence[WordInfluence]) -> list[tuple[str, str]]:
        doubt = "" if known.exact else " ± {:.2f}"
        return [(w.word, f"{w.value:+.2f}{doubt.format(w.error)}") for w in words[:most]]

    return told(known.supporters), told(known.adversaries)
