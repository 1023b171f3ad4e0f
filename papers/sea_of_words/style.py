"""One look for all figures."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from .session import Session

__all__ = ["BLUE", "GREY", "INK", "ORANGE", "TEAL", "bars", "canvas"]

INK, GREY = "#22303c", "#b9c4cc"
BLUE, ORANGE, TEAL = "#2f6fb0", "#e07b39", "#2a9d8f"

_RC = {
    "font.size": 9,
    "font.family": "DejaVu Sans",
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlesize": 8.3,
    "axes.titlecolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.8,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e6ebef",
    "grid.linewidth": 0.8,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "figure.constrained_layout.use": True,
    "savefig.dpi": 130,
    "pdf.fonttype": 42,
}


@contextmanager
def canvas(session: Session, stem: str, rows: int = 1, columns: int = 1, **options: Any) -> Iterator[Any]:
    """A figure to draw on, saved as PNG and PDF when done. Gives a flat list of axes."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with mpl.rc_context(_RC):
        figure = Figure(figsize=options.pop("size", (3.6 * columns, 2.7 * rows)))
        FigureCanvasAgg(figure)
        axes = figure.subplots(rows, columns, squeeze=False, **options).ravel().tolist()
        yield axes
        for suffix in ("png", "pdf"):
            # No date inside: the same results give the same bytes.
            stamp = {"Software": None} if suffix == "png" else {"CreationDate": None}
            figure.savefig(session.figures / f"{stem}.{suffix}", metadata=stamp, bbox_inches="tight")


def bars(
    axis: Any, names: Sequence[str], counts: Sequence[float], colours: Sequence[str], total: int
) -> None:
    """Horizontal bars, the longest on top, each with its count."""
    at = range(len(names))
    axis.barh(at, counts, color=colours, height=0.62)
    axis.set_yticks(at, names)
    axis.grid(axis="y", visible=False)
    axis.set_xlim(0, total * 1.12)
    axis.set_ylim(max(len(names), 2) - 0.5, -0.5)
    axis.xaxis.get_major_locator().set_params(integer=True)
    axis.set_xlabel(f"runs out of {total}")
    for k, count in zip(at, counts, strict=True):
        axis.text(count + total * 0.015, k, f"{count:g}", va="center", fontsize=8, color=INK)
