"""The margins of the checker: what it cuts off or leaves out is counted, each time, to the last bit."""

import random
from fractions import Fraction
from math import isqrt

import pytest
from certified import MODELS, issued, resealed

from kedge.certificates import checker


def rounded_law(values, step):
    """The law of a sum of fair coins that are rounded to whole steps: ways, by the number of steps."""
    ways = [1]
    for v in values:
        steps = (2 * v + step) // (2 * step)
        ways = [a + b for a, b in zip([*ways, *[0] * steps], [*[0] * steps, *ways], strict=True)]
    return ways


@pytest.mark.parametrize("share", [0.45, 0.5, 0.55])
@pytest.mark.parametrize("coins", [60, 150, 400])
def test_bits_that_are_cut_off_are_counted_each_time(coins, share):
    """Fields that are full are cut, cells that hardly any sum is in are dropped, often for many coins.

    What the checker makes of the rounded sum must hold for the rounded sum itself, whose law is known.
    """
    rng, cells = random.Random(coins), 1 << 10
    values = sorted(rng.randint(1000, 9000) for _ in range(coins))
    sure = int(share * sum(values))
    low, high, _ = checker._on_grid([([0, v], [1, 1], 2) for v in values], sure, sure, cells)
    step = max(1, -(-sure // cells))
    rests = [v - (2 * v + step) // (2 * step) * step for v in values]
    drift, stray = Fraction(sum(rests), 2), isqrt(6 * sum(r * r for r in rests)) + 1
    ways, whole, eta = rounded_law(values, step), 2**coins, Fraction(1, 1 << 17)
    enough = max(-((drift - sure - stray) // step), 0)
    least = -((drift - sure + stray) // step)
    below, short = (Fraction(sum(ways[:cell]), whole) for cell in (enough, least))
    assert low <= max(1 - below - eta, Fraction(0))
    assert high >= min(1 - short + eta, Fraction(1))
    # And hardly more is counted than is lost.
    assert low >= 1 - below - eta - coins * Fraction(1, 1 << 20)
    assert high <= 1 - short + eta + coins * Fraction(1, 1 << 20)


@pytest.mark.parametrize("name", MODELS)
def test_who_claims_less_than_could_be_shown_is_believed(name):
    """A lower lower end, a higher upper end, a higher bound on shorter ones; but not past the threshold."""
    certificate = issued(name)
    bounds, threshold = certificate["bounds"], Fraction(certificate["threshold"])
    less = {"low": threshold, "high": Fraction(1)}
    if "shorter" in bounds:
        less["shorter"] = (Fraction(bounds["shorter"]) + threshold) / 2
    certificate["bounds"] = bounds | {key: str(value) for key, value in less.items()}
    assert "keeps the label" in checker.check(resealed(certificate))
    for key, value in (
        ("low", threshold - Fraction(1, 10**9)),
        ("high", Fraction(2)),
        ("shorter", threshold),
    ):
        if key in bounds:
            wrong = certificate | {"bounds": certificate["bounds"] | {key: str(value)}}
            with pytest.raises(checker.Rejected):
                checker.check(resealed(wrong))
