"""The precision of words the user chose: exact where possible, else certified."""

import json
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kedge
from kedge import Interval
from kedge.data.demo import review_model
from kedge.errors import OptionError
from kedge.studies.verdict import select
from kedge.text.document import Document
from kedge.text.tokenize import words as split

TEXT = "good food and very good staff but slow service"


def brute(predict, text, positions):
    """The share of all masks above the anchor that keep the label."""
    tokens = split(text)
    free = [k for k in range(len(tokens)) if k not in positions]
    masked = []
    for bits in product([False, True], repeat=len(free)):
        gone = {k for k, stays in zip(free, bits, strict=True) if not stays}
        masked.append(" ".join("UNK" if k in gone else t.word for k, t in enumerate(tokens)))
    label = predict([text])[0]
    return sum(answer == label for answer in predict(masked)) / len(masked)


def order_matters(texts):
    """A black box that reads order: whether `good` stands directly before `food` or `staff`."""
    return [int("good food" in t or "good staff" in t) for t in texts]


@settings(max_examples=40, deadline=None)
@given(st.sets(st.integers(0, 8), max_size=9))
def test_a_black_box_is_enumerated(positions):
    """For a short text every sample is asked about and the precision equals brute force."""
    verdict = kedge.precision(order_matters, TEXT, sorted(positions), mask="UNK")
    assert verdict.status == "exact"
    assert verdict.precision == pytest.approx(brute(order_matters, TEXT, positions), abs=1e-12)
    assert verdict.interval == Interval.exactly(verdict.precision)
    assert verdict.reaches is (verdict.precision >= 0.95)


@settings(max_examples=12, deadline=None)
@given(st.sets(st.integers(0, 8), max_size=9))
def test_a_readable_model_is_exact(positions):
    """For a model that counts words the precision equals brute force over masked texts."""
    predict = review_model().predict
    verdict = kedge.precision(review_model(), TEXT, sorted(positions))
    assert verdict.status == "exact"
    low, _, high = verdict.interval
    assert low - 1e-9 <= brute(predict, TEXT, positions) <= high + 1e-9


def test_the_anchor_found_is_an_anchor_when_asked_about():
    """Explain and precision agree on the anchor."""
    found = kedge.explain(review_model(), TEXT)
    verdict = kedge.precision(review_model(), TEXT, found.positions)
    assert verdict.words == found.words
    assert verdict.precision == pytest.approx(found.precision)
    assert verdict.reaches is True


def test_no_words_give_the_baseline():
    """The precision of the empty set is the baseline of the explanation."""
    found = kedge.explain(review_model(), TEXT)
    assert kedge.precision(review_model(), TEXT, []).precision == pytest.approx(found.baseline.mean)


def test_words_and_positions_name_the_same():
    """A word named twice is its first two occurrences; case does not count; a string is split."""
    document = Document(TEXT, split(TEXT))
    assert select(document, ["good", "Good", "slow"]).positions == (0, 4, 7)
    assert select(document, "good slow").positions == (0, 7)
    assert select(document, [4, 0, 0]).positions == (0, 4)
    assert select(document, []).positions == ()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["pizza"], "not in the text"),
        (["good"] * 3, "only 2 times"),
        (["slow"] * 2, "only once"),
        ([9], "no position 9"),
        ([-1], "no position -1"),
        ([1.5], "list of words"),
        ([True], "list of words"),
    ],
)
def test_words_that_are_not_there_are_refused(words, says):
    """An unknown word, one occurrence too many, or a position outside the text is one clear sentence."""
    with pytest.raises(OptionError, match=says):
        kedge.precision(order_matters, TEXT, words)


def test_a_word_of_the_text_that_the_model_does_not_read_is_named_as_such():
    """A vectoriser drops single letters: "I" is in the text, but the model does not see it."""
    with pytest.raises(OptionError, match="The model does not read the word 'I'"):
        kedge.precision(review_model(), "I like good food", ["I"])


LONG = " ".join(f"w{k}" for k in range(40)) + " good"


def test_a_long_text_is_certified_by_samples():
    """A text with too many masks gets an interval that contains the true value, and a clear side."""
    model = lambda texts: [int("good" in t) for t in texts]  # noqa: E731
    sure = kedge.precision(model, LONG, ["good"])
    assert (sure.status, sure.reaches, sure.precision) == ("certified", True, 1.0)
    assert sure.interval.low >= 0.95
    half = kedge.precision(model, LONG, [])
    assert half.status == "certified"
    assert half.reaches is False
    assert half.interval.low < 0.5 < half.interval.high


def test_intervals_cover():
    """Over seeds the certified interval misses the truth no more often than delta allows."""
    model = lambda texts: [int(bool({"w0", "w1"} & set(t.split()))) for t in texts]  # noqa: E731
    missed = 0
    for seed in range(40):
        low, _, high = kedge.precision(model, LONG, ["good"], seed=seed, delta=0.1, threshold=0.6).interval
        missed += not low <= 0.75 <= high
    assert missed <= 9  # binomial(40, 0.1) exceeds 9 with probability below 0.01


def test_the_budget_is_kept():
    """With few queries allowed the verdict stays open instead of asking more."""
    asked = []

    def model(texts):
        asked.extend(texts)
        return [int("good" in t) for t in texts]

    verdict = kedge.precision(model, LONG, ["good"], max_queries=20)
    assert len(asked) <= 20
    assert verdict.queries == len(asked)
    assert verdict.reaches is None


def test_a_verdict_is_plain_data():
    """The verdict goes through JSON, and says whether the words are an anchor."""
    verdict = kedge.precision(order_matters, TEXT, [0, 1])
    data = json.loads(verdict.to_json())
    assert data == json.loads(json.dumps(verdict.to_dict()))
    assert json.loads(verdict.to_json(times=True, indent=2))["seconds"] > 0
    assert data["reaches"] is True
    assert data["words"] == ["good", "food"]
    assert data["spans"] == [[0, 4], [5, 9]]
    assert "seconds" not in data


def test_a_masked_text_is_what_the_model_reads():
    """Explainer.masked removes positions in place and leaves the rest of the text alone."""
    assert kedge.Explainer(order_matters).masked("Good, good food!", [1]) == "Good, food!"
    explainer = kedge.Explainer(order_matters, mask="UNK")
    assert explainer.masked("Good, good  food!", [1]) == "Good, UNK  food!"
    assert explainer.masked("Good, good  food!", []) == "Good, good  food!"
    with pytest.raises(OptionError, match="no position 3"):
        explainer.masked("Good, good  food!", [3])
