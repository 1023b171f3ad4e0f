"""Table: words replaced by a masked language model instead of UNK, on 50 Restaurants reviews."""

import sys
import time
from pathlib import Path
from typing import Any

import kedge
from kedge.errors import TextError

from .networks import network
from .published import INFILL
from .result import Cell, Result, Table
from .session import Session
from .setting import jaccard, mean_sd, ranked_words, split

__all__ = ["run"]

TITLE = "Masked-language-model replacement: the official anchor against gradient times IDF"
DOCUMENTS = 50


def run(session: Session) -> Result:
    """Skipped, with the reason, unless a masked model is named and kedge can replace words by it."""
    if session.masked_model is None:
        reason = "Skipped: no masked language model was named (--masked-model NAME_OR_FOLDER)."
    elif not hasattr(kedge, "Infill"):
        reason = "Skipped: this version of kedge has no replacement by a masked language model."
    else:
        return _result(session)
    return Result("infill", TITLE, notes=(reason,))


def _result(session: Session) -> Result:
    made = network("restaurants", "3 layers", session.scale.epochs, Path(session.store))
    infill = kedge.Infill(session.masked_model)
    model = made.model()

    def work(item: list[Any]) -> dict[str, Any] | None:
        text = item[0]
        weight, words = made.weights(text), made.vectorizer.build_analyzer()(text)
        answer: dict[str, Any] = {}
        for name, perturbation in (("unk", "unk"), ("infill", infill)):
            started = time.perf_counter()
            try:
                anchor = kedge.explain(model, text, method="beam", perturbation=perturbation).words
            except TextError:
                return None
            answer[name] = jaccard(anchor, ranked_words(words, weight, len(anchor)))
            answer[f"{name} seconds"] = time.perf_counter() - started
            answer[f"{name} length"] = len(anchor)
        return answer

    scored = zip(
        split("restaurants").test, made.probabilities(split("restaurants").test)[:, 1].tolist(), strict=True
    )
    texts = [text for text, p in scored if p > 0.5][: min(DOCUMENTS, session.scale.ranked["restaurants"])]
    items = [[text, str(session.masked_model)] for text in texts]
    found = [a for a in session.each(sys.modules[__name__], "reviews", items, work) if a]
    mean, sd = mean_sd([a["infill"] for a in found])
    cell = Cell("3 layers", "restaurants", *INFILL, mean, sd, len(found))
    slower = sum(a["infill seconds"] for a in found) / max(sum(a["unk seconds"] for a in found), 1e-9)
    longer = mean_sd([a["infill length"] - a["unk length"] for a in found])[0]
    note = f"About {slower:.0f} times slower than UNK; anchors are {longer:.2f} words longer on the mean."
    return Result("infill", TITLE, (Table(TITLE, (cell,)),), notes=(note,))
