"""Review sets of the published files' names and formats, small, and made of the embedded corpus."""

import csv
import gzip
import hashlib
import io
import random
from dataclasses import replace

from kedge.data.datasets import FILES
from kedge.data.demo import reviews

# What the paper's rules look for in a review of Yelp.
PHRASES = (
    "An awesome place, not bad and very good: great food.",
    "A great, very nice, good place; the food is not bad.",
    "I love this place, the best food, very good and great.",
)
ROWS = {"restaurants": 420, "yelp": 240, "imdb": 80}


def write_review_sets(folder):
    """Write one file of each set; gives what ``kedge.datasets`` should know of them."""
    rng = random.Random(0)
    tables = {
        "restaurants": _table("\t", ("Review", "Liked"), _rows(rng, ROWS["restaurants"], 1)),
        "yelp": _table("|", ("text", "stars"), [*_rows(rng, ROWS["yelp"], 6), *((p, 1) for p in PHRASES)]),
        "imdb": gzip.compress(
            _table(
                ",",
                ("review", "sentiment"),
                [
                    (text.replace(". ", ".<br />"), "positive" if label else "negative")
                    for text, label in _rows(rng, ROWS["imdb"], 12)
                ],
            )
        ),
    }
    known = {}
    for name, content in tables.items():
        file = FILES[name][0]
        (folder / file.name).write_bytes(content)
        known[name] = (replace(file, digest=hashlib.sha256(content).hexdigest()), *FILES[name][1:])
    return known


def _rows(rng, count, joined):
    """Reviews of one label joined, each row with a word of its own, as real ones have names in them."""
    texts, labels = reviews()
    by_label = [
        [t for t, y in zip(texts, labels, strict=True) if y == kind] for kind in ("negative", "positive")
    ]
    for kind in by_label:
        rng.shuffle(kind)
    rows = []
    for k in range(count):
        label = k % 2
        pool = by_label[label]
        picked = [pool[(k // 2 * joined + j) % len(pool)] for j in range(joined)]
        own = "".join(rng.choice("bdfgklmnprstvz") + rng.choice("aeiou") for _ in range(4))
        rows.append((" ".join([*picked, f"{own.title()}."]), label))
    rng.shuffle(rows)
    return rows


def _table(separator, header, rows):
    file = io.StringIO()
    writer = csv.writer(file, delimiter=separator, lineterminator="\n")
    writer.writerows([header, *rows])
    return file.getvalue().encode()
