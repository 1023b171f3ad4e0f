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
from kedge.results.interval import Interval

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


def test_cells_of_a_law_on_either_side():
    """Beyond its ends there is nothing, or all of it."""
    cells = chain._Cells(np.array([0.1, 0.2, 0.3, 0.4]), 1, 0.0)
    for cell, at, above in (
        (-3, 0, 1),
        (-1, 0.1, 1),
        (0, 0.2, 0.9),
        (1, 0.3, 0.7),
        (2, 0.4, 0.4),
        (3, 0, 0),
        (9, 0, 0),
    ):
        assert cells.at(cell) == pytest.approx(at)
        assert cells.above(cell) == pytest.approx(above)
        assert cells.below(cell) == pytest.approx(1 - above)


def scripted(monkeypatch, tails, *, scale=1.0, lattice=None):
    """A chain whose looks are written down; gives the sizes of their cells."""
    score = made_chain(1, 20, 2)
    chained, steps, told = Chained(chain_reading(score)), [], iter(tails)
    monkeypatch.setattr(chain, "deviation", lambda *_: (0.0, scale))
    monkeypatch.setattr(Chained, "_on_grid", lambda _, __, step: steps.append(step) or next(told))
    vars(chained)["lattice"] = lattice
    return chained, steps


WIDE, WIDER, CLEAR = Interval(0.8, 0.9, 0.97), Interval(0.7, 0.9, 0.96), Interval(0.91, 0.92, 0.93)


def test_a_finer_grid_is_taken_while_the_threshold_is_open(monkeypatch):
    """Four times as fine each time; what is known is what all looks leave."""
    chained, steps = scripted(monkeypatch, [WIDE, WIDER, CLEAR])
    kept = np.zeros(20, dtype=bool)
    assert chained._tail(kept, 0.9) == CLEAR
    assert steps == [1 / 128, 1 / 512, 1 / 2048]
    chained, steps = scripted(monkeypatch, [WIDE, WIDER, CLEAR])
    assert chained._tail(kept, 0.75) == WIDE
    assert steps == [1 / 128]
    # Without a threshold to a width of 4e-3.
    narrow = Interval(0.9, 0.9, 0.9039)
    chained, steps = scripted(monkeypatch, [WIDE, WIDER, narrow, CLEAR])
    assert chained._tail(kept, None) == narrow
    assert len(steps) == 3
    chained, steps = scripted(monkeypatch, [WIDE, Interval(0.81, 0.85, 0.99), narrow])
    found = chained._tail(kept, 0.98)
    assert (found, len(steps)) == (WIDE, 1)
    both = Interval(0.85, 0.9, 0.99)
    chained, _ = scripted(monkeypatch, [WIDE, both, CLEAR])
    monkeypatch.setattr(chain, "_FINEST", 512)
    assert chained._tail(kept, 0.9) == Interval(0.85, 0.9, 0.97)


@pytest.mark.parametrize(
    ("lattice", "steps"), [(1 / 128 / 16, [1 / 2048]), (1 / 128 / 17, [1 / 128, 1 / 128 / 17])]
)
def test_a_lattice_is_taken_where_it_is_not_much_finer(lattice, steps, monkeypatch):
    """Sixteen times at the most; and then it is the last."""
    chained, seen = scripted(monkeypatch, [WIDE] * 9, lattice=lattice)
    assert chained._tail(np.zeros(20, dtype=bool), 0.9) == WIDE
    assert seen == pytest.approx(steps)


def test_what_is_all_but_certain_is_told_by_its_extremes(monkeypatch):
    """Within a millionth of certainty, and nowhere else."""
    asked = []
    monkeypatch.setattr(chain, "known_extremes", lambda tail, *given: asked.append(given) or tail)
    for tail, looked in (
        (Interval(0.9, 0.95, 1 - 2e-6), 0),
        (Interval(0.9, 0.95, 1 - 5e-7), 1),
        (Interval(2e-6, 0.1, 0.2), 0),
        (Interval(5e-7, 0.1, 0.2), 1),
    ):
        chained, _ = scripted(monkeypatch, [tail])
        kept = np.zeros(20, dtype=bool)
        assert chained._tail(kept, 0.5) == tail
        assert len(asked) == looked
        if looked:
            low, high, error = asked.pop()
            assert (low, high) == chained.links.extremes(kept)
            assert error == chained.links.score.error


def test_the_estimate_of_a_score_without_spread(monkeypatch):
    """Cells of one, and one look."""
    chained, steps = scripted(monkeypatch, [WIDE], scale=0.0, lattice=1.0)
    assert chained._tail(np.zeros(20, dtype=bool), 0.9) == WIDE
    assert steps == [1.0]
