"""Bets: claims that may be looked at after every sample, and are wrong as rarely as they say."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kedge.evaluators.bets import _STAKES, _WEIGHTS, Bets, Round, caution, expected_samples

COUNTS = st.integers(0, 400)


def test_clean_samples_that_prove_a_threshold():
    """67 samples without a failure prove 0.95 at delta = 0.05, 66 do not."""
    assert Bets().still_needed(0.95, 0.05, 0.0) == 67
    assert Bets((Round(67),)).proves(0.95, 0.05)
    assert not Bets((Round(66),)).proves(0.95, 0.05)


def test_nothing_is_known_before_the_first_sample():
    """The interval is everything and the mean one half."""
    assert (Bets().low(0.05), Bets().high(0.05), Bets().mean) == (0.0, 1.0, 0.5)


def test_a_good_prediction_proves_a_narrow_margin_quickly():
    """With 0.04 foreseen and no surprise, 0.95 takes hundreds of samples, not thousands."""
    needed = Bets().still_needed(0.95, 0.05, 0.04)
    assert 300 < needed < 400
    # Plain counting at the same failure rate.
    assert not Bets((Round(round(0.96 * 1500), round(0.04 * 1500)),)).proves(0.95, 0.05)


def test_no_number_of_clean_samples_proves_what_the_prediction_denies():
    """A prediction at or beyond the threshold can prove nothing by coming true."""
    assert Bets().still_needed(0.95, 0.05, 0.05) >= 1 << 20
    assert Bets().still_needed(1.0, 0.05, 0.0) >= 1 << 20


def test_counting_ends_where_it_is_not_worth_it():
    """A million samples that lost the label want more clean ones than anybody will draw."""
    assert Bets((Round(0, worse=1_000_000),)).still_needed(0.95, 0.05, 0.0) == 1 << 20


@given(COUNTS, COUNTS, COUNTS, st.floats(0, 0.2), st.floats(0.01, 0.3))
def test_ends_enclose_the_estimate_and_tighten_with_delta(kept, worse, better, foreseen, delta):
    """low <= mean <= high; a smaller delta gives a wider interval; low is the largest thing proved."""
    foreseen = max(foreseen, 0.01) if better else 0.0  # only what is foreseen can turn out better
    bets = Bets((Round(kept, worse, better, foreseen),))
    low, high = bets.low(delta), bets.high(delta)
    assert 0 <= low <= bets.mean + 1e-9
    assert bets.mean <= high + 1e-9
    assert high <= 1
    assert bets.low(delta / 2) <= low + 1e-9
    assert low > 1 - 1e-6 or not bets.proves(low + 1e-6, delta)


@given(st.lists(st.tuples(COUNTS, COUNTS), max_size=4), st.floats(0.5, 0.99))
def test_rounds_of_the_same_prediction_add_up(rounds, threshold):
    """Looking in between changes nothing: the wealth depends on the totals only."""
    apart = Bets(tuple(Round(a, b) for a, b in rounds))
    together = Bets((Round(sum(a for a, _ in rounds), sum(b for _, b in rounds)),))
    assert apart.log_wealth(threshold) == pytest.approx(together.log_wealth(threshold), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("control", [0.0, 0.6, 1.0])
def test_false_claims_are_rarer_than_delta_however_often_one_looks(control):
    """At a precision just below the threshold, looking after every sample, at most delta are claimed.

    The prediction is right for a share ``control`` of the failures, so that the bets with a
    control variate are tested as well, and it changes between rounds.
    """
    rng = np.random.default_rng(7)
    threshold, lost, delta, runs = 0.9, 0.101, 0.1, 300
    claims = 0
    for _ in range(runs):
        bets = Bets()
        for step in range(30):
            share = control if step % 2 else control / 2
            fails = rng.random(20) < lost
            guess = fails & (rng.random(20) < share)  # foreseen failures; none is foreseen wrongly
            worse = int((fails & ~guess).sum())
            bets = bets.plus(Round(20 - worse, worse, 0, share * lost))
            if bets.proves(threshold, delta):
                claims += 1
                break
    # 300 runs at a true rate of 0.1 exceed 0.1 + 0.055 once in a thousand.
    assert claims / runs <= delta + 0.055


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.floats(0.0, 0.045))
def test_true_claims_come(seed, lost):
    """Above the threshold the proof comes, at the latest after the number counting needs in theory."""
    rng = np.random.default_rng(seed)
    bets = Bets()
    for _ in range(200):
        fails = int((rng.random(500) < lost).sum())
        bets = bets.plus(Round(500 - fails, fails))
        if bets.proves(0.95, 0.05):
            return
    pytest.fail("no proof in 100,000 samples")


@pytest.mark.parametrize("lost", [0.0, 0.01, 0.04])
def test_the_number_of_samples_to_plan_with(lost):
    """The divergence of two coins, (1 - l) ln((1 - l) / t) + l ln(l / (1 - t)), is won per sample."""
    won = (1 - lost) * np.log((1 - lost) / 0.95) + (lost * np.log(lost / 0.05) if lost else 0.0)
    plain = expected_samples(0.95, 0.05, lost, 1.0, 0.0)
    assert plain == pytest.approx((1 + np.log(20)) / won)
    assert np.isinf(expected_samples(0.95, 0.05, 0.2, 0.06, 0.0))


def test_a_prediction_that_is_never_wrong_wins_its_margin_per_sample():
    """0.02 are foreseen of the 0.05 that may be lost: at the full stake a sample is worth -ln(1 - 0.03)."""
    assert expected_samples(0.95, 0.05, 0.06, 0.02, 0.0) == pytest.approx((1 + np.log(20)) / -np.log(0.97))


@pytest.mark.parametrize(("margin", "wrong"), [(0.03, 0.002), (0.02, 0.01), (0.01, 0.005), (0.005, 0.02)])
def test_caution_is_worth_its_margin(margin, wrong):
    """With mistakes that caution makes rarer, more is won per sample than by any stake without it."""

    def won(worse, better, left):
        share = _STAKES / (1 - left)
        lost = np.log(np.maximum(1 - _STAKES, 1e-300))
        return (
            (1 - worse - better) * np.log1p(share * left)
            + better * np.log1p(share * (1 + left))
            + worse * lost
        ).max()

    shift = caution(margin, wrong)
    assert 0 < shift < margin
    planned = (1 + np.log(20)) / expected_samples(0.95, 0.05, 0.06, 0.05 - margin, wrong)
    few = 0.5 * wrong * np.exp(-2 * shift / wrong)
    assert planned == pytest.approx(won(few, few + shift, margin - shift))
    if wrong <= margin:
        assert planned > won(wrong / 2, wrong / 2, margin)


def test_without_mistakes_or_margin_there_is_nothing_to_be_cautious_about():
    """No margin is given away for nothing, and none that is not there."""
    assert caution(0.03, 0.0) == 0.0
    assert caution(-0.01, 0.1) == 0.0
    assert np.isinf(expected_samples(0.95, 0.05, 0.06, 0.05, 0.1))
    assert np.isinf(expected_samples(0.95, 0.05, 0.06, 0.07, 0.1))


@pytest.mark.parametrize(
    "rounds", [[(300, 30, 4, 0.1)], [(100, 3, 2, 0.3), (50, 0, 6, 0.05)], [(9, 1, 0, 0.5), (50, 0, 0, 0.0)]]
)
@pytest.mark.parametrize("delta", [0.05, 0.2])
def test_an_upper_bound_is_where_bets_on_losing_more_are_won(rounds, delta):
    """The wealth of who bets that the label is lost more often, multiplied out, reaches 1/delta there."""
    bets = Bets(tuple(Round(*row) for row in rounds))

    def wealth(high):
        total = 0.0
        for stake, weight in zip(_STAKES.tolist(), _WEIGHTS.tolist(), strict=True):
            won = weight
            for plain, worse, better, predicted in rounds:
                m = high - (1 - predicted)  # of samples with y = 0, by how much more is lost than foreseen
                share = stake / (1 - m)
                won *= (1 + share * m) ** plain * (1 + share * (1 + m)) ** worse * (1 - stake) ** better
            total += won
        return total

    high = bets.high(delta)
    assert bets.mean <= high < 1.0
    assert wealth(high + 1e-9) >= 1 / delta * (1 - 1e-6)
    assert wealth(high - 1e-6) < 1 / delta
