"""The tail of a sum step by step: what is certain, what is put on a grid, and what each part is asked for."""

import math
from fractions import Fraction

import numpy as np
import pytest

from kedge.evaluators import additive
from kedge.evaluators.additive import _certain, additive_tail
from kedge.evaluators.binomials import binomial
from kedge.evaluators.grids.gridsum import GridSum
from kedge.evaluators.grids.sums import Free, all_sums, free_part, moments
from kedge.evaluators.grids.tails import grid_tail
from kedge.evaluators.leading import Leading
from kedge.evaluators.leads import Lead
from kedge.model.scores.additive import AdditiveScore
from kedge.results.interval import UNKNOWN, Interval


def made(slopes, bias, sizes=None, **more):
    """A linear score."""
    sizes = np.ones(len(slopes), dtype=np.int64) if sizes is None else np.array(sizes)
    return AdditiveScore.from_slopes(bias, np.array(slopes, dtype=float), sizes, **{"strict": True, **more})


@pytest.mark.parametrize("strict", [True, False])
def test_where_nothing_is_left_to_chance_only_rounding_is(strict):
    """Up to twice the error of the score, the model's and ours; without any a tie is as the model says."""
    rounded = made([1.0], 0.0, strict=strict, rounding=0.25)
    for value in (0.5, -0.5, 0.1, 0.0):
        assert _certain(rounded, value) == Interval(0.0, float(value > 0.0), 1.0)
    beyond = math.nextafter(0.5, 1.0)
    assert _certain(rounded, beyond) == Interval.exactly(1.0)
    assert _certain(rounded, -beyond) == Interval.exactly(0.0)
    exact = made([1.0], 0.0, strict=strict)
    assert _certain(exact, 0.0) == Interval.exactly(float(not strict))
    assert _certain(exact, 1e-300) == Interval.exactly(1.0)
    assert _certain(exact, -1e-300) == Interval.exactly(0.0)


@pytest.mark.parametrize("bias", [-1.0, 0.0, 1.0, -1.5])
def test_a_sum_as_far_from_zero_as_its_error_is_in_doubt(bias):
    """To the last bit; one that is farther is not."""
    score = made([1.0, 1.0, 1.0], bias)
    found = all_sums(free_part(score, np.zeros(3, dtype=np.int64), 0.5), 1.0, strict=True)
    law = {bias: 1 / 8, bias + 1: 3 / 8, bias + 2: 3 / 8, bias + 3: 1 / 8}
    assert found.low == sum(chance for value, chance in law.items() if value > 1.0)
    assert found.high == sum(chance for value, chance in law.items() if value >= -1.0)
    assert found.mean == sum(chance for value, chance in law.items() if value > 0.0)


@pytest.mark.parametrize("keep", [0.5, 0.3])
def test_what_is_fixed_and_what_is_left_to_chance(keep):
    """Tables from the counts kept on, moved so that their least is zero; constants go into the base."""
    tables = [np.array(t, dtype=float) for t in ([0, 2, 1], [0, -1, -3], [0, 0, 0], [0, 5])]
    score = AdditiveScore(0.5, tables, strict=True)
    free = free_part(score, np.array([1, 0, 1, 1]), keep)
    assert free.base == 0.5 + 1.0 - 3.0 + 0.0 + 5.0
    assert [v.tolist() for v in free.values] == [[1.0, 0.0], [3.0, 2.0, 0.0]]
    assert [w.tolist() for w in free.weights] == [binomial(n, keep).tolist() for n in (1, 2)]
    assert free.states == 6
    assert all(map(math.isnan, free.slopes))
    linear = made([2.0, -1.0], 0.0, [2, 3])
    assert free_part(linear, np.array([0, 1]), keep).slopes == [2.0, -1.0]
    mean, deviation = moments(free)
    p = keep
    one = [(1.0, 1 - p), (0.0, p)]
    two = [(3.0, (1 - p) ** 2), (2.0, 2 * p * (1 - p)), (0.0, p * p)]
    sums = [(a + b, x * y) for a, x in one for b, y in two]
    centre = sum(v * w for v, w in sums)
    assert mean == pytest.approx(free.base + centre)
    assert deviation == pytest.approx(math.sqrt(sum((v - centre) ** 2 * w for v, w in sums)))


@pytest.mark.parametrize("keep", [0.5, 0.3])
@pytest.mark.parametrize("narrow", [None, 1e-3, 1e-8])
def test_what_is_put_on_a_grid(keep, narrow, monkeypatch):
    """Few occurrences one by one, other words as a whole; the rest by its mean and its squared ranges."""
    score = made([1.03, -0.47, 0.26, 0.11, 0.0], -1.0, [1, 3, 13, 12, 2])
    bent = [np.array([0.0, 0.7, 0.9]), np.array([0.0, 1.3])]
    free = free_part(score, np.zeros(5, dtype=np.int64), keep)
    curved = free_part(AdditiveScore(0.0, bent, strict=True), np.zeros(2, dtype=np.int64), keep)
    free = Free(
        free.base,
        [*free.values, *curved.values],
        [*free.weights, *curved.weights],
        [*free.slopes, math.nan, math.nan],
        keep,
    )
    seen = {}
    monkeypatch.setattr(
        GridSum, "of", classmethod(lambda _, variables: seen.setdefault("variables", variables))
    )
    monkeypatch.setattr(
        additive, "grid_tail", lambda *given, **how: seen.update(given=given, how=how) or UNKNOWN
    )
    step = 0.25
    additive._on_grid(free, step, 0.125, strict=False, narrow=narrow)
    base, squares, wanted = -1.0 - 3 * 0.47, 0.0, []
    for slope, n in ((1.03, 1), (-0.47, 3), (0.11, 12)):
        cells = round(abs(slope) / step)
        rest, chance = abs(slope) - cells * step, keep if slope > 0 else 1 - keep
        base += n * rest * chance
        squares += n * rest**2
        wanted += [cells if keep == 0.5 else ((0, cells), (1 - chance, chance))] * n
    for table in (0.26 * np.arange(14), *bent):
        law = binomial(len(table) - 1, keep)
        cells = np.rint(table / step)
        rests = table - cells * step
        base += float(rests @ law)
        squares += float(np.ptp(rests)) ** 2
        wanted.append((cells.astype(int).tolist(), law.tolist()))

    def flat(variables):
        return sorted(str(v) for v in variables)

    assert flat(seen["variables"]) == flat(wanted)
    _, size, found_base, found_squares = seen["given"]
    assert size == step
    assert found_base == pytest.approx(base, rel=1e-12)
    assert found_squares == pytest.approx(squares, rel=1e-9)
    log_eta = 14.0 if narrow is None else max(14.0, math.log(100 / narrow))
    assert seen["how"] == {"error": 0.125, "strict": False, "log_eta": pytest.approx(log_eta)}


def test_counts_that_next_to_never_come_up_are_left_out(monkeypatch):
    """Of a word that occurs a thousand times: what is dropped stays inside the interval."""
    seen = []
    monkeypatch.setattr(GridSum, "of", classmethod(lambda _, variables: seen.extend(variables)))
    monkeypatch.setattr(additive, "grid_tail", lambda *_, **__: UNKNOWN)
    score = made([0.5], -200.0, [1000])
    additive._on_grid(free_part(score, np.zeros(1, dtype=np.int64), 0.5), 1.0, 0.0, strict=True, narrow=None)
    ((cells, weights),) = seen
    law = binomial(1000, 0.5)
    assert weights == law[law > 1e-18].tolist()
    assert cells == np.rint(0.5 * np.flatnonzero(law > 1e-18)).tolist()


def test_what_is_not_said_is_as_it_is_by_default():
    """Fair coins, no threshold, an eta of exp(-14); a norm that leaves its range once in a thousand."""
    rng = np.random.default_rng(0)
    score, none = made(rng.normal(size=30), 1.0), np.zeros(30, dtype=np.int64)
    assert additive_tail(score, none) == additive_tail(score, none, 0.5, threshold=None, width=None)
    assert additive_tail(score, none) != additive_tail(score, none, 0.4)
    law = GridSum.of([1] * 9)
    plain = grid_tail(law, 1.0, -4.5, 0.01, error=0.0, strict=True)
    assert plain == grid_tail(law, 1.0, -4.5, 0.01, error=0.0, strict=True, log_eta=14.0)
    assert len(GridSum.of([3, 2, 4])._now) == 4 + 9 + 1


@pytest.mark.parametrize(("threshold", "outside"), [(0.95, 1e-3), (0.5, 1e-3), (0.99, 5e-4), (1.0, 0.0)])
def test_a_norm_may_leave_its_range_as_seldom_as_the_threshold_needs(threshold, outside):
    """Once in a thousand, or a twentieth of what the threshold leaves."""
    from leading import random_leads

    leads = random_leads(np.random.default_rng(1), normed=True, rivals=2)
    reading = type("Reading", (), {"leads": leads, "units": None, "keep": 0.5})
    found = Leading(reading, threshold)
    assert [lead.outside for lead in found.leads] == [pytest.approx(outside)] * 2
    assert [lead.rival for lead in found.leads] == [0, 1]
    assert Lead(leads, 0, 0.5).outside == 1e-3
    assert [lead.outside for lead in Leading(reading).leads] == [1e-3] * 2


@pytest.mark.parametrize("keep", [Fraction(1, 2), Fraction(3, 10)])
def test_a_score_that_is_always_or_never_positive_is_told_at_once(keep):
    """By its lowest and its highest sum, beyond the error."""
    for bias, low, high in ((1.5, 1.0, 1.0), (-4.5, 0.0, 0.0), (0.25, None, 1.0), (-4.2, 0.0, None)):
        score = made([1.0, 2.0, 0.5, 0.5], bias, rounding=0.3)
        found = additive_tail(score, np.zeros(4, dtype=np.int64), float(keep))
        assert low is None or found.low == low
        assert high is None or found.high == high
        assert (found.width == 0.0) == (None not in (low, high))
