"""Exact answers on the review corpora: every answer proven, whatever the document's length."""

import time

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import kedge


@pytest.mark.parametrize("name", ["restaurants", "yelp"])
def test_every_positive_review_is_exact(review_sets, name):
    """Plain TF-IDF and logistic regression: exact for all, and no word that does not speak for it."""
    data = kedge.datasets.load(name)
    train = len(data) * 3 // 4
    pipeline = make_pipeline(TfidfVectorizer(norm=None), LogisticRegression(max_iter=1000))
    pipeline.fit(data.texts[:train], data.labels[:train])
    explainer = kedge.Explainer(pipeline)
    vocabulary, coef = pipeline[0].vocabulary_, pipeline[-1].coef_[0]
    held_out = data.texts[train:]
    positive = [t for t, y in zip(held_out, pipeline.predict(held_out), strict=True) if y == 1]
    for text in positive:
        e = explainer.explain(text)
        assert e.status == "exact", text
        assert e.interval.low >= 0.95
        if e.baseline.mean < 0.95:
            assert all(coef[vocabulary[w]] > 0 for w in e.words), text
    assert len(positive) > (60 if review_sets == "published" else 20)


def test_ten_thousand_words_take_about_a_second():
    """A document of 10,000 words of undecided tone is answered exactly, in about a second."""
    rng = np.random.default_rng(4)
    words = [f"word{i}" for i in range(2500)]
    pipeline = make_pipeline(TfidfVectorizer(norm=None), LogisticRegression())
    pipeline.fit([" ".join(words), " ".join(words[:9]), "word1"], [1, 0, 0])
    chance = 1 / np.arange(1, 2501)
    drawn = [*words, *rng.choice(words, 7500, p=chance / chance.sum())]
    text = " ".join(rng.permutation(drawn))
    counts = np.array([drawn.count(w) for w in words])
    columns = [pipeline[0].vocabulary_[w] for w in words]
    coef = rng.normal(size=2500) * rng.exponential(size=2500)
    # The document scores 30 standard deviations above zero, its samples one below on average.
    spread = np.sqrt(counts @ coef**2) / 2
    coef += (62 * spread - counts @ coef) / len(drawn)
    pipeline[-1].coef_[0, columns] = coef / pipeline[0].idf_[columns]
    pipeline[-1].intercept_[0] = -0.5 * float(counts @ coef) - spread
    explainer = kedge.Explainer(pipeline)
    started = time.perf_counter()
    e = explainer.explain(text)
    # The promise is one second on a quiet machine; tests run on busy ones.
    assert time.perf_counter() - started < 5
    assert e.status == "exact"
    assert e.label == 1
    assert 10 < len(e.words) < 1000
