"""The Gaussian evaluator: its interval holds the truth, at ties and for normalised models, too."""

from itertools import product

import numpy as np
import pytest
from readings import reading_of
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import kedge
from kedge.evaluators.gaussian import Gaussian

WORDS = ["good", "bad", "food", "slow"]


def weighted(vectorizer, weights, intercept):
    """A fitted pipeline with chosen coefficients."""
    pipeline = make_pipeline(vectorizer, LogisticRegression()).fit([" ".join(WORDS), *WORDS], [1, 0, 1, 0, 1])
    pipeline[-1].coef_[0] = [weights[w] for w in pipeline[0].get_feature_names_out()]
    pipeline[-1].intercept_[0] = intercept
    return pipeline


def truth(pipeline, text, words):
    """The precision of keeping these words, each occurring once, by every mask."""
    tokens = text.split()
    free = [t for t in tokens if t not in words]
    texts = [
        " ".join(t for t in tokens if t in words or dict(zip(free, row, strict=True))[t])
        for row in product([False, True], repeat=len(free))
    ]
    return float((pipeline.predict(texts) == pipeline.predict([text])[0]).mean())


def test_a_tie_is_broken_as_the_model_breaks_it():
    """A score of exactly zero is the first class: with everything kept its precision is 1, not 0."""
    model = kedge.WordWeights({"good": 1.0, "bad": -1.0}, 0.0)
    verdict = kedge.explain(model, "good bad", evaluator="gaussian", threshold=0.99)
    low, _, high = verdict.interval
    assert low <= 1.0 <= high
    assert verdict.precision == 1.0


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("norm", ["l2", None])
def test_the_interval_holds_the_truth(seed, norm):
    """Random weights, both labels, with and without the norm; scores on zero come with quarters."""
    rng = np.random.default_rng(seed)
    weights = dict(zip(WORDS, rng.integers(-3, 4, len(WORDS)) / 4, strict=True))
    vectorizer = CountVectorizer() if norm is None else TfidfVectorizer(use_idf=False)
    pipeline = weighted(vectorizer, weights, float(rng.integers(-2, 3)) / 4)
    text = " ".join(WORDS)
    e = kedge.explain(pipeline, text, evaluator="gaussian")
    low, _, high = e.interval
    assert low - 1e-12 <= truth(pipeline, text, e.words) <= high + 1e-12


@pytest.mark.parametrize("norm", ["l2", None])
@pytest.mark.parametrize(("apart", "open_"), [(0.0, True), (1e-3, False), (-1e-3, False)])
def test_nothing_is_open_where_nothing_is_random(norm, apart, open_):
    """With every word kept the score decides, unless rounding does: then the label may be either."""
    weights = {"good": 0.1, "bad": 0.2, "food": -0.4 + apart, "slow": 0.0}
    vectorizer = CountVectorizer() if norm is None else TfidfVectorizer(use_idf=False)
    bias = 0.1 if norm is None else 0.05  # four words have a norm of two
    reading = reading_of(weighted(vectorizer, weights, bias), " ".join(WORDS))
    assert (reading.normalised is not None) == (norm is not None)
    everything = tuple(range(len(reading.units)))
    found = Gaussian(reading).refine(everything)
    assert (found.width > 0) == open_
    assert found.low <= 1.0 == found.high
