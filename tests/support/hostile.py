"""Models, documents and thresholds made to break a promise.

Weights with ties and with sums that rounding decides, thresholds that some anchor attains exactly, documents
at the border, and every way of searching that a model lets one use. Everything follows from the generator
that is passed in; ``truth.py`` has the judge.
"""

import warnings
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.decomposition import TruncatedSVD
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier, VotingClassifier
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import MaxAbsScaler, Normalizer, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from truth import MASKS, Judge, broken

import kedge
from kedge.perturb import Masking
from kedge.search.strategies import as_strategy

WORDS = ("good", "so", "film", "bad", "the", "plot")
# Words of a short document, of a long one, and masked texts of a long one that the judge asks about.
LONGEST, LONG, MOST = 7, 40, 1_500
# Ways of searching that say exact where they are used, though `auto` would choose another on short texts.
WAYS = ("ranked", "tree", "branch", "chain", "leading", "leading(samples=0)", "lazy", "exhaustive")
# Sums of these come out as zero, or nearly, in many ways; the last are not sums of powers of two.
STEPS = ([-2.0, -1.0, -1.0, 0.0, 0.5, 1.0, 1.0, 2.0], [0.1, 0.2, 0.3, -0.3, -0.1, 0.7, 3.2, 0.0])


Family = Callable[[np.random.Generator], "Iterator[Case]"]


@dataclass(frozen=True)
class Case:
    """A model with what answers for it, and a document."""

    family: str
    model: Any
    predict: Callable[[list[str]], Any]
    text: str

    @cached_property
    def explainer(self) -> kedge.Explainer:
        """Its explainer, with the default options."""
        return kedge.Explainer(self.model)

    @property
    def groups(self) -> list[list[int]] | None:
        """Positions of equal words of a long document: only models of word counts are given these."""
        words = self.text.split()
        if len(words) <= LONGEST:
            return None
        return [[k for k, word in enumerate(words) if word == one] for one in dict.fromkeys(words)]


def answers(
    case: Case, rng: np.random.Generator, n: int, *, coverage: bool = True
) -> Iterator[tuple[kedge.Explanation, list[str]]]:
    """Explanations of a case under hostile options, each with what it says that is not so.

    The coverage is judged for plain words only.
    """
    try:
        first = case.explainer.explain(case.text)
    except kedge.KedgeError:  # a text of no word that the model knows
        return
    keep = 0.5 if rng.random() < 0.9 else float(rng.choice([0.25, 0.75, 0.9]))
    mask = {} if keep == 0.5 else {"perturbation": Masking(mask=MASKS.get(first.perturbation), keep=keep)}
    mine = case.explainer.with_options(**mask)
    reading = mine.read(case.text)
    usable = [name for name in WAYS if as_strategy(name).obstacle(reading) is None]
    read = [k for unit in reading.units.members for k in unit]
    judge = Judge(case.predict, first, keep, case.groups, read)
    answered = case.explainer.model.predict([case.text])
    # Long documents cost much more than short ones, and are asked for less.
    for threshold in thresholds(judge, rng, n if case.groups is None else max(n // 6, 1)):
        if coverage and rng.random() < 0.05 and keep == 0.5:
            corpus = [document(rng) for _ in range(int(rng.integers(1, 6)))]
            covering = mine.with_options(threshold=threshold, objective="coverage", corpus=corpus)
            e = covering.explain(case.text)
            wrong = broken(e, judge, examples=False)
            most = judge.coverage(e, corpus)
            if e.status == "exact" and e.coverage != most:
                wrong.append(f"coverage {e.coverage} is exact, but {most} is reached")
            yield e, wrong
            continue
        options: dict[str, Any] = {"threshold": threshold, "allow_empty": bool(rng.random() < 0.3)}
        if usable and rng.random() < 0.5:
            options["method"] = str(rng.choice(usable))
        elif case.family != "naive Bayes" and rng.random() < 0.4:
            options["ties"] = str(rng.choice(["last", "random"]))
        known = answered if rng.random() < 0.8 else None
        e = mine.with_options(**options).explain(case.text, known=known)
        yield e, broken(e, judge, allow_empty=options["allow_empty"], examples=rng.random() < 0.03)


def document(rng: np.random.Generator) -> str:
    """A few words of a small vocabulary, many of them repeated."""
    length, kinds = int(rng.integers(1, LONGEST + 1)), int(rng.integers(1, len(WORDS) + 1))
    return " ".join(rng.choice(WORDS[:kinds], length).tolist())


def documents(rng: np.random.Generator) -> Iterator[str]:
    """For models of word counts: short ones, and at times a long one of few different words."""
    for _ in range(3):
        yield document(rng)
    if rng.random() < 0.8:
        yield document(rng)
        return
    words = rng.choice(WORDS, int(rng.integers(2, 5)), replace=False)
    sizes = rng.integers(1, 14, len(words))
    while np.prod(sizes + 1) > MOST or sizes.sum() > LONG:
        sizes = np.maximum(sizes - 1, 1)
    yield " ".join(rng.permutation(np.repeat(words, sizes)).tolist())


def weights(rng: np.random.Generator, n: int) -> np.ndarray:
    """Weights whose sums tie."""
    kind = rng.integers(4)
    if kind == 3:
        return rng.normal(size=n)
    return rng.choice(STEPS[kind % 2], n) * (1.0 if kind < 2 else 0.1)


def thresholds(judge: Judge, rng: np.random.Generator, n: int) -> list[float]:
    """Thresholds at attained precisions, one bit above and below them, and anywhere."""
    found = []
    for _ in range(n):
        at = float(rng.choice(judge.attained))
        kind = rng.integers(6)
        value = at if kind < 3 else np.nextafter(at, rng.choice([0.0, 2.0])) if kind < 5 else rng.random()
        found.append(float(min(max(value, 1e-3), 1.0)))
    return found


def cases(rng: np.random.Generator, families: Sequence[Family] | None = None) -> Iterator[Case]:
    """Hostile cases without end, of all families in turn."""
    while True:
        for make in families or FAMILIES:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                yield from make(rng)


def _word_weights(rng: np.random.Generator) -> Iterator[Case]:
    values = dict(zip(WORDS, weights(rng, len(WORDS)).tolist(), strict=True))
    reach = sum(abs(x) for x in values.values())
    intercept = float(rng.choice([0.0, 0.1, -0.3, -reach / 2, values["good"]]))
    model = kedge.WordWeights(values, intercept=intercept)
    for text in documents(rng):
        yield Case("word weights", model, model.predict, text)


def _rule(rng: np.random.Generator) -> Iterator[Case]:
    rule = kedge.rules.present(str(rng.choice(WORDS)))
    for word in rng.choice(WORDS, int(rng.integers(0, 4))).tolist():
        other = kedge.rules.present(word) if rng.random() < 0.7 else ~kedge.rules.present(word)
        rule = rule & other if rng.random() < 0.5 else rule | other
    model = rule if rng.random() < 0.8 else ~rule
    for text in documents(rng):
        yield Case("rule", model, model.predict, text)


def _linear(rng: np.random.Generator) -> Iterator[Case]:
    heads = [LinearSVC(), LogisticRegression(), Perceptron(), RidgeClassifier()]
    classes = _classes(rng)
    pipeline = _fitted(rng, heads[int(rng.integers(len(heads)))], classes)
    head = pipeline[-1]
    shape = head.coef_.shape
    head.coef_ = weights(rng, int(np.prod(shape))).reshape(shape)
    if rng.random() < 0.7:
        rows = np.atleast_1d(head.intercept_)
        head.intercept_ = np.zeros(len(rows)) if rng.random() < 0.3 else weights(rng, len(rows))
    for text in documents(rng):
        yield Case(f"linear, {classes} classes", pipeline, pipeline.predict, text)


def _naive_bayes(rng: np.random.Generator) -> Iterator[Case]:
    heads = [MultinomialNB(), BernoulliNB(), ComplementNB()]
    pipeline = _fitted(rng, heads[int(rng.integers(3))], _classes(rng))
    for text in documents(rng):
        yield Case("naive Bayes", pipeline, pipeline.predict, text)


def _tree(rng: np.random.Generator) -> Iterator[Case]:
    seed = int(rng.integers(1 << 30))
    head: Any = DecisionTreeClassifier(
        max_depth=int(rng.integers(1, 6)), random_state=seed, splitter="random"
    )
    if rng.random() < 0.2:
        head = RandomForestClassifier(3, max_depth=4, random_state=seed)
    elif rng.random() < 0.1:
        head = GradientBoostingClassifier(n_estimators=3, max_depth=2, random_state=seed)
    pipeline = _fitted(rng, head, _classes(rng))
    for text in documents(rng):
        yield Case("trees", pipeline, pipeline.predict, text)


def _grams(rng: np.random.Generator) -> Iterator[Case]:
    """Pairs of words, characters, hashes: what neighbours say together."""
    kind, options = int(rng.integers(4)), {"norm": (None, "l2")[int(rng.integers(2))]}
    vectorizer: Any = TfidfVectorizer(ngram_range=(1, 2), **options)
    if kind == 1:
        present = bool(rng.random() < 0.3)
        vectorizer = CountVectorizer(ngram_range=(int(rng.integers(1, 3)), 2), binary=present)
    elif kind == 2:
        vectorizer = HashingVectorizer(n_features=64, ngram_range=(1, int(rng.integers(1, 3))), **options)
    elif kind == 3:
        vectorizer = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 3), **options)
    head = (LinearSVC, LogisticRegression, DecisionTreeClassifier)[int(rng.integers(3))]()
    pipeline = _fitted(rng, head, _classes(rng), vectorizer)
    if hasattr(head, "coef_") and rng.random() < 0.6:
        head.coef_ = weights(rng, head.coef_.size).reshape(head.coef_.shape)
    for _ in range(4):
        yield Case("n-grams", pipeline, pipeline.predict, document(rng))


def _steps(rng: np.random.Generator) -> Iterator[Case]:
    """Chains of several steps: unions, scalers, selectors, projections, calibration, votes."""
    vectorizer: Any = CountVectorizer()
    if rng.random() < 0.3:
        vectorizer = make_union(CountVectorizer(binary=True), HashingVectorizer(n_features=32, norm=None))
    middle: list[Any] = [
        [],
        [MaxAbsScaler()],
        [StandardScaler(with_mean=False)],
        [SelectKBest(k=4)],
        [TruncatedSVD(3, random_state=0)],
        [Normalizer(str(rng.choice(["l1", "l2"])))],
    ][int(rng.integers(6))]
    linear = LogisticRegression(C=float(rng.choice([0.1, 1.0, 100.0])))
    head = [
        linear,
        OneVsRestClassifier(linear),
        CalibratedClassifierCV(linear, cv=2, ensemble=bool(rng.random() < 0.5)),
        VotingClassifier([("a", linear), ("b", BernoulliNB())], voting=str(rng.choice(["hard", "soft"]))),
    ][int(rng.integers(4))]
    pipeline = _fitted(rng, head, _classes(rng), vectorizer, middle)
    for text in documents(rng):
        yield Case("several steps", pipeline, pipeline.predict, text)


def _table(rng: np.random.Generator) -> Iterator[Case]:
    """A function of which masked text it is, and of nothing else: no structure helps."""
    share, salt = float(rng.choice([0.5, 0.9, 0.97, 1.0])), int(rng.integers(1 << 30))

    def answer(texts: list[str]) -> list[int]:
        return [int(zlib.crc32(f"{salt}{t}".encode()) % 1000 < 1000 * share) for t in texts]

    yield Case("function", answer, answer, " ".join(WORDS[: int(rng.integers(1, 6))]))


def _classes(rng: np.random.Generator) -> int:
    return 2 if rng.random() < 0.7 else 3


def _fitted(
    rng: np.random.Generator, head: Any, classes: int, vectorizer: Any = None, middle: Sequence[Any] = ()
) -> Any:
    kind = int(rng.integers(5))
    options: dict[str, Any] = {"binary": bool(rng.random() < 0.2)}
    if vectorizer is None and kind < 2:
        vectorizer = CountVectorizer(**options)
    elif vectorizer is None:
        norm = (None, "l2", "l1")[kind - 2]
        vectorizer = TfidfVectorizer(norm=norm, sublinear_tf=bool(rng.random() < 0.3), **options)
    texts = [" ".join(rng.choice(WORDS, int(rng.integers(1, 8))).tolist()) for _ in range(14)] + [*WORDS]
    labels = rng.integers(classes, size=len(texts))
    labels[: 2 * classes] = np.tile(np.arange(classes), 2)
    return make_pipeline(vectorizer, *middle, head).fit(texts, labels)


FAMILIES = (_word_weights, _rule, _linear, _naive_bayes, _tree, _grams, _steps, _table)
