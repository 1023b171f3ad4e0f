"""The influence of words as shades: blue supports the label, orange opposes it, deeper means stronger.

Blue and orange are distinguished by readers with any kind of colour blindness (Okabe and Ito 2008).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from kedge.results.explanation import Explanation
from kedge.results.influence import Influence, WordInfluence

__all__ = ["Spoken", "View", "signed", "strongest", "unclear", "views"]

# Classes that can be switched to: the most probable ones, the label always among them.
_CLASSES = 6
# What is smaller than this share of the largest value is not shaded.
_FAINT = 0.05
# How many depths a shade has (templates/shades.css).
_LEVELS = 5
# A probability that no word changes by this much is no picture of the words: the log-odds come first then.
_FLAT = 0.005
# What is smaller than this is written as 0.00.
_SMALL = 0.005


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


@dataclass(frozen=True)
class Spoken:
    """The words that support a label and those that oppose it, the strongest first.

    Parameters
    ----------
    supporters, adversaries
        Words with their values as they are written.
    of
        What the values change: the probability that the label holds, or its log-odds where no word clearly
        changes that.
    """

    supporters: tuple[tuple[str, str], ...]
    adversaries: tuple[tuple[str, str], ...]
    of: str


def views(e: Explanation) -> list[View]:
    """The ways of shading a document, the most useful first; none where nothing is known of its words."""
    known = e.influence
    if known is None or len(known.values) != len(e.tokens):
        return []
    ahead = "" if e.against is None else f" ahead of “{e.against}”"
    name = f"probability that “{e.label}” {f'is{ahead}' if ahead else 'holds'}"
    held = _view(name, known.values, known.errors, known.margin, exact=known.exact)
    chances = dict(e.probabilities or ())
    order = sorted(known.classes, key=lambda c: (c.label != e.label, -chances.get(c.label, 0.0)))
    if len(order) == 2:  # what supports one opposes the other
        order = order[:1]
    scores = [
        _view(f"{known.scale} of “{c.label}”", c.values, c.errors, known.margin, exact=not any(c.errors))
        for c in order[:_CLASSES]
    ]
    found = [*scores, held] if _is_flat(known) and scores else [held, *scores]
    return [view for view in found if any(view.shades)]


def unclear(e: Explanation) -> str:
    """One sentence where the samples say nothing of any word that may matter; else nothing."""
    known = e.influence
    if e.needs_no_word or (known.exact if known is not None else not e.sampled) or views(e):
        return ""
    why = "There are too few samples to say what each word does"
    if known is not None:
        why = "No single word stands out in the samples"
    return f"{why}; kedge.influence(model, text, samples=20_000) draws more of them."


def _is_flat(known: Influence) -> bool:
    """Whether no word changes whether the label holds."""
    return max(map(abs, known.values), default=0.0) < _FLAT


def _view(
    name: str, values: tuple[float, ...], errors: tuple[float, ...], margin: float, *, exact: bool
) -> View:
    most = max(map(abs, values), default=0.0)
    shades = [
        round(value / most, 2) if most and abs(value) >= max(_FAINT * most, margin * error) else 0.0
        for value, error in zip(values, errors, strict=True)
    ]
    written = [signed(value, 0.0 if exact else error) for value, error in zip(values, errors, strict=True)]
    return View(name, tuple(shades), tuple(written), f"{most:.2f}")


def signed(value: float, error: float) -> str:
    """A value, with its error where two digits show one."""
    return f"{value:+.2f}" if error < _SMALL else f"{value:+.2f} ± {error:.2f}"


def strongest(e: Explanation, most: int = 6) -> Spoken:
    """The words that support the label and those that oppose it, at most so many of each."""
    known = e.influence
    holds = "holds" if e.against is None else f"is ahead of “{e.against}”"
    of = f"probability that the label {holds}"
    if known is None:
        return Spoken((), (), of)

    def told(words: Sequence[WordInfluence], *, exact: bool) -> tuple[tuple[str, str], ...]:
        return tuple((w.word, signed(w.value, 0.0 if exact else w.error)) for w in words[:most])

    supporters, adversaries = known.supporters, known.adversaries
    scored = known.of(e.label)
    if supporters or adversaries or scored is None or e.against is not None:
        return Spoken(told(supporters, exact=known.exact), told(adversaries, exact=known.exact), of)
    # No word is seen to change whether the label holds: which words it is made of is seen in its score only.
    exact = not any(scored.errors)
    words = [
        WordInfluence(
            w.word,
            w.positions,
            sum(scored.values[k] for k in w.positions),
            sum(scored.errors[k] ** 2 for k in w.positions) ** 0.5,
        )
        for w in known.words
    ]
    clear = [w for w in words if abs(w.value) >= max(_SMALL, known.margin * w.error)]
    return Spoken(
        told(sorted((w for w in clear if w.value > 0), key=lambda w: -w.value), exact=exact),
        told(sorted((w for w in clear if w.value < 0), key=lambda w: w.value), exact=exact),
        f"{known.scale} of “{e.label}”",
    )
