"""A logistic regression given by its words' weights: read exactly, with nothing else installed."""

import json
import pickle
import subprocess
import sys
from importlib.resources import files

import brute
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kedge
from kedge.data.demo import review_model, review_weights, reviews, train_weights
from kedge.errors import OptionError
from kedge.model.weights import weights_model

WORDS = ["aa", "bb", "cc", "dd"]
WEIGHTS = st.sampled_from([-2.0, -1.0, -0.3, 0.0, 0.1, 0.2, 0.3, 1.0, 2.0])
TEXTS = st.lists(st.sampled_from([*WORDS, "zz"]), min_size=1, max_size=8).map(" ".join)


@settings(max_examples=150, deadline=None)
@given(st.lists(WEIGHTS, min_size=4, max_size=4), WEIGHTS, TEXTS)
def test_exact_by_brute_force(weights, intercept, text):
    """Sums that tie in decimals and not in binary included: the model's own answers decide."""
    model = kedge.WordWeights(dict(zip(WORDS, weights, strict=True)), intercept, ("no", "yes"))
    if not set(WORDS) & set(text.split()):
        with pytest.raises(kedge.KedgeError, match="vocabulary"):
            kedge.explain(model, text)
        return
    found = kedge.explain(model, text)
    length, precision, best = brute.shortest(text, found.label, model.predict)
    assert (found.status, len(found.positions)) == ("exact", length)
    assert found.precision == pytest.approx(precision, abs=1e-9)
    assert found.positions in best


@settings(max_examples=100, deadline=None)
@given(st.lists(WEIGHTS, min_size=4, max_size=4), WEIGHTS, st.lists(TEXTS, min_size=1, max_size=5))
def test_counts_and_texts_get_the_same_labels(weights, intercept, texts):
    """To the last bit, ties included."""
    given_weights = kedge.WordWeights(dict(zip(WORDS, weights, strict=True)), intercept)
    counts = np.array([[text.split().count(word) for word in WORDS] for text in texts])
    by_counts = weights_model(given_weights).from_counts(WORDS)(counts)
    assert by_counts.labels.tolist() == given_weights.predict(texts)
    assert by_counts.probabilities == pytest.approx(given_weights.predict_proba(texts))


def test_the_stored_weights_are_those_of_the_trained_model():
    """`python -m kedge.data.demo` writes the file; the corpus and the file must not drift apart."""
    stored = json.loads((files("kedge") / "data" / "review_weights.json").read_text(encoding="utf-8"))
    trained = train_weights()
    assert stored["classes"] == trained["classes"]
    assert stored["weights"].keys() == trained["weights"].keys()
    assert [stored["intercept"], *stored["weights"].values()] == pytest.approx(
        [trained["intercept"], *trained["weights"].values()], abs=1e-3
    )


def test_the_stored_model_explains_as_the_trained_one():
    """Labels, probabilities, anchors and precisions on the embedded corpus."""
    texts = reviews()[0]
    stored, trained = review_weights(), review_model()
    assert stored.predict(texts) == trained.predict(texts).tolist()
    assert stored.predict_proba(texts) == pytest.approx(trained.predict_proba(texts), abs=1e-3)
    for text in texts[:40]:
        a, b = kedge.explain(stored, text), kedge.explain(trained, text)
        assert (a.positions, a.status) == (b.positions, b.status)
        assert a.precision == pytest.approx(b.precision, abs=1e-9)


def test_the_command_line_explains_without_scikit_learn():
    """Its start would take longer than all the rest."""
    script = (
        "import sys; sys.modules['sklearn'] = sys.modules['scipy'] = None\n"
        "from kedge.cli import main\n"
        "sys.argv[1:] = ['explain', 'good food and great service']; main()"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Exact" in done.stdout


def test_travels_and_keeps_its_weights():
    """Pickled for workers; a change of the caller's dictionary does not reach it."""
    weights = {"good": 1.0, "bad": np.float32(-1.5)}
    model = kedge.WordWeights(weights, intercept=np.float64(0.2))
    weights["good"] = -9.0
    again = pickle.loads(pickle.dumps(model))
    assert again == model
    assert again.predict(["good", "bad"]) == [1, 0]
    assert kedge.explain(again, "GOOD, not bad").words == kedge.explain(model, "GOOD, not bad").words


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"weights": {}}, "`weights` must be a dictionary"),
        ({"weights": ["good"]}, "`weights` must be a dictionary"),
        ({"weights": {"Good": 1.0}}, "'Good' is not one of the words"),
        ({"weights": {3: 1.0}}, "3 is not one of the words"),
        ({"weights": {"not good": 1.0}}, "'not good' is not one of the words"),
        ({"weights": {"a": 1.0}}, "'a' is not one of the words"),
        ({"weights": {"good": float("nan")}}, "weight of 'good' must be a number"),
        ({"weights": {"good": "1"}}, "weight of 'good' must be a number"),
        ({"weights": {"good": True}}, "weight of 'good' must be a number"),
        ({"weights": {"good": 10**400}}, "weight of 'good' must be a number"),
        ({"weights": {"good": 10**5000}}, "weight of 'good' must be a number"),
        ({"weights": {"good": 1e-170}}, "weight of 'good' must be a number"),
        ({"weights": {"good": 1e308}}, "weight of 'good' must be a number"),
        ({"weights": {"good": 1.0}, "intercept": None}, "`intercept` must be a number"),
        ({"weights": {"good": 1.0}, "classes": ("a", "a")}, "pair of different"),
        ({"weights": {"good": 1.0}, "classes": "ab"}, "pair of different"),
        ({"weights": {"good": 1.0}, "classes": (0, float("nan"))}, "pair of different"),
        ({"weights": {"good": 1.0}, "classes": ([1], [2])}, "pair of different"),
        ({"weights": {"good": 1.0}, "token_pattern": "("}, "no regular expression"),
        ({"weights": {"good": 1.0}, "token_pattern": "a{99999999999999999999}"}, "no regular expression"),
        ({"weights": {"good": 1.0}, "token_pattern": rb"\w+"}, "must be a string"),
        ({"weights": {"good": 1.0}, "token_pattern": r"(\w)(\w+)"}, "may not look around"),
        ({"weights": {"good": 1.0}, "token_pattern": r"\w+(?=.*please)|please"}, "may not look around"),
    ],
)
def test_bad_weights_are_refused_in_one_sentence(options, sentence):
    """What was wrong, and with which word."""
    with pytest.raises(OptionError, match=sentence):
        kedge.WordWeights(**options)


def test_other_words_than_the_default_ones():
    """One-letter words and hyphens, if the pattern says so; masking is then tried out."""
    model = kedge.WordWeights({"a-b": 2.0, "c": -1.0}, -0.5, token_pattern=r"[\w-]+")
    found = kedge.explain(model, "a-b c d")
    assert (found.words, found.status) == (("a-b",), "exact")


def test_a_group_is_the_word():
    """As in scikit-learn."""
    model = kedge.WordWeights({"bob": 2.0}, -1.0, token_pattern=r"\b(\w\w+)(?:'s)?\b")
    assert model.predict(["Bob's food", "food"]) == [1, 0]
    found = kedge.explain(model, "Bob's food")
    assert (found.words, found.spans) == (("bob",), ((0, 3),))


def test_labels_of_numpy_become_plain():
    """Those of a classifier's ``classes_``, in any form."""
    for classes in (np.array(["no", "yes"]), (np.int64(0), np.int64(1)), [False, True]):
        found = kedge.explain(kedge.WordWeights({"good": 2.0}, -1.0, classes=classes), "good food")
        assert '"label"' in found.to_json()


def test_a_subclass_is_asked_as_it_stands():
    """It may answer in another way."""

    class Contrary(kedge.WordWeights):
        def predict(self, texts):
            return [1 - label for label in super().predict(texts)]

    found = kedge.explain(Contrary({"good": 2.0, "bad": -2.0}, -1.0), "not bad food")
    assert (found.label, found.words) == (1, ("not",))


@pytest.mark.parametrize("text", [None, b"x", 3])
def test_what_is_no_text_is_refused(text):
    """Each text is a string."""
    with pytest.raises(kedge.KedgeError, match="must be a string"):
        kedge.WordWeights({"good": 1.0}).predict([text])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([-0.5, -0.4, -0.1, 0.1, 0.2, 0.3, 0.9]), min_size=4, max_size=4), TEXTS)
def test_precision_of_chosen_words_where_rounding_decides(weights, text):
    """``precision`` and ``partial`` say what ``explain`` and the model itself say."""
    model = kedge.WordWeights(dict(zip(WORDS, weights, strict=True)), 0.1)
    known = [k for k, word in enumerate(text.split()) if word in WORDS]
    if not known:
        return
    label = model.predict([text])[0]
    for positions in (known, known[:1]):
        verdict = kedge.precision(model, text, positions)
        true = brute.precision(text, label, model.predict, positions)
        assert verdict.precision == pytest.approx(true, abs=1e-9)
        assert verdict.interval.low - 1e-9 <= true <= verdict.interval.high + 1e-9
    found = kedge.explain(model, text)
    assert kedge.Explainer(model).partial(text)[-1].precision == pytest.approx(found.precision, abs=1e-9)
