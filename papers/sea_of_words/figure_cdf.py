"""Figures: the Gaussian approximation of the precision against Monte Carlo and the exact distribution."""

import sys
from math import comb, prod
from typing import Any

import numpy as np

from kedge import theory

from .result import Check, Figure, Result
from .session import Session
from .style import BLUE, INK, ORANGE, canvas

__all__ = ["run"]

TITLE = "Score of a perturbed document: Monte Carlo, exact, and Gaussian distribution functions"
# The document of the paper's code, and the first seed it takes for the others.
PAPER = ([10, 10, 8, 7, 6, 2, 2, 2, 2, 1], [8, 5, 6, 5, 5, 2, 1, 1, 1, 1])
SEED = 42
POINTS = 200
# Outcomes that are enumerated one by one; beyond, the sum is convolved on a grid of as many cells.
OUTCOMES = 1 << 18


def work(item: list[Any]) -> dict[str, Any]:
    """The three curves of one document."""
    kind, sizes, kept, slopes, idf, draws = item[0], *(np.array(x) for x in item[1:5]), item[5]
    free = sizes - kept
    rng = np.random.default_rng(SEED)
    counts = kept + rng.binomial(free, 0.5, size=(draws, len(sizes)))
    alpha = slopes * idf
    if kind == "plain":
        values = counts @ alpha
        centre, spread = alpha @ (sizes + kept) / 2, np.sqrt(alpha**2 @ free / 4)
        grid = np.linspace(centre - 3 * spread, centre + 3 * spread, POINTS)
        # P(score <= t) is 1 - Prec of the classifier with intercept -t (Prop. 6).
        gauss = [
            float(1 - theory.gaussian_precision(theory.linear_level(alpha, sizes, kept, -t))) for t in grid
        ]
    else:
        norm = np.sqrt((counts * idf) ** 2 @ np.ones(len(sizes)))
        values = np.divide(counts @ alpha, norm, out=np.zeros(len(norm)), where=norm > 0)
        grid = np.linspace(-3, 3, POINTS)
        gauss = [
            float(1 - theory.gaussian_precision(theory.normalised_level(alpha, idf, sizes, kept, -t)))
            for t in grid
        ]
    sampled = np.searchsorted(np.sort(values), grid, side="right") / draws
    exact = _exact(kind, sizes, kept, alpha, idf, grid)
    return {"grid": grid.tolist(), "sampled": sampled.tolist(), "gauss": gauss, "exact": exact}


def _exact(kind: str, sizes: Any, kept: Any, alpha: Any, idf: Any, grid: Any) -> list[float] | None:
    """P(score <= t), by enumeration, or by convolution of a plain sum on a grid of 2^18 cells."""
    free = sizes - kept
    laws = [np.array([comb(int(f), c) / 2**f for c in range(f + 1)]) for f in free]
    if prod(int(f) + 1 for f in free) <= OUTCOMES:
        each = np.stack(np.unravel_index(np.arange(prod(free + 1)), tuple(free + 1)), axis=1)
        weight = np.prod([law[each[:, j]] for j, law in enumerate(laws)], axis=0)
        values = (each + kept) @ alpha
        if kind != "plain":
            norm = np.sqrt(((each + kept) * idf) ** 2 @ np.ones(len(sizes)))
            values = np.divide(values, norm, out=np.zeros(len(norm)), where=norm > 0)
    elif kind == "plain":
        low = kept @ alpha + np.minimum(alpha, 0) @ free
        cell = (np.abs(alpha) @ free) / OUTCOMES
        weight = np.zeros(OUTCOMES + len(sizes) * 80)
        weight[0] = 1.0
        for slope, count in zip(alpha, free, strict=True):
            step = round(abs(slope) / cell)
            for _ in range(count):
                weight[step:] = (weight[step:] + weight[: len(weight) - step]) / 2
                weight[:step] /= 2
        values = low + cell * np.arange(len(weight))
    else:
        return None
    order = np.argsort(values)
    below = np.concatenate([[0.0], np.cumsum(weight[order])])
    # A score that equals t but for rounding counts as equal.
    return below[np.searchsorted(values[order], grid + 1e-9, side="right")].tolist()


def run(session: Session) -> Result:
    """Plain and normalised TF-IDF, several lengths of document and anchor."""
    figures, checks = [], []
    for kind in ("plain", "normalised"):
        cases = _cases(kind)
        items = [[kind, *(x.tolist() for x in case), session.scale.monte_carlo] for case in cases]
        curves = session.each(sys.modules[__name__], kind, items, work)
        stem = f"cdf-{kind}"
        worst_sampled, numbers = 0.0, {}
        worst_gauss = dict.fromkeys((5, 20), 0.0)
        with canvas(session, stem, 2, 4, size=(10.4, 4.6), sharey=True) as axes:
            for axis, curve, (sizes, kept, slopes, idf) in zip(axes, curves, cases, strict=True):
                grid, sampled, gauss = (np.array(curve[k]) for k in ("grid", "sampled", "gauss"))
                axis.plot(grid, gauss, color=ORANGE, lw=2.2, label=r"Gaussian $\Phi$")
                axis.plot(grid, sampled, color=BLUE, lw=1.4, label="Monte Carlo")
                title = f"d={len(sizes)}, b={sizes.sum()}, |A|={kept.sum()}"
                off = float(np.abs(sampled - gauss).max())
                bound = float(theory.berry_esseen(slopes * idf, sizes, kept))
                numbers[title] = {"sup |Monte Carlo - Gaussian|": off, "Berry-Esseen bound": bound}
                if len(sizes) in worst_gauss:
                    worst_gauss[len(sizes)] = max(worst_gauss[len(sizes)], off)
                if curve["exact"] is not None:
                    exact = np.array(curve["exact"])
                    axis.plot(grid, exact, color=INK, lw=0.8, ls=(0, (3, 2)), label="exact")
                    worst_sampled = max(worst_sampled, float(np.abs(sampled - exact).max()))
                    if kind == "plain":
                        numbers[title]["sup |exact - Gaussian|"] = float(np.abs(exact - gauss).max())
                axis.set_title(title)
            axes[0].legend(loc="lower right", handlelength=1.2, borderaxespad=0.1)
            for axis in axes[4:]:
                axis.set_xlabel("score $t$")
            for axis in axes[::4]:
                axis.set_ylabel(r"$P(\mathrm{score} \leq t)$")
        # A Monte-Carlo curve of n draws strays by 2 / sqrt(n) with probability 2 exp(-8) (DKW).
        slack = 2 / np.sqrt(session.scale.monte_carlo)
        figures.append(
            Figure(
                stem,
                f"Distribution of the score on {kind} TF-IDF for eight random documents of d words and b "
                "occurrences "
                "and anchors of |A|. Largest distance of Monte Carlo and Gaussian: "
                f"{worst_gauss[5]:.3f} at d=5, {worst_gauss[20]:.3f} at d=20; of "
                f"Monte Carlo and exact: {worst_sampled:.4f}.",
                "The error of the Gaussian approximation falls as the document gets more words.",
                worst_gauss[20] < worst_gauss[5],
                numbers,
            )
        )
        checks.append(
            Check(
                f"{kind}: the Monte-Carlo curve is the exact one, up to 2/sqrt(n).",
                worst_sampled <= slack,
                f"{worst_sampled:.4f} <= {slack:.4f}",
            )
        )
    bounded = all(
        n["sup |exact - Gaussian|"] <= n["Berry-Esseen bound"] + 1e-9
        for n in figures[0].numbers.values()
        if "sup |exact - Gaussian|" in n
    )
    checks.append(Check("plain: exact and Gaussian differ by no more than the Berry-Esseen bound.", bounded))
    return Result("cdf", TITLE, figures=tuple(figures), checks=tuple(checks))


def _cases(kind: str) -> list[tuple[Any, Any, Any, Any]]:
    """Multiplicities, anchor, coefficients and IDF of each document: sizes and shares as in the paper."""
    rng = np.random.default_rng(SEED)
    cases = []
    for d in (5, 20):
        for most in (5, 10):
            for share in (0.3, 0.7):
                sizes = np.maximum(1, np.round(most * rng.random(d))).astype(int)
                kept = rng.binomial(sizes, share)
                idf = 7 - np.abs(rng.normal(size=d)) if kind == "normalised" else np.ones(d)
                cases.append((sizes, kept, rng.normal(size=d) * (1 if kind == "normalised" else 5), idf))
    if kind == "plain":
        sizes, kept = (np.array(x) for x in PAPER)
        cases[0] = (sizes, kept, 5 * rng.normal(size=len(sizes)), np.ones(len(sizes)))
    return cases
