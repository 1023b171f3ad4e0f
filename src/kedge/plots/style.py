"""What the plots have in common: axes made on request, quiet frames, one palette."""

from typing import TYPE_CHECKING, Any

from kedge.errors import MissingDependency
from kedge.utils.messages import shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ACCENT", "LINES", "LOST", "QUIET", "SOFT", "axes", "axis_label", "tidy"]

# The palette of the pages (render/templates/kedge.css): readable on white and on dark grey, and
# told apart by lightness too.
ACCENT, SOFT, LOST, QUIET = "#0a7a83", "#8cc3c6", "#c2502f", "#7a858e"
# Lines of several words: from Okabe & Ito (2008), chosen to be told apart by colour-blind readers.
LINES = ("#0a7a83", "#d55e00", "#7b4fa3", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")


def axes(ax: "Axes | None", size: tuple[float, float]) -> "Axes":
    """The given axes, or new ones; the user's own matplotlib settings stay as they are."""
    try:
        from matplotlib import pyplot as plt
    except ImportError:
        raise MissingDependency("Plots need matplotlib: pip install 'kedge[plot]'.") from None
    if ax is not None:
        return ax
    _, made = plt.subplots(figsize=size, layout="constrained")
    new: Axes = made
    return new


def tidy(ax: "Axes", *, grid: Any = "y") -> None:
    """No box around the picture, a light grid below it."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_color(QUIET)
        ax.spines[side].set_linewidth(0.8)
    ax.tick_params(color=QUIET, width=0.8, length=3)
    ax.set_axisbelow(True)
    if grid:
        ax.grid(visible=True, axis=grid, color=QUIET, alpha=0.22, linewidth=0.8)


def axis_label(text: str, width: int = 28) -> str:
    """A word that fits beside an axis; ``$`` would start a formula for matplotlib."""
    text = "".join(c if c.isprintable() else " " for c in text)
    return shorten(text, width, "…").replace("\\", "\\\\").replace("$", r"\$")
