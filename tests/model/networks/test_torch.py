"""Torch modules over a vectoriser, and scikit-learn's perceptron: gradients and explanations."""

import pickle

import numpy as np
import pytest
import torch
from networks import DOCUMENT, LABELS, TEXTS, torch_net
from readings import reading_of
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline

import kedge
from kedge.errors import ModelError, OptionError
from kedge.evaluators import Enumeration

pytestmark = pytest.mark.torch


@pytest.fixture(scope="module")
def vectorizer():
    return TfidfVectorizer(norm=None).fit(TEXTS)


def numeric_gradient(predict, counts, place, step=1e-4):
    """Central differences of the log-odds by each word's count."""

    def log_odds(row):
        p = predict(row)[0, place]
        return np.log(p / (1 - p))

    slopes = []
    for j in range(counts.shape[1]):
        up, down = counts.copy(), counts.copy()
        up[0, j] += step
        down[0, j] -= step
        slopes.append((log_odds(up) - log_odds(down)) / (2 * step))
    return np.array(slopes)


def rows_of(vectorizer, words, counts):
    """Features of fractional counts: norm=None makes them counts times IDF."""
    x = np.zeros((len(counts), len(vectorizer.vocabulary_)))
    columns = [vectorizer.vocabulary_[w] for w in words]
    x[:, columns] = counts * vectorizer.idf_[columns]
    return x


@pytest.mark.parametrize("ending", [(), ("log_softmax",), ("softmax",)])
def test_gradient_times_idf_is_the_slope_of_the_log_odds(vectorizer, ending):
    """Whatever form the outputs have, the gradient is the derivative by each word's count."""
    layers = {"log_softmax": torch.nn.LogSoftmax(dim=1), "softmax": torch.nn.Softmax(dim=1)}
    net = torch_net(vectorizer, *(layers[e] for e in ending)).double()
    reading = reading_of(kedge.torch_model(net, vectorizer), DOCUMENT)
    words = [reading.document.tokens[group[0]].word for group in reading.units.members]

    def probabilities(counts):
        with torch.no_grad():
            out = net.eval()(torch.tensor(rows_of(vectorizer, words, counts)))
            return (out if ending == ("softmax",) else out.softmax(dim=1)).numpy()

    expected = numeric_gradient(probabilities, reading.units.sizes[None].astype(float), reading.label)
    assert np.allclose(reading.gradient(), expected, rtol=1e-4, atol=1e-6)


def test_the_caller_s_mode_and_answers_are_respected(vectorizer):
    """Dropout is off while asked and the module is in training mode afterwards as before."""
    net = torch_net(vectorizer).train()
    e = kedge.explain(kedge.torch_model(net, vectorizer, classes=["bad", "good"]), DOCUMENT)
    assert net.training
    assert e.status == "exact"
    assert e.label in {"bad", "good"}
    assert dict(e.probabilities).keys() == {"bad", "good"}


def test_one_output_needs_its_meaning(vectorizer):
    """A single number per text is a logit or a probability, and only the user knows."""
    net = torch_net(vectorizer, outputs=1)
    with pytest.raises(ModelError, match="outputs='scores'"):
        kedge.explain(kedge.torch_model(net, vectorizer), DOCUMENT)
    e = kedge.explain(kedge.torch_model(net, vectorizer, outputs="scores"), DOCUMENT, method="gradient")
    assert e.status == "certified"


def test_gradient_gives_the_ranked_prefix(vectorizer):
    """The answer of method='gradient' is a prefix of the ranking, the shortest that reaches."""
    model = kedge.torch_model(torch_net(vectorizer), vectorizer)
    e = kedge.explain(model, DOCUMENT, method="gradient")
    reading = reading_of(model, DOCUMENT)
    order = np.argsort(-reading.gradient(), kind="stable")
    ranked = [int(j) for j in np.repeat(order, reading.units.sizes[order])]
    kept = reading.units.kept(kedge.Anchor(e.positions))
    assert kept == tuple(sorted(ranked[: len(kept)]))
    truth = Enumeration(reading)([kept, tuple(sorted(ranked[: len(kept) - 1]))]).mean
    assert truth[0] >= e.threshold
    assert len(kept) == 1 or truth[1] < e.threshold


def test_guided_proposes_by_the_gradient_and_pickles(vectorizer):
    """The certified search of a network reaches, and the explainer survives pickling."""
    explainer = kedge.Explainer(kedge.torch_model(torch_net(vectorizer), vectorizer), method="guided")
    e = explainer.explain(DOCUMENT)
    assert e.status == "certified"
    assert pickle.loads(pickle.dumps(explainer)).explain(DOCUMENT) == e


def test_refusals(vectorizer):
    """What cannot work is refused with what to do."""
    net = torch_net(vectorizer)
    with pytest.raises(ModelError, match=r"kedge\.torch_model"):
        kedge.as_model(net)
    with pytest.raises(ModelError, match=r"torch\.nn\.Module"):
        kedge.torch_model(print, vectorizer)
    with pytest.raises(ModelError, match="fit"):
        kedge.torch_model(net, TfidfVectorizer())
    with pytest.raises(OptionError, match="outputs"):
        kedge.torch_model(net, vectorizer, outputs="logits")
    with pytest.raises(OptionError, match="method='gradient'` needs"):
        kedge.explain(lambda texts: [1] * len(texts), DOCUMENT, method="gradient")


@pytest.mark.parametrize("activation", ["identity", "logistic", "tanh", "relu"])
@pytest.mark.parametrize("classes", [2, 3])
def test_perceptron_gradient_is_the_slope_of_its_log_odds(activation, classes):
    """Back-propagation in numpy agrees with differences of the probabilities, all activations."""
    labels = LABELS if classes == 2 else [y + int(i % 8 > 5) for i, y in enumerate(LABELS)]
    pipeline = make_pipeline(
        TfidfVectorizer(norm=None),
        MLPClassifier((6, 4), activation=activation, solver="lbfgs", alpha=1.0, max_iter=200, random_state=1),
    ).fit(TEXTS, labels)
    reading = reading_of(pipeline, DOCUMENT)
    words = [reading.document.tokens[group[0]].word for group in reading.units.members]

    def probabilities(counts):
        return pipeline[-1].predict_proba(rows_of(pipeline[0], words, counts))

    place = list(pipeline.classes_).index(reading.label)
    expected = numeric_gradient(probabilities, reading.units.sizes[None].astype(float), place)
    assert np.allclose(reading.gradient(), expected, rtol=1e-3, atol=1e-6)


def test_counts_and_texts_agree_for_a_torch_module():
    """The count path gives what the module says about the masked texts themselves."""
    vectorizer = CountVectorizer(binary=True).fit(TEXTS)
    net = torch_net(vectorizer)
    model = kedge.as_model(kedge.torch_model(net, vectorizer))
    words = ["good", "slow", "wine"]
    by_counts = model.from_counts(words)(np.array([[1, 0, 0], [0, 2, 1], [0, 0, 0]]))
    by_text = model.predict(["good", "slow wine slow", "nothing"])
    assert np.allclose(by_counts.probabilities, by_text.probabilities)
