"""The comparison quoted by the README and by docs/peers.md, made of the committed results and nothing else.

usage: python benchmarks/peers/quote.py   (rewrites the sections between the two marks; standard library only)

``tests/docs/test_readme_figures.py`` checks that both say what the results say.
"""

import json
from pathlib import Path
from textwrap import fill
from typing import Any

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "results" / "peers.json"
README, PAGE = ROOT / "README.md", ROOT / "docs" / "peers.md"
START, END = "<!-- figures of benchmarks/results/peers.json -->\n", "<!-- end of figures -->\n"
TITLES = {"restaurants": "Restaurants", "yelp": "Yelp", "imdb": "IMDB"}
MODELS = {
    "logistic": "logistic",
    "logistic-l2": "logistic, l2",
    "forest": "forest",
    "network": "network",
}
# Fewer answers than this are no figure: only how many there are is said.
FEW = 5
READ_HEAD = (
    "Models that kedge reads: the cost of an explanation, median / mean, in predictions of the document;\n"
    "the share of answers whose true precision is below 0.95; failures (out of memory or time):"
)
ASKED_HEAD = "Black boxes: texts sent to the model, median / mean; share of answers below 0.95:"
READ = ("logistic", "logistic-l2")
PEERS = {"anchor-exp": "anchor-exp", "alibi": "alibi"}


def number(value: float) -> str:
    """Two digits below ten, whole numbers above."""
    return f"{value:,.1f}" if value < 10 else f"{value:,.0f}"


def failing(column: dict[str, Any]) -> str:
    """How many documents got no answer, if any."""
    failed = sum(column["failures"].values())
    return f"; {failed} of {column['documents']} fail" if failed else ""


def few(column: dict[str, Any]) -> str:
    """Too few answers for a figure: how many there are, and failures."""
    return f"{column['answers']} answer{'s' * (column['answers'] != 1)}{failing(column)}"


def cost(column: dict[str, Any]) -> str:
    """Median and mean cost, the share of answers below 0.95, and failures."""
    if column["answers"] < FEW:
        return few(column)
    text = f"{number(column['cost_median'])} / {number(column['cost_mean'])}; {below(column)}"
    return text + failing(column)


def asked(column: dict[str, Any]) -> str:
    """Mean number of texts asked, and the share of answers below 0.95."""
    if column["answers"] < FEW:
        return few(column)
    return f"{number(column['asked_median'])} / {number(column['asked_mean'])}; {below(column)}"


def below(column: dict[str, Any]) -> str:
    """The share of answers whose true precision is below 0.95, and how many answers there are."""
    return f"{100 * column['below']['share']:.0f}% of {column['below']['of']}"


def table(record: dict[str, Any], models: tuple[str, ...], columns: dict[str, str], show: Any) -> list[str]:
    """One row per set and model."""
    lines = ["| | " + " | ".join(columns.values()) + " |", "|---" * (len(columns) + 1) + "|"]
    for part in record["parts"]:
        if part["model"] in models:
            cells = " | ".join(
                show(part["columns"][name]) if name in part["columns"] else "-" for name in columns
            )
            lines.append(f"| {TITLES[part['set']]}, {MODELS[part['model']]} | {cells} |")
    return lines


def times(value: float) -> str:
    """How many times: two digits below ten."""
    return f"{value:.1f}" if value < 10 else f"{value:.0f}"


def shares(record: dict[str, Any], peer: str) -> str:
    """A peer's questions over kedge's, from the least to the largest of all sets and models."""
    lines = []
    for ours, how in (("kedge-proba", "probabilities"), ("kedge-labels", "labels")):
        found = [part["asked_times_kedge"].get(ours, {}).get(peer) for part in record["parts"]]
        enough = [one for one in found if one is not None and one["of"] >= FEW]
        ranges = [[times(f(one[by] for one in enough)) for f in (min, max)] for by in ("mean", "median")]
        mean, median = (f"{low} to {high}" for low, high in ranges)
        lines.append(f"{mean} by the mean and {median} by the median where kedge gets {how}")
    return fill(
        f"Black boxes: how many times as many texts as kedge {peer} sends to the model, on the documents "
        f"that both answered: {lines[0]}, {lines[1]}. Where a long document is an easy case, a proof costs "
        "more queries than an estimate: hence the medians below one.",
        width=100,
    )


def summary(record: dict[str, Any]) -> str:
    """The figures of the README: one short table and a sentence."""
    columns = {"kedge": "kedge"} | PEERS
    lines = [READ_HEAD, "", *table(record, READ, columns, cost), "", shares(record, "anchor-exp"), ""]
    return "\n".join(lines)


def details(record: dict[str, Any]) -> str:
    """The figures of docs/peers.md: all models, asked as black boxes."""
    columns = {"kedge-proba": "kedge, probabilities", "kedge-labels": "kedge, labels"} | PEERS
    return "\n".join([ASKED_HEAD, "", *table(record, tuple(MODELS), columns, asked), ""])


SECTIONS = {README: summary, PAGE: details}


def quoted(page: str) -> str:
    """What a page says between its marks."""
    return page.split(START)[1].split(END, maxsplit=1)[0]


def main() -> None:
    """Rewrite the sections."""
    record = json.loads(RESULTS.read_text(encoding="utf-8"))
    for path, section in SECTIONS.items():
        page = path.read_text(encoding="utf-8")
        before, after = page.split(START)[0], page.split(END)[1]
        path.write_text(before + START + section(record) + END + after, encoding="utf-8")


if __name__ == "__main__":
    main()
