"""What a search by levels could find of an anchor: sentences first, then the words of those that matter.

For long reviews of a logistic model that kedge reads, the effect of every sentence is known exactly: the sum
of its words' coefficients. The share of anchors that lie within the sentences that speak most for the label
is the most that any search by levels could find of them, however many queries it spends on sentences.

usage: python benchmarks/levels.py   (writes results/levels.md; $KEDGE_DATA names the folder of the reviews)
"""

import csv
import gzip
import re
from bisect import bisect_right
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from reviews import folder

import kedge

RESULTS = Path(__file__).parent / "results" / "levels.md"
# Reviews to train on, reviews to explain, and how many words those have.
TRAINED, EXPLAINED, FEWEST, MOST = 1_800, 800, 250, 1_500
SENTENCE = re.compile(r"[^.!?]+[.!?]*")
SHARES = (0.25, 0.4, 0.6, 0.8)


@dataclass(frozen=True)
class Anchor:
    """An anchor; ``inside``: for each share of the words, how many of its own are in the top sentences."""

    length: int
    words: int
    sentences: int
    inside: tuple[int, ...]


def reviews() -> tuple[list[str], list[str]]:
    """IMDB reviews without markup, and their labels."""
    with gzip.open(folder() / "imdb10k.csv.gz", "rt", encoding="utf-8", newline="") as lines:
        rows = list(csv.reader(lines))[1 : 1 + TRAINED + EXPLAINED]
    return [row[0].replace("<br />", " ") for row in rows], [row[1] for row in rows]


def anchor_of(model: Any, text: str) -> Anchor | None:
    """The anchor of a text that needs a word, beside the sentences it lies in."""
    e = kedge.explain(model, text)
    if e.needs_no_word is not False:
        return None
    starts = [found.start() for found in SENTENCE.finditer(text)]
    reading = kedge.Explainer(model).read(text)
    effects, words = np.zeros(len(starts)), np.zeros(len(starts))
    for members, table in zip(reading.units.members, reading.additive.tables, strict=True):
        for position in members:
            at = bisect_right(starts, reading.document.tokens[position].start) - 1
            effects[at] += table[1] - table[0]
            words[at] += 1
    ranked = np.argsort(-effects, kind="stable")
    reached = np.cumsum(words[ranked]) / words.sum()
    homes = [bisect_right(starts, start) - 1 for start, _ in e.spans]
    inside = []
    for share in SHARES:
        chosen = set(ranked[: int(np.searchsorted(reached, share)) + 1].tolist())
        inside.append(sum(home in chosen for home in homes))
    return Anchor(len(homes), int(words.sum()), int((words > 0).sum()), tuple(inside))


def main() -> None:
    """Measure and write the page."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    texts, labels = reviews()
    model = make_pipeline(TfidfVectorizer(norm=None), LogisticRegression(max_iter=1000))
    model.fit(texts[:TRAINED], labels[:TRAINED])
    long = [text for text in texts[TRAINED:] if FEWEST <= len(text.split()) <= MOST]
    found = [anchor for text in long if (anchor := anchor_of(model, text)) is not None]
    words, sentences = np.mean([a.words for a in found]), np.mean([a.sentences for a in found])
    about = f"""# Levels

Written by `benchmarks/levels.py`: {len(found)} of {len(long)} IMDB reviews of {FEWEST} to {MOST:,} words,
those that need a word; TF-IDF without norm, logistic regression. By the mean {words:.0f} words in
{sentences:.0f} sentences, anchors of {np.mean([a.length for a in found]):.1f} words. Sentences are taken by
their exact effect on the score, the strongest first, until they have the share of the words.

| share of the words | words of anchors inside | anchors wholly inside |
|---|---|---|"""
    lines = [about]
    for k, share in enumerate(SHARES):
        some = np.mean([a.inside[k] / a.length for a in found])
        all_of = np.mean([a.inside[k] == a.length for a in found])
        lines.append(f"| {share:.0%} | {some:.0%} | {all_of:.0%} |")
    RESULTS.write_text("\n".join([*lines, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
