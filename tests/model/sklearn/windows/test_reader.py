"""Pipelines of n-grams, characters, hashes, unions and steps, against their own predictions."""

import warnings
from functools import cache

import brute
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.calibration import CalibratedClassifierCV
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.feature_extraction.text import (
    CountVectorizer,
    HashingVectorizer,
    TfidfTransformer,
    TfidfVectorizer,
)
from sklearn.feature_selection import SelectFromModel, SelectKBest, SelectPercentile, VarianceThreshold
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    MaxAbsScaler,
    Normalizer,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

import kedge
from kedge.perturb import Masking

GOOD = ["good", "Great", "tasty,", "friendly", "not bad", "lovely!", "very", "food", "was", "the"]
BAD = ["bad", "Awful", "cold;", "rude", "not good", "slow...", "very", "food", "was", "the"]
WORDS = [*sorted({word for phrase in (*GOOD, *BAD) for word in phrase.split()}), "unseen", "a", "--", "x-y"]


@cache
def corpus(classes):
    rng = np.random.default_rng(0)
    texts, labels = [], []
    for i in range(240):
        kind = i % classes
        pool = (GOOD, BAD, ["soup", "bread", "very", "the", "soup bread"])[kind]
        words = rng.choice(pool, size=rng.integers(2, 9)).tolist()
        words += rng.choice(WORDS[:-4], size=rng.integers(0, 3)).tolist()
        texts.append(" ".join(words))
        labels.append(("neg", "pos", "menu")[kind])
    return texts, labels


def logistic(**more):
    return LogisticRegression(max_iter=500, **more)


def hashing(**more):
    return HashingVectorizer(n_features=32, **{"norm": None, **more})


def union(**more):
    return FeatureUnion(
        [
            ("words", TfidfVectorizer(**more)),
            ("characters", CountVectorizer(analyzer="char_wb", ngram_range=(2, 3))),
        ],
        transformer_weights={"words": 2.0},
    )


PLAIN = {"norm": None}
PAIRS = {"ngram_range": (1, 2)}
# Sums over words: exact for any document length.
SUMS = {
    "characters": lambda: (TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4), **PLAIN), logistic()),
    "hashes": lambda: (hashing(), LinearSVC()),
    "hashes without signs": lambda: (hashing(alternate_sign=False), MultinomialNB()),
    "hashes, l2, no intercept": lambda: (hashing(norm="l2"), logistic(fit_intercept=False)),
    "union": lambda: (union(**PLAIN), logistic()),
    "union of pipelines": lambda: (
        FeatureUnion(
            [
                ("few", Pipeline([("v", CountVectorizer(stop_words=["the"])), ("k", SelectKBest(k=8))])),
                ("all", CountVectorizer(token_pattern=r"(?u)\b\w+\b", lowercase=False)),
            ]
        ),
        RidgeClassifier(),
    ),
    "scaled": lambda: (CountVectorizer(), MaxAbsScaler(), logistic()),
    "standardised": lambda: (
        CountVectorizer(),
        StandardScaler(with_mean=False),
        RidgeClassifier(),
    ),
    "selected": lambda: (TfidfVectorizer(**PLAIN), SelectPercentile(percentile=50), logistic()),
    "selected from a model": lambda: (
        CountVectorizer(),
        "passthrough",
        SelectFromModel(logistic()),
        VarianceThreshold(),
        logistic(),
    ),
    "svd": lambda: (TfidfVectorizer(**PLAIN), TruncatedSVD(5, random_state=0), logistic()),
    "svd, standardised": lambda: (
        CountVectorizer(),
        TruncatedSVD(5, random_state=0),
        StandardScaler(),
        LinearSVC(),
    ),
    "svd, pca, robust": lambda: (
        CountVectorizer(),
        TruncatedSVD(8, random_state=0),
        PCA(4, random_state=0),
        RobustScaler(),
        logistic(),
    ),
    "mean vectors": lambda: (
        CountVectorizer(),
        Normalizer("l1"),
        TruncatedSVD(5, random_state=0),
        logistic(C=99),
    ),
    "one against the rest": lambda: (CountVectorizer(), OneVsRestClassifier(logistic())),
    "sigmoid, one member": lambda: (
        CountVectorizer(),
        CalibratedClassifierCV(LinearSVC(), ensemble=False, cv=3),
    ),
    "isotonic, one member": lambda: (
        CountVectorizer(),
        CalibratedClassifierCV(LinearSVC(), method="isotonic", ensemble=False, cv=3),
    ),
    "sublinear, scaled": lambda: (TfidfVectorizer(sublinear_tf=True, **PLAIN), MaxAbsScaler(), logistic()),
    "binary, selected": lambda: (CountVectorizer(binary=True), SelectKBest(k=12), ComplementNB()),
    "binarized": lambda: (CountVectorizer(), Binarizer(), logistic()),
    "bernoulli, selected": lambda: (CountVectorizer(), SelectKBest(k=12), BernoulliNB()),
}
# Sums over windows of neighbours.
CHAINS = {
    "pairs": lambda: (CountVectorizer(**PAIRS), logistic()),
    "pairs, whole numbers": lambda: (CountVectorizer(**PAIRS), Perceptron(random_state=0)),
    "pairs, tf-idf": lambda: (TfidfVectorizer(**PAIRS, **PLAIN), LinearSVC()),
    "triples only": lambda: (CountVectorizer(ngram_range=(2, 3)), logistic()),
    "pairs without stop words": lambda: (CountVectorizer(**PAIRS, stop_words=["the"]), MultinomialNB()),
    "hashed pairs": lambda: (hashing(**PAIRS), logistic()),
    "pairs, selected": lambda: (CountVectorizer(**PAIRS), SelectKBest(k=30), logistic()),
    "pairs and characters": lambda: (union(**PAIRS, **PLAIN), logistic()),
    "pairs, l2, no intercept": lambda: (TfidfVectorizer(**PAIRS), logistic(fit_intercept=False)),
    "triples, complement": lambda: (CountVectorizer(ngram_range=(1, 3)), ComplementNB()),
    "pairs, svd": lambda: (CountVectorizer(**PAIRS), TruncatedSVD(5, random_state=0), logistic()),
}
# Sums over words, divided by the l2 norm of words that share no column.
LEADS = {
    "many hashes, l2": lambda: (HashingVectorizer(), logistic()),
    "many hashes, idf, l2": lambda: (HashingVectorizer(norm=None), TfidfTransformer(), LinearSVC()),
    "l2, selected": lambda: (TfidfVectorizer(), SelectKBest(k=12), logistic()),
    "l2, scaled": lambda: (TfidfVectorizer(), MaxAbsScaler(), RidgeClassifier()),
    "l2, svd": lambda: (TfidfVectorizer(), TruncatedSVD(5, random_state=0), StandardScaler(), logistic()),
    "l2, sigmoid": lambda: (TfidfVectorizer(), CalibratedClassifierCV(LinearSVC(), ensemble=False, cv=3)),
    "l2, one against the rest": lambda: (TfidfVectorizer(), OneVsRestClassifier(logistic())),
    "counts, normalised": lambda: (CountVectorizer(), Normalizer(), logistic()),
}
# Labels by arithmetic.
ALGEBRA = {
    "pairs, l2": lambda: (TfidfVectorizer(**PAIRS), logistic()),
    "characters, l2": lambda: (TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 3)), LinearSVC()),
    "hashes, l2": lambda: (hashing(norm="l2"), logistic()),
    "union, l2": lambda: (union(), logistic()),
    "svd, normalised": lambda: (
        TfidfVectorizer(), TruncatedSVD(5, random_state=0), Normalizer(), logistic(),
    ),
    "largest norm": lambda: (CountVectorizer(), Normalizer("max"), logistic()),
    "pairs, bernoulli": lambda: (CountVectorizer(**PAIRS), BernoulliNB()),
    "pairs, sublinear": lambda: (TfidfVectorizer(**PAIRS, sublinear_tf=True, **PLAIN), logistic()),
    "hashes, sublinear": lambda: (
        hashing(alternate_sign=False), TfidfTransformer(sublinear_tf=True), logistic(),
    ),
    "calibrated": lambda: (CountVectorizer(), CalibratedClassifierCV(LinearSVC(), cv=3)),
    "calibrated bayes": lambda: (
        CountVectorizer(), CalibratedClassifierCV(MultinomialNB(), method="isotonic", cv=3),
    ),
    "majority": lambda: (
        CountVectorizer(**PAIRS),
        VotingClassifier([("a", logistic()), ("b", MultinomialNB()), ("c", LinearSVC())], weights=[1, 2, 1]),
    ),
    "mean chance": lambda: (
        CountVectorizer(), VotingClassifier([("a", logistic()), ("b", MultinomialNB())], voting="soft"),
    ),
}  # fmt: skip
# Trees, by arithmetic too.
TREES = {
    "pairs, forest": lambda: (CountVectorizer(**PAIRS), RandomForestClassifier(20, random_state=0)),
    "pairs, l2, forest": lambda: (TfidfVectorizer(**PAIRS), RandomForestClassifier(20, random_state=0)),
    "characters, extra trees": lambda: (
        TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 3)), ExtraTreesClassifier(20, random_state=0),
    ),
    "union, boosting": lambda: (union(), GradientBoostingClassifier(n_estimators=20, random_state=0)),
    "hashes without signs, tree": lambda: (
        hashing(alternate_sign=False), DecisionTreeClassifier(random_state=0),
    ),
    "pairs, selected, histograms": lambda: (
        CountVectorizer(**PAIRS), SelectKBest(k=20), FunctionTransformer(lambda x: x.toarray()),
        HistGradientBoostingClassifier(max_iter=10, min_samples_leaf=3, random_state=0),
    ),
    "scaled, forest": lambda: (
        CountVectorizer(), StandardScaler(with_mean=False), RandomForestClassifier(20, random_state=0),
    ),
}  # fmt: skip
# Anything else takes rows of features.
ROWS = {
    "kernel": lambda: (TfidfVectorizer(**PAIRS), SVC()),
    "tree on signed hashes": lambda: (hashing(), DecisionTreeClassifier(random_state=0)),
    "own step": lambda: (CountVectorizer(**PAIRS), FunctionTransformer(abs), logistic()),
}
ALL = {**SUMS, **CHAINS, **LEADS, **ALGEBRA, **TREES, **ROWS}
SEVERAL = [
    "pairs", "hashes", "union, l2", "one against the rest", "calibrated", "calibrated bayes", "majority",
    "mean chance", "svd", "isotonic, one member", "triples, complement",
    *LEADS, *TREES,
]  # fmt: skip


@cache
def fitted(name, classes=2):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make_pipeline(*ALL[name]()).fit(*corpus(classes))


@cache
def explainer(name, classes=2, mask=None):
    pipeline = fitted(name, classes)
    return kedge.Explainer(pipeline, **({} if mask is None else {"perturbation": Masking(mask=mask)}))


def check_all_masks(name, text, classes=2, mask=None):
    """Whatever is declared gives the pipeline's own labels on every masked text."""
    pipeline = fitted(name, classes)
    try:
        reading = explainer(name, classes, mask).read(text)
    except kedge.errors.TextError:
        return None
    if reading.inside is None:
        return reading
    b = len(reading.document)
    kept = (np.arange(1 << b)[:, None] >> np.arange(b) & 1).astype(bool)
    texts = reading.perturbation.writer(reading.document)(kept)
    truth = pipeline.predict(texts) == reading.label
    counts = np.stack([kept[:, list(g)].sum(axis=1) for g in reading.units.members], axis=1)
    assert (reading.inside.predict(counts).hold(reading.label) == truth).all()
    assert (reading.holds(counts) == truth).all()
    if reading.leads is not None:
        clear = (np.abs(reading.leads.leads(counts)) > reading.leads.error).all(axis=1)
        assert (reading.leads.holds(counts) == truth)[clear].all()
    for score in (reading.additive, reading.chain):
        if score is not None:
            clear = np.abs(score.score(counts)) > score.error
            assert (score.holds(counts) == truth)[clear].all()
            if score.error == 0:
                assert (score.holds(counts) == truth).all()
    return reading


documents = st.lists(st.sampled_from(WORDS), min_size=1, max_size=7).map(" ".join)


@pytest.mark.parametrize("name", ALL)
@settings(max_examples=12)
@given(text=documents)
def test_every_masked_text_has_the_pipeline_s_own_label(name, text):
    """From rows of counts, by algebra, by scores: what the pipeline says about the text itself."""
    check_all_masks(name, text)


@pytest.mark.parametrize("name", SEVERAL)
@settings(max_examples=10)
@given(text=documents)
def test_several_classes_have_the_pipeline_s_own_labels(name, text):
    """The same for three classes."""
    check_all_masks(name, text, classes=3)


@pytest.mark.parametrize(
    "name", ["characters", "hashes", "hashed pairs", "pairs and characters", "union, l2"]
)
@pytest.mark.parametrize("mask", ["UNK", "not good", "good!", ""])
@settings(max_examples=8)
@given(text=documents)
def test_a_mask_that_is_itself_a_feature_is_part_of_the_sum(name, mask, text):
    """Characters and hashes of the mask, and n-grams with it, count as the pipeline counts them."""
    check_all_masks(name, text, mask=mask)


@pytest.mark.parametrize(
    ("names", "has"),
    [(SUMS, "additive"), (CHAINS, "chain"), (LEADS, "leads"), (ALGEBRA, "algebra"), (TREES, "algebra")],
)
def test_what_is_known_of_each_pipeline(names, has):
    """Sums over words, sums over windows, arithmetic; one question each, and one where there is a tie."""
    text = "the food was good and very tasty, not bad"
    for name in names:
        reading = explainer(name).read(text)
        assert getattr(reading, has), name
        assert reading.algebra, name
        assert reading.oracle.queries == 1, name
        assert explainer(name).explain(text).queries <= 2, name


@pytest.mark.parametrize("name", [*SUMS, *CHAINS, *LEADS, *ALGEBRA, *TREES])
@settings(max_examples=6)
@given(text=documents)
def test_answers_are_those_of_brute_force(name, text):
    """The shortest anchor, and the most precise of its length, on real masked texts."""
    pipeline = fitted(name)
    try:
        reading = explainer(name).read(text)
    except kedge.errors.TextError:
        return
    if len(reading.document) > 6:
        return
    e = explainer(name).explain(text)
    mask = reading.perturbation.written
    tokens = reading.document.tokens
    length, best, _ = brute.shortest(text, e.label, pipeline.predict, tokens=tokens, mask=mask)
    own = brute.precision(text, e.label, pipeline.predict, e.positions, tokens=tokens, mask=mask)
    assert e.interval.low - 1e-9 <= own <= e.interval.high + 1e-9
    if e.status == "exact":
        assert (len(e.positions), own) == (length, pytest.approx(best, abs=1e-9))


@pytest.mark.parametrize(
    "name", ["hashes", "union", "one against the rest", "svd", *sorted(LEADS.keys() - {"l2, sigmoid"})]
)
def test_several_classes_of_sums_over_words_have_leads(name):
    """Their answers are exact, and those of brute force."""
    pipeline, text = fitted(name, 3), "the soup was very good, bread bad"
    reading = explainer(name, 3).read(text)
    assert reading.leads is not None
    e = explainer(name, 3).explain(text)
    mask, tokens = reading.perturbation.written, reading.document.tokens
    length, best, _ = brute.shortest(text, e.label, pipeline.predict, tokens=tokens, mask=mask)
    assert (e.status, len(e.positions), e.precision) == ("exact", length, pytest.approx(best, abs=1e-9))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", LEADS)
@settings(max_examples=8)
@given(text=documents)
def test_leads_divided_by_a_norm_are_proven_like_those_of_words(name, classes, text):
    """The search for longer documents, run by name, against brute force."""
    pipeline = fitted(name, classes)
    try:
        reading = explainer(name, classes).read(text)
    except kedge.errors.TextError:
        return
    if reading.leads is None or len(reading.document) > 6:
        return  # a zero in place of a weight, say
    e = kedge.Explainer(pipeline, method="leading").explain(text)
    mask, tokens = reading.perturbation.written, reading.document.tokens
    length, best, _ = brute.shortest(text, e.label, pipeline.predict, tokens=tokens, mask=mask)
    assert e.interval.low - 1e-9 <= best <= e.interval.high + 1e-9
    assert e.status != "exact" or len(e.positions) == length


@pytest.mark.parametrize("name", ["hashes, l2", "many hashes, l2"])
def test_words_that_share_a_column_have_no_leads(name):
    """Their norm is no sum over words; of 32 columns fourteen words share some."""
    reading = explainer(name).read(" ".join(word for word in WORDS if word.isalpha()))
    assert (reading.leads is None) == (name == "hashes, l2")


@pytest.mark.parametrize("name", ["calibrated bayes", "isotonic, one member", "triples, complement"])
def test_exact_ties_need_no_question(name):
    """Flat isotonic calibrators, and an empty text without a prior, tie classes to the last bit."""
    e = explainer(name, 3).explain("the soup was very good, bread bad")
    assert (e.status, e.queries) == ("exact", 1)


def test_units_of_a_union_are_the_pieces_that_all_members_read():
    """A word with its comma is one piece for characters, and holds the word."""
    reading = explainer("union").read("Good food, x-y good")
    assert [t.word for t in reading.document.tokens] == ["good", "food,", "x-y", "good"]
    assert reading.units.members == ((0, 3), (1,), (2,))


def lower(text):
    return text.lower()


class Own(CountVectorizer):
    """Looks like what it is not."""


@pytest.mark.parametrize(
    "first",
    [
        CountVectorizer(preprocessor=lower, **PAIRS),
        CountVectorizer(tokenizer=str.split, token_pattern=None, **PAIRS),
        CountVectorizer(analyzer=str.split),
        CountVectorizer(analyzer="char", ngram_range=(2, 3)),
        CountVectorizer(strip_accents=lower, **PAIRS),
        Own(**PAIRS),
        FeatureUnion([("own", Own()), ("words", CountVectorizer())]),
        CountVectorizer(token_pattern=r"\w+(?=.*good)|\w+", **PAIRS),
    ],
)
def test_what_only_resembles_is_asked(first):
    """A subclass, or code of the user's own in a vectoriser: masked texts are asked about."""
    pipeline = make_pipeline(first, logistic()).fit(*corpus(2))
    e = kedge.explain(pipeline, "the food was not bad")
    assert kedge.as_model(pipeline).opened is None
    assert e.queries > 1


class OwnScaler(MaxAbsScaler):
    """A step that looks like what it is not."""

    def transform(self, x):
        return super().transform(x) * 2


class OwnLogistic(LogisticRegression):
    """A classifier that looks like what it is not."""


@pytest.mark.parametrize("steps", [(OwnScaler(), logistic()), (MaxAbsScaler(), OwnLogistic())])
def test_a_step_that_only_resembles_is_asked_about_rows(steps):
    """Its own transform and predict are called: nothing is taken from its inside."""
    pipeline = make_pipeline(CountVectorizer(**PAIRS), *steps).fit(*corpus(2))
    reading = kedge.Explainer(pipeline).read("the food was not bad")
    assert reading.counted
    assert (reading.additive, reading.chain, reading.algebra) == (None, None, False)


def test_removal_of_words_makes_neighbours_so_n_grams_are_asked():
    """With mask="" the words around a removed one become a pair that was not there."""
    reading = kedge.Explainer(fitted("pairs"), mask="").read("the food was not bad")
    assert not reading.counted
    assert any("black box" in note for note in reading.notes)


def test_a_refit_is_seen():
    """After fit the same explainer explains the new model."""
    texts, labels = corpus(2)
    pipeline = make_pipeline(CountVectorizer(**PAIRS), SelectKBest(k=20), logistic()).fit(texts, labels)
    one = kedge.Explainer(pipeline)
    first = one.explain("the food was very good")
    pipeline.fit(texts, [{"neg": "pos", "pos": "neg"}[y] for y in labels])
    assert one.explain("the food was very good").label != first.label
