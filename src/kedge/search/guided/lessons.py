"""The questions from whose answers a surrogate of labels learns most: those it is least sure of."""

import numpy as np

from kedge.perturb.masking import coins
from kedge.search.guided.learner import Learner
from kedge.typing import Kept

__all__ = ["ask_telling"]

# Samples among which they are picked, and cells they may take.
_CHOICES, _CHOICE_CELLS = 3600, 1 << 20
# Samples of more units than this are almost never drawn twice.
_REPEATS = 30


def ask_telling(learner: Learner, kept: Kept, n: int) -> None:
    """Ask about samples whose answers the surrogate is least sure of: the smallest scores.

    They follow the law of the perturbation with nothing kept, with the anchor kept, or with all
    of it but one word; where the label is almost never lost (or held) some keep fewer (or more)
    words, to reach the place where it changes.
    """
    pool = learner.pool
    reading, rng = pool.reading, pool.rng
    sizes = reading.units.sizes
    each = max(n, min(_CHOICES, _CHOICE_CELLS // len(sizes)) // 3)
    draws = [reading.sample(part, each, rng) for part in ((), learner.shorter(kept), kept)]
    _, holds, _ = pool.rows()
    held = float(holds.mean())
    if held > 0.9:
        draws += [coins(sizes, 0 * sizes, each // 2, keep, rng) for keep in (0.25, 0.1)]
    elif held < 0.1:
        draws.append(coins(sizes, 0 * sizes, each // 2, 0.75, rng))
    rows = np.concatenate(draws)
    if len(sizes) <= _REPEATS:
        rows = pool.unseen(rows)
    unsure = np.abs(learner.surrogate.scores(rows))
    if not learner.surrogate.weights.any():  # one label so far: look far from the document
        unsure = rows.sum(axis=1)
    nearest = np.argsort(unsure, kind="stable")[:n]
    if len(nearest):
        pool.ask(rows[nearest])
