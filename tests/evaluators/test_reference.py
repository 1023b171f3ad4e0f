"""Tails and intervals against reference values: ball arithmetic and whole numbers of python-flint."""

from fractions import Fraction

import numpy as np
import pytest

from kedge.evaluators import additive
from kedge.evaluators.additive import additive_tail
from kedge.evaluators.bets import Bets, Round
from kedge.evaluators.binomials import binomial
from kedge.evaluators.intervals import clopper_pearson, kl_lower, kl_upper, mixture_interval
from kedge.model.scores.additive import AdditiveScore
from kedge.search.exact.ladder import Ladder
from kedge.search.exact.prefix_tails import PrefixWaves
from kedge.theory import gaussian_precision

flint = pytest.importorskip("flint")
arb, fmpq, fmpz_poly = flint.arb, flint.fmpq, flint.fmpz_poly


@pytest.fixture(autouse=True)
def _bits():
    """Balls of 200 bits: their radius is beyond anything looked at here."""
    before, flint.ctx.prec = flint.ctx.prec, 200
    yield
    flint.ctx.prec = before


def ball(x):
    """A double as a ball without radius, or a fraction."""
    share = Fraction(x)
    return arb(fmpq(share.numerator, share.denominator))


def exact_tail(slopes, sizes, bias, *, strict, kept, keep=Fraction(1, 2)):
    """P(score > 0), or >= 0, of whole-number slopes: the generating function, multiplied out."""
    product, low = fmpz_poly([1]), bias
    stay, go = keep.numerator, keep.denominator - keep.numerator
    for slope, size, sure in zip(slopes, sizes, kept, strict=True):
        low += slope * sure + min(slope, 0) * (size - sure)
        step = abs(slope)
        # A word against the label brings its weight back when it is removed.
        here, gone = (stay, go) if slope >= 0 else (go, stay)
        factor = fmpz_poly([gone, *[0] * (step - 1), here]) if step else fmpz_poly([stay + go])
        product *= factor ** int(size - sure)
    first = max(0, -low + 1 if strict else -low)
    coefficients = [int(c) for c in product.coeffs()]
    return Fraction(sum(coefficients[first:]), sum(coefficients))


@pytest.mark.parametrize("keep", [Fraction(1, 2), Fraction(1, 4), Fraction(7, 8)])
@pytest.mark.parametrize("part", range(3))
def test_tails_of_long_documents_contain_the_exact_one(part, keep):
    """Hundreds of words of whole weights, scaled so that nothing is a sum of powers of two."""
    rng = np.random.default_rng(part)
    for _ in range(6):
        d = int(rng.integers(20, 60))
        sizes = rng.integers(1, 7, d)
        slopes = rng.integers(-9, 12, d)
        kept = np.where(rng.random(d) < 0.1, sizes, 0)
        middle = float((slopes * (kept + (sizes - kept) * float(keep))).sum())
        bias = round(-middle + 25 * rng.normal())
        true = exact_tail(slopes.tolist(), sizes.tolist(), bias, strict=True, kept=kept.tolist(), keep=keep)
        for unit in (1.0, 0.1):  # exact on a lattice, and rounded everywhere
            score = AdditiveScore.from_slopes(bias * unit, slopes * unit, sizes, strict=True)
            tail = additive_tail(score, kept, float(keep), width=1e-3, budget=1 << 24)
            assert tail.low <= true <= tail.high
            if unit == 1.0:
                assert tail.width < 1e-9


@pytest.mark.parametrize("strict", [True, False])
def test_all_sums_and_meeting_in_the_middle_are_the_exact_tail(strict, monkeypatch):
    """Ties included: whole-number scores of zero have real probability."""
    rng = np.random.default_rng(7)
    for everything in (1 << 14, 0):
        monkeypatch.setattr(additive, "ALL", everything)
        for _ in range(40):
            d = int(rng.integers(1, 7))
            sizes, slopes = rng.integers(1, 4, d), rng.integers(-3, 4, d)
            bias, kept = int(rng.integers(-6, 4)), np.zeros(d, dtype=np.int64)
            score = AdditiveScore.from_slopes(float(bias), slopes.astype(float), sizes, strict=strict)
            true = exact_tail(slopes.tolist(), sizes.tolist(), bias, strict=strict, kept=kept.tolist())
            tail = additive_tail(score, kept, 0.5, width=0.0)
            assert tail.low <= true <= tail.high
            assert tail.width < 1e-12


def test_prefixes_of_a_ladder_contain_the_exact_tails():
    """One calculation gives the interval of every top-l anchor."""
    rng = np.random.default_rng(3)
    for _ in range(8):
        d = 30
        sizes, slopes = rng.integers(1, 4, d), rng.integers(-9, 12, d)
        bias = round(-float((slopes * sizes).sum()) / 2 - 12)
        score = AdditiveScore.from_slopes(0.1 * bias, 0.1 * slopes, sizes, strict=True)
        ladder = Ladder.of(score, 0.5)
        found = PrefixWaves([ladder], 1e-3, [(len(ladder), 1)]).tails([1000], [1e-7])[0]
        for length in (0, 1, 5, 12, len(ladder) - 1):
            kept = np.bincount(ladder.owners[:length], minlength=d)
            true = exact_tail(slopes.tolist(), sizes.tolist(), bias, strict=True, kept=kept.tolist())
            assert found[length].low <= true <= found[length].high
            assert found[length].width < 0.05


@pytest.mark.parametrize("n", [1, 7, 50, 51, 200, 2000])
@pytest.mark.parametrize("keep", [0.5, 0.1, 0.3, 0.95])
def test_binomial_chances_are_right_to_their_bound(n, keep):
    """To a relative error of 8 n 2^-53, as they promise; fair ones up to 50 exactly."""
    law = binomial(n, keep)
    p = Fraction(keep)
    for k in {0, 1, n // 3, n // 2, n - 1, n}:
        true = Fraction(int(flint.fmpz.bin_uiui(n, k))) * p**k * (1 - p) ** (n - k)
        if true < Fraction(1, 10**280):
            continue
        error = abs(Fraction(float(law[k])) - true) / true
        assert error <= Fraction(8 * n) / 2**53
        if keep == 0.5 and n <= 50:
            assert error == 0


@pytest.mark.parametrize(("s", "n"), [(0, 5), (5, 5), (59, 59), (58, 60), (300, 1000), (9990, 10000)])
@pytest.mark.parametrize("delta", [0.05, 0.001, 0.3])
def test_confidence_intervals_are_those_of_the_definitions(s, n, delta):
    """Clopper-Pearson by the incomplete beta function; the mixture where its martingale reaches 1 / delta."""
    low, high = clopper_pearson(s, n, delta)
    if s > 0:
        assert abs(float(arb(low).beta_lower(s, n - s + 1, regularized=True)) - delta / 2) < 1e-11
    if s < n:
        assert abs(float(arb(high).beta_lower(s + 1, n - s, regularized=True)) - (1 - delta / 2)) < 1e-11

    def martingale(p):
        beta = arb(s + 1).gamma() * arb(n - s + 1).gamma() / arb(n + 2).gamma()
        return beta / (ball(p) ** s * (1 - ball(p)) ** (n - s))

    bound = 1 / ball(delta)
    for end, outward in zip(mixture_interval(s, n, delta), (-1e-9, 1e-9), strict=True):
        if 0 < end < 1:
            assert martingale(min(max(end + outward, 1e-300), 1 - 1e-16)) > bound
            assert martingale(end - outward) < bound


@pytest.mark.parametrize(("mean", "trials"), [(0.9, 50), (0.5, 10), (0.99, 1000), (1.0, 30), (0.02, 400)])
def test_kl_bounds_solve_their_equation(mean, trials):
    """Trials times the divergence is the rate at the bound, and never above it inside."""
    beta = 3.0
    for bound in (float(kl_upper([mean], [trials], beta)[0]), float(kl_lower([mean], [trials], beta)[0])):
        if 0 < bound < 1:
            p, q = ball(mean), ball(bound)
            divergence = sum((a * (a / b).log() for a, b in ((p, q), (1 - p, 1 - q)) if a != 0), start=arb(0))
            assert abs(float(trials * divergence) - beta) < 1e-6


@pytest.mark.parametrize("rounds", [
    (Round(67),),
    (Round(140, 1),),
    (Round(300, 3, 2, 0.02), Round(100, 0, 1, 0.03)),
])  # fmt: skip
def test_the_wealth_of_bets_is_what_multiplying_out_gives(rounds):
    """Seven stakes, each multiplied sample by sample in exact arithmetic."""
    stakes = [1.0, 0.9, 0.75, 0.5, 0.25, 0.1, 0.03]
    weights = [0.5, 0.1, 0.12, 0.1, 0.08, 0.06, 0.04]
    threshold, total = 0.95, arb(0)
    for share, weight in zip(stakes, weights, strict=True):
        wealth = ball(weight)
        for r in rounds:
            m = 1 - ball(threshold) - ball(r.predicted)
            stake = ball(share) / (1 - m)
            for y, often in ((0, r.as_predicted), (1, r.worse), (-1, r.better)):
                wealth *= (1 + stake * (m - y)) ** often
        total += wealth
    assert abs(Bets(rounds).log_wealth(threshold) - float(total.log())) < 1e-9
    assert Bets(rounds).proves(threshold, 0.05) == bool(total >= 20)


@pytest.mark.parametrize("level", [-8.0, -1.5, 0.0, 0.3, 2.0, 7.5])
def test_gaussian_tails_are_those_of_the_error_function(level):
    """Phi_bar(L) = erfc(L / sqrt 2) / 2, also far out."""
    true = float((arb(level) / arb(2).sqrt()).erfc() / 2)
    assert gaussian_precision(np.array([level]))[0] == pytest.approx(true, rel=1e-13)
