"""Precision of sums over windows of neighbours, by passes along the text, against every sample."""

import numpy as np
import pytest
from chains import all_precisions, chain_reading, made_chain
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from kedge.evaluators import chain
from kedge.evaluators.chain import Chained, rounded
from kedge.evaluators.grids.links import Grid, Links
from kedge.model.scores.chain import ChainScore

seeds = st.integers(0, 10**6)


@pytest.fixture(autouse=True)
def _passes_only(monkeypatch):
    """Even few links go through the grid."""
    monkeypatch.setattr(chain, "_ALL", -1)


@settings(max_examples=150)
@given(seeds, st.integers(1, 11), st.integers(1, 4), st.booleans(), st.sampled_from([0.5, 0.3, 0.8]))
def test_intervals_contain_the_truth(seed, links, longest, whole, keep):
    """Whatever is kept, with ties and without, fair coins or not."""
    score = made_chain(seed, links, longest, whole=whole)
    precision, truth = Chained(chain_reading(score, keep)), all_precisions(score, keep)
    rng = np.random.default_rng(seed)
    for threshold in (None, 0.95):
        for size in {0, 1, links // 2, links}:
            kept = tuple(sorted(rng.choice(links, size, replace=False).tolist()))
            tail = precision.refine(kept, threshold)
            assert tail.low - 1e-12 <= truth(kept) <= tail.high + 1e-12
            if whole:
                assert tail.width < 1e-9


def test_a_grid_that_would_take_too_long_is_not_tried(monkeypatch):
    """The interval of the coarse one stays, around the truth and wider than a finer one's."""
    score = made_chain(1, 11, 2)
    fine, truth = Chained(chain_reading(score)).refine((0, 3)), all_precisions(score)((0, 3))
    monkeypatch.setattr(chain, "_BUDGET", 0)
    coarse = Chained(chain_reading(score)).refine((0, 3), truth)
    assert coarse.low <= truth <= coarse.high
    assert coarse.width > fine.width


def test_more_fair_coins_than_a_double_holds():
    """Factors of a half are taken out in time: 1,100 words that count one each are binomial."""
    n = 1_100
    ones = np.ones(n, dtype=np.int64)
    laid = Links.of(ChainScore(0.0, tuple((i,) for i in range(n)), np.ones(n), ones))
    grid = Grid(laid, laid.gains(np.ones(n)).astype(np.int64), 0.5)
    assert np.allclose(grid.law(np.zeros(n, dtype=bool)), binom.pmf(np.arange(n + 1), n, 0.5), atol=1e-14)


@settings(max_examples=50)
@given(seeds, st.integers(2, 9), st.integers(2, 3), st.booleans())
def test_all_one_word_anchors_at_once(seed, links, longest, fair):
    """A pass from the front and one from the back give what each single pass gives."""
    keep = 0.5 if fair else 0.3
    score = made_chain(seed, links, longest, whole=True)
    laid = Links.of(score)
    grid = Grid(laid, laid.gains(rounded(laid, 1.0).cells).astype(np.int64), keep)
    for kept in (np.zeros(links, dtype=bool), np.arange(links) % 3 == 0):
        together = grid.each_more(kept, 1)
        for link in range(links):
            more = kept.copy()
            more[link] = True
            alone = grid.law(more)[grid.origin + 1 :].sum()
            assert together[link] == pytest.approx(alone, abs=1e-12)


@settings(max_examples=50)
@given(seeds, st.integers(2, 9), st.integers(2, 3))
def test_what_is_left_over_changes_no_more_than_said(seed, links, longest):
    """The bound behind McDiarmid's inequality, and the mean, on every sample."""
    laid = Links.of(made_chain(seed, links, longest))
    cut = rounded(laid, 0.37)
    kept = np.random.default_rng(seed).random(links) < 0.3
    rows = np.arange(1 << links)[:, None] >> np.arange(links) & 1
    rows = rows[(rows[:, kept] == 1).all(axis=1)]
    rest = sum(r * rows[:, list(w)].prod(axis=1) for w, r in zip(cut.links.windows, cut.rest, strict=True))
    mean, squares = cut.leftover(kept, 0.5)
    assert mean == pytest.approx(float(np.mean(rest)), abs=1e-12)
    value = {tuple(row): r for row, r in zip(rows.tolist(), rest.tolist(), strict=True)}
    most = 0.0
    for link in np.flatnonzero(~kept):
        changes = [
            abs(value[tuple(row)] - value[tuple(np.where(np.arange(links) == link, 1 - row, row))])
            for row in rows
        ]
        most += max(changes) ** 2
    assert most <= squares + 1e-12
