"""The figures of one tool on one model and one set, from its judged answers. Standard library only."""

import itertools
from collections import Counter
from collections.abc import Callable, Iterable
from statistics import mean, median
from typing import Any

Row = dict[str, Any]
Figure = Callable[[Row], float]

THRESHOLD = 0.95
# A document that the budget ended over counts for the similarity of answers from so many seeds on.
ENOUGH = 5


def share(values: Iterable[bool]) -> dict[str, float] | None:
    """How many of how many; None of none."""
    seen = list(values)
    return {"share": sum(seen) / len(seen), "of": len(seen)} if seen else None


def ratio(row: Row) -> float:
    """Cost of an answer as a multiple of one prediction of its text."""
    return float(row["cost"] / row["predict"])


def promised(row: Row) -> bool:
    """Whether the tool claims that the threshold is reached."""
    if "status" in row:
        return row["status"] in {"exact", "certified"}
    return row.get("claimed", 0.0) >= THRESHOLD


def jaccard(rows: list[Row], seeds: int) -> dict[str, float] | None:
    """Mean over documents of the mean pairwise Jaccard similarity of the anchors of its seeds."""
    means = []
    by_document = sorted(rows, key=lambda row: row["document"])
    for _, group in itertools.groupby(by_document, key=lambda row: row["document"]):
        sets = [frozenset(map(tuple, row["spans"])) for row in group if row["error"] is None]
        if len(sets) < min(seeds, ENOUGH):
            continue
        pairs = itertools.combinations(sets, 2)
        means.append(mean(len(a & b) / len(a | b) if a | b else 1.0 for a, b in pairs))
    return {"mean": mean(means), "of": len(means)} if means else None


def figures(rows: list[Row], *, anchors: bool, seeds: int, loaded: float) -> dict[str, Any]:
    """All figures of a column. Costs are over answers; a failure costs nothing and is counted apart."""
    main = [row for row in rows if row["part"] == "main"]
    answers = [row for row in main if row["error"] is None]
    failed = Counter(row["error"].split(":")[0].split(" (")[0] for row in main if row["error"] is not None)
    result: dict[str, Any] = {
        "documents": len(main),
        "answers": len(answers),
        "failures": dict(failed),
        "seconds": [sum(row["cost"] for row in rows if row["part"] == part) for part in ("main", "stable")],
        "peak_mb": max((row["peak"] for row in rows), default=0.0),
        "loaded_mb": loaded,
    }
    if not answers:
        return result
    costs, texts = [ratio(row) for row in answers], [row["asked"] for row in answers]
    result |= {
        "cost_median": median(costs),
        "cost_mean": mean(costs),
        "seconds_mean": mean(row["cost"] for row in answers),
        "asked_median": median(texts),
        "asked_mean": mean(texts),
        "asked_max": max(texts),
    }
    if not anchors:
        return result
    needy = [row for row in answers if row["baseline"] < THRESHOLD]
    claims = [row for row in answers if promised(row)]
    result |= {
        "below": share(row["true"] < THRESHOLD for row in answers),
        "below_needy": share(row["true"] < THRESHOLD for row in needy),
        "broken": share(row["true"] < THRESHOLD for row in claims),
        "no_promise": len(answers) - len(claims),
        "shortest": share(
            row["true"] >= THRESHOLD and row["length"] <= row["best"] for row in needy if row["best"]
        ),
        "proven_shortest": sum(row["proven"] for row in needy),
        "idle": share(row["idle"] > 0 for row in answers),
        "jaccard": jaccard(rows, seeds),
        "jaccard_needy": jaccard([row for row in rows if row.get("baseline", 1.0) < THRESHOLD], seeds),
        "status": dict(Counter(row["status"] for row in answers if "status" in row)),
        "sampled_judgements": sum(row["how"] == "samples" for row in answers),
    }
    return result


def asked(row: Row) -> float:
    """Texts that the model was asked about."""
    return float(row["asked"])


def against(ours: list[Row], theirs: list[Row], what: Figure = ratio) -> dict[str, float] | None:
    """How many times a peer's figure is ours, by the median and by the mean, on documents both answered."""
    mine = {row["document"]: what(row) for row in ours if row["part"] == "main" and row["error"] is None}
    other = {row["document"]: what(row) for row in theirs if row["part"] == "main" and row["error"] is None}
    both = sorted(set(mine) & set(other))
    if not both:
        return None
    a, b = [mine[i] for i in both], [other[i] for i in both]
    return {"median": median(b) / median(a), "mean": mean(b) / mean(a), "of": len(both)}
