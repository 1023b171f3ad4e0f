"""One label against another: the anchor keeps the label ahead of that one, exact for linear models."""

import numpy as np
import pytest
from brute import precision
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import kedge
from kedge.errors import LabelError
from kedge.text.document import Token

VOCABULARY = ["goal", "vote", "match", "law", "team", "poll", "star", "film"]
TOPICS = ("sports", "politics", "film", "food")


def fitted(kind, seed):
    rng = np.random.default_rng(seed)
    texts = [" ".join(rng.choice(VOCABULARY, 6)) for _ in range(80)]
    labels = [TOPICS[i % 4] for i in rng.permutation(80)]
    steps = {
        "logistic": [TfidfVectorizer(norm=None), LogisticRegression()],
        "naive": [CountVectorizer(), MultinomialNB()],
        "normalised": [TfidfVectorizer(), LogisticRegression()],
        "tree": [CountVectorizer(), DecisionTreeClassifier(max_depth=4, random_state=0)],
        "svm": [TfidfVectorizer(), LinearSVC()],
        "hinge": [TfidfVectorizer(norm=None), SGDClassifier(random_state=0)],
        "ridge": [CountVectorizer(ngram_range=(1, 2)), RidgeClassifier()],
    }[kind]
    return make_pipeline(*steps).fit(texts, labels)


def tokens(text):
    places, at = [], 0
    for word in text.split():
        start = text.index(word, at)
        places.append(Token(word, start, start + len(word)))
        at = start + len(word)
    return places


@given(
    st.sampled_from(["logistic", "naive", "normalised", "tree", "svm", "hinge", "ridge"]),
    st.integers(0, 30),
    st.lists(st.sampled_from(VOCABULARY), min_size=2, max_size=7),
    st.integers(1, 3),
)
@settings(max_examples=100, deadline=None)
def test_the_anchor_keeps_the_label_ahead(kind, seed, words, step):
    """The precision is that of "ahead of the other one", by brute force on masked texts."""
    model, text = fitted(kind, seed), " ".join(words)
    label = str(model.predict([text])[0])
    other = TOPICS[(TOPICS.index(label) + step) % 4]
    e = kedge.explain(model, text, against=other)
    names = model.classes_.tolist()

    def ahead(texts):
        score = getattr(model, "predict_proba", None) or model.decision_function
        shares = score(texts)
        mine, its = shares[:, names.index(label)], shares[:, names.index(other)]
        return [
            "ahead" if a > b or (a == b and label < other) else "behind"
            for a, b in zip(mine, its, strict=True)
        ]

    truth = precision(text, "ahead", ahead, e.positions, tokens=tokens(text))
    assert e.interval.low - 1e-9 <= truth <= e.interval.high + 1e-9
    assert (e.label, e.against, e.status) == (label, other, "exact")


def test_one_lead_needs_no_more_words_than_all():
    """Linear models: found by sorting one lead; with a few hundred words, too."""
    model = fitted("logistic", 3)
    text = " ".join(np.random.default_rng(1).choice(VOCABULARY, 200))
    label = str(model.predict([text])[0])
    other = TOPICS[(TOPICS.index(label) + 1) % 4]
    e = kedge.explain(model, text, against=other)
    assert (e.method, e.status) == ("ranked", "exact")
    assert len(e.words) <= len(kedge.explain(model, text).words)
    assert dict(e.probabilities)[label] == pytest.approx(model.predict_proba([text]).max())


def test_scores_of_a_function_are_compared_too():
    """The largest score has the label, so that two scores say which of two labels is ahead."""
    model = fitted("svm", 4)
    text = "goal team match vote law"
    label = str(model.predict([text])[0])
    other = next(topic for topic in TOPICS if topic != label)
    options = {"outputs": "scores", "classes": model.classes_.tolist(), "mask": "UNK"}

    def ask(texts):
        return model.decision_function(texts)

    e = kedge.explain(ask, text, against=other, **options)
    read = kedge.explain(model, text, against=other)
    assert (e.label, e.against, e.probabilities) == (label, other, None)
    assert (e.words, e.precision) == (read.words, read.precision)
    assert read.queries == 1


def test_it_is_said_everywhere():
    """In the terminal, on the page, in JSON and back."""
    model = fitted("logistic", 4)
    text = "goal team match vote law"
    label = str(model.predict([text])[0])
    other = next(topic for topic in TOPICS if topic != label)
    e = kedge.explain(model, text, against=other)
    assert f"ahead of   {other}" in str(e)
    assert f"The label “{label}” stays ahead of “{other}”" in e.to_html()
    assert kedge.Explanation.from_json(e.to_json()) == e


def test_what_cannot_be_compared_is_refused():
    """The text's own label, an unknown one, a model of labels only; and `label=` names what to ask."""
    model = fitted("logistic", 4)
    text = "goal team match"
    label = str(model.predict([text])[0])
    other = next(topic for topic in TOPICS if topic != label)
    with pytest.raises(LabelError, match="takes another label"):
        kedge.explain(model, text, against=label)
    with pytest.raises(LabelError, match="no label 'Sports'"):
        kedge.explain(model, text, against="Sports")
    with pytest.raises(LabelError, match="needs a model that gives probabilities"):
        kedge.explain(lambda texts: ["a" if "goal" in t else "b" for t in texts], text, against="b")
    with pytest.raises(LabelError, match=rf"`against='{other}'` .* a flip with `to='{other}'`"):
        kedge.explain(model, text, label=other)
    with pytest.raises(LabelError, match=r"predicted label\. To see .* a flip with `to='b'`"):
        kedge.explain(lambda texts: ["a" if "goal" in t else "b" for t in texts], text, label="b")


@pytest.mark.parametrize("kind", ["windows", "forest"])
def test_the_other_of_two_labels_is_all_there_is(kind):
    """A model of two labels is read as it always is: nothing more is asked, whatever it is made of."""
    rng = np.random.default_rng(2)
    texts = [" ".join(rng.choice(VOCABULARY, 6)) for _ in range(80)]
    labels = ["yes" if "goal" in t else "no" for t in texts]
    steps = {
        "windows": lambda: [TfidfVectorizer(ngram_range=(1, 2)), LogisticRegression()],
        "forest": lambda: [CountVectorizer(), RandomForestClassifier(5, random_state=0)],
    }[kind]()
    model = make_pipeline(*steps).fit(texts, labels)
    text = "goal vote law team star film"
    plain, e = kedge.explain(model, text), kedge.explain(model, text, against="no")
    assert e.against == "no"
    assert (e.words, e.interval, e.status, e.queries) == (
        plain.words,
        plain.interval,
        plain.status,
        plain.queries,
    )
    with pytest.raises(LabelError, match="no label 'maybe'"):
        kedge.explain(model, text, against="maybe")
