"""Black boxes of which no short anchor reaches the threshold, though all of them nearly do.

Whether the label holds is a hash of which words are kept, so that every anchor has about the same
precision, a little below the threshold, and nothing can be learned. What is certified of such a model
is false unless luck put the anchor above the threshold, which the judge finds out by counting.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import kedge

WORDS = 14
THRESHOLD = 0.9
SHARE = 0.893
_MIX = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class Null:
    """One such model; ``odds`` gives it probabilities that say no more than its labels."""

    salt: int
    odds: bool = False

    @property
    def text(self) -> str:
        """Its document."""
        return " ".join(f"w{k}" for k in range(WORDS))

    def holds(self, kept: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Whether the label holds, for sets of words as bits."""
        mixed = (kept + np.uint64(self.salt)) * _MIX
        mixed = (mixed ^ (mixed >> np.uint64(29))) * _MIX
        whole = kept == np.uint64((1 << WORDS) - 1)
        return whole | ((mixed >> np.uint64(40)) % np.uint64(1000) < np.uint64(round(1000 * SHARE)))

    def __call__(self, texts: list[str]) -> Any:
        """What the model says."""
        kept = [sum(1 << int(word[1:]) for word in t.split() if word[0] == "w") for t in texts]
        holds = self.holds(np.array(kept, dtype=np.uint64))
        if not self.odds:
            return holds.astype(int)
        chance = np.where(holds, 0.8, 0.2)
        return np.column_stack([1 - chance, chance])

    def precision(self, positions: tuple[int, ...]) -> float:
        """The precision of an anchor, by counting all of its texts."""
        kept = np.array([sum(1 << k for k in positions)], dtype=np.uint64)
        for k in set(range(WORDS)) - set(positions):
            kept = np.concatenate([kept, kept | np.uint64(1 << k)])
        return float(self.holds(kept).mean())


def false_claim(seed: int, delta: float) -> tuple[bool, bool]:
    """Whether a claim was made about the null model of a seed, and whether it is false."""
    kind, null = seed % 3, Null(seed, odds=seed % 2 == 1)
    options: dict[str, Any] = {
        "threshold": THRESHOLD,
        "delta": delta,
        "seed": seed,
        "max_queries": 200 + 200 * (seed % 4),
    }
    if kind == 2:
        chosen = tuple(range(seed % 5 + 1))
        verdict = kedge.precision(null, null.text, chosen, **options)
        true = null.precision(chosen)
        return verdict.reaches is not None, not verdict.interval.low <= true <= verdict.interval.high
    e = kedge.explain(null, null.text, **options)
    claimed = e.status in {"exact", "certified"}
    return claimed, claimed and null.precision(e.positions) < THRESHOLD
