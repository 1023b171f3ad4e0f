"""The report: Markdown, HTML, and all numbers as JSON, from the results alone."""

import json
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from .result import Cell, Result, Table

__all__ = ["write"]

HEADING = "A Sea of Words, reproduced"
INTRO = (
    "Every table and figure of Lopardo, Precioso and Garreau, 'A Sea of Words: An In-Depth Analysis of "
    "Anchors for "
    "Text Data' (AISTATS 2023), computed anew by kedge. A cell is 'within' when it differs from the "
    "published number "
    "by no more than the published standard deviation, or 0.1 where none is given; verdicts are computed, "
    "from both "
    "numbers as printed to two digits."
)


def write(out: Path, results: Sequence[Result], facts: dict[str, Any]) -> None:
    """Write report.md, report.html and numbers.json into a folder."""
    judged = [cell for r in results for t in r.tables for cell in t.cells if cell.counted]
    within = sum(cell.verdict == "within" for cell in judged)
    checks = [check for r in results for check in r.checks]
    claims = [figure for r in results for figure in r.figures if figure.holds is not None]
    summary = [
        f"{within} of {len(judged)} table cells within the published tolerance",
        f"{sum(c.holds for c in claims)} of {len(claims)} claims of figures hold",
        f"{sum(c.holds for c in checks)} of {len(checks)} checks pass",
    ]
    blocks = _blocks(results, facts, summary)
    (out / "report.md").write_text("\n\n".join(_markdown(b) for b in blocks) + "\n", encoding="utf-8")
    (out / "report.html").write_text(_page(blocks), encoding="utf-8")
    numbers = {"facts": facts, "summary": summary, "results": [r.to_dict() for r in results]}
    text = json.dumps(numbers, indent=1, ensure_ascii=False, default=lambda x: x.item())
    (out / "numbers.json").write_text(text + "\n", encoding="utf-8")


Block = tuple[str, Any]


def _blocks(results: Sequence[Result], facts: dict[str, Any], summary: list[str]) -> list[Block]:
    """The report as headings, paragraphs, lists, tables and pictures."""
    blocks: list[Block] = [("h1", HEADING), ("p", INTRO), ("list", summary)]
    blocks.append(("table", (["", ""], [[k, str(v)] for k, v in facts.items()])))
    for result in results:
        blocks.append(("h2", result.title))
        for table in result.tables:
            blocks += [("p", table.text)] if table.text else []
            blocks.append(("table", _compared(table)))
            if table.extra:
                blocks.append(("p", "Beyond the paper:"))
                blocks.append(("table", _beyond(table.extra)))
        for figure in result.figures:
            verdict = {True: "holds here", False: "does not hold here", None: "not judged"}[figure.holds]
            blocks.append(("figure", (f"figures/{figure.stem}.png", figure.caption, figure.claim, verdict)))
        if result.checks:
            rows = [[c.statement, "yes" if c.holds else "NO", c.detail] for c in result.checks]
            blocks.append(("table", (["check", "holds", "detail"], rows)))
        if result.notes:
            blocks.append(("list", list(result.notes)))
        blocks += [("p", REMARKS[result.name])] if result.name in REMARKS else []
        blocks += [("p", text)] if (text := _outside(result)) else []
    return blocks


def _outside(result: Result) -> str:
    """Where this differs from the paper, cell by cell, and by how many standard errors."""
    cells = [c for t in result.tables for c in t.cells if c.verdict in {"outside", "no documents"}]
    if not cells:
        return ""
    each = "; ".join(f"{c.row}, {c.column}: {_difference(c)}" for c in cells)
    return f"Differs from the paper: {each}. {REASONS.get(result.name, '')}"


def _difference(cell: Cell) -> str:
    """What was found against what is printed, and whether few documents can be the cause."""
    if cell.here is None or cell.here_sd is None or cell.paper is None or not cell.documents:
        return cell.note or "not reached in the time that was allowed"
    found = f"{_number(cell.here, cell.here_sd)} against {_number(cell.paper, cell.sd)}"
    error = cell.here_sd / cell.documents**0.5
    over = abs(cell.here - cell.paper) - cell.tolerance
    chance = "chance alone may do that" if over <= 2 * error else "more than chance"
    return f"{found}, {over:.2f} beyond the tolerance, the standard error being {error:.2f} ({chance})"


REASONS = {
    "exhaustive": (
        "Where the agreement is lost is measured above: on documents whose label needs no word, where both "
        "programs keep the last anchor that no sample happened to speak against, and so agree by luck "
        "unless no sample ever does; and on those that need several words of many. The paper's script fixes "
        "no seed for the split or the forest."
    ),
    "logistic": "The paper's script fixes no seed for its split, and subsets hold few documents.",
    "networks": (
        "The networks are the authors' in recipe, not in their weights: which documents fall into a subset, "
        "and how steep the network is there, differs. Share and similarity of documents that need a word "
        "are given above."
    ),
}

# What a reader must know to weigh the numbers of an experiment.
REMARKS = {
    "logistic": (
        "For a linear model the exact answer is found by the very ranking it is compared with here, so its "
        "agreement "
        "is no test of the ranking; the check of the ranking is brute force, under the corrected statements."
    ),
}


def _number(value: float | None, sd: float | None = None) -> str:
    if value is None:
        return "-"
    return f"{value:.2f}" + ("" if sd is None else f" ± {sd:.2f}")


def _compared(table: Table) -> tuple[list[str], list[list[str]]]:
    head = ["", "data set or model", "paper", "here", "documents", "verdict"]
    rows = [
        [c.row, c.column, _number(c.paper, c.sd), _number(c.here, c.here_sd), str(c.documents), c.verdict]
        for c in table.cells
    ]
    return head, rows


def _beyond(cells: Sequence[Cell]) -> tuple[list[str], list[list[str]]]:
    columns = list(dict.fromkeys(c.column for c in cells))
    rows = []
    for name in dict.fromkeys(c.row for c in cells):
        found = {c.column: c for c in cells if c.row == name}
        rows.append([name, *(_beyond_cell(found.get(column)) for column in columns)])
    return ["", *columns], rows


def _beyond_cell(cell: Cell | None) -> str:
    if cell is None:
        return ""
    return _number(cell.here, cell.here_sd) + (f" ({cell.note})" if cell.note else "")


def _markdown(block: Block) -> str:
    kind, value = block
    if kind in {"h1", "h2"}:
        return "#" * int(kind[1]) + f" {value}"
    if kind == "list":
        return "\n".join(f"- {line}" for line in value)
    if kind == "table":
        head, rows = value
        lines = [head, ["---"] * len(head), *rows]
        return "\n".join(
            "| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines
        )
    if kind == "figure":
        path, caption, claim, verdict = value
        return f"![{caption}]({path})\n\n{caption} The paper: {claim} **It {verdict}.**"
    return str(value)


def _html(block: Block) -> str:
    kind, value = block
    if kind == "list":
        return "<ul>" + "".join(f"<li>{escape(line)}</li>" for line in value) + "</ul>"
    if kind == "table":
        head, rows = value
        top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
        body = "".join(f"<tr>{''.join(_td(cell) for cell in row)}</tr>" for row in rows)
        return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
    if kind == "figure":
        path, caption, claim, verdict = (escape(x) for x in value)
        return (
            f'<figure><img src="{path}" alt="{caption}"><figcaption>{caption} The paper: {claim} '
            f"<b>It {verdict}.</b></figcaption></figure>"
        )
    return f"<{kind}>{escape(str(value))}</{kind}>"


def _td(cell: str) -> str:
    colour = {"within": "good", "yes": "good", "outside": "bad", "NO": "bad"}.get(cell, "")
    return f'<td class="{colour}">{escape(cell)}</td>' if colour else f"<td>{escape(cell)}</td>"


_STYLE = """
body { font: 16px/1.55 system-ui, sans-serif; color: #22303c; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1, h2 { line-height: 1.2; } h2 { margin-top: 2.5rem; border-top: 1px solid #e6ebef; padding-top: 1.5rem; }
table { border-collapse: collapse; margin: 1rem 0; font-size: .9rem; } figure { margin: 1.5rem 0; }
th, td { text-align: left; padding: .3rem .7rem; border-bottom: 1px solid #e6ebef; vertical-align: top; }
img { max-width: 100%; } figcaption { font-size: .9rem; }
.good { color: #1d7a6f; } .bad { color: #b3471d; font-weight: 600; }
"""


def _page(blocks: Sequence[Block]) -> str:
    body = "\n".join(_html(b) for b in blocks)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{HEADING}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{_STYLE}</style></head>\n"
        f"<body>\n{body}\n</body></html>\n"
    )
