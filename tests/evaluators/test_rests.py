"""A sum over words without one of them: certified, on a lattice exact, for every kind of unit."""

import numpy as np
import pytest
from counting import precision
from hypothesis import given, settings
from hypothesis import strategies as st

from kedge.evaluators import rests, waves
from kedge.model.scores.additive import AdditiveScore


def truths(score, unit, keep):
    """P(score > 0) with each count of a unit, by adding up every combination of the others."""
    own = np.arange(len(score.sizes)) == unit
    without = np.where(own, 0, score.sizes)
    return np.array(
        [
            precision(lambda c, n=n: score.holds(c + n * own), 0 * score.sizes, without, keep)
            for n in range(score.sizes[unit] + 1)
        ]
    )


def told(score, keep):
    """What is said of each unit: middles and half widths."""
    found = rests.left_out(score, keep)
    each = zip(found.variables.each(found.means), found.variables.each(found.widths), strict=True)
    return dict(zip(found.variables.units.tolist(), each, strict=True))


def random_score(rng, kind):
    """A small score: slopes, whole numbers (so that ties are common), presence, or any table."""
    d = int(rng.integers(2, 8))
    sizes, bias, strict = rng.integers(1, 3, d), float(rng.integers(-2, 3)), bool(rng.integers(2))
    if kind == "slopes":
        return AdditiveScore.from_slopes(bias / 3, rng.normal(size=d), sizes, strict=strict)
    if kind == "fine":  # a lattice with more cells than there may be frequencies
        return AdditiveScore.from_slopes(
            bias, np.rint(rng.normal(size=d) * 2**16) / 2**16, sizes, strict=strict
        )
    if kind == "whole":
        return AdditiveScore.from_slopes(bias, rng.integers(-3, 4, d).astype(float) / 4, sizes, strict=strict)
    tables = [np.concatenate([[0.0], rng.normal(size=m)]) for m in sizes]
    if kind == "presence":
        tables = [np.where(np.arange(m + 1) > 0, t[1], 0.0) for m, t in zip(sizes, tables, strict=True)]
    return AdditiveScore(bias / 3, tables, strict)


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([0.5, 0.2, 0.8]),
    st.sampled_from(["slopes", "fine", "whole", "presence", "tables"]),
)
@settings(max_examples=150, deadline=None)
def test_the_truth_lies_within_the_half_width(seed, keep, kind):
    """By waves as by enumeration, the probability without each unit is within what is said of it."""
    score = random_score(np.random.default_rng(seed), kind)
    for half in (rests._HALF, 1):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(rests, "_HALF", half)
            patch.setattr(waves, "_CELLS", 64)  # in several pieces
            found = told(score, keep)
        assert set(found) == {j for j in range(len(score.sizes)) if np.ptp(score.tables[j]) > 0}
        for j, (means, widths) in found.items():
            off = np.abs(means - truths(score, j, keep))
            assert (off <= widths + 1e-12).all()
            if kind == "whole":  # every value lies where the kernel is zero
                assert (off < 1e-7).all()
                assert (widths < 1e-6).all()


def test_few_words_have_no_error():
    """Up to fifty fair coins there is no rounding; what only the model's rounding decides is said."""
    score = AdditiveScore.from_slopes(0.1, np.array([0.3, -0.7, 0.2]), np.array([1, 2, 1]), strict=True)
    assert all((widths == 0).all() for _, widths in told(score, 0.5).values())
    assert all((widths > 0).all() for _, widths in told(score, 0.4).values())
    tied = AdditiveScore.from_slopes(0.0, np.array([0.3, -0.1]), np.array([1, 3]), strict=True)
    (means, widths), _ = told(tied, 0.5).values()
    assert means.tolist() == [0.0625, 0.9375]  # with 0.3 and three times -0.1: one chance in eight
    assert widths.tolist() == [0.0625, 0.0625]


def test_one_word_repeated():
    """A word repeated twenty thousand times, alone and with others, is as quick as any."""
    sizes = np.array([20_000])
    alone = told(AdditiveScore.from_slopes(-50.005, np.array([0.01]), sizes, strict=True), 0.5)[0][0]
    assert (alone == (np.arange(20_001) > 5_000)).all()
    slopes, sizes = np.array([0.01, -200.0, 3.0]), np.array([20_000, 1, 2])
    among = AdditiveScore.from_slopes(0.1, slopes, sizes, strict=True)
    assert told(among, 0.5)[1][0] == pytest.approx([1.0, 0.0], abs=1e-6)


@pytest.mark.parametrize("keep", [0.5, 0.3])
def test_frequencies_that_are_dropped_are_counted(keep, monkeypatch):
    """Of many units only loud frequencies are worked out; the others change nothing beyond the half width."""
    rng = np.random.default_rng(3)
    score = AdditiveScore.from_slopes(0.3, rng.normal(size=60), rng.integers(1, 4, 60), strict=True)
    few = told(score, keep)
    monkeypatch.setattr(waves, "_FAINT", 0.0)
    every = told(score, keep)
    for j, (means, widths) in few.items():
        assert widths.max() < 1e-3
        assert (np.abs(means - every[j][0]) <= 1e-6).all()


def test_long_documents_agree_with_the_grid():
    """A hundred units: the same as adding up all but one of them on a grid."""
    from kedge.evaluators.additive import additive_tail

    rng = np.random.default_rng(4)
    slopes, sizes = rng.normal(size=100), rng.integers(1, 4, 100)
    score = AdditiveScore.from_slopes(1.0, slopes, sizes, strict=True)
    for j, (means, widths) in list(told(score, 0.5).items())[::25]:
        others = np.delete(np.arange(100), j)
        for count in (0, sizes[j]):
            bias = 1.0 + count * slopes[j]
            rest = AdditiveScore.from_slopes(bias, slopes[others], sizes[others], strict=True)
            grid = additive_tail(rest, 0 * sizes[others], 0.5, width=1e-3)
            assert grid.low - 1e-9 <= means[count] + widths[count]
            assert means[count] - widths[count] <= grid.high + 1e-9
            assert means[count] == pytest.approx(grid.mean, abs=2e-4)
