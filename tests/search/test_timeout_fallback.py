"""What is answered when the time of a search that computes is up."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import kedge
from kedge.utils.deadline import TimeIsUp


@dataclass(frozen=True)
class Interrupted:
    """A search that is interrupted as a server interrupts one."""

    name: ClassVar = "interrupted"
    ignores: ClassVar = frozenset()

    def obstacle(self, reading):
        del reading

    def suits(self, reading):
        del reading
        return True

    def __call__(self, *_):
        raise TimeIsUp


WEIGHTS = kedge.WordWeights({"good": 2.0, "fine": 1.0, "bad": -1.5, "slow": -0.8}, intercept=-0.4)


@pytest.mark.parametrize(
    ("model", "text", "words"),
    [
        (WEIGHTS, "good fine bad slow bad slow", {"bad"}),
        (kedge.rules.all_present(["very", "good"]), "the food is very good", {"very", "good"}),
    ],
)
def test_an_anchor_by_samples(model, text, words):
    """The words that matter, a claim that rests on fresh samples, and a note."""
    e = kedge.explain(model, text, method=Interrupted())
    assert set(e.words) == words
    assert e.status == "certified"
    assert kedge.precision(model, text, e.words).precision >= e.interval.low
    assert any("time limit" in note for note in e.notes)


def test_the_weights_of_a_model_rank_its_words():
    """With a norm and many words the anchor is not much longer than the best, and still reaches."""
    rng = np.random.default_rng(0)
    words = [f"w{k}" for k in range(400)]
    model = make_pipeline(TfidfVectorizer(), LogisticRegression())
    model.fit([*words[:2], " ".join(words)], [0, 1, 1])
    model[-1].coef_ = rng.normal(size=model[-1].coef_.shape)
    best, hurried = (kedge.explain(model, " ".join(words), method=m) for m in ("auto", Interrupted()))
    assert hurried.status == "certified"
    assert len(best.words) <= len(hurried.words) <= 2 * len(best.words)
    judged = kedge.precision(model, " ".join(words), hurried.positions)
    assert judged.interval.high >= hurried.threshold
    # What a thousand samples cannot prove is said to be an estimate.
    e = kedge.explain(model, " ".join(words), method=Interrupted(), threshold=0.9999)
    assert (e.status, e.interval.reaches(0.9999)) == ("estimated", None)


def test_all_words_of_a_model_that_would_have_to_be_asked():
    """They keep the label for certain, and nothing more is asked."""
    asked = []

    def model(texts):
        asked.extend(texts)
        return ["good" in text for text in texts]

    e = kedge.explain(model, "good food here", method=Interrupted())
    assert e.words == ("good", "food", "here")
    assert (e.interval.low, e.queries) == (1.0, len(asked))
