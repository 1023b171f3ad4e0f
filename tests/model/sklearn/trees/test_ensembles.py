"""Ensembles of trees cut down to a document: the very labels of the model, without asking it."""

import numpy as np
import pytest
from brute import precision as true_precision
from counting import precision, shortest
from hypothesis import given, settings
from hypothesis import strategies as st
from readings import reading_of
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

import kedge
from kedge.data.demo import reviews
from kedge.model.sklearn.fitted import makes_dense
from kedge.model.sklearn.trees.boosted import single_bound
from kedge.search import Goal

TEXT = (
    "Friendly staff, delicious food, a lovely place, but the soup was cold, the waiter slow and rude, and "
    "the food, the food was not good, not good at all, so we will not be back to this place"
)
TO_ARRAY = lambda x: x.toarray()  # noqa: E731  (as people write it at the top of a script)


def dense():
    """What people put between a vectoriser and an estimator that takes no sparse rows."""
    return FunctionTransformer(lambda x: x.toarray(), accept_sparse=True)


def xgboost(**knobs):
    """XGBoost, where it is installed."""
    return pytest.importorskip("xgboost").XGBClassifier(**knobs)


def lightgbm(**knobs):
    """LightGBM, where it is installed."""
    found = pytest.importorskip("lightgbm")
    return found.LGBMClassifier(n_estimators=20, min_child_samples=3, n_jobs=1, verbose=-1, **knobs)


def catboost(**knobs):
    """CatBoost, where it is installed."""
    found = pytest.importorskip("catboost")
    return found.CatBoostClassifier(
        iterations=15, depth=4, verbose=0, thread_count=1, allow_writing_files=False, **knobs
    )


STEPS = {
    "forest": lambda: (TfidfVectorizer(norm=None), RandomForestClassifier(30, random_state=0)),
    "tree with a norm": lambda: (TfidfVectorizer(), DecisionTreeClassifier(random_state=0)),
    "extra tree with a norm": lambda: (TfidfVectorizer(), ExtraTreeClassifier(max_depth=6, random_state=0)),
    "forest with a norm": lambda: (TfidfVectorizer(), RandomForestClassifier(30, random_state=0)),
    "forest of soft leaves": lambda: (
        CountVectorizer(),
        RandomForestClassifier(20, min_samples_leaf=5, random_state=0),
    ),
    "extra trees": lambda: (CountVectorizer(binary=True), ExtraTreesClassifier(30, random_state=0)),
    "boosting": lambda: (TfidfVectorizer(), GradientBoostingClassifier(n_estimators=30, random_state=0)),
    "boosting from zero": lambda: (
        CountVectorizer(),
        GradientBoostingClassifier(n_estimators=20, init="zero", random_state=0),
    ),
    "histograms": lambda: (
        TfidfVectorizer(),
        dense(),
        HistGradientBoostingClassifier(max_iter=20, min_samples_leaf=3, random_state=0),
    ),
    "xgboost": lambda: (TfidfVectorizer(sublinear_tf=True), xgboost(n_estimators=20)),
    "dense xgboost": lambda: (CountVectorizer(), dense(), xgboost(n_estimators=20)),
    "lightgbm": lambda: (TfidfVectorizer(), lightgbm()),
    "lightgbm, zero is missing": lambda: (TfidfVectorizer(norm=None), lightgbm(zero_as_missing=True)),
    "lightgbm, dart": lambda: (CountVectorizer(dtype=float), lightgbm(boosting_type="dart")),
    "dense lightgbm": lambda: (TfidfVectorizer(sublinear_tf=True), dense(), lightgbm()),
    "catboost": lambda: (CountVectorizer(), catboost()),
    "catboost, by leaf": lambda: (TfidfVectorizer(), catboost(grow_policy="Lossguide")),
    "dense catboost": lambda: (TfidfVectorizer(norm=None), dense(), catboost()),
}


@pytest.fixture(scope="module", params=STEPS)
def fitted(request):
    """One ensemble of each kind, of two classes and of three."""
    texts, labels = reviews()
    thirds = [2 if len(text) % 3 == 0 else int(y == labels[0]) for text, y in zip(texts, labels, strict=True)]
    labels = [int(y == labels[0]) for y in labels]  # XGBoost takes numbers only
    return [make_pipeline(*STEPS[request.param]()).fit(texts, y) for y in (labels, thirds)]


def test_every_sample_gets_the_model_s_own_label(fitted):
    """Thousands of rows of counts, by arithmetic and by the model; no question is asked."""
    rng = np.random.default_rng(0)
    for model in fitted:
        reading = reading_of(model, TEXT)
        assert reading.algebra
        counts = np.concatenate([reading.sample((), 1_500, rng), reading.sample((0, 1), 500, rng)])
        held = reading.holds(counts)
        assert reading.oracle.queries <= 1 + 0.02 * len(counts)
        np.testing.assert_array_equal(held, reading.inside.predict(counts).hold(reading.label))


def test_the_answer_is_certified_and_true(fitted):
    """One question, irreducible, and fresh texts agree."""
    rng = np.random.default_rng(1)
    for model in fitted:
        e = kedge.explain(model, TEXT)
        assert e.status in {"certified", "exact"}
        assert e.minimality in {"irreducible", "shortest"}
        assert e.queries <= 200
        document = kedge.Document(TEXT, kedge.as_model(model).tokenize(TEXT))
        masks = rng.random((600, len(document))) < 0.5
        masks[:, list(e.positions)] = True
        texts = kedge.Masking().writer(document)(masks)
        held = [python == e.label for python in model.predict(texts).ravel().tolist()]  # CatBoost: (n, 1)
        assert np.mean(held) >= e.threshold - 0.04


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=25, deadline=None)
def test_small_documents_are_exact(seed):
    """Ten words: the shortest anchor and its precision are those of brute force on real texts."""
    rng = np.random.default_rng(seed)
    words = [f"w{i}" for i in range(8)]
    texts = [" ".join(rng.choice(words, 6)) for _ in range(60)]
    labels = [int(("w0" in t and "w1" not in t) or "w2" in t) for t in texts]
    labels[:2] = [0, 1]
    model = make_pipeline(
        TfidfVectorizer(norm=rng.choice(["l2", None])), RandomForestClassifier(10, random_state=0)
    )
    model.fit(texts, labels)
    text = " ".join(rng.choice(words, 9))
    e = kedge.explain(model, text)
    assert (e.status, e.queries) == ("exact", 1)
    label = model.predict([text])[0]
    assert e.precision == pytest.approx(true_precision(text, label, model.predict, e.positions))
    reading = reading_of(model, text)
    length, best, _ = shortest(reading.holds, reading.units.sizes, 0.95)
    assert (len(e.words), e.precision) == (length, pytest.approx(best))


def test_words_that_no_tree_asks_about_here_belong_to_no_unit():
    """What the ensemble reads of this document, and no more: the rest can never be in an anchor."""
    texts = ["good food", "bad food", "good place", "bad place"] * 5
    model = make_pipeline(CountVectorizer(), RandomForestClassifier(5, max_features=None, random_state=0))
    model.fit(texts, [1, 0, 1, 0] * 5)
    text = "good food in a bad place"
    reading = reading_of(model, text)
    words = {reading.document.tokens[group[0]].word for group in reading.units.members}
    assert words <= {"good", "bad"}
    assert set(kedge.explain(model, text).words) <= {"good", "bad"}


def test_the_anchor_does_not_depend_on_the_seed():
    """The samples of the search depend on the text alone; those of the proof on the seed."""
    model = make_pipeline(TfidfVectorizer(), RandomForestClassifier(30, random_state=0)).fit(*reviews())
    found = [kedge.explain(model, TEXT, seed=seed) for seed in range(3)]
    assert len({e.positions for e in found}) == 1
    assert all(e.status == "certified" for e in found)


def test_bounds_in_double_precision_answer_as_single_precision_does():
    """float32(x) <= threshold for all x around the bound, half-way cases included."""
    rng = np.random.default_rng(0)
    thresholds = np.concatenate([rng.normal(size=500), rng.normal(size=500).astype(np.float32), [0.0, 1.0]])
    for threshold, bound in zip(thresholds, single_bound(thresholds), strict=True):
        around = [bound, np.nextafter(bound, np.inf), np.nextafter(bound, -np.inf), threshold]
        for x in around:
            assert (np.float32(x) <= threshold) == (x <= bound)


def test_only_a_function_known_by_its_code_makes_rows_dense():
    """Another function may do anything, a subclass too."""

    class Mine(FunctionTransformer):
        """Not the very type."""

    assert makes_dense(dense())
    assert makes_dense(FunctionTransformer(TO_ARRAY))
    assert makes_dense(FunctionTransformer(lambda rows: rows.toarray()))
    assert not makes_dense(FunctionTransformer(lambda x: 2 * x.toarray()))
    assert not makes_dense(FunctionTransformer(lambda x: x.todense()))
    assert not makes_dense(FunctionTransformer(np.asarray))
    assert not makes_dense(Mine(lambda x: x.toarray()))
    assert not makes_dense(None)


def test_a_subclass_or_another_first_score_is_asked():
    """Never taken for what it resembles."""

    class Mine(RandomForestClassifier):
        """It may override anything."""

    texts, labels = reviews()
    first = RandomForestClassifier(3, random_state=0)
    for final in (Mine(5, random_state=0), GradientBoostingClassifier(n_estimators=3, init=first)):
        reading = reading_of(make_pipeline(CountVectorizer(), final).fit(texts, labels), TEXT)
        assert not reading.algebra


@pytest.mark.parametrize(
    "make",
    [
        lambda: lightgbm(boosting_type="rf", subsample=0.5, subsample_freq=1),
        lambda: lightgbm(linear_tree=True),
        lambda: lightgbm(objective="cross_entropy"),
        lambda: catboost(loss_function="CrossEntropy"),
    ],
)
def test_boosting_of_another_kind_is_asked(make):
    """Averaged or linear trees and other objectives: their labels are the model's own, one by one."""
    texts, labels = reviews()
    model = make_pipeline(TfidfVectorizer(max_features=60), make())
    model.fit(texts, [int(y == labels[0]) for y in labels])
    assert not reading_of(model, TEXT).algebra


@pytest.mark.parametrize(
    "make", [lambda: RandomForestClassifier(10), lightgbm, catboost], ids=["forest", "lightgbm", "catboost"]
)
def test_a_refit_is_seen(make):
    """The trees are read again once the ensemble is another."""
    texts, labels = reviews()
    rows = CountVectorizer(dtype=np.float32)  # LightGBM takes no whole numbers
    model = make_pipeline(rows, make().set_params(random_state=0)).fit(texts, labels)
    explainer = kedge.Explainer(model)
    explainer.explain(TEXT)
    turned = labels[::-1]
    model[-1].fit(model[0].transform(texts), turned)
    reading = explainer.read(TEXT)
    counts = reading.sample((), 500, np.random.default_rng(0))
    np.testing.assert_array_equal(reading.holds(counts), reading.inside.predict(counts).hold(reading.label))


def test_the_precision_of_a_certified_anchor_is_that_of_all_its_samples():
    """Fourteen words, by samples though they could be enumerated: the interval holds the truth."""
    model = make_pipeline(TfidfVectorizer(), ExtraTreesClassifier(20, random_state=0)).fit(*reviews())
    reading = reading_of(model, "friendly staff but cold soup slow waiter rude and not good food at all")
    found = kedge.Counted()(reading, Goal(0.9), np.random.default_rng(0))
    truth = precision(reading.holds, reading.units.counts(found.kept), reading.units.sizes)
    assert found.interval.low <= truth <= found.interval.high
    assert truth >= 0.9
