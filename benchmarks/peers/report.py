"""The record, the tables and the plots."""

import json
import os
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from .figures import ratio
from .quote import TITLES
from .tasks import MODELS
from .tools import TOOLS

Part = dict[str, Any]

# The plot of promises leaves out shares of fewer than this.
FEW = 5

# A colour and a mark per tool, the same in both plots; kedge's are filled.
STYLES = {
    "kedge": ("#0b6e4f", "o"),
    "kedge-proba": ("#2ca25f", "s"),
    "kedge-labels": ("#99d8c9", "D"),
    "anchor-exp": ("#d95f02", "^"),
    "alibi": ("#7570b3", "v"),
    "lime": ("#999999", "x"),
    "shap": ("#444444", "+"),
}


def write(out: Path, parts: list[Part], settings: dict[str, Any], name: str) -> None:
    """Everything, under one name."""
    out.mkdir(parents=True, exist_ok=True)
    record = {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": {
            "cores": os.cpu_count(),
            "system": platform.system(),
            "processor": platform.machine(),
            "python": platform.python_version(),
        },
        "versions": _versions(parts),
        "settings": settings,
        "parts": [{**part, "heads": _short(part["heads"]), "rows": _compact(part["rows"])} for part in parts],
    }
    (out / f"{name}.json").write_text(json.dumps(record, separators=(",", ":")) + "\n", encoding="utf-8")
    (out / f"{name}.md").write_text(markdown(record), encoding="utf-8")
    plots(out, parts, name)


def _versions(parts: list[Part]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {"kedge": {}, "peers": {}}
    for part in parts:
        for name, head in part["heads"].items():
            found[TOOLS[name].home] |= {**head["packages"], "python": head["python"]}
    if any(part["model"] == "network" for part in parts):
        found["kedge"]["torch"] = version("torch")
    return found


def _short(heads: dict[str, Any]) -> dict[str, Any]:
    return {name: {"date": head["date"], "loaded": round(head["loaded"])} for name, head in heads.items()}


# What is kept of every answer, in this order.
KEPT = (
    "document",
    "seed",
    "words",
    "cost",
    "predict",
    "asked",
    "peak",
    "error",
    "claimed",
    "status",
    "true",
    "how",
    "baseline",
    "length",
    "best",
    "idle",
)


def _compact(rows: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """Rows as lists under one heading, with few digits."""

    def short(value: Any) -> Any:
        return float(f"{value:.4g}") if isinstance(value, float) else value

    return {"fields": KEPT} | {
        name: [[short(row.get(key)) for key in KEPT] for row in found] for name, found in rows.items()
    }


def number(value: float | None, digits: int = 0) -> str:
    """A figure as it is printed; small ones keep two digits."""
    if value is None:
        return "-"
    if digits == 0 and abs(value) < 10 and value != int(value):
        digits = 1
    return f"{value:,.{digits}f}"


def percent(found: dict[str, float] | None) -> str:
    """A share and what it is of."""
    return "-" if found is None else f"{100 * found['share']:.1f}% of {found['of']:.0f}"


def failures(column: dict[str, Any]) -> str:
    """How many, and which."""
    total = sum(column["failures"].values())
    which = ", ".join(f"{n} {name}" for name, n in column["failures"].items())
    return f"{total} of {column['documents']}" + (f" ({which})" if which else "")


def similar(found: dict[str, float] | None) -> str:
    """A similarity and over how many documents it is the mean."""
    return "-" if found is None else f"{found['mean']:.3f} ({found['of']:.0f} documents)"


LINES = {
    "documents": lambda c: str(c["documents"]),
    "failures": failures,
    "processor time, s: documents, further seeds": lambda c: " + ".join(number(s) for s in c["seconds"]),
    "cost, median / mean x predict": lambda c: (
        f"{number(c.get('cost_median'))} / {number(c.get('cost_mean'))}"
    ),
    "texts asked, median / mean / max": lambda c: " / ".join(
        number(c.get(key)) for key in ("asked_median", "asked_mean", "asked_max")
    ),
    "peak memory, MB (after loading)": lambda c: f"{number(c['peak_mb'])} ({number(c['loaded_mb'])})",
    "answers whose true precision is below 0.95": lambda c: percent(c.get("below")),
    "... where the baseline is below 0.95": lambda c: percent(c.get("below_needy")),
    "broken promises (claimed >= 0.95, truly below)": lambda c: percent(c.get("broken")),
    "shortest known length that reaches 0.95, there": lambda c: percent(c.get("shortest")),
    "answers with a word of no or negative influence": lambda c: percent(c.get("idle")),
    "mean pairwise Jaccard over seeds": lambda c: similar(c.get("jaccard")),
    "... where the baseline is below 0.95, so that words are needed": lambda c: similar(
        c.get("jaccard_needy")
    ),
    "status": lambda c: ", ".join(f"{n} {name}" for name, n in c.get("status", {}).items()) or "-",
}


PREFACE = """\
Made by `make bench` on {date}, {cores} cores, one thread and one process for each tool, model and set,
{jobs} processes at a time.
Environments: {versions}.

{note}

Documents: positively predicted test documents in a random order (75/25 split, seed 0; the paper's
preparation: letters, digits, blanks, lower case). Every tool with its defaults, threshold 0.95. A tool stops
when its budget of processor time on one model and set is spent; that is why a slow one has fewer documents.
The seconds that each was given are in the tables; `--budget` gives more, and a run goes on where the last one
stopped.
One explanation fails after {limit:g} s or beyond {gib:g} GiB of address space.

Cost: processor time over that of one `pipeline.predict([text])`, timed in turns in the same process; over
answers, so that failures make nobody look quicker or slower. Texts asked are counted where the model is
called; for kedge reading a model, rows of counts count as texts.

Judge: exact precision on the words that the model reads, by kedge's convolution (logistic, no norm) or
enumeration; else {samples:,} samples of counts, {samples_by_arithmetic:,} for normalised TF-IDF (fewer
where the side of the threshold is clear by four standard errors). A token that a peer cut out of a model's
word stands for the word. A promise: kedge's exact or certified, a peer's claimed precision of at least
0.95. Shortest known length: the shortest anchor of any tool that the judge lets pass; proven where kedge's
status is exact. Words of no or negative influence: not read by the model or, for linear models, of
coefficient zero or below. Jaccard: the first {stable} documents with {seeds} seeds each, within a budget of
their own (documents with fewer than 5 seeds do not count).
"""
FITTED = (
    "{documents} documents, {words_mean:.0f} words on average. The two environments' fits differ by at most "
    "{fit_differs_by:.0e} in a probability, and in no label."
)


def _said(record: dict[str, Any]) -> dict[str, Any]:
    """What the preface needs besides the settings."""
    versions = "; ".join(
        f"{home}: " + ", ".join(f"{name} {known}" for name, known in sorted(found.items()))
        for home, found in record["versions"].items()
    )
    return {
        "date": record["date"],
        "cores": record["machine"]["cores"],
        "versions": versions,
        "gib": record["settings"]["memory"] / 1024,
    }


def markdown(record: dict[str, Any]) -> str:
    """All tables, with what they mean."""
    lines = ["# kedge and its peers, measured in one run", ""]
    lines.append(PREFACE.format(**record["settings"], **_said(record)))
    for part in record["parts"]:
        lines += [
            f"## {TITLES[part['set']]}, {MODELS[part['model']]}",
            "",
            FITTED.format(**part),
            "",
            *_table(part),
            "",
        ]
    lines += ["## How many times kedge's cost", "", *_relative(record["parts"]), ""]
    lines += ["## How many times kedge's questions", "", *_asked(record["parts"]), ""]
    lines += [
        "![Cost against length of the document](peers-cost.png)",
        "",
        "![Promises kept against cost](peers-promises.png)",
        "",
    ]
    return "\n".join(lines)


def _table(part: Part) -> list[str]:
    columns = part["columns"]
    lines = [
        "| | " + " | ".join(TOOLS[name].title for name in columns) + " |",
        "|---" * (len(columns) + 1) + "|",
    ]
    return lines + [
        f"| {title} | " + " | ".join(show(column) for column in columns.values()) + " |"
        for title, show in LINES.items()
    ]


def _relative(parts: list[Part]) -> list[str]:
    """Peers' cost over that of kedge reading the model, on documents that both answered."""
    names = [name for name in TOOLS if not name.startswith("kedge")]
    lines = [
        "Median over median / mean over mean, on the documents that both answered; kedge reads the model.",
        "",
        "| set | model | " + " | ".join(TOOLS[name].title for name in names) + " |",
        "|---" * (len(names) + 2) + "|",
    ]
    for part in parts:
        cells = []
        for name in names:
            found = part["times_kedge"].get(name)
            cells.append(
                "-"
                if found is None
                else f"{number(found['median'])} / {number(found['mean'])} ({found['of']})"
            )
        lines.append(f"| {TITLES[part['set']]} | {part['model']} | " + " | ".join(cells) + " |")
    return lines


def _asked(parts: list[Part]) -> list[str]:
    """Peers' questions over those of kedge as a black-box explainer, on documents that both answered."""
    pairs = [(ours, peer) for ours in ("kedge-proba", "kedge-labels") for peer in ("anchor-exp", "alibi")]
    lines = [
        "Median over median / mean over mean, on the documents that both answered; above 1 kedge asks less.",
        "",
        "| set | model | " + " | ".join(f"{TOOLS[b].title} / {TOOLS[a].title}" for a, b in pairs) + " |",
        "|---" * (len(pairs) + 2) + "|",
    ]
    for part in parts:
        cells = []
        for ours, peer in pairs:
            found = part["asked_times_kedge"].get(ours, {}).get(peer)
            cells.append(
                "-" if found is None else f"{found['median']:.2f} / {found['mean']:.2f} ({found['of']})"
            )
        lines.append(f"| {TITLES[part['set']]} | {part['model']} | " + " | ".join(cells) + " |")
    return lines


def plots(out: Path, parts: list[Part], name: str) -> None:
    """Cost against length of the document, and promises kept against cost; both on logarithmic axes."""
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    kinds = list(dict.fromkeys(part["model"] for part in parts))
    figure, axes = plt.subplots(1, len(kinds), figsize=(4.2 * len(kinds), 4.4), sharey=True, squeeze=False)
    for ax, kind in zip(axes[0], kinds, strict=True):
        for tool, (colour, mark) in STYLES.items():
            rows = [
                row
                for part in parts
                if part["model"] == kind
                for row in part["rows"].get(tool, [])
                if row["part"] == "main" and row["error"] is None
            ]
            if rows:
                ax.loglog(
                    [row["words"] for row in rows],
                    [ratio(row) for row in rows],
                    mark,
                    color=colour,
                    ms=4,
                    alpha=0.6,
                    label=TOOLS[tool].title,
                )
        ax.set_title(kind)
        ax.set_xlabel("words of the document")
        ax.grid(visible=True, which="major", alpha=0.3)
    axes[0][0].set_ylabel("cost, in predictions of the document")
    figure.legend(
        *axes[0][0].get_legend_handles_labels(), loc="lower center", ncol=len(STYLES), frameon=False
    )
    figure.tight_layout(rect=(0, 0.07, 1, 1))
    figure.savefig(out / f"{name}-cost.png", dpi=110, metadata={"Software": None})
    plt.close(figure)
    figure, axes = plt.subplots(1, len(kinds), figsize=(4.2 * len(kinds), 4.4), sharey=True, squeeze=False)
    sizes = {"restaurants": 40, "yelp": 90, "imdb": 160}
    for ax, kind in zip(axes[0], kinds, strict=True):
        for part in (part for part in parts if part["model"] == kind):
            for tool, column in part["columns"].items():
                kept = column.get("broken")
                if kept is None or kept["of"] < FEW:
                    continue
                colour, mark = STYLES[tool]
                ax.scatter(
                    column["cost_mean"],
                    100 * (1 - kept["share"]),
                    s=sizes[part["set"]],
                    c=colour,
                    marker=mark,
                    alpha=0.75,
                    label=TOOLS[tool].title,
                )
        ax.axhline(95, color="#bbbbbb", lw=1, zorder=0)
        ax.set_xscale("log")
        ax.set_title(kind)
        ax.set_xlabel("mean cost, in predictions")
        ax.grid(visible=True, alpha=0.3)
    axes[0][0].set_ylabel("promises kept, in %")
    shown = dict(zip(*reversed(axes[0][0].get_legend_handles_labels()), strict=True))
    figure.legend(shown.values(), shown.keys(), loc="lower center", ncol=len(shown), frameon=False)
    told = f"small, middle and large marks: Restaurants, Yelp, IMDB; at least {FEW} promises each"
    figure.suptitle(told, fontsize=9)
    figure.tight_layout(rect=(0, 0.07, 1, 1))
    figure.savefig(out / f"{name}-promises.png", dpi=110, metadata={"Software": None})
    plt.close(figure)
