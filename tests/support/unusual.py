"""Pipelines with options that few people use, and words that few alphabets have: documented, and hostile.

What scikit-learn does with them is not written down here: every answer is judged by the pipeline itself
(``truth.py``). All follows from the generator that is passed in.
"""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from hostile import Case, weights
from sklearn.calibration import CalibratedClassifierCV
from sklearn.decomposition import NMF, TruncatedSVD
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.feature_extraction.text import (
    CountVectorizer,
    HashingVectorizer,
    TfidfTransformer,
    TfidfVectorizer,
)
from sklearn.feature_selection import (
    SelectFromModel,
    SelectKBest,
    SelectPercentile,
    VarianceThreshold,
    chi2,
)
from sklearn.kernel_approximation import AdditiveChi2Sampler
from sklearn.linear_model import (
    LogisticRegression,
    LogisticRegressionCV,
    PassiveAggressiveClassifier,
    Perceptron,
    RidgeClassifier,
    SGDClassifier,
)
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    MaxAbsScaler,
    Normalizer,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC, LinearSVC, NuSVC
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

# Folding the case of some changes their length or their letters; some are no word to some patterns; some
# are the same word to some ways of stripping accents.
WORDS = (
    "good", "GOOD", "Good", "Straße", "STRASSE", "straße", "İstanbul", "istanbul", "naïve", "nai\u0308ve",
    "naive", "don't", "co-op", "a", "x1", "_", "\uff12", "\ufb01ne", "fine", "so", "the", "not", "über",
    "ÜBER", "Σας", "σας", "é", "e\u0301", "o", "12", "3.5", "fine.", "so,so", "K", "\u212aelvin", "kelvin",
    "\u017fo", "ǅ", "ǆ", "film", "bad",
)  # fmt: skip
PATTERNS = (
    r"(?u)\b\w\w+\b", r"(?u)\b\w\w+\b", r"(?u)\b\w+\b", r"(?u)\b(\w)\w*\b", r"\S+", r"[a-z]+",
    r"(?i)[a-z]{2,}", r"(?u)\w+'?\w*", r"(?u)\b\w{2,4}", r"(?u)\w+\b(?!\s*-)", r"(?u)[^\W\d_]+",
)  # fmt: skip
SEPARATORS = (" ", " ", ", ", "  ", "-", "\n", "/")
# Of weights: as they are, near the largest and the smallest doubles, and below those.
SCALES = (1.0, 1e300, 1e155, 1e-160, 1e-310)


def cases(rng: np.random.Generator) -> Iterator[Case]:
    """Texts for pipelines without end; options that scikit-learn itself refuses are passed over."""
    while True:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                pipeline, words = _pipeline(rng)
            except (ValueError, TypeError, RuntimeError):
                continue
            for _ in range(3):
                yield Case(repr(pipeline), pipeline, pipeline.predict, _document(rng, words))


def _one_of(rng: np.random.Generator, *options: Any) -> Any:
    return options[int(rng.integers(len(options)))]


def _document(rng: np.random.Generator, words: Any) -> str:
    length = int(rng.integers(1, 7))
    pairs = zip(rng.choice(words, length), rng.choice(SEPARATORS, length), strict=True)
    return "".join(f"{word}{after}" for word, after in pairs).strip()


def _pipeline(rng: np.random.Generator) -> tuple[Any, Any]:
    words = rng.choice(WORDS, int(rng.integers(4, 11)), replace=False)
    classes = 2 if rng.random() < 0.65 else 3
    texts = [_document(rng, words) for _ in range(20)] + words.tolist()
    labels = rng.integers(classes, size=len(texts))
    labels[: 4 * classes] = np.tile(np.arange(classes), 4)
    names = _one_of(rng, labels, np.array(["neg", "pos", "mid"])[labels], labels > 0, labels * 10.0 - 5.0)
    vectorizer = _vectorizer(rng, words)
    if rng.random() < 0.15:
        factors = _one_of(rng, None, {"a": 0.5, "b": 2.0}, {"a": 0.0}, {"b": -1.0})
        both = [("a", vectorizer), ("b", _vectorizer(rng, words))]
        vectorizer = FeatureUnion(both, transformer_weights=factors)
    head = _head(rng, int(rng.integers(1 << 20)))
    pipeline = make_pipeline(vectorizer, *_middle(rng), head).fit(texts, names)
    if "coef_" in vars(head) and rng.random() < 0.5:
        scale = float(rng.choice(SCALES))
        head.coef_ = scale * weights(rng, head.coef_.size).reshape(head.coef_.shape)
        if rng.random() < 0.2:
            head.coef_ = head.coef_.astype(np.float32)
    return pipeline, words


def _vectorizer(rng: np.random.Generator, words: Any) -> Any:
    options: dict[str, Any] = {
        "lowercase": bool(rng.random() < 0.8),
        "strip_accents": _one_of(rng, None, None, None, "ascii", "unicode"),
        "stop_words": _one_of(rng, None, None, None, "english", ["so", "fine", "good"]),
        "binary": bool(rng.random() < 0.3),
        "ngram_range": _one_of(rng, (1, 1), (1, 1), (1, 1), (1, 2), (2, 2), (1, 3)),
        "token_pattern": _one_of(rng, *PATTERNS),
        "dtype": _one_of(rng, np.float64, np.float64, np.float32),
    }
    if rng.random() < 0.12:
        options |= {"analyzer": _one_of(rng, "char", "char_wb"), "ngram_range": (1, int(rng.integers(1, 4)))}
    kind, norm = rng.random(), _one_of(rng, None, "l1", "l2")
    if kind < 0.2:
        number, signed = _one_of(rng, 8, 64, 1024), bool(rng.random() < 0.5)
        return HashingVectorizer(n_features=number, alternate_sign=signed, norm=norm, **options)
    if rng.random() < 0.2:
        options["vocabulary"] = list(dict.fromkeys(word.lower() for word in rng.choice(words, 6)))
    else:
        options |= {"min_df": _one_of(rng, 1, 1, 1, 2, 0.1), "max_df": _one_of(rng, 1.0, 1.0, 0.9, 10)}
        options["max_features"] = _one_of(rng, None, None, None, 5)
    if kind < 0.5:
        return CountVectorizer(**options)
    idf, smooth, sublinear = (bool(rng.random() < share) for share in (0.7, 0.6, 0.3))
    return TfidfVectorizer(norm=norm, use_idf=idf, smooth_idf=smooth, sublinear_tf=sublinear, **options)


def _middle(rng: np.random.Generator) -> list[Any]:
    return _one_of(
        rng, [], [], [], [], [], [MaxAbsScaler()], [SelectKBest(k=3)], [SelectKBest(chi2, k=4)],
        [SelectPercentile(percentile=50)], [VarianceThreshold()], [Binarizer(threshold=0.5)],
        [Normalizer("max")], [TfidfTransformer(norm=None, sublinear_tf=True)],
        [TfidfTransformer(use_idf=False)], [FunctionTransformer(np.sqrt)], [TruncatedSVD(2, random_state=0)],
        [StandardScaler(with_mean=False)], [RobustScaler(with_centering=False)],
        [SelectFromModel(LogisticRegression())], [PolynomialFeatures(2)], [FunctionTransformer()],
        [FunctionTransformer(_dense), StandardScaler()], [NMF(2, random_state=0, max_iter=50)],
        [AdditiveChi2Sampler()], [TfidfTransformer(), SelectKBest(k=2)], [MaxAbsScaler(), Normalizer()],
    )  # fmt: skip


def _dense(matrix: Any) -> Any:
    return matrix.toarray() if hasattr(matrix, "toarray") else matrix


def _head(rng: np.random.Generator, seed: int) -> Any:
    linear = LogisticRegression(C=float(_one_of(rng, 0.1, 1.0, 100.0)))
    three = [("a", linear), ("b", LogisticRegression(C=0.01)), ("c", MultinomialNB())]
    voting, kernel = _one_of(rng, "hard", "soft"), _one_of(rng, "linear", "rbf", "poly")
    loss = _one_of(rng, "hinge", "log_loss", "modified_huber", "squared_hinge", "perceptron")
    return _one_of(
        rng, linear, linear, LogisticRegression(solver="liblinear", fit_intercept=False), LinearSVC(),
        LogisticRegressionCV(cv=2, Cs=2), GridSearchCV(linear, {"C": [0.1, 1.0]}, cv=2),
        LinearSVC(multi_class="crammer_singer"), LinearSVC(fit_intercept=False), RidgeClassifier(),
        SGDClassifier(loss, random_state=seed), SGDClassifier(loss, average=True, random_state=seed),
        Perceptron(random_state=seed), PassiveAggressiveClassifier(random_state=seed), ComplementNB(),
        ComplementNB(norm=True), MultinomialNB(alpha=0.01), MultinomialNB(fit_prior=False),
        BernoulliNB(binarize=_one_of(rng, None, 0.0, 0.5, 1.0)), NearestCentroid(),
        NearestCentroid(shrink_threshold=0.1), KNeighborsClassifier(3), SVC(kernel=kernel),
        KNeighborsClassifier(2, weights="distance"), SVC(kernel="linear", decision_function_shape="ovo"),
        NuSVC(nu=0.3, kernel="linear"), ExtraTreesClassifier(4, max_depth=3, random_state=seed),
        RandomForestClassifier(4, max_depth=4, random_state=seed), ExtraTreeClassifier(random_state=seed),
        DecisionTreeClassifier(max_depth=4, class_weight="balanced", random_state=seed),
        GradientBoostingClassifier(n_estimators=3, random_state=seed),
        AdaBoostClassifier(n_estimators=3, random_state=seed), DummyClassifier(),
        BaggingClassifier(linear, n_estimators=3, max_features=0.5, random_state=seed),
        make_pipeline(FunctionTransformer(_dense), HistGradientBoostingClassifier(max_iter=3)),
        VotingClassifier([("a", linear), ("b", BernoulliNB())], voting=voting),
        VotingClassifier(three, voting=voting, weights=[1, 2, 0.5]),
        StackingClassifier([("a", linear), ("b", LinearSVC())], cv=2, passthrough=bool(seed % 2)),
        CalibratedClassifierCV(linear, cv=2, method=_one_of(rng, "sigmoid", "isotonic")),
        CalibratedClassifierCV(LinearSVC(), cv=2, ensemble=False), OneVsRestClassifier(LinearSVC()),
        OneVsOneClassifier(linear), OutputCodeClassifier(linear, random_state=seed),
        FixedThresholdClassifier(linear, threshold=_one_of(rng, 0.3, 0.5, 0.8)),
    )  # fmt: skip
