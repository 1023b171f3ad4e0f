"""An explanation as a page of its own, or as a cell's output in a notebook.

Everything goes through one auto-escaped template: whatever is in the text, the labels or the notes
shows as itself.
"""

from functools import cache
from typing import TYPE_CHECKING, Any

from kedge.explanation import Explanation
from kedge.render.numbers import percent, rounded, spread
from kedge.render.phrases import baseline, headline, meaning, provenance, status_name
from kedge.render.pieces import Piece, document_pieces, example_pieces
from kedge.render.scatter import scatter

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["environment", "notebook", "page", "style", "stylesheet", "writable"]

# A mark beside the name of each status: not by colour alone.
SIGNS = {"exact": "=", "certified": "✓", "estimated": "≈", "not_reached": "!"}
# Classes shown with their probability; the rest are counted.
_CLASSES = 6


def page(e: Explanation) -> str:
    """One self-contained file: no network, no script, no notebook needed."""
    return _rendered("page.html.j2", e, notebook=False)


def notebook(e: Explanation) -> str:
    """A fragment for a notebook cell, light or dark with the notebook."""
    return _rendered("notebook.html.j2", e, notebook=True)


def stylesheet(*names: str) -> str:
    """The style sheets of the templates, one after the other."""
    from importlib.resources import files

    folder = files("kedge.render") / "templates"
    return "".join((folder / name).read_text(encoding="utf-8") for name in names)


@cache
def environment() -> "Environment":
    """The templates, auto-escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("kedge.render", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
    )


@cache
def style() -> Any:
    """The style sheets of every page."""
    from markupsafe import Markup

    # Our own style sheets, from the package: safe to insert as they are.
    return Markup(stylesheet("kedge.css", "report.css"))  # noqa: S704


def _rendered(template: str, e: Explanation, *, notebook: bool) -> str:
    e = _visible(e)
    low, high = e.interval
    wide = high - low >= 5e-4
    document = document_pieces(e)
    copies = [p.of for p in document if p.kind == "copy"]
    return (
        environment()
        .get_template(template)
        .render(
            e=e,
            notebook=notebook,
            style=style(),
            headline=headline(e),
            meaning=meaning(e),
            provenance=provenance(e),
            status_name=status_name(e),
            status_sign=SIGNS[e.status],
            document=document,
            has_copies=bool(copies),
            most=max(copies, default=0),
            precision=rounded(e.precision, e.threshold),
            spread=spread(low, high, e.threshold) if wide else None,
            baseline=baseline(e),
            coverage=None if e.coverage is None else percent(e.coverage),
            gauge=_gauge(e, wide=wide),
            bars=_bars(e),
            other_classes=max(0, len(e.probabilities or ()) - _CLASSES),
            plot=scatter(e),
            ties=_ties(e),
            kept_examples=_examples(e, held=True),
            lost_examples=_examples(e, held=False),
        )
    )


def _gauge(e: Explanation, *, wide: bool) -> dict[str, Any]:
    """Places on a line from 3 to 317, for 0 to 1."""
    low, high = e.interval

    def at(share: float) -> float:
        return round(3 + 314 * share, 1)

    between = f", between {' and '.join(spread(low, high, e.threshold))}" if wide else ""
    base = "" if e.baseline is None else f", {baseline(e)} with no word kept"
    return {
        "low": at(low),
        "high": at(high),
        "wide": wide,
        "mean": at(e.precision),
        "goal": at(e.threshold),
        "base": None if e.baseline is None else at(e.baseline),
        "label": (
            f"Gauge from 0 to 1: precision {rounded(e.precision, e.threshold)}{between}; asked for "
            f"{e.threshold:g}{base}."
        ),
    }


def _bars(e: Explanation) -> list[dict[str, Any]]:
    """The most probable classes, the explained one always among them."""
    ranked = sorted(e.probabilities or (), key=lambda pair: (pair[0] != e.label, -pair[1]))[:_CLASSES]
    ranked.sort(key=lambda pair: -pair[1])
    return [
        {"label": label, "value": rounded(value), "width": round(100 * value, 1), "mine": label == e.label}
        for label, value in ranked
    ]


def _ties(e: Explanation) -> str | None:
    """Algorithm 1's sets in a sentence."""
    if e.ties is None:
        return None
    found = "" if e.ties.reaching is None else f"{e.ties.reaching:,} sets of words reach {e.threshold:g}. "
    same, best = e.ties.shortest, len(e.ties.best)
    if same == 1:
        return f"{found}No other set as short as this one does."
    tied = "this one is the best of them" if best == 1 else f"{best:,} of them tie, of which this is one"
    return f"{found}{same:,} sets as short as this one do: {tied}."


def _examples(e: Explanation, *, held: bool) -> list[list[Piece]]:
    return [example_pieces(e, x.removed) for x in e.examples if x.holds == held]


def writable(text: str) -> str:
    """A text without lone surrogates, which UTF-8 cannot write: they become the replacement character."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _visible(e: Explanation) -> Explanation:
    from dataclasses import replace

    try:
        e.text.encode()
    except UnicodeEncodeError:
        # Surrogate pairs would join and shift what follows, so that each is replaced by itself.
        text = "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in e.text)
        return replace(e, text=text, words=tuple(map(writable, e.words)))
    return e
