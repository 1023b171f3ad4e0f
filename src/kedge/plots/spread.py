"""Anchors of one text over seeds or over thresholds."""

from itertools import combinations
from typing import TYPE_CHECKING

from kedge.errors import OptionError
from kedge.plots.style import ACCENT, QUIET, axes, axis_label, tidy
from kedge.results.explanation import Explanation
from kedge.studies.comparison import jaccard
from kedge.studies.repeats import Stability

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

__all__ = ["stability"]

# Rows beyond this many would not be readable.
_ROWS = 30


def stability(found: "Sequence[Explanation] | Stability", *, ax: "Axes | None" = None) -> "Axes":
    """Which words are in the anchor (filled) in each of several explanations of the same text.

    Takes explanations, or what ``kedge.stability`` found. One column per explanation, named by its
    threshold if these differ, else by its seed; one row per word that is in any anchor, in the order
    of the text. The title has the mean pairwise Jaccard similarity of the anchors' words.
    """
    explanations = found.explanations if isinstance(found, Stability) else found
    if not explanations:
        raise OptionError("stability needs at least one explanation.")
    if len({e.text for e in explanations}) > 1:
        raise OptionError("stability compares explanations of one text; these are of several.")
    first = explanations[0]
    over_thresholds = len({e.threshold for e in explanations}) > 1
    over_seeds = len({e.seed for e in explanations}) > 1
    rows = sorted({k for e in explanations for k in e.positions})[:_ROWS]
    ax = axes(ax, (max(3.6, 1.9 + 0.36 * len(explanations)), 1.3 + 0.3 * max(1, len(rows))))
    for column, e in enumerate(explanations):
        kept = [rows.index(k) for k in e.positions if k in rows]
        ax.scatter(
            [column] * len(rows), range(len(rows)), s=16, color=QUIET, alpha=0.3, linewidths=0, zorder=2
        )
        if kept:
            ax.plot([column, column], [min(kept), max(kept)], color=ACCENT, linewidth=2, alpha=0.35, zorder=1)
            ax.scatter([column] * len(kept), kept, s=95, color=ACCENT, linewidths=0, zorder=3)
    ax.set_yticks(range(len(rows)))
    ax.set_yticklabels([axis_label(first.text[slice(*first.tokens[k])]) for k in rows])
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.set_xticks(range(len(explanations)))
    ax.set_xticklabels([_name(e, over_thresholds, over_seeds) for e in explanations])
    ax.set_xlim(-0.6, len(explanations) - 0.4)
    ax.set_xlabel(" · ".join(["threshold"] * over_thresholds + ["seed"] * over_seeds) or "seed")
    alike = [jaccard(a.words, b.words) for a, b in combinations(explanations, 2)]
    agreement = f"mean Jaccard {sum(alike) / len(alike):.2f}" if alike else "one explanation"
    ax.set_title(f"Anchors of one text: {agreement}", loc="left", fontsize="medium")
    tidy(ax, grid=None)
    for side in ("left", "bottom"):
        ax.spines[side].set_visible(False)
    ax.tick_params(length=0)
    return ax


def _name(e: Explanation, over_thresholds: bool, over_seeds: bool) -> str:
    if over_thresholds:
        return f"{e.threshold:g} · {e.seed}" if over_seeds else f"{e.threshold:g}"
    return str(e.seed)
