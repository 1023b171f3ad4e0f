"""What documents drawn from a corpus say of all of it: a bound on how many of them fail.

N anchors, of which an unknown number misses the threshold; call these bad. Anchors are drawn in random order,
without replacement, and each is put to a test that a bad one passes with probability ``level`` at most,
whatever was seen before. After n draws f have failed their test. Is it proved that fewer than B are bad?

Suppose at least B are. Take B of the bad ones and let a ghost of each fail with probability 1 - level
exactly, and only when the anchor itself fails; nothing else has a ghost that fails. Ghosts follow one law,

    P_B(one order of f failures among n) =
        sum over b of C(n - f, b - f) [B]_b [N - B]_(n-b) / [N]_n (1 - level)^f level^(b - f)

with b the number of those B among the n drawn and [N]_n = N (N-1) ... (N-n+1). The ratio of such a
probability for fewer than B, or of an average of some, to the one for B is a martingale of mean 1 under P_B:
it ever reaches 1/delta with probability delta at most (Ville), however often one looks. It is the wealth
of who bets that fewer fail, draw by draw, with the odds of sampling without replacement (Waudby-Smith, Stark,
Ramdas 2021, "RiLACS: Risk-limiting audits via confidence sequences"), here with the errors of the tests in
the odds. It falls with every failure, because P_b / P_B falls with f where b < B; and anchors fail whenever
their ghosts do. So the wealth computed from the anchors is at most that from the ghosts, and the claim is
wrong with probability delta at most.
"""

from dataclasses import dataclass
from math import floor

import numpy as np
from scipy.special import gammaln, logsumexp

__all__ = ["Tally"]

# The alternatives that are bet on, as parts of the number that is to be excluded, and the wealth on each. Of
# 10,000 anchors 69 draws without a failure prove 95%, 173 with two of them (at delta 0.05, level 0.04).
_PARTS = (0.0, 0.1, 0.25, 0.45, 0.65)
_WEIGHTS = (0.5, 0.15, 0.15, 0.1, 0.1)
# What rounding may add to the logarithm of the wealth.
_ROUNDING = 1e-5
# Numbers of bad anchors among which the bound is looked for.
_GRID = 400


@dataclass(frozen=True)
class Tally:
    """What was drawn so far.

    Parameters
    ----------
    population
        How many anchors there are.
    level
        The probability, at most, with which a bad one passes its test.
    drawn, failed
        How many were drawn, and how many of them did not pass.
    """

    population: int
    level: float
    drawn: int = 0
    failed: int = 0

    def plus(self, *, passed: bool) -> "Tally":
        """One more draw."""
        return Tally(self.population, self.level, self.drawn + 1, self.failed + (not passed))

    def proves(self, share: float, delta: float) -> bool:
        """Whether it is proved at level ``delta`` that at least this share reaches the threshold."""
        return self._excludes(_first_too_many(self.population, share), delta)

    def still_needed(self, share: float, delta: float) -> int | None:
        """How many more draws, all passed, would prove it; None where not even all the others would."""
        few, many = 0, self.population - self.drawn
        if self.proves(share, delta):
            return 0
        if not self._after(many).proves(share, delta):
            return None
        while many - few > 1:
            middle = (few + many) // 2
            few, many = (few, middle) if self._after(middle).proves(share, delta) else (middle, many)
        return many

    def low(self, delta: float) -> float:
        """The share that is proved to reach the threshold at level ``delta``, whenever one looks."""
        # From above, up to the first number that is not excluded: whatever is true is then kept
        # with probability 1 - delta.
        most = self.population
        for bad in np.unique(np.linspace(1, self.population, _GRID).astype(int))[::-1].tolist():
            if not self._excludes(bad, delta):
                break
            most = bad - 1
        return 1 - most / self.population if self.population else 1.0

    def _after(self, more: int) -> "Tally":
        return Tally(self.population, self.level, self.drawn + more, self.failed)

    def _excludes(self, bad: int, delta: float) -> bool:
        """Whether it is out of the question that so many, or more, are bad."""
        if bad > self.population:
            return True
        if self.failed > bad:  # more than their ghosts: no bet is left
            return False
        others = [self._log_chance(floor(part * bad)) for part in _PARTS]
        wealth = logsumexp(others, b=_WEIGHTS) - self._log_chance(bad)
        return bool(wealth - _ROUNDING >= -np.log(delta))

    def _log_chance(self, bad: int) -> float:
        """Ln of P_B for what was drawn."""
        n, f, everyone = self.drawn, self.failed, self.population
        b = np.arange(max(f, n - (everyone - bad)), min(n, bad) + 1)
        if not len(b):
            return -np.inf
        orders = gammaln(n - f + 1) - gammaln(b - f + 1) - gammaln(n - b + 1)
        among = _log_falling(bad, b) + _log_falling(everyone - bad, n - b) - _log_falling(everyone, n)
        found = f * np.log1p(-self.level) + (b - f) * np.log(self.level)
        return float(logsumexp(orders + among + found))


def _first_too_many(population: int, share: float) -> int:
    """The smallest number of bad anchors with which the share is missed."""
    return floor((1 - share) * population + 1e-9) + 1


def _log_falling(top: int, factors: "np.ndarray | int") -> np.ndarray:
    """Ln of top (top - 1) ... with so many factors."""
    return np.asarray(gammaln(top + 1) - gammaln(top - factors + 1))
