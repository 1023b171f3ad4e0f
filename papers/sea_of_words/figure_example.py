"""Figure: one review, its anchor, and what the anchor says (the paper's Figure 1)."""

from itertools import combinations
from pathlib import Path
from typing import Any

import kedge

from . import authors
from .networks import authors_network, trained_network
from .position_models import anchor_words
from .result import Check, Figure, Result
from .session import Session
from .setting import THRESHOLD, split
from .style import BLUE, INK, canvas
from .table_networks import positive_documents

__all__ = ["run"]

TITLE = "One review and its anchor"
# Words of the review: all its masks are queried.
LEAST, MOST = 8, 14


def run(session: Session) -> Result:
    """The first short Restaurants review whose exact anchor under the 3-layer network has two words."""
    theirs = authors_network("restaurants")
    made = theirs or trained_network("restaurants", "3 layers", session.scale.epochs, Path(session.store))
    texts = list(authors.proba_and_runs("3 layers", "restaurants")) if theirs else split("restaurants").test
    text, found, official = _example(made, texts)
    keeps = [kedge.precision(made.model, text, list(part)).precision for part in _parts(found.positions)]
    with canvas(session, "example", size=(8.2, 0.9)) as (axis,):
        axis.axis("off")
        _write(axis, text, found)
        axis.text(
            0.01,
            0.12,
            f"anchor: {', '.join(anchor_words(found))}   exact precision {found.precision:.3f}   "
            f"official procedure: {', '.join(official)}",
            color=INK,
        )
    reached = found.precision >= THRESHOLD > max(keeps, default=0.0)
    whose = "the authors' 3-layer network" if theirs else "a 3-layer network trained here"
    return Result(
        "example",
        TITLE,
        figures=(
            Figure(
                "example",
                f"A Restaurants review that {whose} calls positive, its exact anchor in blue: with these "
                "words kept "
                "and each other word replaced with probability 1/2 the label stays in "
                f"{found.precision:.1%} of all "
                f"cases; without any one of them in {max(keeps, default=0.0):.1%} at the most.",
                "An anchor is a short list of words that alone keeps the label with high probability.",
                reached,
                {
                    "text": text,
                    "anchor": list(anchor_words(found)),
                    "precision": found.precision,
                    "parts": keeps,
                },
            ),
        ),
        checks=(Check("The anchor reaches 0.95; no part of it does.", reached),),
        notes=(
            (
                "The review of the paper's Figure 1 is in none of the published files; this is the first "
                "of the "
                "authors' documents of 8 to 14 words whose anchor needs two."
            ),
        ),
    )


def _parts(positions: tuple[int, ...]) -> list[tuple[int, ...]]:
    return list(combinations(positions, len(positions) - 1))


def _example(made: Any, texts: Any) -> tuple[str, kedge.Explanation, tuple[str, ...]]:
    """The text, its exact anchor, and one of the official procedure."""
    exact = kedge.Explainer(made.model, method="exhaustive", evaluator="exact")
    short = [t for t, _ in positive_documents(made, "restaurants", texts) if LEAST <= len(t.split()) <= MOST]
    found = None
    for text in short:
        found = exact.explain(text)
        if len(found.positions) >= 2:
            break
    if found is None:
        raise LookupError(f"No positive review has {LEAST} to {MOST} words.")
    official = kedge.Explainer(made.model, method="beam").explain(found.text)
    return found.text, found, anchor_words(official)


def _write(axis: Any, text: str, found: kedge.Explanation) -> None:
    """The words one after the other, the anchor's in blue and bold, each where the last one ends."""
    kept, before = set(found.spans), None
    for start, stop in found.tokens:
        inside = (start, stop) in kept
        look = {"color": BLUE if inside else INK, "weight": "bold" if inside else "normal", "size": 11}
        if before is None:
            before = axis.text(0.01, 0.7, text[start:stop], **look)
        else:
            before = axis.annotate(
                text[start:stop],
                (1, 0),
                xycoords=before,
                xytext=(5, 0),
                textcoords="offset points",
                va="bottom",
                **look,
            )
