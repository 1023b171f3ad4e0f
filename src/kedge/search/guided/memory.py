"""What was asked answers again: an evaluator whose first samples are those of the search's pool."""

from collections.abc import Sequence

from kedge.evaluators.empirical import Empirical
from kedge.evaluators.estimates import Estimates
from kedge.search.guided.pool import Pool
from kedge.typing import Bools, Counts, Kept

__all__ = ["PooledPrecision"]


class PooledPrecision(Empirical):
    """Empirical precision that asks only for the samples that the pool does not have."""

    def __init__(self, pool: Pool) -> None:
        super().__init__(pool.reading, pool.proofs)
        self._asked = pool

    def __call__(self, anchors: Sequence[Kept], samples: int = 0) -> Estimates:
        """Samples of the pool first, then so many new ones that it is ``samples`` in all."""
        for kept in dict.fromkeys(anchors):
            counts, holds, _ = self._asked.given(kept)
            if kept not in self._draws:
                self._add(kept, counts, holds)
            if missing := max(0, samples - self._draws[kept].trials):
                self._draw([kept], missing)
        return super().__call__(anchors)

    def seen(self, kept: Kept) -> tuple[Counts, Bools] | None:
        """The samples of an anchor that were asked about."""
        counts, holds, _ = self._asked.given(kept)
        return (counts.astype("int64"), holds) if len(holds) else None
