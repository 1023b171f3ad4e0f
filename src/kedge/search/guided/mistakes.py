"""How often a surrogate of labels is wrong, and what more queries leave of that.

Labels close to the place where they change halve the mistakes of a linear surrogate for about every 1.8 of
them per distinct word (measured on Yelp reviews of 30 to 200 distinct words, logistic regression). So a right
prediction made with a smaller pool says more of a larger one than a new prediction would.
"""

from dataclasses import dataclass, field

from kedge.typing import Bools

__all__ = ["Mistakes"]

# Labels per word that halve the mistakes; the share of mistakes before the first, and with a prior.
_HALVING, _AT_FIRST, _WITH_PRIOR = 1.8, 0.1, 0.02
# That share counts as so many predictions. A linear fit to labels is hardly ever better than the last number.
_BELIEVED, _LEAST = 24, 1e-3
# Predictions of which the latest are remembered, the fewest that say anything, and what one counts at most.
_REMEMBERED, _FEWEST, _MOST = 96, 8, 8.0
# A pool of fewer rows per word than this is too small to tell whether the model is a sum.
_TELLS = 4
# In planning, larger pools are tried in such steps, in halvings, and so many of them.
_STEP, _STEPS = 0.5, 12


@dataclass
class Mistakes:
    """What came of predictions made before the answers were known.

    Parameters
    ----------
    words
        The number of distinct words in the document.
    has_prior
        Whether predictions began with what other texts taught.
    stalled
        Whether more labels no longer leave fewer mistakes: the model is no sum.
    """

    words: int
    has_prior: bool = False
    stalled: bool = False
    _seen: list[tuple[float, bool]] = field(default_factory=list)

    def remember(self, wrong: Bools, rows: int) -> None:
        """What came of predictions made by a pool of so many rows."""
        made = self._halvings(rows)
        self._seen = [*self._seen, *((made, bool(one)) for one in wrong)][-_REMEMBERED:]

    def stall(self, rows: int) -> None:
        """A larger pool brought no fewer mistakes: if it has rows enough for a sum, the model is none."""
        self.stalled = self.stalled or rows >= _TELLS * self.words

    def forget(self) -> None:
        """Begin again."""
        self._seen, self.stalled = [], False

    def share(self, rows: int) -> float:
        """How often predictions of a pool of so many rows are wrong; 1 before anything says so."""
        if self.stalled:
            return self.lately
        now = self._halvings(rows)
        worth: list[float] = [min(2.0 ** (now - made), _MOST) for made, _ in self._seen]
        seen = sum(worth)
        if seen < _FEWEST and not self.has_prior:
            return 1.0
        expected: float = max((_WITH_PRIOR if self.has_prior else _AT_FIRST) * 2.0**-now, _LEAST)
        return (sum(one for _, one in self._seen) + _BELIEVED * expected) / (seen + _BELIEVED)

    def ahead(self, rows: int) -> list[tuple[float, float]]:
        """Numbers of rows that may be added, and the share of mistakes that each leaves."""
        now = self.share(rows)
        if self.stalled or now >= 1:
            return [(0.0, now)]
        per, least = _STEP * _HALVING * self.words, min(now, _LEAST)
        return [(per * k, max(now * 2.0 ** (-_STEP * k), least)) for k in range(_STEPS)]

    @property
    def lately(self) -> float:
        """The share of the remembered predictions that were wrong; 1 if there are too few."""
        wrong, seen = sum(one for _, one in self._seen), len(self._seen) + _BELIEVED * self.has_prior
        return (wrong + 0.5) / (seen + 1) if seen >= _FEWEST else 1.0

    def _halvings(self, rows: int) -> float:
        """How often so many rows have halved the mistakes, as a rule."""
        return rows / (_HALVING * max(self.words, 1))
