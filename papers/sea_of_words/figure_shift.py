"""Figure: how the anchor grows as the intercept falls, official procedure and exact answer."""

import copy
import sys
from itertools import pairwise
from typing import Any

import numpy as np

import kedge

from .result import Check, Figure, Result
from .session import Session
from .setting import classifier, corpus, positives, top_words
from .style import BLUE, GREY, INK, ORANGE, TEAL, canvas

__all__ = ["run"]

TITLE = "Shifting the intercept: words enter the anchor in the order of coefficient times IDF"
# The reviews of Yelp that the paper's code explains, by model.
PAPER_REVIEW = {"logistic": 13, "perceptron": 1}
# Shifts at which the exact answer is computed.
FINE = 40


def _shifted(kind: str, shift: float) -> Any:
    pipeline = copy.deepcopy(classifier("yelp", kind))
    pipeline[-1].intercept_ = pipeline[-1].intercept_ - shift
    return pipeline


def work(item: list[Any]) -> list[list[str]]:
    """Anchors at one shift: of the official procedure (runs > 0), or the exact one (runs = 0)."""
    kind, text, shift, runs = item
    model = _shifted(kind, shift)
    if not runs:
        return [list(kedge.explain(model, text).words)]
    return [list(kedge.explain(model, text, method="beam", seed=run).words) for run in range(runs)]


def run(session: Session) -> Result:
    """Logistic model and perceptron."""
    points, runs = session.scale.shifts
    numbers: dict[str, Any] = {}
    ordered = []
    with canvas(session, "shift", 1, 2, size=(9.6, 3.3), sharey=True) as axes:
        for axis, kind in zip(axes, PAPER_REVIEW, strict=True):
            pipeline = classifier("yelp", kind)
            text = corpus("yelp")[0][PAPER_REVIEW[kind]]
            if pipeline.predict([text])[0] != 1:
                text = positives("yelp", kind)[0]
            end = _range(kind, text)
            shifts, fine = np.linspace(0.0, end, points), np.linspace(0.0, end, FINE)
            mine = sys.modules[__name__]
            found = session.each(
                mine, f"{kind}, official", [[kind, text, s, runs] for s in shifts.tolist()], work
            )
            exact = session.each(mine, f"{kind}, exact", [[kind, text, s, 0] for s in fine.tolist()], work)
            lengths = [len(e[0]) for e in exact]
            _bands(axis, fine, lengths)
            top = list(dict.fromkeys(top_words(pipeline, text, 10**6)))[:3]
            for word, colour in zip(top, (BLUE, ORANGE, TEAL), strict=True):
                share = [np.mean([word in anchor for anchor in anchors]) for anchors in found]
                axis.plot(shifts, share, color=colour, lw=2, marker="o", ms=2.5, label=word)
                numbers[f"{kind}, {word}"] = {
                    "shifts": shifts.tolist(),
                    "frequency": [float(s) for s in share],
                }
            axis.set(xlabel="shift $S$ of the intercept", title=kind, ylim=(-0.03, 1.1))
            axis.legend(loc="lower right")
            rank = [set(e[0]) <= set(top_words(pipeline, text, len(e[0]))) for e in exact]
            ordered.append(all(rank) and lengths == sorted(lengths))
        axes[0].set_ylabel("frequency over runs")
    claim = "As the shift grows, words enter the anchor one after the other, by coefficient times IDF."
    return Result(
        "shift",
        TITLE,
        figures=(
            Figure(
                "shift",
                f"How often each of the three top words is in the anchor of one Yelp review ({runs} runs "
                "of the official "
                "procedure at each shift). Bands: where the exact anchor has the number of words written "
                "above.",
                claim,
                all(ordered),
                numbers,
            ),
        ),
        checks=(Check(f"{claim} (exact answers at {FINE} shifts, both models)", all(ordered)),),
        notes=(
            (
                "The document is the one the paper's code takes; in the range shown the exact anchor has "
                "up to four words."
            ),
        ),
    )


def _range(kind: str, text: str) -> float:
    """The shift up to which the exact anchor has at most four words: the top three have entered by then."""
    low, high = 0.0, float(classifier("yelp", kind).decision_function([text])[0])
    for _ in range(8):
        middle = (low + high) / 2
        short = len(kedge.explain(_shifted(kind, middle), text).words) <= 4
        low, high = (middle, high) if short else (low, middle)
    return low


def _bands(axis: Any, shifts: Any, lengths: list[int]) -> None:
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
