"""Answers: what kind of answer documents get, by set and kind of model, before and after.

Before: the mask UNK whatever the model, as in release 0.1, where a label that needs no word got some word.
After: the mask that fits, "no word is needed" as an answer of its own, and what carries such a label when
more is removed (keep="auto").

usage: python benchmarks/answers.py [--documents 30] [--sets restaurants yelp imdb banking77]

Sets that are not asked for keep the rows of an earlier run of as many documents.
"""

import argparse
import csv
import gzip
import json
import platform
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import mean
from typing import Any

from reviews import FILES, folder

import kedge

HERE = Path(__file__).parent
SETS = ("restaurants", "yelp", "imdb", "banking77")
# Questions per document for models that can only be asked; documents of more words are left out for them.
QUESTIONS, LONGEST = 3000, 200
# Texts of the larger sets that models are trained on.
TRAINED = 4000
HEADING = """# Answers

Written by `benchmarks/answers.py`: {documents} test documents of each set (of at most {longest} words),
threshold 0.95, at most {questions:,} questions each. *Before*: the mask UNK whatever the model, as in
release 0.1, where the documents under *no word* got some word all the same. *After*: the mask that fits the
model, and `keep="auto"`. The shares: *no word* is needed, proven or certified; an anchor *proven shortest*;
an anchor that is *certified*; *neither* (not reached, or an estimate that no word is needed). *Words*: the
mean length of the anchors where a word is needed, and the longest. *Carried by words*: no word is needed
with half of the words gone, but at a harder removal, where those that carry the label are shown. *Holds
without words*: the label is what the model says of a text without words.

"""


def rows_of(name: str) -> list[tuple[str, str]]:
    """The texts and labels of a set."""
    if name in FILES:
        file, separator, quoting = FILES[name]
        with Path(folder(), file).open(encoding="utf-8", newline="") as lines:
            rows = list(csv.reader(lines, delimiter=separator, quoting=quoting))[1:]
        return [(row[0], ("negative", "positive")[int(row[1])]) for row in rows]
    if name == "imdb":
        with gzip.open(Path(folder(), "imdb10k.csv.gz"), "rt", encoding="utf-8", newline="") as lines:
            return [(row[0], row[1]) for row in list(csv.reader(lines))[1:]]
    with Path(folder(), "banking77.csv").open(encoding="utf-8", newline="") as lines:
        return [(row[0], row[1]) for row in list(csv.reader(lines))[1:]]


def split(name: str) -> tuple[list[str], list[str], list[str]]:
    """Texts and labels to train on, and texts to explain."""
    from sklearn.model_selection import train_test_split

    texts, labels = zip(*rows_of(name), strict=True)
    train, test, known, _ = train_test_split(list(texts), list(labels), test_size=0.25, random_state=0)
    return train[:TRAINED], known[:TRAINED], test


def kinds(texts: list[str], labels: list[str]) -> Iterator[tuple[str, Callable[[], Any]]]:
    """The name of each kind of model, and a function that trains one."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    def fitted(vectorizer: Any, head: Any = None) -> Any:
        return make_pipeline(vectorizer, LogisticRegression(max_iter=1000) if head is None else head).fit(
            texts, labels
        )

    yield "TF-IDF, no norm, logistic", lambda: fitted(TfidfVectorizer(norm=None, max_features=5000))
    yield "TF-IDF, logistic", lambda: fitted(TfidfVectorizer(max_features=5000))
    yield "words and pairs, logistic", lambda: fitted(CountVectorizer(ngram_range=(1, 2), max_features=20000))
    yield (
        "counts, forest",
        lambda: fitted(CountVectorizer(max_features=1000), RandomForestClassifier(30, random_state=0)),
    )
    yield (
        "characters within words",
        lambda: fitted(TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4), max_features=20000)),
    )
    yield "hashed words", lambda: fitted(HashingVectorizer(n_features=2**14))

    def hidden() -> Callable[[list[str]], Any]:
        pipeline = fitted(TfidfVectorizer(max_features=5000))
        return lambda some: pipeline.predict(some).tolist()

    yield "function around TF-IDF", hidden


def answered(model: Any, documents: list[str], **options: Any) -> list[kedge.Explanation]:
    """The answers that there are; a document that cannot be explained is left out."""
    explainer = kedge.Explainer(model, max_queries=QUESTIONS, batch_size=256, **options)
    found = []
    for text in documents:
        try:
            found.append(explainer.explain(text))
        except kedge.KedgeError:
            continue
    return found


def summed(found: list[kedge.Explanation]) -> dict[str, Any]:
    """The shares of kinds of answers."""
    if not found:
        return {"documents": 0}
    needed = [e for e in found if e.needs_no_word is not True]
    carried = [e.carried_by for e in found if e.needs_no_word and e.carried_by is not None]
    default = [e for e in found if e.needs_no_word and e.survives == 1.0]

    def share(some: list[Any]) -> float:
        return len(some) / len(found)

    likely = [e for e in needed if e.baseline is not None and e.baseline.mean >= e.threshold]
    return {
        "documents": len(found),
        "no_word": share([e for e in found if e.needs_no_word]),
        "probably_no_word": share(likely),
        "exact": share([e for e in needed if e.status == "exact" and e not in likely]),
        "certified": share([e for e in needed if e.status == "certified" and e not in likely]),
        "rest": share([e for e in needed if e.status not in {"exact", "certified"} and e not in likely]),
        "words": mean(len(e.words) for e in needed) if needed else None,
        "longest": max((len(e.words) for e in needed), default=0),
        "shortest_proven": mean(e.minimality == "shortest" for e in needed) if needed else None,
        "irreducible": mean(e.minimality == "irreducible" for e in needed) if needed else None,
        "carried": share(carried),
        "carried_words": mean(len(r.words) for r in carried) if carried else None,
        "default": share(default),
        "queries": mean(e.queries for e in found),
    }


def shown(value: float | None, form: str = ".0%") -> str:
    """A number of the table."""
    return "" if value is None else format(value, form)


def table(rows: list[dict[str, Any]]) -> str:
    """The rows as Markdown."""
    heads = ("set", "model", "", "no word", "proven shortest", "certified", "neither", "words", "questions")
    heads += ("carried by words", "holds without words")
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for row in rows:
        for when in ("before", "after"):
            of = row[when]
            lines.append(
                f"| {row['set']} | {row['model']} | {when} | {shown(of['no_word'])} | {shown(of['exact'])} "
                f"| {shown(of['certified'])} | {shown(of['rest'] + of['probably_no_word'])} "
                f"| {shown(of['words'], '.1f')} ({of['longest']}) | {shown(of['queries'], ',.0f')} "
                f"| {shown(of['carried']) if when == 'after' else ''} "
                f"| {shown(of['default']) if when == 'after' else ''} |"
            )
    return "\n".join(lines)


def _others(path: Path, documents: int, sets: list[str]) -> list[dict[str, Any]]:
    """The rows of other sets, of an earlier run."""
    earlier = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    kept = earlier.get("rows", []) if earlier.get("documents") == documents else []
    return [row for row in kept if row["set"] not in sets]


def main() -> None:
    """Measure every kind of model on every set, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--documents", type=int, default=30)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=SETS)
    asked = parser.parse_args()
    results = HERE / "results"
    rows = _others(results / "answers.json", asked.documents, asked.sets)
    for name in asked.sets:
        train, labels, test = split(name)
        documents = [text for text in test if len(text.split()) <= LONGEST][: asked.documents]
        for kind, make in kinds(train, labels):
            started = time.perf_counter()
            model = make()
            before = summed(answered(model, documents, perturbation="unk"))
            after = summed(answered(model, documents, keep="auto"))
            if before["documents"] and after["documents"]:
                rows.append({"set": name, "model": kind, "before": before, "after": after})
            took = time.perf_counter() - started
            print(f"{name}, {kind}: {took:.0f} s", flush=True)  # noqa: T201  (how far it is)
    about = {
        "documents": asked.documents,
        "python": platform.python_version(),
        "kedge": kedge.__version__,
        "rows": rows,
    }
    rows.sort(key=lambda row: SETS.index(row["set"]))
    (results / "answers.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    heading = HEADING.format(documents=asked.documents, longest=LONGEST, questions=QUESTIONS)
    (results / "answers.md").write_text(heading + table(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
