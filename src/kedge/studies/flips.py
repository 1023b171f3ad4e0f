"""What flips a label: the fewest removed words, by the first way that the model allows."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from kedge.errors import OutOfQueries, OutOfTime
from kedge.model.scores.additive import AdditiveScore
from kedge.model.scores.leads import Leads
from kedge.reading.reading import Reading
from kedge.search.flips.black_box import Trials, lose_by_asking, lose_prefix, rough_effects
from kedge.search.flips.cut import Cut
from kedge.search.flips.leaves import nearest_leaf
from kedge.search.flips.norms import lose_normed_lead
from kedge.search.flips.sums import lose_any_lead, lose_sum, win_all_leads
from kedge.search.flips.windows import lose_windows
from kedge.search.timeout_fallback import word_weights
from kedge.typing import Bools, Counts, Floats, Label
from kedge.utils.deadline import TimeIsUp

__all__ = ["Lost", "lose_label", "word_effects"]

# Queries in the search for a flip; and with the proof that none is smaller, where
# that costs no more. By arithmetic a tenth of a second's work, and a second's for the proof.
_ASKED, _IN_ALL = 100, 148
_ARITHMETIC, _PROOF = 20_000, 150_000
_TIME_IS_UP = "The time limit was near, so the search ended here; fewer words may do."


@dataclass(frozen=True, eq=False)
class Lost:
    """Removals that lose the label, None where none were found; and how they were found."""

    cut: Cut | None
    method: str
    notes: tuple[str, ...] = ()


def lose_label(reading: Reading, to: Label | None, rng: np.random.Generator) -> Lost:
    """The fewest removals after which the reading's label does not hold; the best so far when time is up.

    ``to`` names the label to reach where the reading is of "not that label".
    """
    sizes, holds = reading.units.sizes, reading.holds_without_queries
    if holds is None:
        most = int(min(_ASKED - reading.oracle.queries, reading.oracle.remaining - 1))
        trials = Trials(reading.answers, sizes, most)
    else:
        trials = Trials(lambda c: (holds(c), np.full(len(c), np.nan)), sizes, _ARITHMETIC)
    try:
        found = _inside(reading, to, lambda counts: ~reading.holds(counts))
        return found or (_by_asking if holds is None else _by_arithmetic)(reading, trials, to, rng)
    except (TimeIsUp, OutOfTime):
        if holds is not None and (weights := word_weights(reading)) is not None:
            lose_prefix(trials, weights)
        return Lost(_best(trials), "asking" if holds is None else "arithmetic", (_TIME_IS_UP,))


def _by_arithmetic(reading: Reading, trials: Trials, to: Label | None, rng: np.random.Generator) -> Lost:
    start = _normed(reading, to, lambda counts: ~reading.holds(counts))
    if start is not None and start.proven:
        return Lost(start, "bounds")
    return Lost(lose_by_asking(trials, rng, proof=lambda: _PROOF, start=start), "arithmetic")


def _by_asking(reading: Reading, trials: Trials, to: Label | None, rng: np.random.Generator) -> Lost:
    del to  # the reading is of "not that label"
    try:
        cut = lose_by_asking(trials, rng, proof=lambda: _IN_ALL - reading.oracle.queries)
        if cut is not None and cut.proven and len(cut) > 1 and not reading.check_repeats():
            cut = replace(cut, proven=False)  # a proof rests on answers that repeat
        return Lost(cut, "asking")
    except OutOfTime:
        raise
    except OutOfQueries:
        return Lost(_best(trials), "asking")


def _best(trials: Trials) -> Cut | None:
    """What was found so far."""
    best = trials.smallest()
    return None if best is None else Cut(best, proven=False, irreducible=False)


def _inside(reading: Reading, to: Label | None, lost: Callable[[Counts], Bools]) -> Lost | None:
    """The fewest removals read off a model; None for one that must be tried out."""
    if reading.additive is not None:
        return Lost(lose_sum(reading.additive, lost), "sorting" if reading.additive.linear else "sums")
    if reading.chain is not None and (cut := lose_windows(reading.chain, lost)) is not None:
        return Lost(cut, "windows")
    if reading.leaves is not None:
        return Lost(nearest_leaf(reading.leaves, reading.units.sizes), "leaves")
    leads = _leads(reading, to)
    if leads and to is None:
        return Lost(lose_any_lead(leads, lost), "leads")
    if leads and all(lead.linear for lead in leads):
        return Lost(win_all_leads(leads, lost), "leads")
    return None


def _normed(reading: Reading, to: Label | None, lost: Callable[[Counts], Bools]) -> Cut | None:
    """Few removals that lose a lead over an l2 norm, proven to be the fewest as a rule."""
    leads = reading.leads
    return lose_normed_lead(leads, lost) if leads is not None and leads.normed and to is None else None


def _leads(reading: Reading, to: Label | None) -> list[AdditiveScore]:
    """The leads that are to be lost (one of them), or to be won by the label to reach (all)."""
    if reading.inside is None or reading.inside.leads is None:
        return []
    leads = reading.inside.leads(reading.label if to is None else to)
    if leads is None or leads.normed:
        return []
    return [_lead(leads, rival) for rival in range(leads.rivals)]


def _lead(leads: Leads, rival: int) -> AdditiveScore:
    """The lead over one rival as a score of its own."""
    parts, bias, strict = leads.parts(rival), float(leads.bias[rival]), bool(leads.strict[rival])
    steps = np.arange(parts.shape[1])
    if np.allclose(parts, parts[:, 1:2] * steps, rtol=1e-12, atol=0.0):
        return AdditiveScore.from_slopes(
            bias, parts[:, 1].copy(), leads.sizes, strict=strict, rounding=leads.error
        )
    tables = tuple(row[: size + 1] for row, size in zip(parts, leads.sizes.tolist(), strict=True))
    return AdditiveScore(bias, tables, strict, leads.error)


def word_effects(reading: Reading, rng: np.random.Generator) -> Floats:
    """(b,) roughly what each position does for the label: read off the model, or from a few queries."""
    sizes = reading.units.sizes
    if reading.additive is not None:
        effects = np.array([table[-1] - table[-2] for table in reading.additive.tables])
    elif reading.gradient is not None:
        effects = reading.gradient()
    else:
        effects = rough_effects(Trials(reading.answers, sizes, _ASKED), rng)
    found = np.full(len(reading.document), -np.inf)
    for members, effect in zip(reading.units.members, effects.tolist(), strict=True):
        found[list(members)] = effect
    return found
