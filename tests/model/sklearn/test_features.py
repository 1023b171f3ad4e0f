"""What a vectoriser makes of words found already is what it makes of their text, to the last bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

import kedge
from kedge.model.contrast import between
from kedge.reading.reading import read_document

WORDS = ["good", "bad", "food", "place", "so", "very", "nice", "slow"]
TEXTS = ["good food", "bad food so bad", "very nice place", "slow slow place"] * 3
LABELS = [1, 0, 1, 0] * 3

VECTORIZERS = {
    "counts": lambda: [CountVectorizer()],
    "binary": lambda: [CountVectorizer(binary=True)],
    "tf-idf": lambda: [TfidfVectorizer()],
    "no norm": lambda: [TfidfVectorizer(norm=None)],
    "l1": lambda: [TfidfVectorizer(norm="l1")],
    "no idf": lambda: [TfidfVectorizer(use_idf=False)],
    "sublinear": lambda: [TfidfVectorizer(sublinear_tf=True)],
    "single": lambda: [TfidfVectorizer(dtype=np.float32)],
    "two steps": lambda: [CountVectorizer(), TfidfTransformer()],
    "binary tf-idf": lambda: [TfidfVectorizer(binary=True, norm=None)],
}


def documents_of(model, texts):
    return [read_document(model, text, None)[0] for text in texts]


@pytest.mark.parametrize("kind", VECTORIZERS)
@given(texts=st.lists(st.lists(st.sampled_from([*WORDS, "unseen"]), min_size=1), min_size=1, max_size=4))
@settings(max_examples=25, deadline=None)
def test_answers_from_words_are_those_about_texts(kind, texts):
    """For one document and for several, with words outside the vocabulary and with none inside it."""
    pipeline = make_pipeline(*VECTORIZERS[kind](), LogisticRegression()).fit(TEXTS, LABELS)
    model, joined = kedge.as_model(pipeline), [" ".join(words) for words in texts]
    told, asked = model.from_words(documents_of(model, joined)), model.predict(joined)
    assert told.labels.tolist() == asked.labels.tolist() == pipeline.predict(joined).tolist()
    assert (told.probabilities == asked.probabilities).all()


def test_words_that_share_a_column_are_counted_together():
    """As the vectoriser counts them, which the norm shows."""
    pipeline = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(TEXTS, LABELS)
    pipeline[0].vocabulary_["so"] = pipeline[0].vocabulary_["very"]
    model, texts = kedge.as_model(pipeline), ["so very good", "very so so bad"]
    told = model.from_words(documents_of(model, texts)).probabilities
    assert (told == model.predict(texts).probabilities).all()
    assert np.allclose(told, pipeline.predict_proba(texts), atol=1e-15)


def test_other_answers_of_the_same_model_are_told_from_words_too():
    """Named labels, and one label against another."""
    names = ["no", "yes", "perhaps"]
    labels = [0, 1, 2, 0] * 3
    pipeline = make_pipeline(CountVectorizer(), MultinomialNB()).fit(TEXTS, labels)
    model = kedge.as_model(pipeline, classes=names)
    documents = documents_of(model, TEXTS[:4])
    assert model.from_words(documents).labels.tolist() == model.predict(TEXTS[:4]).labels.tolist()
    pair = between(model, "no", "yes")
    assert pair.from_words(documents).labels.tolist() == pair.predict(TEXTS[:4]).labels.tolist()


def test_columns_are_looked_up_anew_in_another_vocabulary():
    """A document that was read for one model is read again for the next."""
    pipelines = [
        make_pipeline(CountVectorizer(vocabulary=order), LogisticRegression()).fit(TEXTS, LABELS)
        for order in (WORDS, WORDS[::-1])
    ]
    models = [kedge.as_model(pipeline) for pipeline in pipelines]
    document = documents_of(models[0], ["good food so slow"])
    for pipeline, model in zip(pipelines, models, strict=True):
        assert np.allclose(
            model.from_words(document).probabilities, pipeline.predict_proba(["good food so slow"])
        )
