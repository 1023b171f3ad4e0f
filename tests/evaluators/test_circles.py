"""Sums on circles: what is handed to them, and the polynomials that they are looked at by."""

import math

import numpy as np
import pytest

from kedge.evaluators import wordsums
from kedge.evaluators.harmonics import FIRST, Circle, Spectra, _kernel, _vaaler, circumference
from kedge.evaluators.laws import Coins, Laws
from kedge.evaluators.wordsums import Between, WordSums


def vaaler(k, degree):
    """Coefficient, triangle and sign of one harmonic."""
    t = k / (degree + 1)
    phi = math.pi * t * (1 - t) / math.tan(math.pi * t) + t
    return phi / (math.pi * k), 1 - t, (-1) ** k


@pytest.mark.parametrize("degree", [16, 17, 100, 1 << 40])
def test_coefficients_are_vaalers(degree):
    """Of one degree or of several, of the first harmonics and of some more."""
    k = np.array([1.0, 2.0, 5.0, 16.0])
    for found, wanted in zip(
        _vaaler(k, degree), zip(*(vaaler(int(x), degree) for x in k), strict=True), strict=True
    ):
        assert found == pytest.approx(wanted, rel=1e-12)
    more = np.array([20.0, 31.0])
    every = [*range(1, FIRST + 1), 20, 31]
    if degree > 31:
        for found, wanted in zip(
            _kernel(degree, more), zip(*(vaaler(x, degree) for x in every), strict=True), strict=True
        ):
            assert found == pytest.approx(wanted, rel=1e-12)
    plain = _kernel(degree, np.empty(0))
    assert [len(x) for x in plain] == [FIRST] * 3
    several = _kernel(np.array([degree, 40]), np.empty(0))
    for one, both in zip(plain, several[:2], strict=False):
        assert both[0] == pytest.approx(one, rel=1e-12)
        assert both.shape == (2, FIRST)


@pytest.mark.parametrize("uneven", [False, True])
def test_a_chance_is_a_sum_over_harmonics(uneven):
    """1/2 + t and the harmonics of the square wave; and the kernel at zero and at the seam."""
    rng = np.random.default_rng(0)
    phi = rng.uniform(-0.5, 0.5, (3, FIRST)) + (1j * rng.uniform(-0.5, 0.5, (3, FIRST)) if uneven else 0)
    means = np.array([[-0.2, 0.1, 0.9], [-0.1, 0.15, 1.0], [0.0, 0.2, 1.3]])
    spectra = Spectra(Circle(2.0), phi, np.empty(0), means, np.full(3, 1e-3), 1)
    for degree in (16, 50, 1 << 40):
        weights, triangle, sign = (
            np.array(x) for x in zip(*(vaaler(k, degree) for k in range(1, 17)), strict=True)
        )
        k = np.arange(1, 17)
        for row in range(3):
            for side in range(3):
                t = min(max(means[side, row] / 2, -0.5), 0.5)
                turn = np.exp(2j * math.pi * k * t)
                chance = 0.5 + t + float((weights * ((turn - sign) * phi[row]).imag).sum())
                spread = 2 + 2 * float((triangle * ((turn + sign) * phi[row]).real).sum())
                kernel = _kernel(degree, np.empty(0))
                assert spectra._chances(kernel[0], kernel[2])[side, row] == pytest.approx(chance, abs=1e-9)
                assert spectra._spread(kernel[1], kernel[2])[side, row] == pytest.approx(spread, abs=1e-9)
                if degree == 1 << 40:
                    assert spectra.estimates[side, row] == pytest.approx(min(max(chance, 0), 1), abs=1e-9)
                    assert spectra.spread[side, row] == pytest.approx(max(spread, 0), abs=1e-9)


@pytest.mark.parametrize("outside", [1e-2, 1e-6])
def test_a_sum_leaves_one_turn_as_seldom_as_it_is_said(outside):
    """By Hoeffding, to either side: exp(-2 (P / 2)^2 / squares)."""
    for squares in (3.0, np.array([0.5, 7.0])):
        period = circumference(squares, outside)
        assert np.exp(-2 * (period / 2) ** 2 / squares) == pytest.approx(np.full(np.shape(squares), outside))


@pytest.mark.parametrize("chance", [0.5, 0.3])
def test_characteristic_functions_at_more_harmonics(chance):
    """About the means, of coins and of variables of several values."""
    coins = Coins(np.array([0.3, -1.1, 2.0]), chance)
    laws = Laws(np.array([0.0, 1.0, 3.0, -1.0, 0.5]), np.array([0.2, 0.5, 0.3, 0.6, 0.4]), np.array([0, 3]))
    more, circle = np.array([20.0, 33.0]), Circle(7.0)
    found = circle.characteristic(coins, laws, more)
    k = np.append(np.arange(1, FIRST + 1), more)
    wanted = np.ones(len(k), dtype=complex)
    rows = [((0.0, s), (1 - chance, chance)) for s in coins.sizes]
    rows += [((0.0, 1.0, 3.0), (0.2, 0.5, 0.3)), ((-1.0, 0.5), (0.6, 0.4))]
    for values, weights in rows:
        mean = sum(v * w for v, w in zip(values, weights, strict=True))
        wanted *= sum(
            w * np.exp(2j * np.pi * k * (v - mean) / 7.0) for v, w in zip(values, weights, strict=True)
        )
    assert found == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("keep", [0.5, 0.3])
def test_several_sums_are_handed_on_as_they_are(keep, monkeypatch):
    """Their means with everything against them, as a rule, and for them; squares, terms, what is heard."""
    rows = [
        [((0.0, 1.2), None), ((0.0, -0.4), None), ((0.5, 0.7, 1.6), (0.25, 0.5, 0.25)), ((0.3,), (1.0,))],
        [((-0.2, 0.9), None)],
        [((0.0, 0.4, 0.5, 1.0), (0.1, 0.2, 0.3, 0.4)), ((0.0, 0.6), None)],
    ]
    rows = [[(v, w or (1 - keep, keep)) for v, w in words] for words in rows]
    words = [word for one in rows for word in one]
    sums = WordSums(
        np.concatenate([v for v, _ in words]),
        np.concatenate([w for _, w in words]),
        np.array([len(v) for v, _ in words]),
        np.array([len(one) for one in rows]),
        keep,
        np.array([0.01, 0.02, 0.03]),
    )
    score = Between(
        *(np.array(x) for x in ([-1.0, -0.4, -0.8], [-0.9, -0.3, -0.5], [-0.95, -0.35, -0.6])),
        np.zeros(3),
        np.zeros(3),
    )
    seen = []

    class Watched(Spectra):
        """Remembers what it is made of."""

        def __init__(self, *given):
            seen.append(given)
            super().__init__(*given)

    monkeypatch.setattr(wordsums, "Spectra", Watched)
    sums.tails(score, 0.9, finest=1e-3)
    circle, phi, more, means, squares, terms = seen[0]
    assert terms.tolist() == [4, 1, 2]
    assert not len(more)
    for s, one in enumerate(rows):
        spread = sum((max(v) - min(v)) ** 2 for v, _ in one)
        assert squares[s] == pytest.approx(spread)
        assert circle.period[s] == pytest.approx(circumference(spread, 1e-3 / 20))
        mean = sum(float(np.dot(v, w)) for v, w in one)
        ends = score.low[s] - sums.error[s], score.likely[s], score.high[s] + sums.error[s]
        assert means[:, s] == pytest.approx([mean + end for end in ends])
        for k in range(1, FIRST + 1):
            wave = 1.0
            for v, w in one:
                away = np.array(v) - np.dot(v, w)
                wave = wave * np.dot(w, np.exp(2j * np.pi * k * away / circle.period[s]))
            assert phi[s, k - 1] == pytest.approx(wave, abs=1e-12)
