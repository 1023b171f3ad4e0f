"""The fewest removed words for scores that are sums over n-grams: exact, by one pass along the text.

Of all ways to remove k of the words so far, only the lowest score for each state of the last few words can
matter to what follows. So the lowest score with k removals is known for every k at once.
"""

from typing import Any

import numpy as np

from kedge.evaluators.grids.links import Links
from kedge.model.scores.additive import UNIT
from kedge.model.scores.chain import ChainScore
from kedge.search.flips.cut import Cut
from kedge.search.flips.sums import Lost
from kedge.typing import Counts, Floats

__all__ = ["lose_windows"]

# Steps that a pass may remember: 64 MB.
_NUMBERS = 1 << 26


def lose_windows(score: ChainScore, lost: Lost) -> Cut | None:
    """The fewest removals that make the score no longer positive; None if there are none, or too many."""
    links = Links.of(score)
    states, b = 1 << links.span, len(links)
    if states * b * (b + 1) > _NUMBERS:
        return None
    lowest, back = _pass(links, states)
    left = lowest.min(axis=0)
    error = 2.0 * score.error + 4.0 * (b + len(links.windows) + 8) * UNIT * score.magnitude
    maybe, surely = np.flatnonzero(left <= error), np.flatnonzero(left < -error)
    if not len(maybe):
        return None
    last = int(surely[0]) if len(surely) else b
    for k in range(int(maybe[0]), last + 1):
        removed = _removed(links, back, int(lowest[:, k].argmin()), k)
        if bool(lost((score.sizes - removed)[None])[0]):
            return Cut(removed, proven=k == int(maybe[0]))
    return None


def _pass(links: Links, states: int) -> tuple[Floats, Any]:
    """(states, b + 1) the lowest score with k removals; and (b, states, b + 1) from where it comes."""
    b, gains = len(links), links.gains(links.weights)
    lowest = np.full((states, b + 1), np.inf)
    lowest[0, 0] = links.score.bias  # nothing stands before the first link
    back = np.zeros((b, states, b + 1), dtype=np.min_scalar_type(2 * states))
    for link in range(b):
        after = np.full_like(lowest, np.inf)
        for state in range(states):
            for kept in (0, 1):
                came = lowest[state] + gains[link, state] if kept else np.append(np.inf, lowest[state, :-1])
                to = ((state << 1) | kept) & (states - 1)
                better = came < after[to]
                after[to][better] = came[better]
                back[link, to][better] = 2 * state + kept
        lowest = after
    return lowest, back


def _removed(links: Links, back: Any, state: int, k: int) -> Counts:
    """(d,) what was removed on the way to a state with k removals."""
    removed = np.zeros(len(links.score.sizes), dtype=np.int64)
    for link in range(len(links) - 1, -1, -1):
        state, kept = divmod(int(back[link, state, k]), 2)
        if not kept:
            removed[links.unit[link]] += 1
            k -= 1
    return removed
