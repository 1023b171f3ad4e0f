"""What only chooses how to look: a mutant of it may take longer or find less, and can claim nothing false.

Each entry is a function, or some of the names that a function or a module assigns to, with the reason. The
mutants of a function that is listed are all tuning; of listed names, those on the first line of an
assignment to nothing else. ``tests/benchmarks/test_tuning.py`` puts other choices in their place, and every
claim must stay true. What is not killed of these mutants is reported in a column of its own.
"""

import re

__all__ = ["TUNING", "is_tuning", "why_tuning"]

_GRID = "The size of a grid's cells: what is rounded off is bounded on any grid."
_COST = "What a look may cost before another way is taken, or none: every way is certified by itself."
_GUESS = "A guess of where to look: what is found there is certified, and what is not found is not claimed."
_GIVEN_UP = "When a proof is given up: what is claimed is what was proved, whenever that is."
_ENOUGH = "How many harmonics to take: the interval holds for any number of them."

TUNING = {
    "kedge/evaluators/additive.py, module: ALL, HALVES, SINGLE": _COST,
    "kedge/evaluators/additive.py, _first_target": _GRID,
    "kedge/evaluators/additive.py, _step": _GRID,
    "kedge/evaluators/additive.py, _cost": _COST,
    "kedge/evaluators/chain.py, module: _ALL, _FIRST, _FINEST, _BUDGET": _COST,
    "kedge/evaluators/chain.py, deviation": _GRID,
    "kedge/evaluators/chain.py, Chained._tail: step, per, states, cells, wide": _GRID,
    "kedge/evaluators/grids/cells.py, module: BUDGET": _COST,
    "kedge/evaluators/grids/cells.py, cell_size": _GRID,
    "kedge/evaluators/grids/cells.py, pass_cost": _COST,
    "kedge/evaluators/grids/plane.py, module: _BUDGET, _EXTENT": _COST,
    "kedge/evaluators/grids/plane.py, _moments": _GRID,
    "kedge/evaluators/grids/plane.py, Plane.tail: z, density, reach, column, row, height, width": _GRID,
    "kedge/evaluators/grids/plane.py, _Grid.add: row, column, stays, height, width, self._ahead": (
        "Which part of the plane the window shows: what is lost of the law counts for both sides."
    ),
    "kedge/evaluators/waves.py, module: _TARGET, _MOST, _FAINT, _CELLS": _ENOUGH,
    "kedge/evaluators/waves.py, Waves.of: squares, deviation, z, density, degree": _ENOUGH,
    "kedge/evaluators/wordsums.py, module: _FINE, COARSE, _ROOM, _NOTHING, _TOGETHER": _ENOUGH,
    "kedge/evaluators/wordsums.py, WordSums.tails: above, below, room, widths, needed": _ENOUGH,
    "kedge/evaluators/leading.py, Leading.refine: target, share": _COST,
    "kedge/evaluators/leads.py, Lead.guess": _GUESS,
    "kedge/search/exact/branch.py, module: _NODES, _OPERATIONS, _CELLS": _COST,
    "kedge/search/exact/branch.py, _deviation": _GRID,
    "kedge/search/exact/branch.py, _Search.of: operations, spread, step": _GRID,
    "kedge/search/exact/branch.py, _prefixes: means, gains, order": _GUESS,
    "kedge/search/exact/chain.py, module: _FEW, _NODES, _PER, _NUMBERS, _SHORT, _NEAR, _MANY": _COST,
    "kedge/search/exact/chain.py, _each_more": _GUESS,
    "kedge/search/exact/foresight.py, module: _PER, _NUMBERS": _GRID,
    "kedge/search/exact/foresight.py, Foresight.of: step": _GRID,
    "kedge/search/exact/leading.py, module: _TABLE, _CLOSE, _NEIGHBOURS, _FAR": _GUESS,
    "kedge/search/exact/leading.py, _Search._reaches: hopeful": _COST,
    "kedge/search/exact/prefix_tails.py, lattice_of: deviation, cost": _COST,
    "kedge/search/exact/prefixes.py, module: LATTICE": _COST,
    "kedge/search/exact/proposals.py, Proposals.__init__: self._mean, self._gains": _GUESS,
    "kedge/search/exact/proposals.py, Proposals.risk": _GUESS,
    "kedge/search/exact/proposals.py, Proposals.guess": _GUESS,
    "kedge/search/exact/proposals.py, Proposals.rival_of": _GUESS,
    "kedge/search/exact/proposals.py, Proposals.close": _GUESS,
    "kedge/search/exact/proposals.py, Proposals._risk_of": _GUESS,
    "kedge/search/exact/proposals.py, Proposals._longer: risks": _GUESS,
    "kedge/search/exact/proposals.py, Proposals._improved: now": _GUESS,
    "kedge/search/exact/proposals.py, Proposals._exchanges: means, variances": _GUESS,
    "kedge/search/exact/tree.py, module: _BUDGET, _TRACE": _COST,
    "kedge/search/exact/waves.py, module: ALL_COINS, HARMONICS": _COST,
    "kedge/search/exact/waves.py, module: COARSE, FINE, EMPTY, FINEST, ROOM, NOTHING": _ENOUGH,
    "kedge/search/exact/waves.py, guess": _GUESS,
    "kedge/search/exact/waves.py, guess.reaches": _GUESS,
    "kedge/search/exact/waves.py, _deviations": _GUESS,
    "kedge/search/exact/waves.py, _widths": _ENOUGH,
    "kedge/search/guided/proof.py, module: _ROUND, _SEEN, _PREDICTED, _HOPE": _COST,
    "kedge/search/guided/proof.py, certify: learns": (
        "When the surrogate learns between rounds: the bets are fair whatever it predicts."
    ),
    "kedge/search/guided/proof.py, certify: dear, hopeless": _GIVEN_UP,
    "kedge/search/guided/proof.py, _lost": _GIVEN_UP,
    "kedge/search/guided/proof.py, _predictor: lost, cautious": (
        "Whether predictions are worth using, and how cautious they are: the bets are fair in any case."
    ),
    "kedge/search/guided/proof.py, _hopeless": _GIVEN_UP,
    "kedge/certificates/checker.py, module: _SHORTER, _BRANCHES": _COST,
    "kedge/certificates/checker.py, module: _COARSE, _FINE, _FEW, _DIGITS, _SHORT": _GRID,
    "kedge/certificates/checker.py, _Sum.interval: apart, width, cells": _GRID,
    "kedge/certificates/checker.py, _on_grid: stretch, at, guess": (
        "The checker's guess, from which it takes the next grid: bounds do not depend on it."
    ),
}  # fmt: skip
"""Place to reason."""

_ASSIGNED = re.compile(r"^([\w., ]+?)(?:: \w+)? = ")


def why_tuning(key: str) -> str | None:
    """The reason why a mutant, by its key, is only tuning; None if it is not of anything that is listed."""
    place, _, rest = key.partition(": ")
    assigned = _ASSIGNED.match(rest)
    for entry, reason in TUNING.items():
        where, _, names = entry.partition(": ")
        if where == place and (
            not names or (assigned and set(assigned[1].split(", ")) <= {*names.split(", "), "_"})
        ):
            return reason
    return None


def is_tuning(key: str) -> bool:
    """Whether a mutant is only tuning."""
    return why_tuning(key) is not None
