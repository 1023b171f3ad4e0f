"""A sum through its waves: period, degree and tails, against the formulas worked out number by number."""

import cmath
import math

import numpy as np
import pytest

from kedge.evaluators import waves
from kedge.evaluators.variables import Variables
from kedge.evaluators.waves import Waves, _all_but_one
from kedge.model.scores.additive import AdditiveScore


def scores():
    """Slopes and tables, on a lattice and off it, with ties that lose and ties that hold."""
    rng = np.random.default_rng(2)
    for strict in (True, False):
        sizes = np.array([1, 2, 1, 3, 1, 2])
        yield AdditiveScore.from_slopes(-1.3, rng.normal(size=6), sizes, strict=strict)
        yield AdditiveScore.from_slopes(-2.5, np.array([3.0, -1, 2, 0.5, -2, 1]), sizes, strict=strict)
        tables = [np.append(0.0, rng.normal(size=m)) for m in sizes]
        yield AdditiveScore(0.7, tables, strict)
        yield AdditiveScore(0.5, [np.rint(4 * t) / 4 for t in tables], strict)


@pytest.mark.parametrize("keep", [0.5, 0.3])
def test_the_period_holds_the_sum_and_a_lattice_in_whole_cells(keep):
    """Twice the largest sum, or what it stays within but for 2 exp(-16); off a tie by half a cell."""
    seen = set()
    for score in scores():
        for scale in (1, 40):
            many = AdditiveScore(score.bias, list(score.tables) * scale, score.strict)
            variables = Variables.of(many, keep)
            found = Waves.of(many, variables)
            values, laws = variables.each(variables.values), variables.each(variables.laws)
            exact, every = many.exact, np.append(variables.values, many.bias)
            grains = (2.0**-k for k in range(9))
            lattice = next(grain for grain in grains if (every % grain == 0).all()) if exact else 0.0
            shift = lattice / 2 * (-1 if many.strict else 1)
            assert found.bias == many.bias + shift
            mean = found.bias + sum(float(v @ w) for v, w in zip(values, laws, strict=True))
            spread = [float(v.max() - v.min()) for v in values]
            surely = abs(found.bias) + sum(float(np.abs(v).max()) for v in values)
            likely = abs(mean) + max(spread) + math.sqrt(8 * sum(s * s for s in spread))
            period = 2.002 * min(surely, likely)
            if exact:
                cells = 2 * math.ceil(period / lattice / 2)
                assert found.period == pytest.approx(cells * lattice, rel=1e-12)
                assert (found.degree + 1) % (2 * cells) == 0
            else:
                assert found.period == pytest.approx(period, rel=1e-12)
            assert 64 <= found.degree <= 1 << 16
            seen.add((exact, surely < likely))
    assert seen == {(True, True), (True, False), (False, True), (False, False)}


def jump(u):
    """What Vaaler's polynomial makes of a frequency, by its share of the degree."""
    return math.pi * u * (1 - u) / math.tan(math.pi * u) + u


@pytest.mark.parametrize("keep", [0.5, 0.3])
@pytest.mark.parametrize("cells", [1 << 17, 64])
def test_tails_are_the_two_polynomials(keep, cells, monkeypatch):
    """For each value of each variable: the square wave's and the kernel's, frequency by frequency."""
    monkeypatch.setattr(waves, "_FAINT", 0.0)
    monkeypatch.setattr(waves, "_CELLS", cells)
    for score in scores():
        variables = Variables.of(score, keep)
        made = Waves.of(score, variables)
        own = Waves(made.bias, variables, made.period, 41, 0.25)
        means, widths = own.tails()
        values, laws = variables.each(variables.values), variables.each(variables.laws)
        at = 0
        for j, mine in enumerate(values):
            others = [(v, w) for i, (v, w) in enumerate(zip(values, laws, strict=True)) if i != j]
            for value in mine.tolist():
                mean, width = 0.5, 1 / 42
                for n in range(1, 42):
                    turn = 2j * math.pi * n / own.period
                    wave = cmath.exp(turn * (own.bias + value))
                    for v, w in others:
                        wave *= complex(w @ np.exp(turn * v))
                    if n % 2:
                        mean += 2 / (math.pi * n) * jump(n / 42) * wave.imag
                    else:
                        width += 2 / 42 * (1 - n / 42) * wave.real
                assert means[at] == pytest.approx(mean, abs=1e-9)
                assert widths[at] == pytest.approx(width + 0.25, abs=1e-9)
                at += 1


@pytest.mark.parametrize("keep", [0.5, 0.3])
def test_what_is_dropped_may_bring_no_more_than_is_counted(keep, monkeypatch):
    """The product of all coins but the loudest, at each frequency that is faint; the rest stays."""
    rng = np.random.default_rng(5)
    score = AdditiveScore.from_slopes(-3.0, rng.uniform(0.1, 2.0, 40), np.repeat([1, 2], 20), strict=True)
    made = Waves.of(score, Variables.of(score, keep))
    monkeypatch.setattr(waves, "_FAINT", 1e-3)
    monkeypatch.setattr(waves, "_CELLS", 1 << 24)
    weights = rng.uniform(0.1, 1.0, made.degree)
    loud, lost = made._loud(weights)
    kept, counted = [], 0.0
    for n in range(1, made.degree + 1):
        sizes = [
            abs(1 - keep + keep * cmath.exp(2j * math.pi * n * s / made.period)) ** int(m)
            for s, m in zip(score.slopes.tolist(), score.sizes.tolist(), strict=True)
        ]
        without = math.prod(sizes) / min(sizes)
        if without > 1e-3:
            kept.append(n)
        else:
            counted += without * weights[n - 1]
    assert loud.tolist() == kept
    assert 0 < len(kept) < made.degree
    assert lost == pytest.approx(counted, rel=1e-6)
    # Some coins at a time find the same, sooner; what they count is more, as they see fewer of them.
    monkeypatch.setattr(waves, "_CELLS", 4 * made.degree)
    again, more = made._loud(weights)
    assert set(kept) <= set(again.tolist())
    assert len(again) == len(kept)
    assert counted <= more <= 1e-3 * float(weights.sum())


def test_products_of_all_but_one():
    """Of each row, for each place."""
    rng = np.random.default_rng(0)
    table = rng.normal(size=(3, 5)) + 1j * rng.normal(size=(3, 5))
    found = _all_but_one(table)
    for i in range(5):
        assert found[:, i] == pytest.approx(np.prod(np.delete(table, i, axis=1), axis=1))
    assert _all_but_one(table[:, :1]) == pytest.approx(np.ones((3, 1)))
