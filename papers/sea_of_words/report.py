"""The report: Markdown, HTML, and all numbers as JSON, from the results alone."""

import json
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from .judge import CORRECTED, LIMIT, LOOKS, Sample
from .result import UNPUBLISHED, Beyond, Cell, Result, Table

__all__ = ["counts", "summarise", "write"]

HEADING = "A Sea of Words, reproduced"
INTRO = (
    "Every table and figure of Lopardo, Precioso and Garreau, 'A Sea of Words: An In-Depth Analysis of "
    "Anchors for Text Data' (AISTATS 2023), computed anew by kedge. A number is judged by z, the difference "
    "of the mean here and the mean of the authors' own runs in standard errors of that difference. Runs on "
    "one document are not independent: a standard error is that of the documents' means. 'Within' is "
    f"|z| <= {LIMIT:g}; 'within, corrected' is |z| <= {CORRECTED:.2f}, what all {LOOKS} numbers together "
    "stay "
    "below as often as one alone stays below 2. Where no run of the authors is published, z is taken against "
    "the printed number, whose runs are supposed to spread as those here. The paper's own number stands "
    "beside each with its printed +-, which is no standard deviation and judges nothing. 'Paired z' is the "
    "stricter one on the very same documents, where the authors' documents are known. Verdicts are computed."
)


def write(out: Path, results: Sequence[Result], facts: dict[str, Any]) -> None:
    """Write report.md, report.html and numbers.json into a folder."""
    summary = summarise(results)
    blocks = _blocks(results, facts, summary)
    (out / "report.md").write_text("\n\n".join(_markdown(b) for b in blocks) + "\n", encoding="utf-8")
    (out / "report.html").write_text(_page(blocks), encoding="utf-8")
    numbers = {"facts": facts, "summary": summary, "results": [r.to_dict() for r in results]}
    text = json.dumps(numbers, indent=1, ensure_ascii=False, default=lambda x: x.item())
    (out / "numbers.json").write_text(text + "\n", encoding="utf-8")


def counts(results: Sequence[Result]) -> dict[str, int]:
    """How many of the published numbers were compared, and how they came out."""
    cells = [cell for r in results for t in r.tables if t.counted for cell in t.cells]
    return {
        "numbers": len(cells),
        "within": sum(c.verdict == "within" for c in cells),
        "corrected": sum(c.verdict.startswith("within") for c in cells),
        "with runs": sum(c.theirs is not None for c in cells),
    }


def summarise(results: Sequence[Result]) -> list[str]:
    """The whole in three lines."""
    told = counts(results)
    checks = [check for r in results for check in r.checks]
    claims = [figure for r in results for figure in r.figures if figure.holds is not None]
    return [
        (
            f"{told['within']} of {told['numbers']} published numbers within |z| <= {LIMIT:g}, "
            f"{told['corrected']} within the limit corrected for {LOOKS} looks; {told['with runs']} are "
            "judged "
            "against the authors' own runs"
        ),
        f"{sum(c.holds is True for c in claims)} of {len(claims)} claims of figures hold",
        f"{sum(c.holds for c in checks)} of {len(checks)} checks pass",
    ]


Block = tuple[str, Any]


def _blocks(results: Sequence[Result], facts: dict[str, Any], summary: list[str]) -> list[Block]:
    """The report as headings, paragraphs, lists, tables and pictures."""
    blocks: list[Block] = [("h1", HEADING), ("p", INTRO), ("list", summary)]
    blocks.append(("table", (["", ""], [[k, str(v)] for k, v in facts.items()])))
    for result in results:
        blocks.append(("h2", result.title))
        for table in result.tables:
            blocks += [("p", table.text)] if table.text else []
            if table.cells:
                blocks.append(("table", _compared(table)))
            if table.extra:
                blocks.append(("p", "Beyond the paper (mean ± standard error):"))
                blocks.append(("table", _beyond(table.extra)))
        for figure in result.figures:
            verdict = {True: "holds here", False: "does not hold here", None: "is not judged"}[figure.holds]
            blocks.append(("figure", (f"figures/{figure.stem}.png", figure.caption, figure.claim, verdict)))
        if result.checks:
            rows = [[c.statement, "yes" if c.holds else "NO", c.detail] for c in result.checks]
            blocks.append(("table", (["check", "holds", "detail"], rows)))
        if result.notes:
            blocks.append(("list", list(result.notes)))
    return blocks


def _compared(table: Table) -> tuple[list[str], list[list[str]]]:
    head = ["", "data set or model", "paper", "authors' runs", "here", "z", "paired z", "verdict", "note"]
    rows = []
    for c in table.cells:
        theirs = _sample(c.theirs) if c.theirs else UNPUBLISHED if table.counted else "-"
        verdict = c.verdict if table.counted else f"({c.verdict})"
        found = [_printed(c), theirs, _sample(c.here), _signed(c.z), _signed(c.paired)]
        rows.append([c.row, c.column, *found, verdict, c.note])
    return head, rows


def _printed(cell: Cell) -> str:
    if cell.paper is None:
        return "-"
    return f"{cell.paper:.2f}" + ("" if cell.sd is None else f" ± {cell.sd:g}")


def _sample(found: Sample | None) -> str:
    if found is None:
        return "-"
    runs = "1 run" if found.runs == 1 else f"{found.runs} runs"
    return f"{found.mean:.3f} ± {found.error:.3f} ({found.documents} documents, {runs})"


def _signed(z: float | None) -> str:
    return "-" if z is None else f"{z:+.2f}"


def _beyond(cells: Sequence[Beyond]) -> tuple[list[str], list[list[str]]]:
    columns = list(dict.fromkeys(c.column for c in cells))
    rows = []
    for name in dict.fromkeys(c.row for c in cells):
        found = {c.column: c for c in cells if c.row == name}
        rows.append([name, *(_beyond_cell(found.get(column)) for column in columns)])
    return ["", *columns], rows


def _beyond_cell(cell: Beyond | None) -> str:
    if cell is None:
        return ""
    if cell.value is None:
        return "-"
    error = "" if cell.error is None else f" ± {cell.error:.2f}"
    return f"{cell.value:.2f}{error}" + (f" ({cell.note})" if cell.note else "")


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


_COLOURS = {"within": "good", "within, corrected": "good", "yes": "good", "outside": "bad", "NO": "bad"}


def _td(cell: str) -> str:
    colour = _COLOURS.get(cell, "")
    return f'<td class="{colour}">{escape(cell)}</td>' if colour else f"<td>{escape(cell)}</td>"


_STYLE = """
body { font: 16px/1.55 system-ui, sans-serif; color: #22303c; }
body { max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
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
