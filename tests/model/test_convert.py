"""The one door: what people have is recognised, and read where it can be."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from networks import DOCUMENT, LABELS, TEXTS, torch_net
from sklearn.ensemble import VotingClassifier
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.svm import SVC

import kedge
from kedge.errors import LabelError, ModelError, ModelRaised, OutputError

NAMES = ["bad" if y == 0 else "good" for y in LABELS]
TEXT = "the food was good and the staff was great"


@pytest.fixture(scope="module")
def pipeline():
    return make_pipeline(TfidfVectorizer(norm=None), LogisticRegression()).fit(TEXTS, NAMES)


class TestMethods:
    """Bound methods of a readable object are the object."""

    @pytest.mark.parametrize("method", ["predict", "predict_proba", "predict_log_proba", "decision_function"])
    def test_a_method_of_a_pipeline_is_read_like_the_pipeline(self, pipeline, method):
        """The same exact answer, with the pipeline's own names for the classes."""
        e = kedge.explain(getattr(pipeline, method), TEXT)
        assert e.status == "exact"
        assert e == kedge.explain(pipeline, TEXT)
        assert e.label == "good"

    def test_a_method_of_a_search_is_read_through_its_best_pipeline(self):
        """GridSearchCV hands on to the pipeline it found, and so do its methods."""
        steps = make_pipeline(TfidfVectorizer(norm=None), LogisticRegression())
        grid = GridSearchCV(steps, {"logisticregression__C": [1.0, 10.0]}, cv=2).fit(TEXTS, NAMES)
        assert kedge.explain(grid.predict_proba, TEXT) == kedge.explain(grid.best_estimator_, TEXT)

    def test_a_refitted_search_is_understood_anew(self):
        """The reading is of the pipeline that answers now, not of the one it was made with."""
        steps = make_pipeline(TfidfVectorizer(norm=None), LogisticRegression())
        grid = GridSearchCV(steps, {"logisticregression__C": [10.0]}, cv=2).fit(TEXTS, NAMES)
        explainer = kedge.Explainer(grid)
        before = explainer.explain(TEXT)
        turned = ["good" if name == "bad" else "bad" for name in NAMES]
        grid.fit(TEXTS, turned)
        after = explainer.explain(TEXT)
        assert (before.label, after.label) == ("good", "bad")
        assert after == kedge.explain(grid.best_estimator_, TEXT)

    def test_a_method_that_somebody_replaced_is_asked(self, pipeline):
        """Of an object, of a subclass, or put into the class: what was replaced may say anything."""
        patched = Pipeline(pipeline.steps)
        patched.predict_proba = lambda texts: np.tile([1.0, 0.0], (len(texts), 1))

        class Cautious(Pipeline):
            def predict(self, texts):
                return ["bad"] * len(list(texts))

        for method in (patched.predict_proba, Cautious(pipeline.steps).predict):
            assert kedge.as_model(method).from_counts is None
        assert kedge.explain(Cautious(pipeline.steps).predict, TEXT).label == "bad"

    def test_probabilities_from_elsewhere_are_asked(self, monkeypatch):
        """A classifier whose probabilities do not follow its labels is not read as the other."""
        model = make_pipeline(TfidfVectorizer(), SVC()).fit(TEXTS, NAMES)
        asked = kedge.as_model(model.decision_function)
        assert asked.from_counts is None
        assert asked.predict([TEXT]).labels.tolist() == model.predict([TEXT]).tolist()
        monkeypatch.setattr(Pipeline, "predict", lambda _, texts: ["bad"] * len(texts))
        assert kedge.as_model(model.predict).from_counts is None

    def test_classes_rename_the_columns_of_a_method(self, pipeline):
        """classes= gives new names to the columns of predict_proba, and the answer stays exact."""
        e = kedge.explain(pipeline.predict_proba, TEXT, classes=["minus", "plus"])
        assert (e.label, e.status) == ("plus", "exact")
        assert dict(e.probabilities).keys() == {"minus", "plus"}

    def test_other_meanings_of_the_user_are_respected(self, pipeline):
        """outputs='scores' about predict_proba is taken as said: the method is asked."""
        assert kedge.as_model(pipeline.predict_proba, outputs="scores").from_counts is None

    def test_columns_of_another_object_s_method_have_its_names(self):
        """predict_proba of an ensemble of pipelines is asked, and its classes are called by name."""
        members = [("a", make_pipeline(CountVectorizer(), MultinomialNB())), ("b", _fitted_steps())]
        ensemble = VotingClassifier(members, voting="soft").fit(TEXTS, NAMES)
        e = kedge.explain(ensemble.predict_proba, TEXT)
        assert e.label == "good"
        assert dict(e.probabilities).keys() == {"bad", "good"}


def _fitted_steps():
    return make_pipeline(TfidfVectorizer(), LogisticRegression())


class TestPairs:
    """A vectoriser and a classifier that belong together."""

    def test_a_pair_is_the_pipeline_of_the_two(self, pipeline):
        """In either order, as a tuple or a list, exact as the pipeline is."""
        vectorizer, classifier = pipeline[0], pipeline[1]
        expected = kedge.explain(pipeline, TEXT)
        for pair in ((vectorizer, classifier), [classifier, vectorizer]):
            assert kedge.explain(pair, TEXT) == expected

    def test_more_steps_are_welcome(self):
        """Counts, TF-IDF, classifier."""
        counts = CountVectorizer().fit(TEXTS)
        tfidf = TfidfTransformer().fit(counts.transform(TEXTS))
        head = LogisticRegression().fit(tfidf.transform(counts.transform(TEXTS)), NAMES)
        model = make_pipeline(counts, tfidf, head)
        assert kedge.explain((counts, tfidf, head), TEXT) == kedge.explain(model, TEXT)

    def test_a_torch_module_beside_its_vectoriser(self):
        """The same as kedge.torch_model, names of the classes included."""
        pytest.importorskip("torch")
        vectorizer = TfidfVectorizer(norm=None).fit(TEXTS)
        net = torch_net(vectorizer)
        e = kedge.explain((vectorizer, net), DOCUMENT, classes=["bad", "good"])
        assert e == kedge.explain(kedge.torch_model(net, vectorizer, classes=["bad", "good"]), DOCUMENT)

    @pytest.mark.parametrize("pair", [(1, 2), ("a", "b", "c"), (), [print], (CountVectorizer(), print)])
    def test_other_tuples_are_refused(self, pair):
        """With what a pair would be."""
        with pytest.raises(ModelError, match=r"\(vectorizer, classifier\)"):
            kedge.as_model(pair)

    def test_parts_alone_are_refused_with_the_pair_as_remedy(self, pipeline):
        """A classifier of numbers, its method, and a vectoriser."""
        for part in (pipeline[1], pipeline[1].predict_proba, pipeline[0]):
            with pytest.raises(ModelError, match=r"pair \(vectorizer, classifier\)"):
                kedge.explain(part, TEXT)


class Both:
    """An object with labels and probabilities, as many libraries have them."""

    def __init__(self, pipeline, **more):
        self.pipeline = pipeline
        self.asked = []
        self.__dict__.update(more)

    def predict(self, texts):
        self.asked.append("predict")
        return self.pipeline.predict(texts)

    def predict_proba(self, texts):
        self.asked.append("predict_proba")
        return self.pipeline.predict_proba(texts)


class TestObjects:
    """Objects that predict."""

    def test_an_object_with_both_is_asked_for_both(self, pipeline):
        """Labels are those of predict, probabilities those of predict_proba by the names of classes_."""
        model = Both(pipeline, classes_=pipeline.classes_)
        e = kedge.explain(model, TEXT)
        assert set(model.asked) == {"predict", "predict_proba"}
        assert e.label == "good"
        assert dict(e.probabilities)["good"] == pytest.approx(pipeline.predict_proba([TEXT])[0, 1])

    def test_labels_are_predict_s_where_the_two_disagree(self, pipeline):
        """A threshold of its own in predict is the model's word."""
        model = Both(pipeline, classes_=pipeline.classes_, predict=lambda texts: ["bad"] * len(texts))
        assert kedge.explain(model, TEXT).label == "bad"

    def test_columns_without_a_name_are_not_guessed(self, pipeline):
        """Without classes_ the probabilities of string labels are left aside."""
        assert kedge.explain(Both(pipeline), TEXT).probabilities is None

    def test_whole_numbers_are_their_columns(self):
        """Labels 0 and 1 stand for the columns 0 and 1."""
        model = Both(make_pipeline(CountVectorizer(), MultinomialNB()).fit(TEXTS, LABELS))
        assert dict(kedge.explain(model, TEXT).probabilities).keys() == {0, 1}

    def test_encoded_labels_get_names(self):
        """classes= names both the labels and the columns."""
        model = Both(make_pipeline(CountVectorizer(), MultinomialNB()).fit(TEXTS, LABELS))
        e = kedge.explain(model, TEXT, classes=["bad", "good"])
        assert e.label == "good"
        assert dict(e.probabilities).keys() == {"bad", "good"}


class TestFunctions:
    """Functions from texts to answers."""

    def test_columns_of_a_table_are_classes(self, pipeline):
        """A DataFrame of pandas or polars names its classes itself."""
        for table in (pd.DataFrame, pl.DataFrame):
            e = kedge.explain(
                lambda texts, t=table: t(dict(zip("xy", pipeline.predict_proba(texts).T, strict=True))), TEXT
            )
            assert e.label == "y"
            assert dict(e.probabilities).keys() == {"x", "y"}

    @pytest.mark.parametrize(
        "function",
        [
            lambda text: "yes" if "good" in text.split() else "no",
            lambda text: "yes" if "good" in text else "no",
            lambda text: {"label": "yes", "score": float(len(text))},
            lambda text: len(text.split()) > 3,
        ],
    )
    def test_a_function_of_one_text_is_told_how(self, function):
        """Whether it fails on a list or answers once for all: one sentence with the remedy."""
        with pytest.raises(ModelError, match=r"\[function\(text\) for text in texts\]") as caught:
            kedge.explain(function, TEXT)
        assert "\n" not in str(caught.value)

    def test_a_named_function_of_one_text_is_called_by_its_name(self):
        """What to pass can be copied."""

        def classify(text):
            return "yes" if text.startswith("the") else "no"

        with pytest.raises(ModelRaised, match=r"pass lambda texts: \[classify\(text\) for text in texts\]"):
            kedge.explain(classify, TEXT)

    def test_a_function_that_fails_is_not_taken_for_one_of_single_texts(self):
        """Its own error is told."""
        with pytest.raises(ModelRaised, match="KeyError"):
            kedge.explain(lambda texts: {}[texts[0]], TEXT)

    def test_a_class_is_not_a_model(self):
        """The mistake of passing LogisticRegression for a fitted one."""
        with pytest.raises(ModelError, match="LogisticRegression is a class"):
            kedge.explain(LogisticRegression, TEXT)

    def test_an_asynchronous_function_is_told_how(self):
        """Its answer would have to be waited for."""

        async def later(texts):
            return [1] * len(texts)

        with pytest.raises(OutputError, match=r"asynchronous; pass lambda texts: asyncio\.run"):
            kedge.explain(later, TEXT)

    def test_a_spacy_pipeline_is_told_how(self):
        """It gives documents with categories, and the function that reads them is one line."""
        spacy = pytest.importorskip("spacy", reason="needs spacy: pip install --group dev")
        with pytest.raises(ModelError, match=r"\[doc\.cats for doc in nlp\.pipe\(texts\)\]"):
            kedge.explain(spacy.blank("en"), TEXT)

    def test_a_pipeline_without_a_classifier_is_told(self):
        """Fitted, but nothing that predicts at its end."""
        with pytest.raises(ModelError, match="ends with TfidfVectorizer, not with a classifier"):
            kedge.explain(make_pipeline(TfidfVectorizer()).fit(TEXTS), TEXT)

    @pytest.mark.parametrize(
        ("model", "message"), [("model.pkl", r"joblib\.load"), ({"good": 1.0}, "WordWeights")]
    )
    def test_what_is_no_model_is_told_what_to_do(self, model, message):
        """A path, a dictionary of weights."""
        with pytest.raises(ModelError, match=message):
            kedge.explain(model, TEXT)


class TestEncodedLabels:
    """classes= gives names to labels that are numbers."""

    def test_a_boosted_model_of_encoded_labels(self):
        """XGBoost takes only 0, 1, ...; the names come back."""
        xgboost = pytest.importorskip("xgboost")
        model = make_pipeline(CountVectorizer(), xgboost.XGBClassifier(n_estimators=5, n_jobs=1))
        model.fit(TEXTS, LABELS)
        numbers, names = kedge.explain(model, TEXT), kedge.explain(model, TEXT, classes=["bad", "good"])
        assert names.label == ["bad", "good"][numbers.label]
        assert (names.words, names.precision, names.status) == (
            numbers.words, numbers.precision, numbers.status,
        )  # fmt: skip

    def test_a_multi_label_pipeline_is_called_so(self):
        """The sentence names outputs, classes and label; with them it works."""
        several = np.array([[y, i % 2] for i, y in enumerate(LABELS)])
        model = make_pipeline(TfidfVectorizer(), OneVsRestClassifier(LogisticRegression()))
        model.fit(TEXTS, several)
        with pytest.raises(OutputError, match=r"multi-label.*outputs='multilabel'.*`classes`.*`label`"):
            kedge.explain(model, TEXT)
        named = {"outputs": "multilabel", "classes": ["good", "odd"]}
        with pytest.raises(LabelError, match="the labels that hold for this text are: 'good'"):
            kedge.explain(model, TEXT, **named)
        assert kedge.explain(model, TEXT, label="good", **named).label == "good"
