"""LIME, SHAP and anchors judged by the same judge: the top words of each at kedge's own number of words.

Documents that need no word are passed over. The model is a logistic regression on TF-IDF that kedge reads, so
that sufficiency is exact for every tool. The tools run in an environment of their own
(``make .venv-peers/.ready``).

usage: python benchmarks/judged.py --peers .venv-peers/bin/python [--restaurants 40] [--yelp 20]
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

from reviews import folder, pipeline

import kedge

HERE = Path(__file__).parent
TOOLS = {"lime": "LIME", "shap": "SHAP", "anchor-exp": "anchor-exp", "alibi": "alibi"}


def telling(explainer: kedge.Explainer, texts: list[str], count: int) -> list[int]:
    """The first documents that need a word."""
    return list(islice((i for i, t in enumerate(texts) if not explainer.explain(t).needs_no_word), count))


def words_of(peers: str, name: str, tool: str, chosen: list[int]) -> list[dict[str, Any]]:
    """What a tool says of some documents."""
    command = [peers, "-m", "benchmarks.peers.words", str(folder()), name, tool, json.dumps(chosen)]
    done = subprocess.run(command, cwd=HERE.parent, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{tool} on {name}: {done.stderr[-2000:]}")
    found: list[dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    return found


def looked_up(
    explainer: kedge.Explainer, texts: list[str], said: list[dict[str, Any]]
) -> Callable[[str], list[Any]]:
    """A tool's answers as a function of the text; a piece cut out of a word stands for the word."""
    known: dict[str, list[Any]] = {}
    for text, row in zip(texts, said, strict=True):
        tokens = explainer.read(text).document.tokens
        anchor = [
            k for a, b in row.get("spans", ()) for k, t in enumerate(tokens) if a < t.stop and t.start < b
        ]
        known[text] = anchor or [tuple(pair) for pair in row.get("ranked", ())]
    return known.__getitem__


def main() -> None:
    """Judge, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", required=True, help="the Python that has the tools")
    parser.add_argument("--restaurants", type=int, default=40)
    parser.add_argument("--yelp", type=int, default=20)
    given = parser.parse_args()
    rows = []
    for name in ("restaurants", "yelp"):
        model, documents = pipeline(folder(), name)
        explainer = kedge.Explainer(model)
        chosen = telling(explainer, documents, getattr(given, name))
        texts = [documents[i] for i in chosen]
        tools, failed = {}, {}
        for tool, title in TOOLS.items():
            said = words_of(given.peers, name, tool, chosen)
            tools[title] = looked_up(explainer, texts, said)
            failed[title] = sum("error" in row for row in said)
        judged = kedge.evaluate(model, texts, tools)
        sys.stdout.write(f"{name}\n{judged}\n\n")
        rows += [{"set": name, **row, "failed": failed.get(row["tool"], 0)} for row in judged.table()]
    lines = [
        "| set | tool | texts | words | sufficiency | reaching 0.95 | comprehensiveness | failed |",
        "|---|---|---|---|---|---|---|---|",
        *(
            f"| {row['set']} | {row['tool']} | {row['texts']} | {row['size']:.1f} "
            f"| {row['sufficiency']:.3f} | {row['reaching']:.0%} | {row['comprehensiveness']:.0%} "
            f"| {row['failed']} |"
            for row in rows
        ),
    ]
    (HERE / "results" / "judged.json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    (HERE / "results" / "judged.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
