"""The page of the black-box benchmark, made from its record alone."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import mean, median
from typing import Any

from bars import THRESHOLD, bars_table, jaccard
from judges import ENCODER_SAMPLES, SAMPLES, TRANSFORMER_SAMPLES

Row = dict[str, Any]
PEER = "anchor-exp"


def new_record() -> Row:
    """A record of nothing yet."""
    return {"threshold": THRESHOLD, "parts": {}, "sets": {}}


def take_in(record: Row, key: str, about: Row, cells: Mapping[str, list[Row]]) -> None:
    """Put the answers of one model on one set in the place of those that are there.

    What anchor-exp answered is kept where it was not asked again.
    """
    needy = {how: [r for r in rows if r["baseline"] < THRESHOLD] for how, rows in cells.items()}
    agreement = {how: jaccard(rows) for how, rows in needy.items()}
    before = record["parts"].get(key, {})
    if PEER not in cells and PEER in before.get("agreement", {}):
        agreement[PEER] = before["agreement"][PEER]
        about = {**{name: before[name] for name in ("peer", "peer_seeds")}, **about}
    record["parts"][key] = {**about, "agreement": agreement}
    for how, rows in cells.items():
        record["sets"][_cell(key, how)] = _columns(rows)


def write(record: Row, file: Path, order: Iterable[tuple[str, str]]) -> None:
    """The record, and its page beside it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(record, separators=(",", ":")), encoding="utf-8")
    file.with_suffix(".md").write_text(page(record, order), encoding="utf-8")


def page(record: Row, order: Iterable[tuple[str, str]]) -> str:
    """Markdown."""
    names = [f"{name}, {kind}" for name, kind in order]
    parts = {key: record["parts"][key] for key in names if key in record["parts"]}
    cells, agreement = {}, {}
    for key, about in parts.items():
        for how, same in about["agreement"].items():
            cells[_cell(key, how)], agreement[_cell(key, how)] = _rows(record, key, how), same
    seeds = max((about["seeds"] for about in parts.values()), default=0)
    head = (
        f"# Black boxes\n\nSeeds: {seeds} where nothing else is said (anchor-exp: {_peer_seeds(parts)}). "
        f"{record['made']} by `benchmarks/blackbox.py`; {record['versions']}.\n"
        "The judge is exact for the logistic model and where all texts can be enumerated; else it draws "
        f"{SAMPLES:,} samples ({TRANSFORMER_SAMPLES:,} tiny transformer, up to {ENCODER_SAMPLES:,} MiniLM).\n"
        f"Rows with * count only documents that need a word: their baseline is below {THRESHOLD}.\n"
    )
    learned = [line for about in parts.values() for line in about["learned"]]
    lessons = [
        "A prior is learned from 150 other documents. What that took, and per text of 1,000:",
        "",
        *(f"- {line}" for line in learned),
        "",
    ]
    tables = [_part(record, key, about, seeds) for key, about in parts.items()]
    return "\n".join([head, bars_table(cells, agreement), *lessons, record["memory"], "", *tables])


def _peer_seeds(parts: Mapping[str, Row]) -> int:
    return max((about.get("peer_seeds", 0) for about in parts.values()), default=0)


def _part(record: Row, key: str, about: Row, seeds: int) -> str:
    columns = {}
    for how, same in about["agreement"].items():
        name = f"{PEER}, {about['peer']} documents" if how == PEER else f"kedge, {how}"
        columns[name] = _summary(_rows(record, key, how), same)
    title = f"{key}: {about['documents']} documents, mean b {about['words']:.0f}"
    if about.get("longest"):
        title += f", of at most {about['longest']} words"
    if about.get("needy"):
        title += ", that need a word"
    if about["seeds"] != seeds:
        title += f"; {about['seeds']} seeds"
    return _table(title, columns)


def _cell(key: str, how: str) -> str:
    """What one column of answers is called; the other tool is asked about one model of each set only."""
    return f"{key.partition(', ')[0]}, {PEER}" if how == PEER else f"{key}, {how}"


def _rows(record: Row, key: str, how: str) -> list[Row]:
    columns = record["sets"][_cell(key, how)]
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def _columns(rows: Sequence[Row]) -> dict[str, list[Any]]:
    """Answers column by column, with few digits and without their spans."""
    names = [name for name in rows[0] if name != "spans"]
    return {name: [round(v, 4) if isinstance(v := row[name], float) else v for row in rows] for name in names}


def _share(values: Iterable[bool]) -> str:
    """A percentage, or a dash."""
    seen = list(values)
    return f"{100 * mean(seen):.1f}% of {len(seen)}" if seen else "-"


def _summary(rows: Sequence[Row], same: float | None) -> dict[str, str]:
    """The figures of one column."""
    claims = [r for r in rows if r.get("status", "claimed") in {"exact", "certified", "claimed"}]
    needy_claims = [r for r in claims if r["baseline"] < THRESHOLD]
    count = [r["queries"] for r in rows]
    return {
        "answers": str(len(rows)),
        "claimed (exact, certified)": _share(
            "status" not in r or r["status"] in {"exact", "certified"} for r in rows
        ),
        "claims with a true precision below 0.95": _share(r["true_precision"] < THRESHOLD for r in claims),
        "the same*": _share(r["true_precision"] < THRESHOLD for r in needy_claims),
        "as short as possible*": _share(r["length"] == r["optimal"] for r in needy_claims if r["optimal"]),
        "contains a word without influence*": _share(r["idle_word"] for r in needy_claims),
        "contains a word without influence": _share(r["idle_word"] for r in claims),
        "no word can be left out*": _share(
            r["irreducible"] for r in needy_claims if r["irreducible"] is not None
        ),
        "reported: no word can be left out*": _share(
            r["minimality"] in {"shortest", "irreducible"} for r in needy_claims if "minimality" in r
        ),
        "reported: one perhaps can, too close to prove*": _share(
            r["minimality"] == "narrow" for r in needy_claims if "minimality" in r
        ),
        "Jaccard across seeds*": "-" if same is None else f"{same:.3f}",
        "queries, median / mean / max": f"{median(count):.0f} / {mean(count):.0f} / {max(count)}",
        "own time per query, ms, median / mean": "{:.2f} / {:.2f}".format(
            median(r["own_milliseconds"] for r in rows),
            sum(r["own_milliseconds"] * r["queries"] for r in rows) / sum(count),
        )
        if "own_milliseconds" in rows[0]
        else "-",
        "seconds, median / mean": "{:.2f} / {:.2f}".format(
            median(r["seconds"] for r in rows), mean(r["seconds"] for r in rows)
        ),
    }


def _table(title: str, columns: Mapping[str, Mapping[str, str]]) -> str:
    """Markdown: one row per figure, one column per way of asking."""
    figures = list(dict.fromkeys(figure for column in columns.values() for figure in column))
    lines = [f"### {title}", "", f"| | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
    lines += [f"| {f} | {' | '.join(c.get(f, '-') for c in columns.values())} |" for f in figures]
    return "\n".join([*lines, ""])
