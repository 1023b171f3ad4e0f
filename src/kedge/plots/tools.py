"""How the words of several tools do: enough, and needed."""

from typing import TYPE_CHECKING

from kedge.errors import OptionError
from kedge.plots.style import ACCENT, LOST, QUIET, axes, axis_label, tidy
from kedge.studies.evaluation import Evaluation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["evaluation"]


def evaluation(judged: Evaluation, *, ax: "Axes | None" = None) -> "Axes":
    """Sufficiency and comprehensiveness of each tool at the same number of words, the threshold dashed."""
    rows = judged.table()[::-1]
    if not rows:
        raise OptionError("There is nothing to draw: no text was judged.")
    ax = axes(ax, (6.4, 1.3 + 0.42 * len(rows)))
    heights = range(len(rows))
    enough, needed = [row["sufficiency"] for row in rows], [row["comprehensiveness"] for row in rows]
    ax.hlines(heights, [0] * len(rows), [1] * len(rows), color=QUIET, linewidth=0.6, alpha=0.4)
    ax.axvline(judged.threshold, color=QUIET, linewidth=1, linestyle="--")
    ax.scatter(enough, heights, color=ACCENT, s=48, zorder=3, label="sufficiency: the label holds with them")
    ax.scatter(
        needed, heights, facecolors="none", edgecolors=LOST, s=48, linewidths=1.6, zorder=3,
        label="comprehensiveness: it is lost without them",
    )  # fmt: skip
    ax.set_yticks(list(heights))
    ax.set_yticklabels([axis_label(row["tool"]) for row in rows])
    ax.set_xlim(-0.02, 1.02)
    ax.set_xlabel(f"mean over texts, {rows[-1]['size']:.1f} words each")
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=1, frameon=False, fontsize="small")
    tidy(ax, grid=None)
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)
    return ax
