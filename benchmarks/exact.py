"""What an exact answer costs, as a multiple of one `pipeline.predict([text])` in the same run.

Run it on a quiet machine with OMP_NUM_THREADS=1: ``python benchmarks/exact.py``. It needs the review files
(in the folder that $KEDGE_DATA names) and writes ``results/exact.json`` and ``results/exact.md`` beside
itself. Every time is processor time, the best of three, predictions and explanations taking turns.
"""

import argparse
import csv
import json
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from reviews import folder
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import BernoulliNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import kedge

HERE = Path(__file__).parent
CORPORA = {"Restaurants": ("restaurants.tsv", "\t"), "Yelp": ("yelp.csv", "|")}
MODELS = {
    "logistic": lambda: (TfidfVectorizer(norm=None), LogisticRegression(max_iter=1000)),
    "multinomial": lambda: (CountVectorizer(), MultinomialNB()),
    "bernoulli": lambda: (CountVectorizer(), BernoulliNB()),
    "sublinear logistic": lambda: (
        TfidfVectorizer(norm=None, sublinear_tf=True),
        LogisticRegression(max_iter=1000),
    ),
    "tree": lambda: (TfidfVectorizer(norm=None), DecisionTreeClassifier(random_state=0)),
    "logistic, l2 norm": lambda: (TfidfVectorizer(), LogisticRegression(max_iter=1000)),
}


def load(path: Path, delimiter: str) -> tuple[list[str], list[int]]:
    """Texts and labels of one corpus."""
    quoting = csv.QUOTE_MINIMAL if delimiter == "|" else csv.QUOTE_NONE
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter=delimiter, quoting=quoting))[1:]
    return [row[0] for row in rows], [int(row[1]) for row in rows]


def best_of(repeats: int, *calls: Callable[[], object]) -> list[float]:
    """The shortest time of each call, taking turns."""
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(repeats):
        for kept, call in zip(times, calls, strict=True):
            start = time.process_time()  # nothing here waits, and other programs do not count
            call()
            kept.append(time.process_time() - start)
    return [min(t) for t in times]


def corpus_row(corpus: str, model: str, texts: list[str], labels: list[int]) -> dict:
    """All positively predicted test documents of one corpus under one model."""
    train, test, y, _ = train_test_split(texts, labels, test_size=0.25, random_state=0)
    pipeline = make_pipeline(*MODELS[model]()).fit(train, y)
    explainer = kedge.Explainer(pipeline)
    documents = [t for t, p in zip(test, pipeline.predict(test), strict=True) if p == 1]
    explainer.explain(documents[0])
    ratios, seconds, status, lengths = [], [], [], []
    for text in documents:
        e = explainer.explain(text)
        predict, explain = best_of(
            3, lambda t=text: pipeline.predict([t]), lambda t=text: explainer.explain(t)
        )
        ratios.append(explain / predict)
        seconds.append(explain)
        status.append(e.status)
        lengths.append(len(e.words))
    return {
        "corpus": corpus,
        "model": model,
        "documents": len(documents),
        "exact": status.count("exact"),
        "certified": status.count("certified"),
        "ratio_median": float(np.median(ratios)),
        "ratio_mean": float(np.mean(ratios)),
        "milliseconds_median": 1e3 * float(np.median(seconds)),
        "milliseconds_max": 1e3 * max(seconds),
        "words_mean": float(np.mean(lengths)),
    }


def long_row(words: int) -> dict:
    """One long document of undecided tone: its samples score one standard deviation below zero."""
    rng = np.random.default_rng(words)
    names = [f"word{i}" for i in range(words // 4)]
    chance = 1 / np.arange(1, len(names) + 1)
    drawn = [*names, *rng.choice(names, words - len(names), p=chance / chance.sum())]
    counts = np.array([drawn.count(w) for w in names])
    pipeline = make_pipeline(TfidfVectorizer(norm=None), LogisticRegression())
    pipeline.fit([" ".join(names), names[0]], [1, 0])
    columns = [pipeline[0].vocabulary_[w] for w in names]
    slopes = rng.normal(size=len(names)) * rng.exponential(size=len(names))
    spread = np.sqrt(counts @ slopes**2) / 2
    slopes += (0.6 * np.sqrt(words) * spread - counts @ slopes) / words
    pipeline[-1].coef_[0, columns] = slopes / pipeline[0].idf_[columns]
    pipeline[-1].intercept_[0] = -0.5 * counts @ slopes - spread
    text = " ".join(rng.permutation(drawn))
    explainer = kedge.Explainer(pipeline)
    e = explainer.explain(text)
    predict, explain = best_of(2, lambda: pipeline.predict([text]), lambda: explainer.explain(text))
    return {
        "words": words,
        "status": e.status,
        "anchor": len(e.words),
        "interval": (e.interval.low, e.interval.high),
        "seconds": explain,
        "ratio": explain / predict,
    }


def sample_row(corpus: str, texts: list[str], labels: list[int]) -> dict:
    """A sample in count space against the prediction of its text, for normalised TF-IDF."""
    train, test, y, _ = train_test_split(texts, labels, test_size=0.25, random_state=0)
    pipeline = make_pipeline(*MODELS["logistic, l2 norm"]()).fit(train, y)
    text = sorted(test, key=len)[len(test) // 2]
    rng = np.random.default_rng(0)
    reading = kedge.Explainer(pipeline).read(text)
    document = reading.document
    masked = kedge.Masking().writer(document)(rng.random((500, len(document))) < 0.5)
    by_text, by_count = best_of(
        5,
        lambda: pipeline.predict(masked),
        lambda: reading.holds(reading.sample((), 4_000, rng)),
    )
    return {"corpus": corpus, "words": len(document), "ratio": (by_text / 500) / (by_count / 4_000)}


def markdown(rows: list[dict], long: list[dict], samples: list[dict]) -> str:
    """The three tables."""
    lines = [
        "| corpus | model | documents | exact | certified | x predict, median (mean) | ms (max) | words |",
        "|---|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {r['corpus']} | {r['model']} | {r['documents']} | {r['exact']} | {r['certified']} | "
        f"{r['ratio_median']:.2f} ({r['ratio_mean']:.2f}) | {r['milliseconds_median']:.2f} "
        f"({r['milliseconds_max']:.1f}) | {r['words_mean']:.2f} |"
        for r in rows
    ]
    lines += ["", "| words | status | anchor | interval | seconds | x predict |", "|---|---|---|---|---|---|"]
    lines += [
        f"| {r['words']:,} | {r['status']} | {r['anchor']} | {r['interval'][0]:.5f} to "
        f"{r['interval'][1]:.5f} | {r['seconds']:.3f} | {r['ratio']:.1f} |"
        for r in long
    ]
    lines += ["", "| l2 norm, one sample | words | text / counts |", "|---|---|---|"]
    lines += [f"| {r['corpus']} | {r['words']} | {r['ratio']:.0f} |" for r in samples]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run and write."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--out", type=Path, default=HERE / "results")
    parser.add_argument("--models", nargs="*", default=list(MODELS))
    arguments = parser.parse_args()
    rows, samples = [], []
    for corpus, (name, delimiter) in CORPORA.items():
        texts, labels = load(folder() / name, delimiter)
        rows += [corpus_row(corpus, model, texts, labels) for model in arguments.models]
        samples.append(sample_row(corpus, texts, labels))
    long = [long_row(words) for words in (1_000, 10_000)]
    arguments.out.mkdir(exist_ok=True)
    (arguments.out / "exact.json").write_text(
        json.dumps({"corpora": rows, "long": long, "samples": samples}, indent=2) + "\n"
    )
    table = markdown(rows, long, samples)
    (arguments.out / "exact.md").write_text(table)
    print(table)  # noqa: T201  (the table is what it is run for)


if __name__ == "__main__":
    main()
