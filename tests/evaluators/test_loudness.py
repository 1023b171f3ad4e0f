"""How far coins are from whole turns, against the distances themselves."""

import numpy as np
import pytest

from kedge.evaluators import loudness
from kedge.evaluators.harmonics import FIRST


def distances(shares, k, multiples):
    """(k,) the sum of (k s - j)^2 over coins, j being the nearest whole number, if it is not too large."""
    turns = np.multiply.outer(k, shares)
    nearest = np.floor(turns + 0.5)
    return np.where(nearest <= multiples, (turns - nearest) ** 2, 0.0).sum(axis=1)


@pytest.mark.parametrize("multiples", [loudness._NEAR, loudness._FAR])
@pytest.mark.parametrize("seed", range(6))
def test_distances_are_added_up_for_all_harmonics_at_once(seed, multiples):
    """Never more than they are, and hardly less."""
    rng = np.random.default_rng(seed)
    shares, later = rng.uniform(1e-4, 0.2, 30), 200
    found = loudness._away(shares, later, multiples)
    true = distances(shares, np.arange(FIRST + 1, FIRST + later + 1), multiples)
    assert (found <= true + 1e-12).all()
    assert found == pytest.approx(true, abs=1e-6)


def test_sums_one_after_another_are_as_each_alone():
    """With coins and harmonics of their own, an even number and an odd one."""
    rng = np.random.default_rng(7)
    sums = [rng.uniform(1e-4, 0.2, n) for n in (5, 12, 1)]
    later = np.array([40, 61, 8])
    starts = np.cumsum([0, 5, 12])
    found = loudness._each_away(np.concatenate(sums), starts, later)
    each = [
        distances(shares, np.arange(FIRST + 1, FIRST + n + 1), loudness._NEAR)
        for shares, n in zip(sums, later, strict=True)
    ]
    assert found == pytest.approx(np.concatenate(each), abs=1e-6)
