"""Figure: Algorithm 1 as a scatter of every anchor's length and precision."""

import numpy as np

import kedge
from kedge.errors import TextError
from kedge.evaluators import Enumeration
from kedge.reading.reading import Reading
from kedge.search.exhaustive import anchors_of_length

from .result import Check, Figure, Result
from .session import Session
from .setting import classifier, positives
from .style import BLUE, GREY, INK, ORANGE, TEAL, canvas

__all__ = ["run"]

TITLE = "Algorithm 1: length and precision of every anchor of one review"
THRESHOLD = 0.95


def run(session: Session) -> Result:
    """The first Restaurants review of 8 to 10 words whose anchor has two words."""
    model = kedge.as_model(classifier("restaurants", "logistic"))
    text, found, reading = _example(model)
    exact = Enumeration(reading)
    sizes = reading.units.sizes
    anchors = [a for n in range(1, int(sizes.sum()) + 1) for a in anchors_of_length(sizes, n)]
    length = np.array([len(a) for a in anchors])
    precision = exact(anchors).mean
    reaching = precision >= THRESHOLD
    shortest = reaching & (length == length[reaching].min())
    best = shortest & (precision >= precision[shortest].max() - 1e-12)
    spread = np.random.default_rng(0).uniform(-0.22, 0.22, len(anchors))
    with canvas(session, "algorithm", size=(5.4, 3.4)) as (axis,):
        groups = [
            (~reaching, GREY, "below the threshold"),
            (reaching & ~shortest, BLUE, r"$\mathcal{A}_1$: reaches it"),
            (shortest & ~best, TEAL, r"$\mathcal{A}_2$: shortest of these"),
            (best, ORANGE, r"$\mathcal{A}_3$: highest precision"),
        ]
        for mask, colour, label in groups:
            if mask.any():
                size = 60 if colour == ORANGE else 14
                axis.scatter(
                    length[mask] + spread[mask], precision[mask], s=size, c=colour, label=label, lw=0
                )
        axis.axhline(THRESHOLD, color=INK, lw=0.8, ls="--")
        axis.set(xlabel="length of the anchor", ylabel="exact precision", title=f"“{text}”")
        axis.set_xticks(range(1, int(length.max()) + 1))
        axis.legend(loc="lower right")
    chosen = anchors[int(np.flatnonzero(best)[0])]
    words = reading.units.anchor(chosen).words(reading.document)
    same = set(words) == set(found.words)
    return Result(
        "algorithm",
        TITLE,
        figures=(
            Figure(
                "algorithm",
                f"All {len(anchors)} anchors of '{text}' under the logistic model, by length and exact "
                "precision. "
                f"{int(reaching.sum())} reach 0.95, {int(shortest.sum())} of them have the least length "
                f"{int(length[shortest][0])}; the best is {{{', '.join(words)}}}.",
                "The shortest anchor of highest precision is selected.",
                same,
                {"reaching": int(reaching.sum()), "shortest": int(shortest.sum()), "anchor": list(words)},
            ),
        ),
        checks=(
            Check(
                "The ranked search finds the anchor that the scatter of all anchors shows.",
                same,
                ", ".join(words),
            ),
        ),
    )


def _example(model: kedge.Model) -> tuple[str, kedge.Explanation, Reading]:
    for text in positives("restaurants", "logistic"):
        if 8 <= len(text.split()) <= 10:
            try:
                found = kedge.explain(model, text)
            except TextError:
                continue
            if len(found.words) == 2:
                return text, found, kedge.Explainer(model).read(text)
    raise LookupError("No review of 8 to 10 words has an anchor of two words.")
