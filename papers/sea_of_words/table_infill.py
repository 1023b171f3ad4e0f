"""Table: words replaced by a masked language model instead of UNK, on 50 Restaurants reviews."""

import sys
import time
from pathlib import Path
from typing import Any

import kedge

from . import authors
from .judge import Sample
from .masked_language import ENCODER, masked_language_model
from .networks import authors_network, trained_network
from .published import INFILL
from .result import Beyond, Cell, Check, Result, Table
from .session import Session
from .setting import jaccard, official_anchors, ranked_words, split
from .table_networks import positive_documents

__all__ = ["run"]

TITLE = "Masked-language-model replacement: the official anchor against gradient times IDF"
DOCUMENTS = 50


def run(session: Session) -> Result:
    """Skipped, with the reason, where there is no masked model and none can be made."""
    if session.masked_model is not None:
        told, infill = f"The masked model is {session.masked_model}.", kedge.Infill(session.masked_model)
        return _result(session, infill, told)
    made = masked_language_model(Path(session.store), session.scale.epochs)
    if made is None:
        reason = (
            f"Skipped: no masked language model was named (--masked-model NAME_OR_FOLDER), and {ENCODER} and "
            "transformers, of which one can be made, are not installed."
        )
        return Result("infill", TITLE, notes=(reason,))
    model, tokenizer, well = made
    told = (
        "No pretrained masked model was at hand (the paper has a DistilBERT). This one is the encoder of "
        f"{ENCODER} "
        "with a head trained here for a few minutes on Restaurants' training part and Yelp: of the "
        "masked words "
        f"of held-out Restaurants reviews its first guess is right for {well['first']:.0%}, one of its "
        "first ten "
        f"for {well['ten']:.0%}."
    )
    return _result(session, kedge.Infill(model, tokenizer), told)


def _result(session: Session, infill: kedge.Infill, told: str) -> Result:
    theirs = authors_network("restaurants")
    made = theirs or trained_network("restaurants", "3 layers", session.scale.epochs, Path(session.store))
    texts = list(authors.proba_and_runs("3 layers", "restaurants")) if theirs else split("restaurants").test
    most, _ = session.scale.of(DOCUMENTS, 1)

    def predict(some: list[str]) -> Any:
        return (made.probabilities(some) > 0.5).astype(int)

    def work(item: list[Any]) -> dict[str, Any]:
        text = item[0]
        weight, words = made.weights(text), made.vectorizer.build_analyzer()(text)
        started = time.perf_counter()
        (plain,) = official_anchors(made.model, text, 1)
        between = time.perf_counter()
        anchor = kedge.explain(predict, text, method="beam", perturbation=infill, seed=0).words
        return {
            "unk": jaccard(plain, ranked_words(words, weight, len(plain))),
            "infill": jaccard(anchor, ranked_words(words, weight, len(anchor))),
            "unk length": len(plain),
            "infill length": len(anchor),
            "unk seconds": between - started,
            "infill seconds": time.perf_counter() - between,
        }

    documents = positive_documents(made, "restaurants", texts)[:most]
    items = [[text, made.name, told] for text, _ in documents]
    found = [a for a in session.each(sys.modules[__name__], "reviews", items, work, partial=True) if a]
    here = Sample.of([[a["infill"]] for a in found])
    unk = Sample.of([[a["unk"]] for a in found])
    cell = Cell("3 layers, infill", "restaurants", *INFILL, here, note=told)
    extra = [
        Beyond("UNK on the same reviews", "restaurants", unk and unk.mean, unk and unk.error, len(found)),
        _mean("seconds a review, infill", [a["infill seconds"] for a in found]),
        _mean("seconds a review, UNK", [a["unk seconds"] for a in found]),
        _mean("words in the anchor, infill", [float(a["infill length"]) for a in found]),
        _mean("words in the anchor, UNK", [float(a["unk length"]) for a in found]),
    ]
    slower, longer = (
        _sum(found, f"infill {what}") > _sum(found, f"unk {what}") for what in ("seconds", "length")
    )
    checks = (
        Check("The paper: a masked model makes the search slower.", slower),
        Check("The paper: a masked model makes anchors longer.", longer),
    )
    table = Table(TITLE, (cell,), "", tuple(extra))
    return Result("infill", TITLE, (table,), checks=checks)


def _mean(name: str, values: list[float]) -> Beyond:
    found = Sample.of([[v] for v in values])
    return Beyond(name, "restaurants", found and found.mean, found and found.error, len(values))


def _sum(found: list[dict[str, Any]], name: str) -> float:
    return float(sum(a[name] for a in found))
