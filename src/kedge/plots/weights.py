"""What each word does to the label, with the anchor marked."""

from typing import TYPE_CHECKING

from kedge.errors import OptionError
from kedge.plots.style import ACCENT, LOST, QUIET, SOFT, axes, axis_label, tidy
from kedge.results.explanation import Explanation
from kedge.results.influence import Influence
from kedge.typing import Label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["words"]


def words(
    explanation: Explanation,
    *,
    label: Label | None = None,
    influence: Influence | None = None,
    top: int = 15,
    ax: "Axes | None" = None,
) -> "Axes":
    """What each word does to the explained label, the anchor's words marked; the model is not queried.

    Parameters
    ----------
    explanation
        Whose text, anchor and influence are shown.
    label
        A class, whose log-odds or score is shown instead of the probability that the label holds.
    influence
        Another influence on the same text: of more samples, ``kedge.influence(model, text, samples=20_000)``.
    top
        How many words to show, those of largest influence by size.
    """
    e = explanation
    known = e.influence if influence is None else influence
    if known is None or len(known.values) != len(e.tokens):
        raise OptionError(
            "This explanation says nothing about single words; measure them: "
            "words(e, influence=kedge.influence(model, e.text))."
        )
    if label is None and e.needs_no_word and not (known.supporters or known.adversaries):
        label = e.label if known.of(e.label) else None  # no word changes the label: its log-odds say more
    shown, what = _by_word(known, label)
    ranked = sorted(shown, key=lambda row: -abs(row[1]))[:top]
    ranked.sort(key=lambda row: row[1])
    ax = axes(ax, (6.4, 0.9 + 0.27 * len(ranked)))
    own_places = () if e.needs_no_word else e.positions
    mine = [not set(own_places).isdisjoint(places) for places, _, _ in ranked]
    values = [value for _, value, _ in ranked]
    colours = [
        ACCENT if own else SOFT if value >= 0 else LOST for own, value in zip(mine, values, strict=True)
    ]
    spread = None if known.exact else [2 * error for _, _, error in ranked]
    bars = ax.barh(
        range(len(ranked)),
        values,
        color=colours,
        height=0.68,
        xerr=spread,
        error_kw={"ecolor": QUIET, "elinewidth": 1},
    )
    for bar, own, value in zip(bars, mine, values, strict=True):
        if not own:
            bar.set_alpha(0.75 if value >= 0 else 0.55)
    ax.set_yticks(range(len(ranked)))
    ax.set_yticklabels([axis_label(e.text[slice(*e.tokens[places[0]])]) for places, _, _ in ranked])
    for tick, own in zip(ax.get_yticklabels(), mine, strict=True):
        tick.set_fontweight("bold" if own else "normal")
    ax.axvline(0, color=QUIET, linewidth=0.8)
    ax.set_xlabel(what if known.exact else f"{what} (± 2 standard errors)")
    ax.set_title(
        f"Words for the label “{axis_label(str(e.label if label is None else label))}”"
        f"{'' if e.needs_no_word else ' (bold: the anchor)'}",
        loc="left",
        fontsize="medium",
    )
    tidy(ax, grid="x")
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)
    return ax


def _by_word(known: Influence, label: Label | None) -> tuple[list[tuple[tuple[int, ...], float, float]], str]:
    """Positions, value and error of each word, and what the value is."""
    if label is None:
        rows = [(w.positions, w.value, w.error) for w in known.words if w.error < 1]
        return rows, "change of the probability that the label holds"
    if (of_class := known.of(label)) is None:
        classes = ", ".join(repr(c.label) for c in known.classes) or "none"
        raise OptionError(f"The influence on {label!r} is not known; it is known for: {classes}.")
    rows = [
        (
            w.positions,
            sum(of_class.values[k] for k in w.positions),
            sum(of_class.errors[k] ** 2 for k in w.positions) ** 0.5,
        )
        for w in known.words
    ]
    return rows, f"change of the {known.scale} of {axis_label(str(label))}"
