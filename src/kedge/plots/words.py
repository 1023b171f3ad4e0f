"""How much each word weighs, with the anchor marked."""

from typing import TYPE_CHECKING, Any

import numpy as np

from kedge.errors import OptionError
from kedge.explanation import Explanation
from kedge.model import as_model
from kedge.oracle import Oracle
from kedge.perturb import Masking
from kedge.plots.style import ACCENT, LOST, QUIET, SOFT, axes, shortened, tidy
from kedge.reading import Reading, read, read_document
from kedge.typing import Floats, Label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["influence", "words"]

# One pool of uniform masks gives the influence of every word at once: a standard error of about 0.02.
_POOL = 2000


def words(
    explanation: Explanation,
    model: Any = None,
    *,
    top: int = 15,
    samples: int = _POOL,
    ax: "Axes | None" = None,
) -> "Axes":
    """The weight of each word for the explained label, the anchor's words marked.

    Parameters
    ----------
    explanation
        Whose text and anchor are shown.
    model
        The model that was explained: its score's weight per occurrence (coefficient times IDF) where
        the score is a sum over words, the gradient of the score where there is one, else the influence
        of each word, measured on ``samples`` masks. Without a model the trace of the search is used:
        the precision of each word alone minus the baseline.
    top
        How many words to show, those of largest weight by size.
    """
    e = explanation
    weights, what = _from_trace(e) if model is None else _from_model(e, model, samples)
    ranked = sorted(weights, key=lambda k: -abs(weights[k]))[:top]
    ranked.sort(key=lambda k: weights[k])
    ax = axes(ax, (6.4, 0.9 + 0.27 * len(ranked)))
    # Positions of an occurrence-counting model share a weight: the anchor's word is marked if any is kept.
    kept = {e.text[slice(*e.tokens[k])].casefold() for k in e.positions}
    names = [e.text[slice(*e.tokens[k])] for k in ranked]
    mine = [name.casefold() in kept for name in names]
    values = [weights[k] for k in ranked]
    colours = [
        ACCENT if own else SOFT if value >= 0 else LOST for own, value in zip(mine, values, strict=True)
    ]
    bars = ax.barh(range(len(ranked)), values, color=colours, height=0.68)
    for bar, own, value in zip(bars, mine, values, strict=True):
        if not own:
            bar.set_alpha(0.75 if value >= 0 else 0.55)
    ax.set_yticks(range(len(ranked)))
    ax.set_yticklabels([shortened(name) for name in names])
    for tick, own in zip(ax.get_yticklabels(), mine, strict=True):
        tick.set_fontweight("bold" if own else "normal")
    ax.axvline(0, color=QUIET, linewidth=0.8)
    ax.set_xlabel(what)
    ax.set_title(
        f"Words for the label {shortened(str(e.label))} (bold: the anchor)", loc="left", fontsize="medium"
    )
    tidy(ax, grid="x")
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)
    return ax


def influence(
    model: Any, text: str, *, label: Label | None = None, samples: int = _POOL, seed: int = 0
) -> Floats:
    """(b,) P(label holds | word kept) - P(label holds | word removed), for every position of a text.

    All positions share one pool of uniform masks (the Banzhaf value). A position
    the model does not read has influence 0.
    """
    reading, rng = _reading(model, text, label, seed)
    counts = reading.sample((), samples, rng)
    holds = reading.holds(counts).astype(np.float64)
    weights = np.zeros(len(reading.document))
    for j, (group, size) in enumerate(zip(reading.units.members, reading.units.sizes.tolist(), strict=True)):
        # Of the m occurrences c are kept: a given one is kept in a share c / m of such samples.
        share = counts[:, j] / size
        kept, gone = float(share.sum()), float((1 - share).sum())
        if kept and gone:
            weights[list(group)] = (holds @ share) / kept - (holds @ (1 - share)) / gone
    return weights


def _reading(model: Any, text: str, label: Label | None, seed: int) -> tuple[Reading, np.random.Generator]:
    known = as_model(model)
    rng = np.random.default_rng(seed)
    document, own = read_document(known, text, None)
    reading = read(
        known,
        document,
        own_units=own,
        split_by_user=False,
        perturbation=Masking(),
        label=label,
        oracle=Oracle(),
        rng=rng,
    )
    return reading, rng


def _from_model(e: Explanation, model: Any, samples: int) -> tuple[dict[int, float], str]:
    reading, _ = _reading(model, e.text, e.label, e.seed)
    if tuple((t.start, t.stop) for t in reading.document.tokens) != e.tokens:
        raise OptionError(
            "This model does not read the explained text in the same words; pass the same model."
        )
    firsts = [group[0] for group in reading.units.members]
    if reading.additive is not None:
        weights = {k: float(table[1]) for k, table in zip(firsts, reading.additive.tables, strict=True)}
        return weights, "what one occurrence adds to the score (coefficient times IDF)"
    if reading.gradient is not None:
        slopes = reading.gradient()
        return {k: float(slope) for k, slope in zip(firsts, slopes, strict=True)}, "gradient of the score"
    measured = influence(model, e.text, label=e.label, samples=samples, seed=e.seed)
    return {k: float(measured[k]) for k in firsts}, "influence: precision with the word minus without it"


def _from_trace(e: Explanation) -> tuple[dict[int, float], str]:
    single = {s.positions[0]: s.precision for s in e.trace if len(s.positions) == 1}
    if not single or e.baseline is None:
        raise OptionError(
            "This explanation's search did not look at single words; pass the model: words(e, model)."
        )
    return {k: p - e.baseline for k, p in single.items()}, "precision of the word alone minus the baseline"
