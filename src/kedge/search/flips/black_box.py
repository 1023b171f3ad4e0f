"""The fewest removed words of a black box: few queries, and none of the words can stay.

1. A pool of random removals, where about half of them lose the label, says roughly what each word does.
2. Words are removed in that order, twice as many each time, until the label is lost; then bisection.
3. Words are put back, many at a time and at last one by one, until each of those removed is needed.
4. What was queried on the way ranks the words again, near the document; while it helps, 2 and 3 again.
5. Where no removal lost the label, each word is left standing alone: those that lose it oppose it, so
   only they stay, and 3 puts the others back.
6. Where that costs little, all smaller removals are queried: where none loses it, the answer is proven.
"""

from collections.abc import Callable, Iterator
from hashlib import blake2b
from itertools import combinations_with_replacement, islice
from math import comb

import numpy as np

from kedge.perturb.masking import coins
from kedge.search.flips.cut import Cut
from kedge.typing import Bools, Counts, Floats
from kedge.utils.numerics import pieces

__all__ = ["Trials", "lose_by_asking", "lose_prefix", "rough_effects"]

# Rows of the pool: this many for each unit, between these ends.
_PER_UNIT, _FEWEST, _POOL = 0.5, 16, 48
# Shares of words that stay, tried until the answers vary.
_KEEPS = (0.5, 0.25, 0.75, 0.1, 0.9)
_FIRST = 12
# Removals that lean towards losing the label, where the strongest words did not do.
_LEANING = 15
# How often the words are ranked again.
_ROUNDS = 4
# Words left standing alone, where nothing else lost the label.
_ALONE = 400
# Queries for each unit that may be spent, over and above the limit, on an answer of which no word can stay.
_AT_LAST = 20
# Removals are looked at so many numbers at a time, and remembered up to so many: those of a very long text do
# not fit into memory. What takes more than so many at last is not tried: ten seconds' work by arithmetic.
_CELLS, _REMEMBERED, _PROOF = 1 << 22, 1 << 23, 1 << 31
# Rows of more bytes than this are known by a digest.
_LONG = 64


class OutOfTrials(Exception):  # noqa: N818  (caught here)
    """As many queries were made as were allowed."""


class Trials:
    """Queries about removals, each made once, with a limit.

    Parameters
    ----------
    answers
        Rows of counts to whether the label holds, and its log-odds (NaN without them).
    sizes
        (d,) occurrences of each unit.
    most
        How many rows may be queried.
    """

    def __init__(self, answers: Callable[[Counts], tuple[Bools, Floats]], sizes: Counts, most: int) -> None:
        self._answers, self.sizes, self.left = answers, sizes, most
        self._small = np.min_scalar_type(int(sizes.max()))
        self._known: dict[bytes, bool] = {}
        self._smallest: Counts | None = None
        # What the search learns from: the first rows, as many as are remembered.
        self.counts: list[Counts] = []
        self.holds: list[bool] = []
        self.odds: list[float] = []

    def lost(self, removed: Counts) -> Bools:
        """(n,) whether the label is lost with (n, d) occurrences gone."""
        counts = np.atleast_2d(self.sizes - removed)
        keys = [_key(row) for row in counts.astype(self._small)]
        new = {key: i for i, key in enumerate(keys) if key not in self._known}
        if len(new) > self.left:
            raise OutOfTrials
        if new:
            asked = counts[list(new.values())]
            holds, odds = self._answers(asked)
            self.left -= len(new)
            self._known.update(zip(new, (~holds).tolist(), strict=True))
            self._remember(asked, holds, odds)
        return np.array([self._known[key] for key in keys], dtype=bool)

    def _remember(self, counts: Counts, holds: Bools, odds: Floats) -> None:
        removed = np.where(holds, np.iinfo(np.int64).max, (self.sizes - counts).sum(axis=1))
        least = int(removed.argmin())
        if not holds[least] and (self._smallest is None or removed[least] < self._smallest.sum()):
            self._smallest = self.sizes - counts[least]
        room = max(0, _REMEMBERED // len(self.sizes) - len(self.counts))
        self.counts += list(counts[:room].astype(self._small))
        self.holds += holds[:room].tolist()
        self.odds += odds[:room].tolist()

    def smallest(self) -> Counts | None:
        """The fewest removals so far that lost the label."""
        return self._smallest


def _key(row: Counts) -> bytes:
    return row.tobytes() if row.nbytes <= _LONG else blake2b(row.tobytes(), digest_size=16).digest()


def lose_by_asking(
    trials: Trials, rng: np.random.Generator, *, proof: Callable[[], int], start: Cut | None = None
) -> Cut | None:
    """Few removals that lose the label, each of them needed; None if none was found.

    ``start`` is a first answer that may be improved on.

    ``proof`` says, at the end, how many rows may be queried to show that fewer removals do not do.
    """
    try:
        best = _searched(trials, rng)
    except OutOfTrials:
        best = trials.smallest()
    if start is not None and (best is None or len(start) < best.sum()):
        best = start.removed
    units = len(trials.sizes)
    trials.left = max(trials.left, min(_AT_LAST * units, _PROOF // units))
    if best is None:
        best = _alone(trials, rng)
    if best is None:
        return None
    try:
        best = _needed(trials, best, _effects(trials))
    except OutOfTrials:
        smaller = trials.smallest()
        if smaller is not None and smaller.sum() < best.sum():
            best = smaller
        return Cut(best, proven=False, irreducible=False)
    return _proven(trials, best, proof())


def _searched(trials: Trials, rng: np.random.Generator) -> Counts | None:
    """Removals by what words do to the label, again while that leads to fewer."""
    best: Counts | None = None
    _pool(trials, rng)
    for _ in range(_ROUNDS):
        effects = _effects(trials)
        found = lose_prefix(trials, effects)
        if found is None and best is None:
            _lean(trials, effects, rng)
            found = trials.smallest()
        if found is not None:
            found = _needed(trials, found, effects)
            if best is not None and found.sum() >= best.sum():
                break
            best = found
    return best


def rough_effects(trials: Trials, rng: np.random.Generator) -> Floats:
    """(d,) roughly what one occurrence of each unit does for the label, from a pool of random removals."""
    _pool(trials, rng)
    return _effects(trials)


def _pool(trials: Trials, rng: np.random.Generator) -> None:
    """Random removals, of a share for which the answers vary."""
    sizes = trials.sizes
    rows = int(np.clip(_PER_UNIT * len(sizes), _FEWEST, _POOL))
    nothing = np.zeros_like(sizes)
    for keep in _KEEPS:
        lost = trials.lost(sizes - coins(sizes, nothing, _FIRST, keep, rng))
        if 0.15 <= lost.mean() <= 0.85 or not np.isnan(trials.odds[-1]):
            break
    else:
        return
    trials.lost(sizes - coins(sizes, nothing, max(0, rows - _FIRST), keep, rng))


def _lean(trials: Trials, effects: Floats, rng: np.random.Generator) -> None:
    """Removals of most words that support the label and of few others, and of everything."""
    owners = np.repeat(np.arange(len(effects)), trials.sizes)
    gone = rng.random((_LEANING, len(owners))) < np.where(effects[owners] > 0, 0.85, 0.15)
    rows = np.array([np.bincount(owners[row], minlength=len(effects)) for row in gone])
    trials.lost(np.vstack([rows, trials.sizes]))


def _alone(trials: Trials, rng: np.random.Generator) -> Counts | None:
    """Everything but the words with which alone the label is lost; None if there are none."""
    d = len(trials.sizes)
    units = np.sort(rng.permutation(d)[:_ALONE])
    lost = []
    for piece in pieces(len(units), d, _CELLS):
        some = units[piece]
        rows = np.tile(trials.sizes, (len(some), 1))
        rows[np.arange(len(some)), some] = 0
        lost.append(trials.lost(rows))
    against = units[np.concatenate(lost)]
    together = trials.sizes.copy()
    together[against] = 0
    if len(against):
        trials.lost(together)
    return trials.smallest()


def _effects(trials: Trials) -> Floats:
    """(d,) what one occurrence of each unit does for the label, by ridge regression on what was queried."""
    counts = np.array(trials.counts) / trials.sizes
    y = np.array(trials.odds)
    if np.isnan(y).any():
        y = np.array(trials.holds, dtype=np.float64)
    x, y = counts - counts.mean(axis=0), y - y.mean()
    gram = x @ x.T
    noise = 1.0 if np.isnan(trials.odds).any() else 0.02  # labels say less than log-odds
    penalty = noise * np.trace(gram) / len(gram)
    weights: Floats = x.T @ np.linalg.solve(gram + max(penalty, 1e-9) * np.eye(len(gram)), y) / trials.sizes
    return weights


def lose_prefix(trials: Trials, effects: Floats) -> Counts | None:
    """The fewest of the strongest words whose removal loses the label, by doubling and bisection."""
    owners = np.repeat(np.arange(len(effects)), trials.sizes)
    order = owners[np.argsort(-effects[owners], kind="stable")]
    supporting = max(1, int(np.count_nonzero(effects[order] > 0)))

    def removed(k: int) -> Counts:
        return np.bincount(order[:k], minlength=len(effects)).astype(np.int64)

    low, high = 0, 1
    while not trials.lost(removed(high))[0]:
        if high >= supporting:
            return None
        low, high = high, min(2 * high, supporting)
    while high - low > 1:
        middle = (low + high) // 2
        if trials.lost(removed(middle))[0]:
            high = middle
        else:
            low = middle
    return removed(high)


def _needed(trials: Trials, removed: Counts, effects: Floats) -> Counts:
    """Put words back, the weakest first, many at a time and then one by one, until none can be."""
    owners = np.repeat(np.arange(len(removed)), removed)
    gone = owners[np.argsort(effects[owners], kind="stable")]
    width, start, refused = max(1, len(gone) // 2), 0, 0
    while refused < len(gone) or width > 1:
        if refused >= len(gone):
            width, start, refused = width // 2, 0, 0
        rest = np.delete(gone, slice(start, start + width))
        if len(rest) and trials.lost(np.bincount(rest, minlength=len(removed)))[0]:
            gone, refused = rest, 0  # go on where we are: those before were refused, and most still are
            width = min(width, max(1, len(gone) // 2))
        else:
            start, refused = start + width, refused + width
        if start >= len(gone):
            start = 0
    return np.bincount(gone, minlength=len(removed)).astype(np.int64)


def _proven(trials: Trials, removed: Counts, proof: int) -> Cut:
    """Whether nothing smaller loses the label, where that can be queried; if something does, that."""
    d = len(removed)
    for size in range(1, int(removed.sum())):
        smaller = comb(d + size - 1, size)
        if smaller > proof or smaller * d > _PROOF:
            return Cut(removed, proven=False)
        every = _removals(trials.sizes, size)
        while some := list(islice(every, max(1, _CELLS // d))):
            rows = np.array(some, dtype=np.int64)
            proof -= len(rows)
            trials.left = max(trials.left, len(rows))
            lost = trials.lost(rows)
            if lost.any():
                return Cut(rows[int(lost.argmax())], proven=True)
    return Cut(removed, proven=True)


def _removals(sizes: Counts, size: int) -> Iterator[Counts]:
    for chosen in combinations_with_replacement(range(len(sizes)), size):
        removed = np.bincount(chosen, minlength=len(sizes))
        if (removed <= sizes).all():
            yield removed
