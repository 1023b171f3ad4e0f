"""Margins for rounding: wide enough for what they are to cover, and not many times wider.

A margin of 1e-14 decides nothing on a real document, so no answer would show that it is missing. Here it is
looked at by itself: against fractions, or with errors so large that it can be seen.
"""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from chains import all_precisions, chain_reading, made_chain
from hypothesis import given, settings
from hypothesis import strategies as st

from kedge.evaluators import additive, chain
from kedge.evaluators.additive import additive_tail
from kedge.evaluators.chain import Chained
from kedge.evaluators.grids.gridsum import GridSum
from kedge.evaluators.grids.sums import all_sums, free_part, middle
from kedge.evaluators.grids.tails import grid_tail, known_extremes, leftover_reach
from kedge.model.scores.additive import UNIT, AdditiveScore
from kedge.results.interval import UNKNOWN, Interval
from kedge.search.exact import branch
from kedge.search.exact.branch import _chains, _Search
from kedge.search.exact.ladder import Ladder, enumerate_prefixes


def exact_chance(score, kept, keep, holds):
    """P(holds(score)) of a score of few words, in fractions of the very doubles."""
    total, p, kept = Fraction(0), Fraction(keep), [int(a) for a in kept]
    for counts in product(*(range(a, m + 1) for a, m in zip(kept, score.sizes.tolist(), strict=True))):
        value, chance = Fraction(score.bias), Fraction(1)
        for table, count, a, m in zip(score.tables, counts, kept, score.sizes.tolist(), strict=True):
            value += Fraction(float(table[count]))
            chance *= math.comb(m - a, count - a) * p ** (count - a) * (1 - p) ** (m - count)
        total += chance * holds(value)
    return total


scores = st.builds(
    lambda bias, slopes, sizes, strict: AdditiveScore.from_slopes(
        bias, np.array(slopes), np.array(sizes[: len(slopes)]), strict=strict
    ),
    st.sampled_from([0.0, -0.1, 0.3, -0.7, 1.0]),
    st.lists(st.sampled_from([0.1, 0.2, 0.3, -0.3, 0.7, -0.1, 1.1]), min_size=1, max_size=6),
    st.lists(st.integers(1, 2), min_size=6, max_size=6),
    st.booleans(),
)


@given(scores, st.sampled_from([0.5, 0.3, 0.9]), st.data())
@settings(max_examples=150, deadline=None)
def test_few_sums_enclose_the_fraction_and_little_else(score, keep, data):
    """What is near zero is in doubt; the rest is known to a few roundings for each value."""
    kept = np.array([data.draw(st.integers(0, m)) for m in score.sizes.tolist()])
    free = free_part(score, kept, keep)
    if not free.values:
        return
    error = score.error * data.draw(st.sampled_from([0.0, 2.0]))
    if error == 0.0:  # sums of tenths are rounded: without a margin only exact ones can be compared
        tens = [10 * Fraction(round(10 * float(t[-1]) / (len(t) - 1)), 10) for t in score.tables]
        score = AdditiveScore.from_slopes(
            float(round(10 * score.bias)), np.array(tens, dtype=float), score.sizes, strict=score.strict
        )
        free = free_part(score, kept, keep)
    bar = Fraction(error)
    least = exact_chance(score, kept, keep, lambda v: v > bar if error or score.strict else v >= 0)
    most = exact_chance(score, kept, keep, lambda v: v >= -bar if error or not score.strict else v > 0)
    values = sum(len(v) for v in free.values)
    for found in (
        all_sums(free, error, strict=score.strict),
        middle(free, error, strict=score.strict),
    ):
        assert found.low <= found.mean <= found.high
        assert found.low <= least
        assert most <= found.high
        if error == 0.0:
            room = Fraction(64 * values * UNIT)
            assert least - room <= found.low
            assert found.high <= most + room
    plain = all_sums(free, error, strict=score.strict)
    if keep == 0.5:
        assert Fraction(plain.low) in {least, Fraction(math.nextafter(1.0, 0.0))} or error > 0.0
    elif plain.low > 0.1 and plain.high < 0.9:  # uneven coins: their chances are rounded
        assert 4 * values * UNIT <= min(plain.mean - plain.low, plain.high - plain.mean) or error > 0.0
        assert plain.high - plain.low <= most - least + Fraction(40 * values * UNIT)


def test_meeting_in_the_middle_allows_for_its_running_sum():
    """One rounding for each entry that is added up, to either side."""
    score = AdditiveScore.from_slopes(-9.0, np.ones(16), np.ones(16, dtype=np.int64), strict=True)
    found = middle(free_part(score, np.zeros(16, dtype=np.int64), 0.3), 0.0, strict=True)
    entries = 2 * (1 << 8)
    for side in (found.mean - found.low, found.high - found.mean):
        assert entries * UNIT <= side <= 4 * entries * UNIT


@pytest.mark.parametrize("words", [2, 3, 8, 20])
def test_what_is_nearly_zero_is_left_open_by_sums_of_our_own(words, monkeypatch):
    """Beside the model's own rounding ours: one operation for each word on numbers of this size."""
    rng = np.random.default_rng(words)
    slopes = rng.uniform(1.0, 3.0, words)
    score = AdditiveScore.from_slopes(
        -float(slopes.sum()) / 2, slopes, np.ones(words, dtype=np.int64), strict=True
    )
    seen = []
    for name in ("all_sums", "middle"):
        monkeypatch.setattr(additive, name, lambda _, error, **__: seen.append(error) or UNKNOWN)
    additive_tail(score, np.zeros(words, dtype=np.int64), 0.5, width=1e-9)
    monkeypatch.setattr(branch, "Reach", lambda *given: seen.append(-(score.bias + given[2])))
    _Search.of(score, _chains(score), 0.5, words)
    for error in (*seen, Ladder.of(score, 0.5).error):
        own = (error - score.error) / (UNIT * score.magnitude)
        assert words <= own <= 4 * (words + 8)


def test_where_rounding_decides_everything_no_grid_is_fine_enough_and_the_search_ends():
    """Within its budget, with nothing known: a finer grid would take all memory there is."""
    slopes, sizes = np.linspace(0.01, 0.03, 40), np.ones(40, dtype=np.int64)
    score = AdditiveScore.from_slopes(-0.5, slopes, sizes, strict=True, rounding=2.0)
    found = additive_tail(score, np.zeros(40, dtype=np.int64), 0.5, threshold=0.95, budget=1 << 20)
    assert (found.low, found.high) == (0.0, 1.0)


@pytest.mark.parametrize("keep", [0.5, 0.3, 0.8])
@pytest.mark.parametrize("seed", range(6))
def test_few_links_are_known_to_the_last_bits(seed, keep):
    """Fair coins exactly; others to a few roundings for each link; what is certain without any."""
    score = made_chain(seed, 8, 3, whole=True)
    chained = Chained(chain_reading(score, keep))
    truth = all_precisions(score, keep)
    for anchor in [(), (0,), (1, 4), tuple(range(7)), tuple(range(8))]:
        found, true = chained.refine(anchor), truth(anchor)
        assert abs(found.mean - true) < 1e-14
        if keep == 0.5 or true in {0.0, 1.0}:
            assert found.low == found.mean == found.high
        else:
            free = 8 - len(anchor)
            for side in (found.mean - found.low, found.high - found.mean):
                assert 4 * free * UNIT <= side <= 64 * free * UNIT or 1.0 in {found.high, found.mean}


@pytest.mark.parametrize("value", [1.0, -1.0])
@pytest.mark.parametrize("keep", [0.3, 0.5])
def test_a_chain_that_always_or_never_holds_is_certain(value, keep):
    """No margin where all samples agree."""
    score = made_chain(0, 5, 2, whole=True)
    score = type(score)(100.0 * value, score.windows, score.weights, score.sizes, score.strict)
    found = Chained(chain_reading(score, keep)).refine(())
    assert found == Interval.exactly(float(value > 0))


def test_a_pass_along_a_text_counts_the_roundings_of_every_state(monkeypatch):
    """Each of the cells is a sum over the states before it, link after link."""
    seen = []
    monkeypatch.setattr(chain, "grid_tail", lambda cells, *_, **__: seen.append(cells) or UNKNOWN)
    for longest in (1, 2, 3):
        score = made_chain(1, 20, longest)
        Chained(chain_reading(score))._on_grid(np.zeros(20, dtype=bool), 0.01)
        cells = seen.pop()
        assert 20 * 2**longest * UNIT <= cells.error <= 40 * 2**longest * 20 * UNIT
        assert cells.above(-(10**9)) == pytest.approx(1.0, abs=1e-12)
        assert cells.above(3) + cells.below(3) == pytest.approx(1.0, abs=1e-12)
        assert cells.above(3) - cells.above(4) == pytest.approx(cells.at(3), abs=1e-14)


class _Uneven:
    """A law on cells that is known only to a tenth."""

    error = 0.1
    law = (0.1, 0.2, 0.3, 0.25, 0.15)

    def above(self, cell):
        return sum(self.law[max(cell, 0) :])

    def below(self, cell):
        return sum(self.law[: max(cell, 0)])

    def at(self, cell):
        return self.law[cell] if 0 <= cell < 5 else 0.0


@pytest.mark.parametrize("base", [-2.5, -1.5, -0.25, -2.0])
@pytest.mark.parametrize("step", [1.0, 0.5])
@pytest.mark.parametrize("strict", [True, False])
def test_the_tail_of_a_law_that_is_roughly_known(base, step, strict):
    """Each end is moved outwards by the law's own error, and by what may stray."""
    law, base = _Uneven(), base * step
    held = [k for k in range(5) if base + step * k > 0 or (base + step * k == 0 and not strict)]
    truth = sum(law.law[k] for k in held)
    found = grid_tail(law, step, base, 0.0, error=0.0, strict=strict)
    assert found.low == pytest.approx(0.9 * truth)
    assert found.high == pytest.approx(1.0 - 0.9 * (1.0 - truth))
    # Something is left over, or rounding decides: the next cells are in doubt, too.
    error, squares, log_eta = 0.6 * step, (0.1 * step) ** 2, 3.0
    stray = leftover_reach(squares, log_eta)
    assert math.exp(-2.0 * stray**2 / squares) == pytest.approx(math.exp(-log_eta))
    for e, s in ((error, 0.0), (0.0, squares), (error, squares)):
        reach, eta = e + (stray if s else 0.0), math.exp(-log_eta) if s else 0.0
        found = grid_tail(law, step, base, s, error=e, strict=strict, log_eta=log_eta)
        sure = sum(law.law[k] for k in range(5) if base + step * k > reach)
        lost = sum(law.law[k] for k in range(5) if base + step * k < -reach)
        assert found.low == pytest.approx(max(0.9 * sure - eta, 0.0), abs=1e-12)
        assert found.high == pytest.approx(min(1.0 - (0.9 * lost - eta), 1.0), abs=1e-12)
        assert found.low <= found.mean <= found.high


def test_what_is_certain_by_its_extremes():
    """Certain, impossible, or clearly neither; within the error nothing is changed."""
    open_ = Interval(0.2, 0.5, 1.0)
    assert known_extremes(open_, 0.2, 3.0, 0.1) == Interval.exactly(1.0)
    assert known_extremes(open_, -3.0, -0.2, 0.1) == Interval.exactly(0.0)
    assert known_extremes(open_, -0.2, 3.0, 0.1).high < 1.0
    assert known_extremes(open_, -0.1, 3.0, 0.1) == open_
    assert known_extremes(open_, 0.1, 3.0, 0.1) == open_
    assert known_extremes(Interval(0.2, 0.5, 0.9), -3.0, 3.0, 0.1) == Interval(0.2, 0.5, 0.9)


@given(
    st.lists(st.one_of(st.integers(0, 9), st.just(((2, 5, 7), (0.25, 0.5, 0.25)))), min_size=1, max_size=60),
    st.integers(-5, 80),
    st.integers(1, 90),
)
@settings(max_examples=60, deadline=None)
def test_a_law_on_a_grid_says_the_same_in_every_way(variables, first, length):
    """Above, below, at and the running sums, against the law multiplied out."""
    grid = GridSum.of(variables)
    law = np.ones(1)
    for v in variables:
        factor = np.zeros(10)
        np.add.at(factor, *(([0, v], 0.5) if isinstance(v, int) else (list(v[0]), list(v[1]))))
        law = np.convolve(law, factor)
    cells = np.arange(first, first + length)
    below = np.concatenate([[0.0], np.cumsum(law)])[np.clip(cells, 0, len(law))]
    assert np.abs(grid.cumulative(first, length) - below).max() < 1e-13
    assert 0.0 < grid.error < 1e-12
    for cell in (first, first + length // 2):
        true = float(law[cell]) if 0 <= cell < len(law) else 0.0
        under = float(below[0] if cell == first else below[length // 2])
        assert grid.at(cell) == pytest.approx(true, abs=1e-14)
        assert grid.below(cell) == pytest.approx(under, abs=1e-13)
        assert grid.above(cell) == pytest.approx(1.0 - under, abs=1e-13)


@pytest.mark.parametrize("keep", [0.5, 0.3])
def test_prefixes_by_enumeration_are_known_to_the_last_bits(keep):
    """Against fractions: exactly for fair coins, and within a few roundings for each coin for others."""
    rng = np.random.default_rng(5)
    for _ in range(12):
        d = int(rng.integers(2, 7))
        slopes = rng.integers(-4, 6, d).astype(float)
        score = AdditiveScore.from_slopes(
            float(rng.integers(-6, 3)), slopes, rng.integers(1, 3, d), strict=bool(rng.integers(2))
        )
        ladder = Ladder.of(score, keep)
        precision = enumerate_prefixes(ladder)
        for length in range(len(ladder) + 1):
            kept = np.bincount(ladder.owners[:length], minlength=d)
            true = exact_chance(score, kept, keep, lambda v, tie=not score.strict: v > 0 or (tie and v == 0))
            found = precision(length)
            assert found.low <= true <= found.high
            assert abs(found.mean - float(true)) < 1e-13
            if keep == 0.5:
                assert found.low == found.high == true
            elif 0.01 < true < 0.99:
                assert 4 * ladder.coins * UNIT <= min(true - found.low, found.high - true)
                assert found.width <= 64 * ladder.coins * UNIT


def test_the_error_of_a_law_grows_with_its_operations():
    """By the number of values that each variable has, twice over."""
    few, many = GridSum.of([1] * 10), GridSum.of([((0, 1, 2), (0.2, 0.3, 0.5))] * 40)
    assert 10 * UNIT <= few.error <= 400 * UNIT
    assert 100 * UNIT <= many.error - few.error <= 1000 * UNIT
