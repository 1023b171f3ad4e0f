"""What flips a label, for the terminal and as a page: words struck out, the new label, its probability."""

from collections.abc import Callable
from typing import Any

from kedge.render.excerpt import gap, is_long
from kedge.render.html import environment, style, writable
from kedge.render.segments import Segment
from kedge.render.words import duration, listed, queries
from kedge.results.flip import Flip
from kedge.utils.messages import visible
from kedge.utils.rounding import rounded
from kedge.utils.sentences import Option, Sentence, spelled

__all__ = ["flip_headline", "flip_notebook", "flip_page", "flip_promise", "render_flip"]

# A mark beside the name of each status: not by colour alone.
_SIGNS = {"exact": "=", "verified": "✓", "not_found": "!"}
# Classes shown with their probability.
_CLASSES = 6


def flip_headline(f: Flip) -> str:
    """The answer in one sentence."""
    if not f.found:
        goal = "the label" if f.to is None else f"the label to “{f.to}”"
        what = "removal" if f.replacements is None else "replacement"
        return f"No {what} was found that changes {goal}."
    if f.replacements is not None:
        changes = [f"“{a}” by “{b}”" for a, b in zip(f.words, f.replacements, strict=True)]
        return f"Replacing {', '.join(changes)} changes the label to “{f.new_label}”."
    there = [f.text[slice(*span)] for span in f.tokens]
    return f"Without {listed(f.words, there)}, the label is “{f.new_label}”."


def flip_promise(f: Flip) -> str:
    """What is known of it."""
    if f.status == "exact":
        fewer = "One word is the minimum" if len(f.words) == 1 else "Proven: no fewer words will do"
        return f"{fewer}. The model confirmed the new label."
    if f.status == "verified":
        if f.minimality == "open":
            return "The model confirmed the new label; the budget ran out before fewer words were tried."
        if len(f.words) == 1:
            return "One word is the minimum. The model confirmed the new label."
        back = "Putting any one of the words back restores the old one"
        return f"The model confirmed the new label. {back}, but a smaller set of other words may exist."
    return Sentence(
        "A change that was not tried may still work; raise ",
        Option("max_queries"),
        ", or replace words with ",
        Option("replace"),
        ".",
    )


def render_flip(f: Flip, *, colour: bool, spell: Callable[[Option], str] = str) -> str:
    """The text with the words struck out, the labels before and after, and what is known of it.

    ``spell`` says how options are written in its sentences, by default as in Python.
    """
    bold, dim, reset = ("\x1b[1m", "\x1b[2m", "\x1b[0m") if colour else ("", "", "")
    verb = "removed   " if f.replacements is None else "replaced  "
    lines = [
        _struck(f, colour=colour),
        "",
        f"{dim}label     {reset} {bold}{visible(str(f.label))}{reset}{_share(f.probabilities, f.label)}",
    ]
    if f.found:
        after = _share(f.probabilities_after, f.new_label)
        lines += [
            f"{dim}{verb}{reset} {bold}{visible(' '.join(f.words))}{reset}",
            f"{dim}new label {reset} {bold}{visible(str(f.new_label))}{reset}{after}",
        ]
    cost = ", ".join(filter(None, [visible(f.method), queries(f.queries), duration(f.seconds)]))
    lines += [
        f"{dim}found by  {reset} {cost}",
        "",
        visible(f"{flip_headline(f)} {spelled(flip_promise(f), spell)}"),
        *(visible(spelled(note, spell)) for note in f.notes),
    ]
    return "\n".join(lines)


def _share(pairs: tuple[tuple[Any, float], ...] | None, label: Any) -> str:
    share = dict(pairs or ()).get(label)
    return "" if share is None else f"   probability {rounded(share)}"


def _struck(f: Flip, *, colour: bool) -> str:
    """The text with what goes struck out, and what comes instead."""
    segments, parts = _segments(f), []
    for k, segment in enumerate(segments):
        shown = visible(segment.text)
        if segment.kind == "removed":
            parts.append(f"\x1b[9;31m{shown}\x1b[0m" if colour else f"[-{shown}-]")
        elif segment.kind == "kept":
            parts.append(f"\x1b[1;32m{shown}\x1b[0m" if colour else f"{{+{shown}+}}")
        else:
            parts.append(gap(segment.text, first=k == 0, last=k == len(segments) - 1, short=is_long(f.text)))
    return "".join(parts)


def _segments(f: Flip) -> list[Segment]:
    """The document cut at the words that go; a replacement is a segment that is kept."""
    segments, end = [], 0
    for i, (start, stop) in enumerate(f.spans):
        segments += [Segment(f.text[end:start]), Segment(f.text[start:stop], "removed")]
        if f.replacements is not None:
            segments.append(Segment(f.replacements[i], "kept"))
        end = stop
    return [segment for segment in (*segments, Segment(f.text[end:])) if segment.text]


def flip_page(f: Flip) -> str:
    """One self-contained file."""
    return _render(f, notebook=False)


def flip_notebook(f: Flip) -> str:
    """A fragment for a notebook cell."""
    return _render(f, notebook=True)


def _render(f: Flip, *, notebook: bool) -> str:
    template = environment().get_template("flip_notebook.html.j2" if notebook else "flip_page.html.j2")
    return writable(
        template.render(
            f=f,
            notebook=notebook,
            style=style(),
            headline=flip_headline(f),
            promise=flip_promise(f),
            sign=_SIGNS[f.status],
            status=f.status.replace("_", " ").capitalize(),
            pieces=_segments(f),
            sides=[
                {"name": "Before", "label": f.label, "bars": _bars(f, f.probabilities, f.label)},
                {"name": "After", "label": f.new_label, "bars": _bars(f, f.probabilities_after, f.new_label)},
            ][: 2 if f.found else 1],
            spent=queries(f.queries),
        )
    )


def _bars(f: Flip, pairs: tuple[tuple[Any, float], ...] | None, label: Any) -> list[dict[str, Any]]:
    """The most probable classes, the two labels always among them."""
    mine = {f.label, f.new_label}
    ranked = sorted(pairs or (), key=lambda pair: (pair[0] not in mine, -pair[1]))[:_CLASSES]
    return [
        {"label": c, "value": rounded(p), "width": round(100 * p, 1), "mine": c == label}
        for c, p in sorted(ranked, key=lambda pair: str(pair[0]))
    ]
