"""First steps that are taken together with those of other documents lead to the same answers."""

import numpy as np
import pytest
from readings import reading_of
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import kedge
from kedge.search import Goal
from kedge.search.exact.prefix_tails import _multiplied
from kedge.search.exact.ranked import Ranked


@pytest.mark.parametrize("classes", [2, 3])
def test_leads_that_are_begun_together_end_as_each_alone(classes):
    """With one rival and with two."""
    rng = np.random.default_rng(classes)
    words = [f"w{j}" for j in range(12)]
    model = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(words, np.arange(12) % classes)
    model[-1].coef_ = rng.normal(0, 1.5, model[-1].coef_.shape)
    model[-1].intercept_ = rng.normal(0, 0.5, model[-1].intercept_.shape)
    texts = [" ".join(rng.choice(words, n)) for n in (9, 14, 20)]
    goal, search = Goal(0.9), kedge.Leading()
    together = [reading_of(model, text) for text in texts]
    search.begin(together, goal)
    for text, reading in zip(texts, together, strict=True):
        alone = search(reading_of(model, text), goal, np.random.default_rng(0))
        found = search(reading, goal, np.random.default_rng(0))
        assert (found.kept, found.status, found.interval) == (alone.kept, alone.status, alone.interval)


@pytest.mark.parametrize(
    "spans",
    [
        [(4, 0)],
        [(4, 4)],
        [(1, 0), (6, 6)],
        [(3, 1), (5, 0), (6, 5)],
        [(6, 6), (6, 6)],
        [(0, 0), (2, 2)],
        [(6, 5), (1, 1), (6, 0)],
    ],
)
def test_products_of_what_each_length_leaves_free(spans):
    """From the longest length on, and of nothing kept: all coins that are free, and 1 where none is."""
    rng = np.random.default_rng(0)
    coins = [4] if len(spans) == 1 else [6] * len(spans)
    ends = np.cumsum(coins).tolist()
    factors = rng.uniform(0.5, 1.5, (3, ends[-1]))
    each = [(end - n, end, span) for n, end, span in zip(coins, ends, spans, strict=True)]
    wanted = [
        np.prod(factors[:, first : end - length], axis=1)
        for first, end, (most, least) in each
        for length in [*range(most, least - 1, -1), *([0] if least else [])]
    ]
    assert _multiplied(factors, each) == pytest.approx(np.array(wanted))


def test_every_length_that_was_looked_at_is_in_the_trace():
    """From the shortest that is allowed on, each with its interval."""
    model = kedge.WordWeights({"good": 3.0, "so": 2.0, "film": 2.0, "bad": -4.0}, intercept=-1.0)
    for allow_empty in (True, False):
        found = Ranked()(
            reading_of(model, "good so film bad good"),
            Goal(0.95, allow_empty=allow_empty),
            np.random.default_rng(0),
        )
        lengths = [len(one.kept) for one in found.trace]
        assert lengths == list(range(0 if allow_empty else 1, len(found.kept) + 1))
        assert found.trace[-1].kept == found.kept
