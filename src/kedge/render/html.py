"""An explanation as a page of its own, or as a cell's output in a notebook.

Everything goes through one auto-escaped template: whatever is in the text, the labels or the notes
shows as itself.
"""

import re
from functools import cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from kedge.render.phrases import (
    baseline,
    headline,
    leading_status,
    meaning,
    provenance,
    status_name,
    unknown,
)
from kedge.render.removals import removal_rows, share_removed
from kedge.render.segments import Segment, document_segments, example_segments
from kedge.render.shading import strongest, unclear, views
from kedge.render.trace import scatter
from kedge.render.words import listed
from kedge.results.explanation import Explanation
from kedge.results.interval import Interval
from kedge.utils.rounding import is_wide, percent, rounded, spread

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["environment", "notebook", "page", "style", "stylesheet", "writable"]

# A mark beside the name of each status: not by colour alone.
SIGNS = {"exact": "=", "certified": "✓", "audited": "∴", "estimated": "≈", "not_reached": "!"}
# Classes shown with their probability; the rest are counted.
_CLASSES = 6
# Words shown with their influence, for and against.
_WORDS = 12


def page(e: Explanation) -> str:
    """One self-contained file: no network, no script, no notebook needed."""
    return _render("page.html.j2", e, notebook=False)


def notebook(e: Explanation) -> str:
    """A fragment for a notebook cell, light or dark with the notebook."""
    return _render("notebook.html.j2", e, notebook=True)


def stylesheet(*names: str) -> str:
    """The style sheets of the templates, one after the other."""
    from importlib.resources import files

    folder = files("kedge.render") / "templates"
    return "".join((folder / name).read_text(encoding="utf-8") for name in names)


@cache
def environment() -> "Environment":
    """The templates, auto-escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("kedge.render", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
    )
    made.filters["breakable"] = _breakable
    return made


def _breakable(label: Any) -> Any:
    """A label that may be broken where its name has a joint, as in ``card_not_working``."""
    from markupsafe import Markup, escape

    return Markup("<wbr>").join(map(escape, re.split(r"(?<=[_/.-])(?=.)", str(label))))


@cache
def style() -> Any:
    """The style sheets of every page."""
    from markupsafe import Markup

    # Our own style sheets, from the package: safe to insert as they are.
    return Markup(stylesheet("kedge.css", "shades.css", "report.css"))  # noqa: S704


def _render(template: str, e: Explanation, *, notebook: bool) -> str:
    e = _visible(e)
    main = e.baseline if e.needs_no_word and e.baseline is not None else e.interval
    wide = is_wide(main)
    shades = views(e)
    document = document_segments(e, [k for k in range(len(e.tokens)) if any(v.shades[k] for v in shades)])
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
            status=leading_status(e),
            status_sign=SIGNS[leading_status(e)],
            document=document,
            views=shades,
            unclear=unclear(e),
            unknown=unknown(e),
            group=_group(e) if shades else "",
            by_word=strongest(e, _WORDS),
            has_copies=bool(copies),
            most=max(copies, default=0),
            precision=rounded(main.mean, e.threshold),
            spread=spread(main, e.threshold) if wide else None,
            words=listed(e.words),
            of_words=rounded(e.precision, e.threshold),
            carried=None if e.carried_by is None else share_removed(e.carried_by.keep),
            removals=removal_rows(e),
            baseline=baseline(e),
            coverage=None if e.coverage is None else percent(e.coverage),
            gauge=_gauge(e, main, wide=wide),
            bars=_bars(e),
            other_classes=max(0, len(e.probabilities or ()) - _CLASSES),
            plot=scatter(e),
            ties=_ties(e),
            kept_examples=_examples(e, held=True),
            lost_examples=_examples(e, held=False),
        )
    )


def _group(e: Explanation) -> str:
    """A name for the switch of one explanation, so that several on a page do not share one."""
    about = repr((e.text, e.label, e.against, e.positions, e.threshold))
    return blake2b(about.encode("utf-8", "replace"), digest_size=6).hexdigest()


def _gauge(e: Explanation, main: Interval, *, wide: bool) -> dict[str, Any]:
    """Places on a line from 3 to 317, for 0 to 1; the diamond is another precision than the dot."""

    def at(share: float) -> float:
        return round(3 + 314 * share, 1)

    between = f", between {' and '.join(spread(main, e.threshold))}" if wide else ""
    other = None if e.baseline is None or main is e.baseline else e.baseline.mean
    base = "" if other is None else f", {baseline(e)} with no word held in place"
    return {
        "low": at(main.low),
        "high": at(main.high),
        "wide": wide,
        "mean": at(main.mean),
        "goal": at(e.threshold),
        "base": None if other is None else at(other),
        "label": (
            f"Gauge from 0 to 1: precision {rounded(main.mean, e.threshold)}{between}; threshold "
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
        return f"{found}No other set of this length does."
    tied = "this one is the best of them" if best == 1 else f"{best:,} of them tie, this one included"
    return f"{found}{same:,} sets of this length do: {tied}."


def _examples(e: Explanation, *, held: bool) -> list[list[Segment]]:
    return [example_segments(e, x.removed) for x in e.examples if x.holds == held]


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
