"""An explanation or a verdict as text for a terminal: colour where there is one, brackets elsewhere."""

import os
import sys
import unicodedata
from typing import TYPE_CHECKING

from kedge.explanation import Explanation
from kedge.render.numbers import percent, rounded, spread
from kedge.render.phrases import baseline, promise, verdict

if TYPE_CHECKING:
    from kedge.ask import Verdict

__all__ = ["render", "render_verdict", "visible", "wants_colour"]

# A text longer than this is shown as the surroundings of its anchor only.
_LONG = 1200
_AROUND = 60


def wants_colour() -> bool:
    """Whether standard output is a terminal that may be coloured (see no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def render(e: Explanation, *, colour: bool) -> str:
    """The text with its anchor marked, the label, the precision, and what it all promises."""
    bold, dim, reset = ("\x1b[1m", "\x1b[2m", "\x1b[0m") if colour else ("", "", "")
    lines = [
        _marked(e, colour=colour),
        "",
        f"{dim}label     {reset} {bold}{visible(str(e.label))}{reset}{_probability(e)}",
        f"{dim}anchor    {reset} {bold}{visible(' '.join(e.words)) or '(nothing)'}{reset}",
        f"{dim}precision {reset} {_precision(e)}   {dim}asked for {e.threshold:g}{reset}",
    ]
    if e.baseline is not None:
        lines.append(f"{dim}baseline  {reset} {baseline(e)}   {dim}with no word kept{reset}")
    if e.coverage is not None:
        lines.append(f"{dim}coverage  {reset} {percent(e.coverage)} of the corpus contains the anchor")
    lines += [f"{dim}found by  {reset} {_way(e)}", "", promise(e), *e.notes]
    return "\n".join(lines)


def render_verdict(v: "Verdict", *, colour: bool) -> str:
    """The text with the chosen words marked, their precision, and whether they are an anchor."""
    bold, dim, reset = ("\x1b[1m", "\x1b[2m", "\x1b[0m") if colour else ("", "", "")
    lines = [
        _marked(v, colour=colour),
        "",
        f"{dim}label     {reset} {bold}{visible(str(v.label))}{reset}",
        f"{dim}words     {reset} {bold}{visible(' '.join(v.words)) or '(nothing)'}{reset}",
        f"{dim}precision {reset} {_precision(v)}   {dim}asked for {v.threshold:g}{reset}",
        f"{dim}judged by {reset} {_way(v)}",
        "",
        verdict(v),
    ]
    return "\n".join(lines)


def _precision(e: "Explanation | Verdict") -> str:
    low, high = e.interval
    around = "" if high - low < 5e-4 else f" in [{', '.join(spread(low, high, e.threshold))}]"
    return f"{rounded(e.precision, e.threshold)}{around}"


def _way(e: "Explanation | Verdict") -> str:
    """How it was found and at which cost."""
    took = ""
    if e.seconds is not None:
        took = f", {e.seconds * 1000:.1f} ms" if e.seconds < 1 else f", {e.seconds:.1f} s"
    return f"{e.method} ({e.queries:,} {'query' if e.queries == 1 else 'queries'}{took})"


def _probability(e: Explanation) -> str:
    for label, value in e.probabilities or ():
        if label == e.label:
            return f"   probability {rounded(value)}"
    return ""


def _marked(e: "Explanation | Verdict", *, colour: bool) -> str:
    """The caller's text with the anchor's spans marked, shortened where it is long."""
    before, after = ("\x1b[1;30;42m", "\x1b[0m") if colour else ("[", "]")
    parts, end = [], 0
    for start, stop in e.spans:
        parts += [_gap(e.text[end:start], first=end == 0, last=False, short=len(e.text) > _LONG)]
        parts += [before, visible(e.text[start:stop]), after]
        end = stop
    parts.append(_gap(e.text[end:], first=end == 0, last=True, short=len(e.text) > _LONG))
    return "".join(parts)


def _gap(text: str, *, first: bool, last: bool, short: bool) -> str:
    """Text between two marks."""
    if not short or len(text) <= 2 * _AROUND + 3:
        return visible(text)
    head = "" if first and not last else text[:_AROUND]
    tail = "" if last else text[-_AROUND:]
    return f"{visible(head)} ... {visible(tail)}"


def visible(text: str) -> str:
    """Control characters shown, not obeyed: a document must not be able to steer the terminal."""
    if text.isprintable():
        return text
    return "".join(
        c if c in "\n\t" or unicodedata.category(c) not in {"Cc", "Cs"} else _symbol(c) for c in text
    )


def _symbol(character: str) -> str:
    code = ord(character)
    return chr(0x2400 + code) if code < 0x20 else "\ufffd"
