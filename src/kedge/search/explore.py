"""Learning a surrogate of the model from one shared pool of samples."""

from dataclasses import dataclass

import numpy as np

from kedge.search.pool import Pool
from kedge.search.search import Goal
from kedge.search.surrogate import Surrogate, fit_labels, fit_log_odds
from kedge.typing import Counts, Kept

__all__ = ["Explored", "explore", "shortest_prefix"]

# Rows of the pool for the regression of log-odds: enough equations for every unknown, and some to
# check it with (THEORY section 9).
_ROWS_PER_OCCURRENCE, _ROWS_MORE = 1.3, 16
# The longest pool: beyond it the ranking is rough, and the check of prefixes does the rest.
_LONGEST_POOL = 1500
# Rows with which a gradient is tried before a full pool is paid for.
_GRADIENT_ROWS = 48
# Share of all allowed questions that exploring may use; the proof needs the rest.
_SHARE = 0.6
# An additive model is one whose log-odds are predicted to this share of their spread on rows the
# regression has not seen.
_ADDITIVE = 0.01
# Labels say less: rows per occurrence at most, and how many fits in a row must agree to stop.
_LABELS_PER_OCCURRENCE, _LABELS_MORE, _AGREEING = 6, 96, 2
# Samples among which the next questions about labels are picked.
_CHOICES = 1000
# Steps of a weight, relative to the largest, below which words are tied: what regression of
# log-odds and what labels resolve.
ODDS_RESOLUTION, LABEL_RESOLUTION = 1e-3, 0.03


@dataclass(frozen=True)
class Explored:
    """What exploring gives.

    Parameters
    ----------
    surrogate
        The linear stand-in.
    order
        Occurrences by decreasing weight.
    faithful
        Whether it predicted samples it had not seen without error.
    proposal
        The shortest prefix of the order that it predicts to reach the threshold.
    baseline
        Estimated precision with no word kept.
    """

    surrogate: Surrogate
    order: tuple[int, ...]
    faithful: bool
    proposal: Kept
    baseline: float


def explore(pool: Pool, goal: Goal) -> Explored:
    """Ask about a pool of samples and fit the surrogate to it."""
    return _from_odds(pool, goal) if pool.reading.log_odds is not None else _from_labels(pool, goal)


def shortest_prefix(surrogate: Surrogate, order: list[int], goal: Goal) -> int:
    """The length of the shortest prefix that the surrogate predicts to reach the threshold."""
    least = 0 if goal.allow_empty else 1
    if not surrogate.exact:
        return min(least, len(order))
    losses = surrogate.losses(order, len(order))
    reached = np.flatnonzero(losses[least:] <= 1 - goal.threshold)
    return least + int(reached[0]) if len(reached) else len(order)


def _explored(pool: Pool, goal: Goal, surrogate: Surrogate, resolution: float, *, faithful: bool) -> Explored:
    order = surrogate.order(resolution)
    length = shortest_prefix(surrogate, order, goal)
    _, holds = pool.given(())
    return Explored(
        surrogate, tuple(order), faithful, tuple(sorted(order[:length])), float(holds.mean())
    )


def _from_odds(pool: Pool, goal: Goal) -> Explored:
    reading = pool.reading
    sizes, keep = reading.units.sizes, reading.keep
    rows = int(_ROWS_PER_OCCURRENCE * len(sizes)) + _ROWS_MORE
    rows = min(rows, _LONGEST_POOL, pool.room, max(1, int(_SHARE * pool.left)))
    prior = None if reading.gradient is None else reading.gradient()
    while True:
        step = rows if prior is None or len(pool) else min(rows, _GRADIENT_ROWS)
        pool.draw((), step - len(pool))
        counts, holds, odds = pool.rows()
        unseen = max(8, len(odds) // 8)
        first = fit_log_odds(counts[:-unseen], odds[:-unseen], holds[:-unseen], sizes, keep, prior) \
            if len(odds) > 2 * unseen else None
        faithful = False
        if first is not None:
            faithful = _explains(first, counts[-unseen:], odds[-unseen:]) and bool(
                (first.holds(counts[-unseen:]) == holds[-unseen:]).all()
            )
        if faithful or step >= rows:
            break
    surrogate = fit_log_odds(counts, odds, holds, sizes, keep, prior)
    return _explored(pool, goal, surrogate, ODDS_RESOLUTION, faithful=faithful)


def _explains(surrogate: Surrogate, counts: Counts, odds: np.ndarray) -> bool:
    """Whether the scores give the log-odds of unseen rows, up to scale and level."""
    scores = surrogate.scores(counts).astype(np.float64)
    scores -= scores.mean()
    centred = odds - odds.mean()
    spread = float(centred @ centred)
    if spread <= 0 or not scores.any():
        return spread <= 0
    left = centred - scores * float(scores @ centred) / float(scores @ scores)
    return bool(left @ left <= _ADDITIVE**2 * spread)


def _from_labels(pool: Pool, goal: Goal) -> Explored:
    reading = pool.reading
    sizes, keep = reading.units.sizes, reading.keep
    d = int(sizes.sum())
    most = min(_LABELS_PER_OCCURRENCE * d + _LABELS_MORE, _LONGEST_POOL, pool.room, int(_SHARE * pool.left))
    pool.draw((), int(np.clip(d, 32, 256)))
    weights, last, agreeing, clean = None, None, 0, False
    while True:
        counts, holds, _ = pool.rows()
        surrogate, weights = fit_labels(counts, holds, sizes, keep, weights)
        order = surrogate.order(LABEL_RESOLUTION)
        proposal = tuple(sorted(order[: shortest_prefix(surrogate, order, goal)]))
        agreeing = agreeing + 1 if proposal == last and clean else 0
        last = proposal
        if agreeing >= _AGREEING or len(counts) >= most:
            break
        batch = int(np.clip(len(counts) // 6, 16, 128))
        honest, held = pool.draw(proposal, batch // 4)
        clean = bool((surrogate.holds(honest) == held).all())
        chosen = _telling(pool, surrogate, proposal, float(holds.mean()), batch - batch // 4)
        if len(chosen):
            pool.ask(chosen)
    return _explored(pool, goal, surrogate, LABEL_RESOLUTION, faithful=agreeing >= _AGREEING)


def _telling(pool: Pool, surrogate: Surrogate, proposal: Kept, held: float, n: int) -> Counts:
    """Samples whose answers the surrogate is least sure of: those with the smallest scores.

    Most follow the law of the perturbation, with nothing kept or with all but the last word of the
    proposal; where the label is hardly ever lost (or held) some keep fewer (or more) words, to
    reach the place where it changes.
    """
    reading, rng = pool.reading, pool.rng
    sizes = reading.units.sizes
    each = max(n, min(_CHOICES, (1 << 19) // len(sizes)) // 2)
    draws = [reading.sample((), each, rng), reading.sample(proposal[:-1], each, rng)]
    if held > 0.9:
        draws += [rng.binomial(sizes, keep, size=(each // 2, len(sizes))) for keep in (0.25, 0.1)]
    elif held < 0.1:
        draws.append(rng.binomial(sizes, 0.75, size=(each // 2, len(sizes))))
    rows = pool.unseen(np.concatenate(draws))
    nearest = np.argsort(np.abs(surrogate.scores(rows)), kind="stable")[:n]
    return rows[nearest]
