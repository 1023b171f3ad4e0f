"""Figure: how much the similarity varies over runs of the same document, 10 layers on Restaurants."""

from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np

from . import authors
from .judge import LIMIT
from .networks import moved, trained_network
from .result import Figure, Result
from .session import Session
from .setting import split
from .style import BLUE, GREY, INK, ORANGE, canvas
from .table_networks import BUDGET, SEEDS, explain_network

__all__ = ["run"]

TITLE = "Standard deviation of the Jaccard similarity over the runs of one document"
MODEL, DATA = "10 layers", "restaurants"


def run(session: Session) -> Result:
    """From the runs of the networks' table: as the authors evaluated, and on the network's own split."""
    made = trained_network(DATA, MODEL, session.scale.epochs, Path(session.store))
    most, runs = session.scale.of(*BUDGET[MODEL, DATA]["draws"])
    again = []
    for seed in SEEDS[: session.scale.draws]:
        title, other = f"{MODEL}, {DATA}, split {seed}", moved(made, DATA, seed)
        again += explain_network(session, title, other, DATA, split(DATA, seed).test, most, runs)
    most, runs = session.scale.of(*BUDGET[MODEL, DATA]["here"])
    own = explain_network(session, f"{MODEL}, {DATA}, own split", made, DATA, split(DATA).test, most, runs)
    spreads = {
        "authors' runs": [
            float(np.std(values)) for _, values in authors.proba_and_runs(MODEL, DATA).values()
        ],
        "here, as the authors evaluated": [float(np.std(e.similarity)) for e in again],
        "here, own split": [float(np.std(e.similarity)) for e in own],
    }
    with canvas(session, "jaccard-sd", 1, 3, size=(9.6, 2.7)) as axes:
        for axis, (name, values), colour in zip(axes, spreads.items(), (GREY, BLUE, ORANGE), strict=True):
            axis.hist(values, bins=np.linspace(0, 0.5, 21), color=colour, lw=0)
            if values:
                axis.axvline(float(np.mean(values)), color=INK, lw=1, ls="--")
            mean = f", mean {np.mean(values):.3f}" if values else ""
            axis.set(title=name + mean, xlabel="sd over the runs", ylabel="documents")
    theirs, here = (_mean(spreads[k]) for k in ("authors' runs", "here, as the authors evaluated"))
    z = _z(here, theirs)
    told = f" z of the two means: {z:+.2f}." if z is not None else ""
    small = here is not None and here[0] < 0.2
    return Result(
        "jaccard-sd",
        TITLE,
        figures=(
            Figure(
                "jaccard-sd",
                f"Spread of the similarity over the runs of one document, {MODEL} on Restaurants (mean "
                "drawn in)." + told,
                "On the same document the similarity varies little from run to run (mean sd below 0.2, "
                "and not "
                "different from the authors' by more than two standard errors).",
                small and (z is None or abs(z) <= LIMIT),
                {"sd": spreads, "z": z},
            ),
        ),
    )


def _mean(values: list[float]) -> tuple[float, float] | None:
    if len(values) <= 1:
        return None
    return float(np.mean(values)), float(np.std(values, ddof=1)) / sqrt(len(values))


def _z(one: Any, two: Any) -> float | None:
    if one is None or two is None or not (error := sqrt(one[1] ** 2 + two[1] ** 2)):
        return None
    return float((one[0] - two[0]) / error)
