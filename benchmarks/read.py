"""How every kind of scikit-learn text pipeline is read: status, questions, cost, length against brute force.

``python benchmarks/read.py`` needs the review files (in the folder that $KEDGE_DATA names) and writes
``results/read.md`` beside itself. Cost is a multiple of one `pipeline.predict([text])` in the same run, in
processor time, each the best of three, taking turns. Brute force asks the pipeline about every masked form
of short texts. Ensembles are explained with three seeds, whose anchors are compared. ``--intervals N`` puts N
random anchors of random chains to the test as well. Rows of an earlier run of as many documents, which
``results/read.json`` keeps, are kept where their pipeline's name does not contain ``--only``.
"""

import argparse
import csv
import json
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
from reviews import folder, split
from sklearn.calibration import CalibratedClassifierCV
from sklearn.decomposition import TruncatedSVD
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import train_test_split
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import FunctionTransformer, LabelEncoder, MaxAbsScaler, Normalizer, StandardScaler
from sklearn.svm import LinearSVC

import kedge
from kedge.errors import TextError

HERE = Path(__file__).parent
PAIRS: dict[str, Any] = {"ngram_range": (1, 2)}
PLAIN: dict[str, Any] = {"norm": None}
CHARACTERS: dict[str, Any] = {"analyzer": "char_wb", "ngram_range": (2, 4)}
TRAINED, SHORT = 1500, 9
SEEDS = (0, 1, 2)
# The most that the median cost of each kind should be, in predictions.
BARS = {"sum": 5, "chain": 30, "l2": 15, "forest": 20}


def logistic() -> LogisticRegression:
    """The usual head."""
    return LogisticRegression(max_iter=200)


def both(**more: Any) -> FeatureUnion:
    """Words and characters."""
    return FeatureUnion([("w", TfidfVectorizer(**more)), ("c", TfidfVectorizer(**{**more, **CHARACTERS}))])


def hashing(**more: Any) -> HashingVectorizer:
    """A hash of moderate size."""
    return HashingVectorizer(n_features=1 << 16, **more)


def xgboost() -> Any:
    """XGBoost, of a hundred trees."""
    from xgboost import XGBClassifier

    return XGBClassifier(n_estimators=100, n_jobs=1)


def lightgbm() -> Any:
    """LightGBM, likewise."""
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_estimators=100, n_jobs=1, verbose=-1)


def catboost() -> Any:
    """CatBoost, likewise."""
    from catboost import CatBoostClassifier

    return CatBoostClassifier(iterations=100, verbose=0, thread_count=1, allow_writing_files=False)


Steps = Callable[[], tuple[Any, ...]]
PIPELINES: dict[str, tuple[str, Steps]] = {
    "characters, logistic": ("sum", lambda: (TfidfVectorizer(**CHARACTERS, **PLAIN), logistic())),
    "hashed words, SVC": ("sum", lambda: (hashing(**PLAIN), LinearSVC())),
    "words and characters, logistic": ("sum", lambda: (both(**PLAIN), logistic())),
    "words, MaxAbsScaler, logistic": ("sum", lambda: (CountVectorizer(), MaxAbsScaler(), logistic())),
    "words, StandardScaler, SGD": (
        "sum",
        lambda: (CountVectorizer(min_df=2), StandardScaler(with_mean=False), SGDClassifier(random_state=0)),
    ),
    "words, SelectKBest, NB": ("sum", lambda: (CountVectorizer(), SelectKBest(k=500), MultinomialNB())),
    "words, SVD, logistic": ("sum", lambda: (TfidfVectorizer(**PLAIN), TruncatedSVD(50), logistic())),
    "words, SVD, StandardScaler, SVC": (
        "sum",
        lambda: (CountVectorizer(), TruncatedSVD(50), StandardScaler(), LinearSVC()),
    ),
    "mean vectors, logistic": (
        "sum",
        lambda: (CountVectorizer(), Normalizer("l1"), TruncatedSVD(50), LogisticRegression(C=100.0)),
    ),
    "words, one against the rest": ("sum", lambda: (CountVectorizer(), OneVsRestClassifier(logistic()))),
    "words, sigmoid of one SVC": (
        "sum",
        lambda: (TfidfVectorizer(**PLAIN), CalibratedClassifierCV(LinearSVC(), ensemble=False, cv=3)),
    ),
    "pairs, logistic": ("chain", lambda: (TfidfVectorizer(**PAIRS, **PLAIN), logistic())),
    "pairs, SVC": ("chain", lambda: (CountVectorizer(**PAIRS), LinearSVC())),
    "pairs, NB": ("chain", lambda: (CountVectorizer(**PAIRS), MultinomialNB())),
    "hashed pairs, logistic": ("chain", lambda: (hashing(**PAIRS, **PLAIN), logistic())),
    "triples, ComplementNB": ("chain", lambda: (CountVectorizer(ngram_range=(1, 3)), ComplementNB())),
    "pairs, SelectKBest, logistic": (
        "chain",
        lambda: (CountVectorizer(**PAIRS), SelectKBest(k=2000), logistic()),
    ),
    "words, l2, logistic": ("l2", lambda: (TfidfVectorizer(), logistic())),
    "words, l2, SelectKBest, SVC": ("l2", lambda: (TfidfVectorizer(), SelectKBest(k=500), LinearSVC())),
    "hashed words, l2, logistic": ("l2", lambda: (hashing(), logistic())),
    "pairs, l2, SVC": ("l2", lambda: (TfidfVectorizer(**PAIRS), LinearSVC())),
    "characters, l2, logistic": ("l2", lambda: (TfidfVectorizer(**CHARACTERS), logistic())),
    "words, SVD, Normalizer, logistic": (
        "l2",
        lambda: (TfidfVectorizer(), TruncatedSVD(50), Normalizer(), logistic()),
    ),
    "pairs, BernoulliNB": ("arithmetic", lambda: (CountVectorizer(**PAIRS), BernoulliNB())),
    "words, calibrated SVC, isotonic": (
        "arithmetic",
        lambda: (TfidfVectorizer(), CalibratedClassifierCV(LinearSVC(), method="isotonic", cv=3)),
    ),
    "words, vote": (
        "arithmetic",
        lambda: (
            CountVectorizer(),
            VotingClassifier([("l", logistic()), ("n", MultinomialNB())], voting="soft"),
        ),
    ),
    "words, forest": ("forest", lambda: (CountVectorizer(), RandomForestClassifier(100, random_state=0))),
    "words, l2, forest": ("forest", lambda: (TfidfVectorizer(), RandomForestClassifier(100, random_state=0))),
    "words, l2, ExtraTrees": (
        "forest",
        lambda: (TfidfVectorizer(), ExtraTreesClassifier(100, random_state=0)),
    ),
    "words, l2, GradientBoosting": (
        "boosting",
        lambda: (TfidfVectorizer(), GradientBoostingClassifier(random_state=0)),
    ),
    "words, l2, HistGradientBoosting": (
        "boosting",
        lambda: (
            TfidfVectorizer(max_features=1000),
            FunctionTransformer(lambda x: x.toarray()),
            HistGradientBoostingClassifier(random_state=0),
        ),
    ),
    "words, l2, XGBoost": ("boosting", lambda: (TfidfVectorizer(), xgboost())),
    "words, l2, LightGBM": ("boosting", lambda: (TfidfVectorizer(), lightgbm())),
    "words, l2, CatBoost": ("boosting", lambda: (TfidfVectorizer(max_features=1000), catboost())),
}


def banking(data: Path) -> list[Any]:
    """Questions to a bank, of the four most frequent kinds."""
    with (data / "banking77.csv").open(encoding="utf-8", newline="") as lines:
        rows = [(row["text"], row["category"]) for row in csv.DictReader(lines)]
    kinds = [kind for kind, _ in Counter(kind for _, kind in rows).most_common(4)]
    chosen = [row for row in rows if row[1] in kinds]
    parts: list[Any] = train_test_split(
        [t for t, _ in chosen], [k for _, k in chosen], test_size=0.25, random_state=0
    )
    return parts


def brute(pipeline: Any, explainer: kedge.Explainer, text: str, e: kedge.Explanation) -> bool:
    """Whether no shorter anchor reaches, and this one does, by asking about every masked text."""
    reading = explainer.read(text)
    b = len(reading.document)
    kept = (np.arange(1 << b)[:, None] >> np.arange(b) & 1).astype(bool)
    held = pipeline.predict(reading.perturbation.writer(reading.document)(kept)) == e.label

    def precision(anchor: tuple[int, ...]) -> float:
        return float(held[kept[:, list(anchor)].all(axis=1)].mean())

    shorter = (precision(a) for n in range(1, len(e.positions)) for a in combinations(range(b), n))
    return precision(e.positions) >= e.threshold and all(p < e.threshold for p in shorter)


def alike(explainer: kedge.Explainer, text: str) -> float:
    """The mean Jaccard index of the positions that any two seeds find."""
    found = [set(explainer.with_options(seed=seed).explain(text).positions) for seed in SEEDS]
    return mean(len(a & b) / len(a | b) for a, b in combinations(found, 2))


def measure(pipeline: Any, texts: list[str], documents: int, *, seeds: bool) -> dict[str, Any]:
    """What explaining some texts takes."""
    explainer = kedge.Explainer(pipeline)
    statuses, questions, costs, judged, right = Counter[str](), [], [], 0, 0
    jaccard = []
    for text in texts:
        if sum(statuses.values()) == documents:
            break
        try:
            e = explainer.explain(text)
        except TextError:
            continue
        took: list[list[float]] = [[], []]
        for _ in range(3):
            for kept, call in zip(took, (pipeline.predict, None), strict=True):
                start = time.process_time()
                _ = explainer.explain(text) if call is None else call([text])
                kept.append(time.process_time() - start)
        statuses[e.status] += 1
        questions.append(e.queries)
        costs.append(min(took[1]) / min(took[0]))
        if len(e.tokens) <= SHORT and e.status == "exact":
            judged += 1
            right += brute(pipeline, explainer, text, e)
        if seeds:
            jaccard.append(alike(explainer, text))
    return {
        "statuses": statuses,
        "questions": int(np.median(questions)),
        "most": max(questions),
        "cost": float(np.median(costs)),
        "judged": judged,
        "right": right,
        "jaccard": jaccard,
    }


def earlier(path: Path, documents: int, again: str | None) -> dict[tuple[str, str], dict[str, Any]]:
    """The rows of an earlier run of as many documents, but for those that are measured again."""
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    rows = known.get("rows", []) if known.get("documents") == documents else []
    return {
        (row["pipeline"], row["set"]): row for row in rows if again is None or again not in row["pipeline"]
    }


def table_row(row: dict[str, Any]) -> str:
    """A row of the table."""
    status = ", ".join(f"{n} {status}" for status, n in Counter(row["statuses"]).most_common())
    return (
        f"| {row['pipeline']} | {row['kind']} | {row['set']} | {status} | "
        f"{row['questions']} ({row['most']}) | {row['cost']:.1f} | {row['right']} of {row['judged']} |"
    )


def summary(found: list[dict[str, Any]]) -> list[str]:
    """What the rows say together."""
    lines = []
    for kind in dict.fromkeys(row["kind"] for row in found):
        own = [row for row in found if row["kind"] == kind]
        bar = f" (at most {BARS[kind]})" if kind in BARS else ""
        yelp = sum((Counter(row["statuses"]) for row in own if row["set"] == "Yelp"), Counter[str]())
        lines.append(
            f"- {kind}: median cost {np.median([row['cost'] for row in own]):.1f} predictions{bar}; "
            f"{yelp['exact']} of {yelp.total()} Yelp reviews exact"
            f"{_unfinished(own)}{_seeds([j for row in own for j in row['jaccard']])}."
        )
    return lines


def _unfinished(rows: list[dict[str, Any]]) -> str:
    """Documents of all sets without a certified answer."""
    total = sum((Counter(row["statuses"]) for row in rows), Counter[str]())
    left = total.total() - total["exact"] - total["certified"]
    return f"; {left} of all {total.total()} documents unfinished"


def _seeds(jaccard: list[float]) -> str:
    return f"; Jaccard index of anchors over seeds {mean(jaccard):.3f}" if jaccard else ""


def intervals(count: int) -> str:
    """Random anchors of random chains: how many intervals contain the truth."""
    from types import SimpleNamespace

    from kedge.evaluators import chain as evaluator
    from kedge.model.scores.chain import ChainScore
    from kedge.text.units import Units

    vars(evaluator)["_ALL"] = -1  # the passes are judged, not the table of all samples
    rng, inside, widths = np.random.default_rng(0), 0, []
    done = 0
    while done < count:
        links, longest = int(rng.integers(6, 13)), int(rng.integers(2, 4))
        windows = [tuple(range(i, i + n)) for n in range(1, longest + 1) for i in range(links - n + 1)]
        sizes = np.ones(links, dtype=np.int64)
        score = ChainScore(float(rng.normal()), tuple(windows), rng.normal(size=len(windows)), sizes)
        units: Any = Units(tuple((i,) for i in range(links)))
        reading: Any = SimpleNamespace(chain=score, keep=0.5, units=units)
        precision = evaluator.Chained(reading)
        rows = np.arange(1 << links)[:, None] >> np.arange(links) & 1
        held = score.holds(rows)
        for _ in range(min(20, count - done)):
            kept = tuple(np.flatnonzero(rng.random(links) < 0.3).tolist())
            truth = float(held[(rows[:, list(kept)] == 1).all(axis=1)].mean())
            tail = precision.refine(kept, 0.95)
            inside += tail.low - 1e-12 <= truth <= tail.high + 1e-12
            widths.append(tail.width)
            done += 1
    width = np.median(widths)
    return f"{inside:,} of {count:,} intervals contain the truth; their median width is {width:.4f}."


def main() -> None:
    """Measure and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=40)
    parser.add_argument("--intervals", type=int, default=10_000)
    parser.add_argument("--only", default="", help="measure again the pipelines whose names contain this")
    parser.add_argument("--go-on", action="store_true", help="measure only what an earlier run did not")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    data = folder()
    sets = {
        "Restaurants": split(data, "restaurants"),
        "Yelp": split(data, "yelp"),
        "banking, 4 kinds": banking(data),
    }
    lines = [
        "# How pipelines are read",
        "",
        f"`python benchmarks/read.py --documents {given.documents}`: as many documents of each set,",
        f"at most {TRAINED:,} to train on. Cost is the median multiple of one",
        "`pipeline.predict([text])` in the same run, in processor time. Right: exact answers on",
        f"texts of up to {SHORT} words that brute force over all masked texts confirms.",
        "",
        "| pipeline | kind | set | status | questions, median (most) | cost | right |",
        "|---|---|---|---|---|---|---|",
    ]
    kept = HERE / "results" / "read.json"
    rows = earlier(kept, given.documents, None if given.go_on else given.only)
    for name, (kind, steps) in PIPELINES.items():
        for where, (train, test, names, _) in sets.items():
            if (name, where) in rows:
                continue
            labels = LabelEncoder().fit_transform(names)  # XGBoost takes numbers only
            pipeline = make_pipeline(*steps()).fit(train[:TRAINED], labels[:TRAINED])
            found = measure(pipeline, test, given.documents, seeds=kind in {"forest", "boosting"})
            rows[name, where] = {**found, "pipeline": name, "kind": kind, "set": where}
            sys.stdout.write(table_row(rows[name, where]) + "\n")
            sys.stdout.flush()
            about = {"documents": given.documents, "rows": list(rows.values())}
            kept.write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    ordered = [rows[name, where] for name in PIPELINES for where in sets]
    lines += [*map(table_row, ordered), "", *summary(ordered)]
    lines += ["", f"Chains, with random weights: {intervals(given.intervals)}", ""]
    sys.stdout.write("\n".join(lines[-10:]) + "\n")
    (HERE / "results" / "read.md").write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
