"""Figure: whether the official anchor grows along the ranking as the intercept falls."""

import copy
import sys
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

import kedge

from .position_models import from_linear
from .result import Check, Figure, Result
from .session import Session
from .setting import classifier, corpus, official_anchors, top_words
from .style import BLUE, GREY, INK, ORANGE, TEAL, canvas

__all__ = ["run"]

TITLE = "Shifting the intercept: words enter the anchor in the order of coefficient times IDF"
# The reviews of Yelp that the paper's code explains, by model, and the seed of its scripts.
PAPER_REVIEW = {"logistic": 13, "perceptron": 1}
SEED = 0
# Shifts at which the exact answer is computed.
FINE = 40
# Reviews that are taken beside the paper's have so many words: as many as those.
LENGTHS = range(50, 121)
# A word has entered where it is in this share of the anchors.
HALF = 0.5


def _fitted(kind: str) -> Any:
    """The model as the authors' scripts fit it, on texts as they are: their confusion matrix comes out."""
    return classifier("yelp", kind, SEED, raw=True)


@lru_cache(maxsize=4)
def _shifted(kind: str, shift: float) -> tuple[Any, kedge.Model]:
    pipeline = copy.deepcopy(_fitted(kind))
    pipeline[-1].intercept_ = pipeline[-1].intercept_ - shift
    return pipeline, from_linear(pipeline)


def work(item: list[Any]) -> list[list[str]]:
    """Anchors at one shift: of the official procedure (runs > 0), or the exact one (runs = 0)."""
    kind, text, shift, runs = item
    pipeline, asked = _shifted(kind, shift)
    if not runs:
        return [list(kedge.explain(pipeline, text).words)]
    return [list(words) for words in official_anchors(asked, text, runs)]


def run(session: Session) -> Result:
    """Logistic model and perceptron, four documents each."""
    points, documents = session.scale.shifts
    runs = session.scale.repeats
    numbers: dict[str, Any] = {}
    official, exact = [], []
    with canvas(session, "shift", documents, 2, size=(9.6, 2.6 * documents), sharey=True) as axes:
        for column, kind in enumerate(PAPER_REVIEW):
            for row, text in enumerate(_documents(kind, documents)):
                curve = _curve(session, kind, text, points, runs)
                _draw(axes[2 * row + column], kind, row, curve)
                numbers[f"{kind}, document {row + 1}"] = curve
                official.append(curve["in order"])
                exact.append(curve["exact in order"])
    claim = "As the shift grows, words enter the anchor one after the other, by coefficient times IDF."
    return Result(
        "shift",
        TITLE,
        figures=(
            Figure(
                "shift",
                "How often each of the three top words is in the official anchor of a Yelp review "
                f"({runs} runs at "
                f"each shift, {documents} documents a model, the paper's first). Bands: where the exact "
                "anchor has "
                "the number of words written above. A word has entered at the first shift from which on "
                "it is in "
                f"half of the anchors; the three enter in their order in {sum(official)} of {len(official)} "
                "documents.",
                claim,
                sum(official) > len(official) / 2,
                numbers,
            ),
        ),
        checks=(
            Check(
                "The official procedure takes the three top words in their order on more than half of "
                "the documents.",
                sum(official) > len(official) / 2,
                f"{sum(official)} of {len(official)}",
            ),
        ),
        notes=(
            (
                f"The exact answer takes them in their order on {sum(exact)} of {len(exact)} documents, at "
                f"{FINE} shifts each: true by construction, so no check."
            ),
        ),
    )


def _documents(kind: str, wanted: int) -> list[str]:
    """The paper's review, then the first of like length with a positive prediction."""
    texts, _ = corpus("yelp", raw=True)
    paper = texts[PAPER_REVIEW[kind]]
    told = _fitted(kind).predict(list(texts))
    others = [t for t, one in zip(texts, told, strict=True) if one == 1 and t != paper]
    near = [t for t in others if len(t.split()) in LENGTHS] + others
    first = [paper] if told[PAPER_REVIEW[kind]] == 1 else []
    return list(dict.fromkeys([*first, *near]))[:wanted]


def _curve(session: Session, kind: str, text: str, points: int, runs: int) -> dict[str, Any]:
    """Frequencies of the three top words over the shifts, and where they enter."""
    mine, end = sys.modules[__name__], _range(kind, text)
    shifts, fine = np.linspace(0.0, end, points).tolist(), np.linspace(0.0, end, FINE).tolist()
    found = session.each(mine, f"{kind}, official", [[kind, text, s, runs] for s in shifts], work)
    exact = session.each(mine, f"{kind}, exact", [[kind, text, s, 0] for s in fine], work)
    pipeline = _fitted(kind)
    top = list(dict.fromkeys(top_words(pipeline, text, 10**6)))[:3]
    frequency = {w: [float(np.mean([w in anchor for anchor in anchors])) for anchors in found] for w in top}
    enters = [_enters(frequency[w]) for w in top]
    lengths = [len(e[0]) for e in exact]
    ranked = [set(e[0]) <= set(top_words(pipeline, text, len(e[0]))) for e in exact]
    return {
        "text": text,
        "shifts": shifts,
        "frequency": frequency,
        "enters at point": enters,
        "in order": enters == sorted(enters) and enters[0] < len(shifts),
        "fine": fine,
        "exact lengths": lengths,
        "exact in order": all(ranked) and lengths == sorted(lengths),
    }


def _enters(frequency: list[float]) -> int:
    """The first point from which on a word is in half of the anchors; one past the last: it never is."""
    below = [k for k, share in enumerate(frequency) if share < HALF]
    return below[-1] + 1 if below else 0


def _range(kind: str, text: str) -> float:
    """The shift up to which the exact anchor has at most four words: the top three have entered by then."""
    low, high = 0.0, float(_fitted(kind).decision_function([text])[0])
    for _ in range(8):
        middle = (low + high) / 2
        short = len(kedge.explain(_shifted(kind, middle)[0], text).words) <= 4
        low, high = (middle, high) if short else (low, middle)
    return low


def _draw(axis: Any, kind: str, row: int, curve: dict[str, Any]) -> None:
    shifts = curve["shifts"]
    _bands(axis, curve["fine"], curve["exact lengths"])
    for (word, share), colour in zip(curve["frequency"].items(), (BLUE, ORANGE, TEAL), strict=False):
        axis.plot(shifts, share, color=colour, lw=2, marker="o", ms=2.5, label=word)
    order = "in order" if curve["in order"] else "not in order"
    axis.set(
        xlabel="shift $S$ of the intercept", title=f"{kind}, document {row + 1}: {order}", ylim=(-0.03, 1.1)
    )
    axis.set_ylabel("frequency over runs")
    axis.legend(loc="best")


def _bands(axis: Any, shifts: list[float], lengths: list[int]) -> None:
    """Vertical bands of constant length of the exact anchor, numbered while they are wide enough."""
    edges = [0, *[k for k in range(1, len(lengths)) if lengths[k] != lengths[k - 1]], len(lengths)]
    wide = shifts[-1] / 25
    for shade, (a, b) in enumerate(pairwise(edges)):
        low, high = shifts[a], shifts[b] if b < len(shifts) else shifts[-1]
        axis.axvspan(low, high, color=GREY, alpha=0.35 if shade % 2 else 0.12, lw=0)
        if high - low > wide:
            axis.text(
                (low + high) / 2, 1.055, str(lengths[a]), ha="center", va="center", fontsize=8, color=INK
            )
