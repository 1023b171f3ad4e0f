"""What flips a label: proven fewest where the model is read, verified and irreducible elsewhere."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from fitted import VOCABULARY, fitted
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import kedge
from kedge import Neighbours, WordWeights
from kedge.errors import LabelError, OptionError, OutOfTime
from kedge.flipping import _asked_about
from kedge.studies import flips
from kedge.utils.deadline import TimeIsUp

WEIGHTS = WordWeights({"good": 2.0, "slow": -1.0, "cold": -0.5}, intercept=-0.2)
TEXT = "the good food was slow and the nice soup cold but very good here today with friends at noon"


def fewest(model, tokens, reached):
    """The fewest removed words after which the model's label is one that was meant; None: there are none."""
    for k in range(1, len(tokens) + 1):
        texts = [
            " ".join("UNK" if i in gone else w for i, w in enumerate(tokens))
            for gone in combinations(range(len(tokens)), k)
        ]
        if any(map(reached, model.predict(texts))):
            return k
    return None


PROVEN = ["logistic", "naive", "sublinear", "bernoulli", "tree", "pairs", "triples"]
TRIED = ["normalised", "normalised logarithms", "normalised pairs", "forest"]


@given(
    st.sampled_from(PROVEN + TRIED),
    st.integers(0, 40),
    st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=7),
    st.sampled_from([2, 3, 4]),
    st.booleans(),
)
@settings(max_examples=150, deadline=None)
def test_readable_models_give_the_fewest(kind, seed, tokens, classes, aimed):
    """Every readable kind, any other label or a given one: as few words as brute force."""
    model, text = fitted(kind, seed, classes), " ".join(tokens)
    label = int(model.predict([text])[0])
    to = (label + 1) % classes if aimed else None
    found = kedge.flip(model, text, to=to)
    best = fewest(model, tokens, (lambda y: y != label) if to is None else (lambda y: y == to))
    if best is None:
        assert (found.status, found.new_label, found.words) == ("not_found", None, ())
        return
    if found.status == "exact":
        assert len(found.words) == best
    else:
        assert kind in TRIED or classes > 2  # ties of several leads
        assert found.status == "not_found" or len(found.words) >= best
    if found.found:
        assert found.new_label == model.predict([found.after])[0] != label
        assert to is None or found.new_label == to
        shares = dict(found.probabilities_after)
        assert shares[found.new_label] == pytest.approx(model.predict_proba([found.after]).max())


@given(st.integers(0, 2**16), st.integers(20, 60), st.floats(-0.6, 0.6), st.sampled_from([2, 3]))
@settings(max_examples=40, deadline=None)
def test_flips_of_normalised_scores_are_proven(seed, words, intercept, classes):
    """On longer texts most are proven by bounds, and trying all smaller removals of two words agrees."""
    rng = np.random.default_rng(seed)
    names = [f"w{k}" for k in range(words)]
    text = " ".join([*names, *rng.choice(names, 5)])
    samples = [" ".join(rng.choice(names, 12)) for _ in range(40)]
    model = make_pipeline(TfidfVectorizer(), LogisticRegression(C=10)).fit(samples, np.arange(40) % classes)
    model[-1].intercept_ += intercept * np.arange(len(model[-1].intercept_))
    label, found = model.predict([text])[0], kedge.flip(model, text)
    tokens = text.split()
    if found.status == "exact" and len(found.words) > 2:
        pairs = combinations(range(len(tokens)), 2)
        fewer = [" ".join(w for i, w in enumerate(tokens) if i not in gone) for gone in pairs]
        assert (model.predict(fewer) == label).all()
    if found.found:
        assert model.predict([found.after])[0] == found.new_label != label


def test_linear_models_cost_three_predictions():
    """The text, its counts, the changed text; a word that occurs twice may go once."""
    model = WordWeights({"good": 2.0, "slow": -1.0, "cold": -0.5}, intercept=-0.2)
    found = kedge.flip(model, TEXT)
    assert found.words == ("good", "good")
    assert found.positions == (1, 12)
    assert found.after.split()[:2] == ["the", "UNK"]
    assert (found.status, found.minimality, found.queries) == ("exact", "smallest", 3)
    once = kedge.flip(WordWeights({"good": 2.0, "slow": -1.0}, intercept=-1.0), TEXT)
    assert once.words == ("good",)


@pytest.mark.parametrize("probable", [False, True])
def test_black_boxes_are_verified_and_irreducible(probable):
    """Within 150 questions by the median; with any one of the words back the label is back."""
    asked = []
    for seed in range(9):
        rng = np.random.default_rng(seed)
        words = [f"w{k}" for k in range(60)]
        inside = WordWeights(dict(zip(words, rng.standard_t(3, 60), strict=True)), intercept=0.0)
        text = " ".join(words)
        label = inside.predict([text])[0]
        model = inside.predict_proba if probable else inside.predict
        explainer = kedge.Explainer(lambda texts, model=model: model(texts), mask="")
        found = explainer.flip(text)
        assert found.found
        assert inside.predict([found.after])[0] != label
        for back in found.positions:
            restored = explainer.masked(text, set(found.positions) - {back})
            assert inside.predict([restored])[0] == label
        smallest = len(kedge.flip(inside, text).words)
        assert smallest <= len(found.words) <= 3 * smallest
        if found.minimality == "smallest":
            assert len(found.words) == smallest
        asked.append(found.queries)
    assert np.median(asked) <= 150


@pytest.mark.parametrize("words", [17, 120])
def test_labels_that_random_removals_never_lose(words):
    """Words that speak against the label are found standing alone, and the rest is put back."""
    names = [f"w{k}" for k in range(words)]
    inside = WordWeights(dict(zip(names, [-0.5, -0.4] + [1.0] * (words - 2), strict=True)), intercept=0.2)
    found = kedge.flip(lambda texts: list(inside.predict(texts)), " ".join(names), mask="")
    assert (found.status, found.minimality) == ("verified", "irreducible")
    assert inside.predict([found.after])[0] == 0
    for back in found.positions:
        kept = [w for k, w in enumerate(names) if k == back or k not in found.positions]
        assert inside.predict([" ".join(kept)])[0] == 1
    assert found.queries <= 10 * words


@given(st.integers(0, 2**16), st.integers(2, 9))
@settings(max_examples=60, deadline=None)
def test_any_model_gives_an_irreducible_flip(seed, words):
    """Whatever the model says of each removal, a flip that is called irreducible is."""
    names = [f"w{k}" for k in range(words)]

    def model(texts):
        kept = [tuple(name in text.split() for name in names) for text in texts]
        return [int(all(row) or hash((seed, row)) % 3 > 0) for row in kept]

    explainer = kedge.Explainer(model, mask="")
    found = explainer.flip(" ".join(names))
    if not found.found:
        return
    assert model([found.after]) == [0]
    if found.minimality != "open":
        for back in found.positions if len(found.positions) > 1 else ():
            assert model([explainer.masked(" ".join(names), set(found.positions) - {back})]) == [1]


def test_what_cannot_be_flipped_says_so():
    """A model that always says the same; and a budget that runs out."""
    found = kedge.flip(lambda texts: [1] * len(texts), "good food")
    assert (found.status, found.words, found.after) == ("not_found", (), None)
    assert "No removal was found that changes the label" in str(found)
    few = kedge.flip(lambda texts: [int("good" in t) for t in texts], TEXT, max_queries=40)
    assert few.queries <= 40


def test_words_can_be_replaced():
    """By what a perturbation offers; the result says by which words."""
    vectors = {"good": [1, 0.9], "great": [1, 1], "bad": [0.9, 1], "food": [-1, 0.2], "soup": [-1, 0.3]}
    found = kedge.flip(
        lambda texts: [int("good" in t or "great" in t) for t in texts],
        "good food",
        replace=Neighbours(vectors, kind=lambda _: 0),
    )
    assert found.replacements == ("bad",)
    assert found.after == "bad food"
    assert (found.status, found.minimality) == ("verified", "irreducible")
    assert "“good” by “bad”" in str(found)
    with pytest.raises(OptionError, match="`replace`"):
        kedge.flip(WordWeights({"good": 1.0}), "good", replace="neighbours")


def test_labels_that_cannot_be_reached_are_refused():
    """A label the model does not have, and the one the text has already."""
    model = WordWeights({"good": 1.0}, classes=("negative", "positive"))
    with pytest.raises(LabelError, match="no label 'Sports'"):
        kedge.flip(model, "good food", to="Sports")
    with pytest.raises(LabelError, match="already"):
        kedge.flip(model, "good food", to="positive")


def test_flips_render_everywhere():
    """Terminal, page, notebook, JSON and rows; markup in a text stays text."""
    model = WordWeights({"good": 1.0}, intercept=-0.5, classes=("negative", "positive"))
    found = kedge.flip(model, "good <script> & good")
    assert "[-good-] <script> & [-good-]" in str(found)
    assert "new label  negative" in str(found)
    for html in (found.to_html(), found._repr_html_()):
        assert '<del class="k-gone">good</del> &lt;script&gt; &amp; ' in html
    assert found.to_dict()["new_label"] == "negative"
    assert '"status": "exact"' in found.to_json()
    assert found.to_row()["removed"] == "good good"


def interrupted(*_):
    raise TimeIsUp


@pytest.mark.parametrize(
    ("name", "kind"), [("lose_sum", "logistic"), ("lose_normed_lead", "normalised"), ("nearest_leaf", "tree")]
)
def test_when_time_is_up_the_best_so_far_is_the_answer(name, kind, monkeypatch):
    """Words are removed by their weights, where these are known; what is said holds, with a note."""
    model, text = fitted(kind, 1, 2), " ".join(VOCABULARY * 2)
    monkeypatch.setattr(flips, name, interrupted)
    found = kedge.flip(model, text)
    assert any("time limit was near" in note for note in found.notes)
    if kind == "tree":  # nothing was tried, and nothing is known of its words
        assert found.status == "not_found"
    else:
        assert (found.status, found.minimality) == ("verified", "open")
        assert model.predict([found.after])[0] != found.label


def test_a_model_that_was_being_asked_answers_with_what_it_said():
    """The smallest removal that lost the label before the time was up; nothing more is asked."""
    asked = []

    def model(texts):
        asked.extend(texts)
        if len(asked) == 22:
            raise TimeIsUp
        return ["good" in text and "nice" in text for text in texts]

    found = kedge.flip(model, "good food and nice staff in a quiet street by the sea", batch_size=1)
    assert len(asked) == 23  # and the text without these words
    assert found.status == "verified"
    assert found.minimality == "open"
    assert {"good", "nice"} & set(found.words)
    assert any("time limit was near" in note for note in found.notes)


def test_the_changed_text_is_asked_about_however_late_it_is():
    """Nothing ends a flip that is found but a model that does not answer; then its new label stays open."""

    def late(queries):
        if queries > 1:
            raise OutOfTime("The time is up.")

    found = kedge.flip(fitted("logistic", 1, 2), TEXT, progress=late)
    assert found.new_label is not None
    asked = []

    def stuck(texts):
        asked.extend(texts)
        if len(asked) > 1:
            raise TimeIsUp
        return WEIGHTS.predict(texts)

    inside = kedge.Explainer(WEIGHTS)
    reading = inside.read(TEXT)
    assert _asked_about("good", reading.oracle, replace(inside.model, predict=stuck)) is not None
    assert _asked_about("good", reading.oracle, replace(inside.model, predict=stuck)) is None
