"""Table: the official anchor against the ranking by coefficient times IDF, for a logistic model."""

import sys
from functools import cache
from typing import Any

import kedge
from kedge.errors import TextError

from .judge import Sample
from .ranking import Explained, cells_of, chosen
from .result import Beyond, Cell, Result, Table
from .session import Session
from .setting import SEED, THRESHOLD, classifier, jaccard, official, official_anchors, positives, top_words

__all__ = ["run"]

TITLE = "Logistic model: the official anchor against coefficient times IDF"
# Documents of each subset, and runs.
BUDGET: dict[str, tuple[int | None, int]] = {"restaurants": (None, 10), "yelp": (None, 10), "imdb": (None, 2)}
# No run on IMDB is published, the script has no seed and takes all documents; the authors' other script for
# IMDB takes the first hundred. So do we, on several splits.
FIRST, SPLITS = 100, (SEED, 1, 2, 3)


@cache
def _exact(data: str, seed: int) -> kedge.Explainer:
    return kedge.Explainer(classifier(data, "logistic", seed))


def work(item: list[Any]) -> dict[str, Any] | None:
    """The runs of one document, and its exact answer."""
    data, text, runs, seed = item
    pipeline = classifier(data, "logistic", seed)
    try:
        exact = _exact(data, seed).explain(text)
    except TextError:
        return None
    anchors = official_anchors(official(data, "logistic", seed), text, runs)
    return {
        "similarity": [jaccard(a, top_words(pipeline, text, len(a))) for a in anchors],
        "exact": jaccard(exact.words, top_words(pipeline, text, len(exact.words))),
        "baseline": exact.baseline.mean if exact.baseline else None,
    }


def run(session: Session) -> Result:
    """Three data sets, three subsets."""
    cells: list[Cell] = []
    extra: list[Beyond] = []
    for data in session.scale.data:
        most, _ = session.scale.of(*BUDGET[data])
        splits = SPLITS[: session.scale.draws] if data == "imdb" else (SEED,)
        draws = [_explained(session, data, seed) for seed in splits]
        note = f"{len(draws)} splits, the first {FIRST} positive documents of each" if data == "imdb" else ""
        cells += cells_of("logistic", data, [[e for e, _ in found] for found in draws], most, note)
        extra += _beside(data, [answer for found in draws for _, answer in found])
    text = (
        "Mean Jaccard similarity with its standard error. The paper's script fixes no seed, so its split is "
        "not known; here it is that of seed 42. No run on IMDB is published: the first hundred positive test "
        "reviews of four splits, a hundred being what the authors' first script for IMDB takes; z counts the "
        "spread of the splits. (One version of their loader reads all 50,000 reviews, a later one the first "
        "10,000, which are those here.) The paper's ranking theorem (Prop. 7) is "
        "about exhaustive Anchors; the official procedure falls short of it where no word is needed, and any "
        "anchor will do."
    )
    return Result("logistic", TITLE, (Table(TITLE, tuple(cells), text, tuple(extra)),))


def _explained(session: Session, data: str, seed: int) -> list[tuple[Explained, dict[str, Any]]]:
    """The documents of one split with what was found."""
    most, runs = session.scale.of(*BUDGET[data])
    texts = positives(data, "logistic", seed)[: FIRST if data == "imdb" else None]
    probability = classifier(data, "logistic", seed).predict_proba(texts)[:, 1].tolist()
    at = chosen(probability, most)
    items = [[data, texts[i], runs, seed] for i in at]
    found = session.each(sys.modules[__name__], f"{data}, split {seed}", items, work, partial=True)
    return [
        (Explained(texts[i], probability[i], tuple(answer["similarity"])), answer)
        for i, answer in zip(at, found, strict=True)
        if answer
    ]


def _beside(data: str, known: list[dict[str, Any]]) -> list[Beyond]:
    """How many documents need no word, and the similarity on the others."""
    needs = [a for a in known if a["baseline"] is None or a["baseline"] < THRESHOLD]
    share = 1 - len(needs) / len(known) if known else None
    there = Sample.of([a["similarity"] for a in needs])
    exact = Sample.of([[a["exact"]] for a in known])
    return [
        Beyond("share of documents that need no word", data, share, None, len(known)),
        Beyond(
            "official procedure, documents that need a word",
            data,
            there and there.mean,
            there and there.error,
            len(needs),
        ),
        Beyond(
            "exact answer (ranked by construction: no test)",
            data,
            exact and exact.mean,
            exact and exact.error,
            len(known),
        ),
    ]
