"""One promise for a corpus: what proposals and their audit ask, and whether the promise is true.

The paper's linear pipeline is asked as a bare function, so that nothing of its inside is known: its sum over
words, written out in Python, which is faster than its vectoriser. The pipeline itself, read from the inside,
then gives the exact precision of every anchor.

    python benchmarks/audit.py [--documents 10000] [--words N] [--ways "probabilities, prior" ...]

Ways that are not asked for keep their figures of an earlier run. ``--report`` writes the page alone.
"""

import argparse
import json
import platform
import sys
import tempfile
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import mean, median
from typing import Any

import numpy as np
from judges import Judge
from reviews import clean

import kedge
from corpus import reviews
from kedge.corpus import explain_file, open_source
from kedge.corpus.promise import Audit
from kedge.evaluators import Additive

RESULTS = Path(__file__).parent / "results"
WAYS = ("probabilities, prior", "labels, prior", "probabilities", "labels")
CLASSES = ("negative", "positive")
THRESHOLD = 0.95
# Texts that a prior is learned from, with 100 questions each; documents proved one by one, to compare.
LEARNED, QUESTIONS, PROVED = 150, 100, 300

ABOUT = f"""IMDB reviews, in lower case and without punctuation; where their mean length is below 230 words
they were cut to their first words. The model is the paper's linear pipeline (TF-IDF without norm, trained on
three quarters of the reviews) as a bare function that gives probabilities, or labels only. The same pipeline,
read from the inside, is the judge, exact. *Prior*: learned from the first {LEARNED} reviews. *Proved one by
one*: the same options with a proof for each document, on {PROVED} of the reviews drawn at random."""


@dataclass(frozen=True)
class Asked:
    """A linear pipeline as a bare function of texts, which worker processes can be sent."""

    weights: dict[str, float]
    intercept: float
    how: str

    def __call__(self, texts: list[str]) -> Any:
        """Its labels, or its probabilities."""
        weigh = self.weights.get
        scores = np.array([self.intercept + sum(weigh(w, 0.0) for w in text.split()) for text in texts])
        if self.how == "labels":
            return [CLASSES[int(score > 0)] for score in scores]
        chances = 1 / (1 + np.exp(-scores))
        return np.column_stack([1 - chances, chances])

    @classmethod
    def of(cls, pipeline: Any, how: str, texts: list[str]) -> "Asked":
        """The pipeline's own sum; refused if it answers differently for one of these texts."""
        vectorizer, head = pipeline[0], pipeline[-1]
        weights = (vectorizer.idf_ * head.coef_[0]).tolist()
        words = vectorizer.get_feature_names_out().tolist()
        ask = cls(dict(zip(words, weights, strict=True)), float(head.intercept_[0]), how)
        if how == "labels":
            same = ask(texts) == pipeline.predict(texts).tolist()
        else:
            same = np.allclose(ask(texts), pipeline.predict_proba(texts), atol=1e-9)
        if not same:
            sys.exit("The function does not answer as the pipeline does.")
        return ask


def fitted(texts: list[str], labels: list[str]) -> Any:
    """The paper's linear pipeline, trained on three quarters of the reviews."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    cut = len(texts) * 3 // 4
    model = make_pipeline(TfidfVectorizer(norm=None), LogisticRegression(max_iter=1000))
    return model.fit(texts[:cut], labels[:cut])


def measured(pipeline: Any, documents: list[str], way: str, folder: Path) -> dict[str, Any]:
    """A run with one promise for all documents, the truth about its anchors, and some proved one by one."""
    started = time.process_time()
    ask = Asked.of(pipeline, way.removesuffix(", prior"), documents[:LEARNED])
    explainer = kedge.Explainer(
        kedge.as_model(ask, classes=CLASSES) if ask.how == "probabilities" else ask, threshold=THRESHOLD
    )
    learned = 0
    if way.endswith(", prior"):
        first = documents[:LEARNED]
        prior = kedge.Prior.learn(explainer.given, first, queries=QUESTIONS * len(first))
        explainer, learned = explainer.with_options(prior=prior), prior.queries
    source = folder / "reviews.jsonl"
    source.write_text("".join(json.dumps({"text": text}) + "\n" for text in documents), encoding="utf-8")
    out = folder / f"{way}.jsonl"
    summary = explain_file(
        explainer, open_source(source, "text"), out, workers=1, promise="corpus", overwrite=True
    )
    audit = summary.audit
    if audit is None:
        raise SystemExit("There was nothing to audit.")
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    asked = [row["queries"] for row in rows]
    audited = [row for row in rows if "prove=False" in row["method"] and row["status"] != "not_reached"]
    reader = kedge.Explainer(pipeline)
    true = [_precision(reader, documents[row["row"]], row["spans"]) for row in audited]
    some = np.random.default_rng(0).permutation(len(documents))[:PROVED]
    alone = [explainer.explain(documents[i]).queries for i in sorted(some.tolist())]
    sys.stderr.write(f"{way}: {time.process_time() - started:.0f} s and the worker's\n")
    return {
        "documents": len(documents),
        "words": mean(len(text.split()) for text in documents),
        "learned": learned,
        "statuses": dict(summary.statuses),
        "needless": summary.needless,
        "length": summary.to_dict()["mean_length"],
        "asked": [median(asked), mean(asked)],
        "alone": [median(alone), mean(alone)],
        "audit": audit.to_dict(),
        "reach": mean(p >= THRESHOLD for p in true),
        "lowest": [float(q) for q in np.quantile(true, [0.0, 0.01, 0.05, 0.5])],
        "explaining_seconds": summary.seconds,
    }


def _precision(reader: kedge.Explainer, text: str, spans: list[list[int]]) -> float:
    reading = reader.read(text)
    return Judge(reading, Additive(reading), 0, None).precision(spans)


def page(record: dict[str, Any]) -> str:
    """Markdown, from the figures alone."""
    ways = {way: record["ways"][way] for way in WAYS if way in record["ways"]}
    lines = [
        "# One promise for a corpus",
        "",
        f"Made by `benchmarks/audit.py`; {record['made']}.",
        "",
        ABOUT,
        "",
        f"| | {' | '.join(ways)} |",
        "|---" * (len(ways) + 1) + "|",
    ]
    for title, figure in FIGURES.items():
        lines.append(f"| {title} | {' | '.join(figure(one) for one in ways.values())} |")
    return "\n".join([*lines, ""])


def _verdict(audit: dict[str, Any]) -> str:
    return Audit(**{name: value for name, value in audit.items() if name != "sentence"}).sentence


FIGURES = {
    "documents, mean words": lambda x: f"{x['documents']:,}, {x['words']:.0f}",
    "statuses": lambda x: ", ".join(f"{n:,} {name}" for name, n in sorted(x["statuses"].items())),
    "no word is needed (proved for each)": lambda x: f"{x['needless']:,}",
    "mean length of the anchors": lambda x: f"{x['length']:.2f}",
    "learning, questions per document": lambda x: f"{x['learned'] / x['documents']:.2f}",
    "proposals, questions per document, median / mean": lambda x: "{:.0f} / {:.0f}".format(*x["asked"]),
    "proved one by one, median / mean": lambda x: "{:.0f} / {:.0f}".format(*x["alone"]),
    "audit: drawn, not proved": lambda x: f"{x['audit']['drawn']:,}, {x['audit']['failed']:,}",
    "audit: questions, per anchor (at most 10)": lambda x: (
        f"{x['audit']['questions']:,}, {x['audit']['questions'] / x['audit']['population']:.2f}"
    ),
    "audit: verdict": lambda x: _verdict(x["audit"]),
    "true share of these anchors that reach 0.95": lambda x: f"{100 * x['reach']:.2f}%",
    "true precision: lowest, 1%, 5%, median": lambda x: ", ".join(f"{p:.3f}" for p in x["lowest"]),
}


def write(record: dict[str, Any], out: Path) -> None:
    """The figures, and the page made of them."""
    out.mkdir(parents=True, exist_ok=True)
    (out / "audit.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    (out / "audit.md").write_text(page(record), encoding="utf-8")


def main() -> None:
    """Read the options, measure, and write both files."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--words", type=int, help="only the first words of each review")
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=WAYS[:2])
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument(
        "--report", action="store_true", help="only write the page, from the figures that are there"
    )
    options = parser.parse_args()
    figures = options.out / "audit.json"
    record: dict[str, Any] = {"ways": {}}
    if figures.exists():
        record = json.loads(figures.read_text("utf-8"))
    if not options.report:
        texts, labels = reviews()
        texts = [clean(text.replace("<br />", " ")) for text in texts]
        pipeline = fitted(texts, labels)
        documents = [" ".join(text.split()[: options.words]) for text in texts[: options.documents]]
        with tempfile.TemporaryDirectory() as name:
            for way in options.ways:
                record["ways"][way] = measured(pipeline, documents, way, Path(name))
                versions = f"kedge {kedge.__version__}, Python {platform.python_version()}"
                record["made"] = f"{datetime.now(UTC).date()}, {versions}"
                write(record, options.out)
    write(record, options.out)
    sys.stdout.write(page(record))


if __name__ == "__main__":
    main()
