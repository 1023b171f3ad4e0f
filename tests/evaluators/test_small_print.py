"""What evaluators say to the last digit: certain ends, margins that are there, tables to their end."""

import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from chains import all_precisions, chain_reading, made_chain
from leading import random_leads

from kedge.evaluators import Additive, Chained
from kedge.evaluators.additive import additive_tail
from kedge.evaluators.binomials import binomial, binomial_laws
from kedge.evaluators.grids.gridsum import GridSum
from kedge.evaluators.leads import Lead, _around
from kedge.evaluators.slopes import Tally as Slopes
from kedge.evaluators.variables import Variables
from kedge.evaluators.waves import Waves
from kedge.model.scores.additive import AdditiveScore


def coins(sizes, bias, *, strict=True, rounding=None):
    """A linear score over words that occur once."""
    ones = np.ones(len(sizes), dtype=np.int64)
    return AdditiveScore.from_slopes(
        bias, np.array(sizes, dtype=float), ones, strict=strict, rounding=rounding
    )


def test_an_estimate_is_half_as_wide_as_its_interval():
    """On a grid that leaves some width."""
    rng = np.random.default_rng(0)
    score = coins(rng.normal(size=40), 0.3)
    units = SimpleNamespace(counts=lambda kept: np.bincount(np.array(kept, dtype=int), minlength=40))
    evaluator = Additive(SimpleNamespace(additive=score, keep=0.5, units=units))
    for kept in ((), (3,), (3, 4)):
        tail, found = evaluator.refine(kept), evaluator([kept])
        assert tail.width > 1e-4
        assert found.lower(1.0)[0] == pytest.approx(tail.low, abs=1e-12)
        assert found.upper(1.0)[0] == pytest.approx(tail.high, abs=1e-12)


@pytest.mark.parametrize("keep", [0.5, 0.3])
@pytest.mark.parametrize("largest", [1, 2, 63, 64, 65])
def test_laws_one_after_another_are_those_of_each(largest, keep):
    """Up to the last size that the table has, and beyond."""
    sizes = np.array([largest, 0, 1, largest])
    wanted = np.concatenate([binomial(n, keep) for n in sizes.tolist()])
    assert binomial_laws(sizes, keep).tolist() == wanted.tolist()


@pytest.mark.parametrize("values", [(3, 5), (2, 3, 7), (0, 4), (1, 9)])
def test_variables_that_never_are_zero_are_not_cut_off(values):
    """Hundreds of them one by one: all of the law is there, around the right mean."""
    weights = [1 / len(values)] * len(values)
    n = 300
    grid = GridSum(n * max(values), max(values))
    for _ in range(n):
        grid.add(values, weights)
    mean = n * sum(values) / len(values)
    assert grid.above(0) == pytest.approx(1.0, abs=1e-9)
    law = {0: Fraction(1)}
    step = math.gcd(*(v - values[0] for v in values[1:]))
    assert grid.below(math.floor(mean) + 1) == pytest.approx(0.5, abs=0.1 * step)
    for _ in range(12):
        new = {}
        for have, chance in law.items():
            for v in values:
                new[have + v] = new.get(have + v, 0) + chance / len(values)
        law = new
    few = GridSum(12 * max(values), max(values))
    for _ in range(12):
        few.add(values, weights)
    for cell in range(12 * max(values) + 1):
        assert few.at(cell) == pytest.approx(float(law.get(cell, 0)), abs=1e-15)


@pytest.mark.parametrize("keep", [0.5, 0.3, 0.7])
def test_what_is_certain_has_no_margin_and_what_is_rounded_has_one(keep):
    """Every sum holds, to the last one that is zero; or chances are added up that are no doubles."""
    certain = additive_tail(coins([1.0, 2.0, 3.0], 0.0, strict=False), np.zeros(3, dtype=np.int64), keep)
    assert tuple(certain) == (1.0, 1.0, 1.0)
    score = coins([1.0, 2.0, 3.0], -2.5)
    tail = additive_tail(score, np.zeros(3, dtype=np.int64), keep)
    law = Fraction(keep)
    truth = law + (1 - law) * law * law  # the third word, or the first two
    assert Fraction(tail.low) <= truth <= Fraction(tail.high)
    assert (tail.width > 0.0) == (keep != 0.5)
    assert tail.width < 1e-13


@pytest.mark.parametrize("keep", [0.5, 0.3])
def test_samples_that_the_sums_leave_out_are_counted_and_no_others(keep):
    """The text with no word left, and as many as may leave the range."""
    rng, seen = np.random.default_rng(4), set()
    for _ in range(40):
        leads = random_leads(rng, normed=True)
        lead = Lead(leads, 0, keep, 1e-2)
        for kept in (np.zeros_like(leads.sizes), leads.sizes // 2):
            between, _ = _around([(lead, kept)], lead.given(kept), np.array([len(kept)]))
            empty = 0.0 if kept.any() else (1 - keep) ** int(leads.sizes.sum())
            wanted = {empty, empty + 1e-2} if lead.curved else {0.0}
            spare = sorted({float(between.spare_low[0]), float(between.spare_high[0])})
            assert spare == pytest.approx(sorted(wanted), abs=1e-15)
            seen.add((lead.curved, bool(kept.any())))
    assert {(True, False), (True, True)} <= seen


@pytest.mark.parametrize("bias", [0.1, 7.3, -7.3])
def test_what_lies_beyond_half_a_period_is_counted_where_it_can_be(bias):
    """A period shorter than twice the largest sum leaves out a little, which is in the half width."""
    seen = set()
    for n in (4, 12, 30, 60, 120, 400):
        score = coins(np.linspace(0.5, 1.5, n), bias - n / 2)
        waves = Waves.of(score, Variables.of(score, 0.5))
        surely = abs(score.bias) + float(np.abs(score.slopes).sum())
        beyond = 2.0 * math.exp(-16.0)
        seen.add(waves.period < 2.0 * surely)
        assert (waves.slack >= beyond) == (waves.period < 2.0 * surely)
        assert waves.slack < beyond + 1e-7
    assert seen == {True, False}


@pytest.mark.parametrize("keep", [0.5, 0.3])
def test_slopes_of_several_answers_are_those_of_each(keep):
    """Sums over samples are kept beside each other, and not mixed up."""
    rng = np.random.default_rng(1)
    sizes = np.array([1, 2, 3, 1])
    counts = rng.binomial(sizes, keep, (200, 4))
    y = rng.random((200, 3)) + counts @ rng.normal(size=(4, 3))
    slope, error = Slopes.of(sizes, keep, 3).plus(counts[:90], y[:90]).plus(counts[90:], y[90:]).slopes()
    for t in range(3):
        alone = Slopes.of(sizes, keep, 1).plus(counts, y[:, t : t + 1]).slopes()
        assert slope[:, t] == pytest.approx(alone[0][:, 0])
        assert error[:, t] == pytest.approx(alone[1][:, 0])
    x = counts - sizes * keep
    variance = sizes * keep * (1 - keep)
    away = y - y.mean(axis=0)
    assert slope == pytest.approx((x.T @ away) / 200 / variance[:, None])
    parts = x[:, :, None] * away[:, None, :]
    spread = np.sqrt((parts**2).mean(axis=0) - parts.mean(axis=0) ** 2)
    assert error == pytest.approx(spread / math.sqrt(200) / variance[:, None])


@pytest.mark.parametrize("keep", [0.5, 0.3])
@pytest.mark.parametrize("seed", range(6))
def test_few_links_are_known_to_the_last_digits(seed, keep):
    """All samples are added up, so that nothing but rounding is left open."""
    score = made_chain(seed, 8, 2)
    truth, evaluator = all_precisions(score, keep), Chained(chain_reading(score, keep))
    for kept in ((), (2,), (1, 5)):
        tail = evaluator.refine(kept)
        assert tail.low <= truth(kept) + 1e-15
        assert truth(kept) - 1e-15 <= tail.high
        assert tail.width <= 1e-12
        assert keep == 0.5 or tail.mean in {0.0, 1.0} or tail.width > 0.0


def test_the_middle_of_an_interval_is_closer_than_its_ends():
    """Within the cell at zero the law is as good as flat: the mean that is shown is off by far less."""
    off, widths = [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        score = coins(rng.normal(size=17), float(rng.normal()))
        tail = additive_tail(score, np.zeros(17, dtype=np.int64))
        sums = np.full(1, score.bias)
        for slope in score.slopes:
            sums = np.concatenate([sums, sums + slope])
        truth = float(np.mean(sums > 0))
        assert tail.low <= truth <= tail.high
        off.append(abs(tail.mean - truth))
        widths.append(tail.width)
    assert np.mean(off) < 0.03 * np.mean(widths)
