"""What the black-box benchmark must show: questions by the median and the mean, beside what was measured."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, median
from typing import Any

Row = dict[str, Any]

THRESHOLD = 0.95
# How often claims may be false, answers be shortest where that is known, and agree over seeds.
DELTA, OPTIMAL, AGREEMENT = 0.05, 0.96, 0.97
CLAIMED = {"exact", "certified"}
_COLUMNS = (
    "0.1.0", "bar", "measured", "least", "need one", "false claims", "shortest", "Jaccard", "unfinished",
    "verdict",
)  # fmt: skip
# With fewer documents that need a word, nothing is said to be met.
FEWEST = 5


@dataclass(frozen=True)
class Bar:
    """One row: a cell of the run, what the first release asked there, and the questions that it may ask now.

    ``most`` is by the median, ``mean`` by the mean; ``backward`` the backward passes that it may take.
    """

    title: str
    cell: str
    before: str
    most: float
    mean: float | None = None
    backward: int | None = None


def _restaurants(kind: str, how: str, before: int) -> Bar:
    return Bar(
        f"Restaurants, {kind}, {how}", f"restaurants, {kind}, {how}", f"{before} / -", round(0.8 * before)
    )


BARS = (
    Bar("Yelp, logistic, labels, no prior", "yelp, logistic, labels", "796 / 1,301", 400, 800),
    Bar("Yelp, logistic, labels, prior", "yelp, logistic, labels, prior", "-", 150, 350),
    Bar("Yelp, logistic, probabilities, no prior", "yelp, logistic, probabilities", "298 / 428", 220, 350),
    Bar("Yelp, logistic, probabilities, prior", "yelp, logistic, probabilities, prior", "-", 110, 220),
    Bar("Yelp, MLP, probabilities, prior", "yelp, mlp, probabilities, prior", "785 / 1,190", 300, 700),
    Bar("Yelp, forest, probabilities, prior", "yelp, forest, probabilities, prior", "762 / 3,150", 300, 700),
    Bar("Yelp, MiniLM (fine-tuned), gradient", "yelp, minilm, gradient", "-", 160, 400, backward=20),
    _restaurants("logistic", "probabilities", 110),
    _restaurants("logistic", "labels", 197),
    _restaurants("forest", "probabilities", 225),
    _restaurants("forest", "labels", 221),
    _restaurants("mlp", "probabilities", 179),
    _restaurants("mlp", "labels", 203),
    _restaurants("transformer", "probabilities", 160),
)


def bars_table(cells: Mapping[str, Sequence[Row]], agreement: Mapping[str, float | None]) -> str:
    """Markdown: each bar, what was measured, and whether it is met or why not.

    ``agreement`` is the mean Jaccard similarity over seeds of each cell.
    """
    lines = [
        "### Bars",
        "",
        "Queries, median / mean; *0.1.0*: what that release took; *need one*: documents needing a word.",
        "*Least*: what a proof of the same answers takes, whatever the method and whatever it knows. If a",
        "label is lost in a share p - 0.95 more of the samples, at random, the claim is false; n queries",
        "miss them all with probability (1 - (p - 0.95))^n, which must be 0.05 at most.",
        "",
        f"| | {' | '.join(_COLUMNS)} |",
        "|---" * (len(_COLUMNS) + 1) + "|",
    ]
    lines += [_line(bar, cells[bar.cell], agreement[bar.cell]) for bar in BARS if bar.cell in cells]
    return "\n".join([*lines, ""])


def least(row: Row) -> float:
    """The fewest queries that can prove an answer; an exact one asks about all texts instead."""
    margin = row["true_precision"] - THRESHOLD
    if margin <= 0 or row["status"] == "exact":
        return float(row["queries"])
    return math.ceil(math.log(DELTA) / math.log1p(-margin))


def _line(bar: Bar, rows: Sequence[Row], same: float | None) -> str:
    asked = [row["queries"] for row in rows]
    claims = [row for row in rows if row["status"] in CLAIMED]
    needy = [row for row in claims if row["baseline"] < THRESHOLD]
    known = [row["length"] == row["optimal"] for row in needy if row["optimal"]]
    false = sum(row["true_precision"] < THRESHOLD for row in claims)
    wanting = len({row["document"] for row in rows if row["baseline"] < THRESHOLD})
    allowed = f"{bar.most:,} / {'-' if bar.mean is None else f'{bar.mean:,}'}"
    measured = f"{median(asked):,.0f} / {mean(asked):,.0f}"
    missed = []
    if median(asked) > bar.most:
        missed.append("median")
    if bar.mean is not None and mean(asked) > bar.mean:
        missed.append(f"mean ({_where(rows)})")
    if bar.backward is not None:
        passes = max(row["backward"] for row in rows)
        allowed, measured = f"{allowed}, {bar.backward} passes", f"{measured}, {passes} passes"
        missed += ["passes"] if passes > bar.backward else []
    missed += ["unfinished"] if len(claims) < len(rows) and bar.mean is not None else []
    missed += ["false claims"] if false > DELTA * len(claims) else []
    missed += ["length"] if known and mean(known) < OPTIMAL else []
    missed += ["Jaccard"] if same is not None and same < AGREEMENT else []
    verdict = "met" if wanting >= FEWEST else "open: few need a word"
    figures = (
        bar.title,
        bar.before,
        allowed,
        measured,
        f"{median(map(least, rows)):,.0f} / {mean(map(least, rows)):,.0f}",
        f"{wanting} of {len({row['document'] for row in rows})}",
        f"{false} of {len(claims)}",
        f"{100 * mean(known):.1f}% of {len(known)}" if known else "not known",
        "-" if same is None else f"{same:.3f}",
        str(len(rows) - len(claims)),
        f"missed: {', '.join(missed)}" if missed else verdict,
    )
    return f"| {' | '.join(figures)} |"


def _where(rows: Sequence[Row]) -> str:
    """Where most questions go: the fewest documents that take half of them, and how near the threshold."""
    by_document: dict[int, list[Row]] = {}
    for row in rows:
        by_document.setdefault(row["document"], []).append(row)
    ranked = sorted(by_document.values(), key=lambda group: -sum(row["queries"] for row in group))
    total, taken, dear = sum(row["queries"] for row in rows), 0, []
    for group in ranked:
        dear += group
        taken += sum(row["queries"] for row in group)
        if 2 * taken >= total:
            break
    count = len({row["document"] for row in dear})
    beyond = median(row["true_precision"] for row in dear)
    return (
        f"half of all questions are about {count} of {len(ranked)} documents, whose anchors have a precision "
        f"of {beyond:.3f} by the median"
    )


def jaccard(rows: Sequence[Row]) -> float | None:
    """Mean over documents of the mean pairwise Jaccard similarity over seeds."""
    by_document: dict[int, list[frozenset[tuple[int, ...]]]] = {}
    for row in rows:
        by_document.setdefault(row["document"], []).append(frozenset(map(tuple, row["spans"])))
    means = []
    for sets in by_document.values():
        pairs = [len(a & b) / len(a | b) if a | b else 1.0 for i, a in enumerate(sets) for b in sets[:i]]
        if pairs:
            means.append(mean(pairs))
    return mean(means) if means else None
