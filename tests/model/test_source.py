"""What was read of a model is read of the very objects that answer now."""

import brute
import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import DecisionTreeClassifier

import kedge

TEXTS = ["good food", "bad food", "good place", "bad place"] * 3
LABELS = [1, 0, 1, 0] * 3
TURNED = [1 - label for label in LABELS]
TEXT = "good food bad food place"


def fitted(head=None, labels=LABELS, vectorizer=None):
    head = LogisticRegression() if head is None else head
    return make_pipeline(vectorizer or CountVectorizer(), head).fit(TEXTS, labels)


def searched(kind=GridSearchCV, labels=LABELS):
    return kind(fitted(), {"logisticregression__C": [1, 10]}, cv=2).fit(TEXTS, labels)


def holds_of(model, e):
    """An explanation is of the label that the model gives now, and its interval holds the true precision."""
    tokens = [kedge.Token(e.text[a:b], a, b) for a, b in e.tokens]
    true = brute.precision(e.text, e.label, model.predict, e.positions, tokens=tokens)
    return e.label == model.predict([e.text])[0] and e.interval.low - 1e-12 <= true <= e.interval.high + 1e-12


def refit(pipeline):
    pipeline.fit(["place food bad", "good", "food place", "good bad"], [0, 1, 0, 1])


def other_words(pipeline):
    pipeline.fit(["zzz place", "aaa food", "place", "food"], [1, 0, 1, 0])


def new_head(pipeline):
    head = LogisticRegression(C=100).fit(pipeline[0].transform(TEXTS), TURNED)
    head.classes_ = pipeline[-1].classes_  # shared
    pipeline.set_params(logisticregression=head)


def copied_head(pipeline):
    import copy

    head = copy.copy(pipeline[-1])
    head.coef_, head.intercept_ = -5 * head.coef_, head.intercept_ + 0.1
    pipeline.steps[-1] = ("logisticregression", head)


def other_kind_of_head(pipeline):
    tree = DecisionTreeClassifier(random_state=0).fit(pipeline[0].transform(TEXTS), TURNED)
    pipeline.steps[-1] = ("tree", tree)


def in_place(pipeline):
    pipeline[-1].coef_ *= -3


def replaced_array(pipeline):
    pipeline[-1].coef_ = pipeline[-1].coef_[:, ::-1].copy()


def pairs_of_words(pipeline):
    pipeline.set_params(countvectorizer__ngram_range=(1, 2))  # without a refit: what is not known is not read


def presence(pipeline):
    pipeline.set_params(countvectorizer__binary=True)


def own_preprocessor(pipeline):
    pipeline.set_params(countvectorizer__preprocessor=lambda s: s.lower() if "bad" in s else "bad")


def own_predict(pipeline):
    pipeline.predict = lambda texts: np.array([int("place" in text) for text in texts])


def own_predict_of_the_head(pipeline):
    pipeline[-1].predict = lambda x: np.ones(x.shape[0], dtype=int)


CHANGES = [
    refit, other_words, new_head, copied_head, other_kind_of_head, in_place, replaced_array, pairs_of_words,
    presence, own_preprocessor, own_predict, own_predict_of_the_head,
]  # fmt: skip


@pytest.mark.parametrize("words", [(1, 1), (1, 2)])
@pytest.mark.parametrize("change", CHANGES)
def test_an_explainer_reads_the_pipeline_as_it_is_now(change, words):
    """Whatever was changed since the explainer was made, its next explanation is of the present model."""
    if change is pairs_of_words and words == (1, 2):
        words = (1, 3)
    pipeline = fitted(vectorizer=CountVectorizer(ngram_range=words))
    explainer = kedge.Explainer(pipeline)
    assert holds_of(pipeline, explainer.explain(TEXT))
    change(pipeline)
    e = explainer.explain(TEXT)
    assert holds_of(pipeline, e)
    assert e == kedge.explain(pipeline, TEXT)


@pytest.mark.parametrize("change", CHANGES)
def test_a_converted_model_is_read_anew(change):
    """``as_model`` before the change, the explainer after it; named classes likewise."""
    pipeline = fitted()
    model, named = kedge.as_model(pipeline), kedge.as_model(pipeline, classes=["no", "yes"])
    model, again = kedge.as_model(model), kedge.as_model(kedge.as_model(fitted()), classes=["no", "yes"])
    assert again.predict([TEXT]).labels[0] in {"no", "yes"}
    change(pipeline)
    assert holds_of(pipeline, kedge.explain(model, TEXT))
    label = pipeline.predict([TEXT])[0]
    assert kedge.explain(named, TEXT).label == ["no", "yes"][label]


def voted(**options):
    members = [("a", LogisticRegression()), ("b", BernoulliNB())]
    return fitted(VotingClassifier(members, voting="soft", **options))


def calibrated(**options):
    return fitted(CalibratedClassifierCV(LogisticRegression(), cv=2, **options))


def united(**options):
    grams = CountVectorizer(ngram_range=(1, 2))
    return fitted(vectorizer=FeatureUnion([("a", CountVectorizer()), ("b", grams)], **options))


def grown(kind, **options):
    return fitted(kind(random_state=0, **options))


def histogram():
    dense = FunctionTransformer(lambda x: x.toarray())
    head = HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=1, random_state=0)
    return make_pipeline(CountVectorizer(), dense, head).fit(TEXTS, LABELS)


def turned(pipeline):
    return LogisticRegression(C=9).fit(pipeline[0].transform(TEXTS), TURNED)


def constant(_):
    return lambda x, **_: np.tile([0.9, 0.1], (x.shape[0], 1))


def turned_leaves(pipeline):
    for member in np.ravel(pipeline[-1].estimators_):
        member.tree_.value[:] = -5 * member.tree_.value


def pruned(pipeline):
    for member in pipeline[-1].estimators_:
        member.tree_.children_left[0] = member.tree_.children_right[0] = -1


def fewer_stages(pipeline):
    pipeline[-1]._predictors.pop()


def turned_stages(pipeline):
    for predictor in (one for stage in pipeline[-1]._predictors for one in stage):
        predictor.nodes["value"] *= -1


# How a model is made, and what is then changed deep inside it.
DEEP = {
    "member of a vote": (voted, lambda p: p[-1].estimators_.__setitem__(0, turned(p))),
    "weight of a vote": (lambda: voted(weights=[1, 1]), lambda p: p[-1].weights.__setitem__(0, 9)),
    "array of weights": (lambda: voted(weights=np.ones(2)), lambda p: p[-1].weights.__setitem__(0, 9)),
    "method of a voter": (voted, lambda p: setattr(p[-1].estimators_[0], "predict_proba", constant(p))),
    "calibrated member": (
        calibrated, lambda p: setattr(p[-1].calibrated_classifiers_[0], "estimator", turned(p)),
    ),
    "calibration": (
        lambda: calibrated(ensemble=False),
        lambda p: setattr(p[-1].calibrated_classifiers_[0].calibrators[0], "a_", 2.0),
    ),
    "method of a calibrated member": (
        calibrated,
        lambda p: setattr(
            p[-1].calibrated_classifiers_[0].estimator, "decision_function", lambda x: -np.ones(x.shape[0])
        ),
    ),
    "one against the rest": (
        lambda: fitted(OneVsRestClassifier(LogisticRegression())),
        lambda p: p[-1].estimators_.__setitem__(0, turned(p)),
    ),
    "vectoriser of a union": (
        united,
        lambda p: p[0].transformer_list.__setitem__(
            0, ("a", CountVectorizer(vocabulary=["place", "bad", "good", "food"]))
        ),
    ),
    "weight of a union": (
        lambda: united(transformer_weights={"a": 2.0}),
        lambda p: p[0].transformer_weights.update(a=-3.0),
    ),
    "tree of a forest": (
        lambda: grown(RandomForestClassifier, n_estimators=3),
        lambda p: p[-1].estimators_.__setitem__(
            0, DecisionTreeClassifier().fit(p[0].transform(TEXTS), TURNED)
        ),
    ),
    "method of a tree": (
        lambda: grown(RandomForestClassifier, n_estimators=3),
        lambda p: setattr(p[-1].estimators_[0], "predict_proba", constant(p)),
    ),
    "pruned trees": (lambda: grown(RandomForestClassifier, n_estimators=3), pruned),
    "leaves of boosted trees": (lambda: grown(GradientBoostingClassifier, n_estimators=3), turned_leaves),
    "stages of histogram trees": (histogram, fewer_stages),
    "leaves of histogram trees": (histogram, turned_stages),
    "first score of histogram trees": (
        histogram, lambda p: setattr(p[-1], "_baseline_prediction", p[-1]._baseline_prediction + 3.0),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DEEP)
def test_a_change_deep_inside_is_seen(name):
    """Another object in a list, another number in a tree's own memory, another method of a member."""
    make, change = DEEP[name]
    pipeline = make()
    explainer = kedge.Explainer(pipeline)
    assert holds_of(pipeline, explainer.explain(TEXT))
    change(pipeline)
    e = explainer.explain(TEXT)
    assert holds_of(pipeline, e)
    assert e == kedge.explain(pipeline, TEXT)


def test_a_search_that_was_fitted_again_is_read_anew():
    """``GridSearchCV`` has another best pipeline after a refit; a model made of it before likewise."""
    search = searched()
    explainer, model = kedge.Explainer(search), kedge.as_model(search, classes=["no", "yes"])
    named = kedge.as_model(model)
    assert explainer.explain(TEXT).label == 1
    search.fit(TEXTS, TURNED)
    assert holds_of(search, explainer.explain(TEXT))
    assert explainer.explain("good food").label == 0
    assert kedge.explain(named, "good food").label == "no"


def test_a_search_with_its_own_predict_is_asked():
    """A subclass may answer otherwise than its best pipeline; so may an object with a method of its own."""

    class Turned(GridSearchCV):
        def predict(self, texts):
            return 1 - super().predict(texts)

    search = searched(Turned)
    assert holds_of(search, kedge.explain(search, TEXT))
    search = searched()
    explainer = kedge.Explainer(search)
    search.predict = lambda texts: np.array([int("place" in text) for text in texts])
    assert holds_of(search, explainer.explain(TEXT))


def test_a_class_whose_predict_was_replaced_is_refused(monkeypatch):
    """What the steps say is compared with what the object itself says; where they differ it is refused."""
    pipeline = fitted()
    monkeypatch.setattr(type(pipeline), "predict", lambda _, texts: np.zeros(len(texts), dtype=int))
    with pytest.raises(kedge.KedgeError, match="contradicts kedge's reading of it"):
        kedge.explain(pipeline, "good food")


def test_an_inside_that_gives_the_document_another_label_is_refused():
    """Also after the model was compared with its own answers once."""
    from dataclasses import replace

    from kedge.reading.verification import confirm

    reading = kedge.Explainer(fitted()).read("good food place")
    confirm(reading)
    score = reading.additive
    turned = type(score).from_slopes(-score.bias, -score.slopes, score.sizes, strict=True)
    with pytest.raises(kedge.KedgeError, match="by its score the text"):
        confirm(replace(reading, additive=turned))


def test_leads_that_give_the_document_another_label_are_refused():
    """What the search for normalised scores and several classes goes by is confirmed like the rest."""
    from dataclasses import replace

    from kedge.reading.verification import confirm

    pipeline = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(TEXTS, LABELS)
    reading = kedge.Explainer(pipeline).read("good food place")
    confirm(reading)
    turned = replace(reading.leads, bias=-reading.leads.bias, weights=-reading.leads.weights)
    with pytest.raises(kedge.KedgeError, match="by its leads the text"):
        confirm(replace(reading, leads=turned))


def test_a_refitted_vectoriser_of_a_torch_module_is_read_anew():
    """Its words are other words, in other columns."""
    torch = pytest.importorskip("torch")
    vectorizer = TfidfVectorizer().fit(["good food", "bad place"])
    module = torch.nn.Linear(4, 2)
    with torch.no_grad():
        module.weight[:] = torch.tensor([[0.0, 0, 0, 0], [-1, 0.2, 1, 0]])  # bad, food, good, place
        module.bias[:] = 0
    explainer = kedge.Explainer(kedge.torch_model(module, vectorizer))
    assert explainer.explain("good food").words == ("good",)
    vectorizer.fit(["food aaa", "zzz good"])  # aaa, food, good, zzz
    e = explainer.explain("good food aaa")
    assert e == kedge.explain(kedge.torch_model(module, vectorizer), "good food aaa")


def test_a_model_whose_weights_were_made_sparse_is_explained():
    """``sparsify()`` before or after the explainer was made."""
    pipeline = fitted()
    explainer = kedge.Explainer(pipeline)
    before = explainer.explain(TEXT)
    pipeline[-1].sparsify()
    for e in (explainer.explain(TEXT), kedge.explain(pipeline, TEXT)):
        assert (e.words, e.status) == (before.words, "exact")
        assert holds_of(pipeline, e)
