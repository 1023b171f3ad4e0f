"""Anchors as the model moves: how often each word is in the anchor while the intercept is shifted."""

from collections import Counter
from collections.abc import Mapping, Sequence
from copy import deepcopy
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from kedge.errors import ModelError, OptionError
from kedge.plots.style import LINES, QUIET, axes, axis_label, tidy
from kedge.results.explanation import Explanation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["shift", "shifted"]


def shifted(pipeline: Any, by: float) -> Any:
    """A copy of a scikit-learn pipeline whose linear classifier has its intercept moved by ``by``."""
    final = pipeline.steps[-1][1] if hasattr(pipeline, "steps") else None
    if final is None or not hasattr(final, "intercept_"):
        raise ModelError("Only a scikit-learn pipeline that ends in a linear classifier can be shifted.")
    moved = deepcopy(pipeline)
    moved.steps[-1][1].intercept_ = final.intercept_ + by
    return moved


def shift(
    explanations: Mapping[float, Explanation | Sequence[Explanation]],
    words: Sequence[str] | None = None,
    *,
    top: int = 3,
    ax: "Axes | None" = None,
) -> "Axes":
    """The share of anchors that contain each word, as a shift of the model grows.

    Parameters
    ----------
    explanations
        For each shift one explanation, or several (over seeds, say), of the same text.
    words
        Which words to follow; by default the ``top`` most frequent in the anchors.
    """
    if not explanations:
        raise OptionError("shift needs explanations for at least one shift.")
    runs = {
        by: [found] if isinstance(found, Explanation) else list(found)
        for by, found in sorted(explanations.items())
    }
    if words is None:
        often = Counter(word for group in runs.values() for e in group for word in dict.fromkeys(e.words))
        words = [word for word, _ in often.most_common(top)]
    ax = axes(ax, (6.4, 3.4))
    one_each = all(len(group) == 1 for group in runs.values())
    for i, word in enumerate(words):
        share = [sum(word in e.words for e in group) / max(1, len(group)) for group in runs.values()]
        # With one answer per shift the word is in or out: a step, drawn a little apart from the others.
        apart = 0.012 * (i - (len(words) - 1) / 2) if one_each else 0.0
        ax.plot(
            list(runs),
            [value + apart for value in share],
            color=LINES[i % len(LINES)],
            linewidth=2,
            drawstyle="steps-mid" if one_each else "default",
            marker="os^Dv<>"[i % 7],
            markersize=4.5,
            label=axis_label(word),
        )
    for at in _label_changes(runs):
        ax.axvline(at, color=QUIET, linestyle=(0, (1, 2)), linewidth=1.2)
        ax.text(
            at,
            0.5,
            "another label",
            rotation=90,
            va="center",
            ha="center",
            fontsize="small",
            color=QUIET,
            bbox={"facecolor": ax.get_facecolor(), "edgecolor": "none", "pad": 2},
            zorder=5,
        )
    ax.set_ylim(-0.06, 1.06)
    ax.set_xlabel("shift of the intercept")
    ax.set_ylabel("share of anchors with the word")
    ax.set_title("Anchors as the model moves", loc="left", fontsize="medium")
    ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    tidy(ax)
    return ax


def _label_changes(runs: Mapping[float, Sequence[Explanation]]) -> list[float]:
    """Between which shifts the model gives the text another label, which then is the one explained."""
    labels = [(by, group[0].label) for by, group in runs.items() if group]
    return [(a + b) / 2 for (a, one), (b, other) in pairwise(labels) if one != other]
