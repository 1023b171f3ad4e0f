"""An explanation as text for a terminal: colour where there is one, brackets elsewhere."""

import os
import sys
import unicodedata

from kedge.explanation import Explanation
from kedge.render.phrases import need, promise, rounded, spread

__all__ = ["render", "visible", "wants_colour"]

# A text longer than this is shown as the surroundings of its anchor only.
_LONG = 1200
_AROUND = 60


def wants_colour() -> bool:
    """Whether standard output is a terminal that may be coloured (see no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def render(e: Explanation, *, colour: bool) -> str:
    """The text with its anchor marked, the label, the precision, and what it all promises."""
    bold, dim, reset = ("\x1b[1m", "\x1b[2m", "\x1b[0m") if colour else ("", "", "")
    low, high = e.interval
    around = "" if high - low < 5e-4 else f" in [{', '.join(spread(low, high))}]"
    lines = [
        _marked(e, colour=colour),
        "",
        f"{dim}label     {reset} {bold}{visible(str(e.label))}{reset}{_probability(e)}",
        f"{dim}anchor    {reset} {bold}{visible(' '.join(e.words)) or '(nothing)'}{reset}",
        f"{dim}precision {reset} {rounded(e.precision)}{around}   {dim}asked for {e.threshold:g}{reset}",
    ]
    if e.baseline is not None:
        lines.append(f"{dim}baseline  {reset} {rounded(e.baseline)}   {dim}with no word kept{reset}")
    if e.coverage is not None:
        lines.append(f"{dim}coverage  {reset} {e.coverage:.1%} of the corpus contains the anchor")
    took = "" if e.seconds is None else f", {_time(e.seconds)}"
    queries = f"{e.queries:,} {'query' if e.queries == 1 else 'queries'}"
    lines.append(f"{dim}found by  {reset} {e.method} ({queries}{took})")
    lines += ["", promise(e)]
    if (warning := need(e)) is not None:
        lines.append(warning)
    lines += e.notes
    return "\n".join(lines)


def _time(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms" if seconds < 1 else f"{seconds:.1f} s"


def _probability(e: Explanation) -> str:
    for label, value in e.probabilities or ():
        if label == e.label:
            return f"   probability {value:.3f}"
    return ""


def _marked(e: Explanation, *, colour: bool) -> str:
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
