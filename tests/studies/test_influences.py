"""What each word does: exact where the model can be read, honest about its error where it was sampled."""

import pickle
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from fitted import VOCABULARY, fitted
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import kedge
from kedge import Explanation, Masking, WordWeights
from kedge.errors import Inconsistent, OptionError, OutOfTime
from kedge.evaluators import slopes
from kedge.studies import influences, sampled_effects
from kedge.studies.effects import Scene
from kedge.utils.deadline import TimeIsUp
from kedge.utils.numerics import pieces


def brute(model, text, label, keep=0.5):
    """Banzhaf values of positions and of words, by asking about every text."""
    tokens = text.split()
    rows = np.array(list(product([False, True], repeat=len(tokens))))
    texts = [" ".join(w for w, k in zip(tokens, row, strict=True) if k) or "unk" for row in rows]
    holds = np.array([x == label for x in model.predict(texts)])
    weights = np.prod(np.where(rows, keep, 1 - keep), axis=1)

    def mean(at):
        return np.average(holds[at], weights=weights[at])

    positions = [mean(rows[:, k]) - mean(~rows[:, k]) for k in range(len(tokens))]
    places = {w: [k for k, t in enumerate(tokens) if t == w] for w in tokens}
    words = {w: mean(rows[:, ks].all(1)) - mean(~rows[:, ks].any(1)) for w, ks in places.items()}
    return positions, words


@given(
    st.sampled_from(["logistic", "binary", "sublinear margins", "bernoulli", "tree", "normalised"]),
    st.integers(0, 50),
    st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=7),
    st.sampled_from([0.5, 0.3]),
    st.sampled_from([2, 3]),
)
@settings(max_examples=120, deadline=None)
def test_readable_models_are_exact(kind, seed, tokens, keep, classes):
    """Linear, other sums, trees and several classes on few words: equal to brute force."""
    model, text = fitted(kind, seed, classes), " ".join(tokens)
    e = kedge.explain(model, text, perturbation=Masking(keep=keep))
    found = e.influence
    positions, words = brute(model, text, e.label, keep)
    assert found.exact
    assert found.samples == 0
    np.testing.assert_allclose(found.values, positions, atol=1e-6)
    assert {w.word: pytest.approx(w.value, abs=1e-6) for w in found.words} == words
    assert found == kedge.influence(model, text, perturbation=Masking(keep=keep))


def test_class_scores_of_a_logistic_regression_are_its_log_odds():
    """Two classes: what one occurrence adds to the log-odds is its coefficient times its IDF."""
    model = fitted("logistic", 1)
    e = kedge.explain(model, "good soup good cold")
    vectorizer, head = model[0], model[-1]
    weight = head.coef_[0][vectorizer.vocabulary_["good"]] * vectorizer.idf_[vectorizer.vocabulary_["good"]]
    assert e.influence.scale == "log-odds"
    assert e.influence.of(1).values[0] == pytest.approx(weight, abs=1e-6)
    assert e.influence.of(0).values[2] == pytest.approx(-weight, abs=1e-6)


def test_several_linear_classes_have_centred_scores():
    """Several classes: the score of a class less the mean over classes, exact."""
    model = fitted("logistic", 2, classes=3)
    found = kedge.explain(model, " ".join(VOCABULARY)).influence
    coef = model[-1].coef_ * model[0].idf_
    centred = coef - coef.mean(axis=0)
    columns = [model[0].vocabulary_[w] for w in VOCABULARY]
    for row, c in zip(centred, found.classes, strict=True):
        np.testing.assert_allclose(c.values, row[columns], atol=1e-6)


def odd(texts):
    """A model that is no sum: an odd number of good words."""
    return [sum(w in {"good", "nice"} for w in t.split()) % 2 for t in texts]


@pytest.mark.parametrize("probable", [False, True])
def test_black_boxes_cost_no_question(probable):
    """What the search asked is enough: looking at the influence asks nothing, and it is honest."""
    weights = dict(zip(VOCABULARY, (2.0, -1.5, 0.3, -0.4, 1.0, 0.1, 0.0), strict=True))
    inside = WordWeights(weights, intercept=-0.2)
    asked = []

    def model(texts):
        asked.extend(texts)
        return inside.predict_proba(texts) if probable else inside.predict(texts)

    text = " ".join(VOCABULARY + [f"word{k}" for k in range(20)])
    e = kedge.explain(model, text)
    before = len(asked)
    found = e.influence
    truth = kedge.influence(inside, text)
    assert len(asked) == before == e.queries
    assert not found.exact
    assert found.samples >= 20
    off = np.abs(np.array(found.values) - np.array([*truth.values]))
    assert (off <= 4 * np.array(found.errors) + 1e-9).all()
    if probable:
        assert found.scale == "log-odds"
        np.testing.assert_allclose(found.of(1).values, truth.of(1).values, atol=1e-6)


def test_errors_are_standard_errors():
    """Over many runs most sampled values lie within two of their errors of the truth."""
    text = "good nice food was slow and cold but soup very fine here today again"
    truth = np.zeros(len(text.split()))
    inside = WordWeights({"good": 2.0, "nice": 1.0, "slow": -1.5, "cold": -0.7, "soup": 0.3}, intercept=-0.2)
    truth = np.array(kedge.influence(inside, text).values)
    within = []
    for seed in range(30):
        explainer = kedge.Explainer(lambda texts, model=inside: model.predict(texts), seed=seed)
        found = explainer.influence(text, samples=300)
        within.append(np.abs(np.array(found.values) - truth) <= 2 * np.array(found.errors))
    assert 0.9 <= np.mean(within) <= 0.995


def test_short_texts_of_black_boxes():
    """A few words, some texts never asked about: the rest is predicted, with an error that covers it."""
    off = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        inside = WordWeights(
            dict(zip(VOCABULARY, rng.normal(size=7), strict=True)), intercept=rng.normal() / 2
        )
        text = " ".join(VOCABULARY)
        found = kedge.explain(lambda texts, inside=inside: inside.predict(texts), text).influence
        truth, _ = brute(inside, text, found.label)
        off.extend(np.abs(np.array(found.values) - truth) <= 2 * np.array(found.errors) + 1e-6)
    assert np.mean(off) >= 0.9


def test_more_samples_are_more_precise():
    """`samples=` buys precision; as many as there are texts make it exact."""
    text = "good nice food was slow and cold today"
    few = kedge.influence(odd, text, samples=50)
    more = kedge.influence(odd, text, samples=200)
    every = kedge.influence(odd, text, samples=256)
    assert max(more.errors) < max(few.errors)
    assert every.exact
    assert every.values == (0.0,) * 8  # odd: a word changes the label as often one way as the other
    with pytest.raises(OptionError, match="samples"):
        kedge.influence(odd, text, samples=3)


LONG = "good bad good soup cold nice good bad was was"


def normed(seed):
    model = make_pipeline(TfidfVectorizer(), LogisticRegression())
    rng = np.random.default_rng(seed)
    model.fit([" ".join(VOCABULARY), *VOCABULARY], [1] + [0] * len(VOCABULARY))
    model[-1].coef_ = rng.normal(size=model[-1].coef_.shape)
    return model


def sampled(reading, samples):
    """The influence from so many samples by arithmetic."""
    return sampled_effects.by_arithmetic(Scene.of(reading), reading, samples, np.random.default_rng(0))


def pieces_of(rows):
    """So many samples at a time."""
    return lambda many, width: pieces(many, width, rows * width)


@pytest.mark.parametrize("in_pieces", [False, True])
def test_samples_need_not_be_kept(in_pieces, monkeypatch):
    """Of a long document sums are kept, piece by piece; the truth is within a few standard errors."""
    monkeypatch.setattr(slopes, "_UNITS", 0 if in_pieces else 600)
    monkeypatch.setattr(sampled_effects, "pieces", pieces_of(400))
    for seed in range(5):
        found = sampled(kedge.Explainer(normed(seed)).read(LONG), 3000)
        truth, words = brute(normed(seed), LONG, found.label)
        assert found.samples == 3000
        assert (np.abs(np.array(found.values) - truth) <= 4 * np.array(found.errors)).all()
        for word in found.words:
            assert abs(word.value - words[word.word]) <= 4 * word.error
        assert found.scale == "log-odds"


def test_long_documents_have_the_slopes_of_short_ones(monkeypatch):
    """In one piece or in many the sums are those of the whole."""
    monkeypatch.setattr(slopes, "_UNITS", 0)
    reading = kedge.Explainer(normed(1)).read(LONG)
    whole = sampled(reading, 512)
    monkeypatch.setattr(sampled_effects, "pieces", pieces_of(64))
    several = sampled(reading, 512)
    np.testing.assert_allclose(several.values, whole.values, atol=1e-6)
    np.testing.assert_allclose(several.errors, whole.errors, atol=1e-6)
    assert [w.value for w in several.words] == pytest.approx([w.value for w in whole.words], abs=1e-6)


def late(answer, after):
    """A function that is interrupted when it is called once more than so often."""
    calls = []

    def interrupted(*given):
        calls.append(given)
        if len(calls) > after:
            raise TimeIsUp
        return answer(*given)

    return interrupted


def test_what_was_drawn_in_time_is_enough(monkeypatch):
    """When the time is up the answer rests on the samples so far; without any there is none."""
    monkeypatch.setattr(slopes, "_UNITS", 0)
    monkeypatch.setattr(sampled_effects, "pieces", pieces_of(64))
    reading = kedge.Explainer(normed(1)).read(LONG)
    assert sampled(replace(reading, holds=late(reading.holds, 3)), 512).samples == 192
    with pytest.raises(TimeIsUp):
        sampled(replace(reading, holds=late(reading.holds, 0)), 512)


def test_an_exact_influence_that_takes_too_long_is_sampled(monkeypatch):
    """When the time for reading it off the model is up, a few samples take its place."""
    monkeypatch.setattr(influences, "by_sum", late(lambda *_: None, 0))
    found = kedge.influence(fitted("logistic", 1), LONG)
    assert (found.exact, found.samples) == (False, 400)


def test_a_model_that_is_asked_is_asked_while_there_is_time():
    """What was asked before the time limit is enough; the error says how much that is."""
    text = " ".join(f"word{k}" for k in range(30)) + " good"

    def progress(queries):
        if queries > 600:
            raise OutOfTime("The time is up.")

    found = kedge.influence(odd, text, samples=5000, progress=progress)
    assert 256 <= found.samples < 1024

    def at_once(queries):
        if queries > 3:
            raise OutOfTime("The time is up.")

    with pytest.raises(OutOfTime):
        kedge.influence(odd, text, samples=5000, progress=at_once)


def test_adversaries_speak_against_the_label():
    """Words that lower the probability of the label, the strongest first; none that only seem to."""
    inside = WordWeights({"good": 3.0, "slow": -2.0, "cold": -1.0, "food": 0.01}, intercept=-0.5)
    e = kedge.explain(inside, "good but slow, cold food good")
    assert e.adversaries == ("slow", "cold")
    assert [w.word for w in e.influence.supporters] == ["good"]


def test_influence_is_kept_in_every_form():
    """JSON, rows and pickles hold it; what does not fit the text is refused."""
    e = kedge.explain(fitted("tree", 3), "good soup good cold")
    assert Explanation.from_json(e.to_json()).influence == e.influence
    assert pickle.loads(pickle.dumps(e)).influence == e.influence
    row = e.to_row()
    assert row["influence"] == e.influence.values
    assert "influence" not in e.to_row(influence=False)
    rows = e.influence.to_rows()
    assert [r["word"] for r in rows] == ["good", "soup", "good", "cold"]
    assert rows[0]["influence"] == rows[2]["influence"]
    wrong = e.to_json().replace('"errors": [0.0, ', '"errors": [')
    with pytest.raises(OptionError, match="one number for each token"):
        Explanation.from_json(wrong)


def test_shapiq_agrees():
    """shapiq's exact Banzhaf values of the same game: masks to whether the label holds."""
    shapiq = pytest.importorskip("shapiq", reason="needs shapiq: pip install --group dev")
    text = "good food was slow and cold good"
    model = fitted("logistic", 7)
    e = kedge.explain(model, text)
    tokens = text.split()

    def game(masks):
        texts = [" ".join(w for w, k in zip(tokens, row, strict=True) if k) for row in masks]
        return np.array([float(x == e.label) for x in model.predict(texts)])

    exact = shapiq.ExactComputer(game, n_players=len(tokens))
    values = exact("BV", order=1)
    theirs = [values[(k,)] for k in range(len(tokens))]
    np.testing.assert_allclose(e.influence.values, theirs, atol=1e-6)


def test_exact_values_need_a_model_that_repeats_itself():
    """A model of coins is refused before its table is called exact; without room to ask, it is not exact."""
    rng = np.random.default_rng(0)
    with pytest.raises(Inconsistent):
        kedge.influence(lambda texts: rng.integers(2, size=len(texts)).tolist(), "good nice food here")
    assert not kedge.influence(odd, "good nice food here", max_queries=30).exact
