"""Algorithm 1's picture for one document: each candidate's length against its precision."""

from typing import TYPE_CHECKING

from kedge.plots.style import ACCENT, LOST, QUIET, SOFT, axes, axis_label, tidy
from kedge.render.trace import spread_out
from kedge.results.explanation import Explanation
from kedge.utils.rounding import is_wide, rounded

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["search"]


def search(explanation: Explanation, *, ax: "Axes | None" = None) -> "Axes":
    """Every candidate the search looked at, the threshold as a line, the chosen one ringed.

    A bar through a dot is its interval, where sampling left one; the diamond is the baseline.
    """
    e = explanation
    ax = axes(ax, (6.4, 3.6))
    steps = sorted(e.trace, key=lambda s: (s.positions != e.positions, -s.precision))
    across = [len(s.positions) + shift for s, shift in zip(steps, spread_out(steps), strict=True)]
    up = [s.precision for s in steps]
    for x, s in zip(across, steps, strict=True):
        if is_wide(s.interval):
            ax.plot([x, x], [s.interval.low, s.interval.high], color=SOFT, alpha=0.45, linewidth=1, zorder=1)
    ax.scatter(across, up, s=22, color=SOFT, edgecolors="none", alpha=0.85, zorder=2)
    own = bool(steps) and steps[0].positions == e.positions
    x, y = (across[0], up[0]) if own else (len(e.positions), e.precision)
    ax.scatter([x], [y], s=30, color=ACCENT, zorder=4)
    ax.scatter([x], [y], s=190, facecolors="none", edgecolors=LOST, linewidths=1.8, zorder=4)
    ax.axhline(e.threshold, color=QUIET, linestyle=(0, (4, 3)), linewidth=1, zorder=1)
    low = [e.precision, e.threshold, *up]
    lengths = [len(e.positions), *(len(s.positions) for s in steps)]
    if e.baseline is not None:
        ax.scatter(
            [0], [e.baseline.mean], s=42, marker="D", facecolors="none", edgecolors=QUIET, linewidths=1.4
        )
        low.append(e.baseline.mean)
        lengths.append(0)
    shortest, longest = min(lengths), max(lengths)
    ax.set_xticks(range(shortest, longest + 1, max(1, longest // 12)))
    ax.set_xlim(shortest - 0.6, longest + 0.6)
    ax.set_ylim(max(-0.02, min(low) - 0.06), 1.03)
    ax.set_xlabel("words kept")
    ax.set_ylabel("precision")
    anchor = axis_label(" · ".join(e.words) or "(nothing)", 40)
    shown = rounded(e.precision, e.threshold)
    title = f"What keeps the label “{axis_label(str(e.label))}”: {anchor} ({shown})"
    ax.set_title(title, loc="left", fontsize="medium")
    tidy(ax)
    return ax
