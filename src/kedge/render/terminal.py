"""An explanation or a verdict as text for a terminal: colour where there is one, brackets elsewhere."""

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from kedge.render.excerpt import gap, is_long
from kedge.render.phrases import (
    baseline,
    equally_good,
    no_word_needed,
    promise,
    spent,
    tells_words,
    unknown,
    verdict,
    way,
)
from kedge.render.removals import share_removed
from kedge.render.shading import strongest, unclear, views
from kedge.render.words import duration
from kedge.results.explanation import Explanation
from kedge.typing import Label, Span
from kedge.utils.messages import visible
from kedge.utils.rounding import is_wide, percent, rounded, spread
from kedge.utils.sentences import Option, spelled

if TYPE_CHECKING:
    from kedge.studies.verdict import Verdict

__all__ = ["render", "render_verdict", "wants_colour"]

# Backgrounds of the 256-colour palette, from faint to deep.
_FOR, _AGAINST = (195, 153, 117, 75, 39), (230, 223, 216, 215, 208)


def wants_colour() -> bool:
    """Whether standard output is a terminal that may be coloured (see no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def render(e: Explanation, *, colour: bool, spell: Callable[[Option], str] = str) -> str:
    """The text with its anchor marked, the label, the precision, and what it all promises.

    ``spell`` says how options are written in its sentences, by default as in Python.
    """
    bold, dim, reset = ("\x1b[1m", "\x1b[2m", "\x1b[0m") if colour else ("", "", "")
    words = visible(" ".join(e.words)) or "(nothing)"
    shown = tells_words(e)
    lines = [f"{bold}{visible(no_word_needed(e))}{reset}", ""] if e.needs_no_word else []
    lines += [
        _mark(e, _marked(e), colour=colour),
        "",
        f"{dim}label     {reset} {bold}{visible(str(e.label))}{reset}{_probability(e)}",
    ]
    if e.against is not None:
        lines.append(
            f"{dim}ahead of  {reset} {bold}{visible(str(e.against))}{reset}{_probability(e, e.against)}"
        )
    based = f"{dim}baseline  {reset} {baseline(e)}   {dim}with no word held in place{reset}"
    precision = f"{dim}precision {reset} {_precision(e)}   {dim}threshold {e.threshold:g}{reset}"
    if not e.needs_no_word:
        lines += [f"{dim}anchor    {reset} {bold}{words}{reset}", precision]
        lines += [based] if e.baseline is not None else []
    else:
        lines.append(based)
        if (carried := e.carried_by) is not None:
            when = f"{dim}with {share_removed(carried.keep)} removed{reset}"
            lines.append(f"{dim}carried by{reset} {bold}{visible(' '.join(carried.words))}{reset}   {when}")
        lines += [f"{dim}words     {reset} {words}", precision] if shown else []
    spoken = strongest(e)
    told = [
        f"{_key(name, ramp, colour=colour)} {', '.join(f'{visible(word)} {value}' for word, value in rows)}"
        for name, ramp, rows in (("for", _FOR, spoken.supporters), ("against", _AGAINST, spoken.adversaries))
        if rows
    ]
    if told:
        told.append(f"           {dim}(effect on the {visible(spoken.of)}){reset}")
    lines += told
    if e.coverage is not None and shown:
        lines.append(f"{dim}coverage  {reset} {percent(e.coverage)} of the corpus contains the anchor")
    said = promise(e, needless_said=bool(e.needs_no_word)) if shown else ""  # needless: it is said above
    notes = (spelled(note, spell) for note in e.notes)
    said = f"{said} {equally_good(e)}".strip()
    after = [visible(line) for line in (said, unknown(e), *notes, unclear(e)) if line]
    lines += [f"{dim}found by  {reset} {visible(_cost(e))}", *([""] if after else []), *after]
    return "\n".join(lines)


def _marked(e: Explanation) -> tuple[Span, ...]:
    """The words that are set off: the anchor, or what carries a label that needs none."""
    if not e.needs_no_word:
        return e.spans
    return () if e.carried_by is None else e.carried_by.spans


def render_verdict(v: "Verdict", *, colour: bool) -> str:
    """The text with the chosen words marked, their precision, and whether they are an anchor."""
    bold, dim, reset = ("\x1b[1m", "\x1b[2m", "\x1b[0m") if colour else ("", "", "")
    lines = [
        _mark(v, v.spans, colour=colour),
        "",
        f"{dim}label     {reset} {bold}{visible(str(v.label))}{reset}",
        f"{dim}words     {reset} {bold}{visible(' '.join(v.words)) or '(nothing)'}{reset}",
        f"{dim}precision {reset} {_precision(v)}   {dim}threshold {v.threshold:g}{reset}",
        f"{dim}judged by {reset} {_cost(v)}",
        "",
        verdict(v),
    ]
    return "\n".join(lines)


def _key(name: str, ramp: tuple[int, ...], *, colour: bool) -> str:
    """The name of a row in the colour of its words: the legend of the shades."""
    shown = f"\x1b[30;48;5;{ramp[-2]}m{name}\x1b[0m" if colour else name
    return shown + " " * (10 - len(name))


def _precision(e: "Explanation | Verdict") -> str:
    around = f" in [{', '.join(spread(e.interval, e.threshold))}]" if is_wide(e.interval) else ""
    return f"{rounded(e.precision, e.threshold)}{around}"


def _cost(e: "Explanation | Verdict") -> str:
    """How it was found, and at what cost."""
    return ", ".join(filter(None, [way(e), spent(e), duration(e.seconds)]))


def _probability(e: Explanation, of: Label | None = None) -> str:
    for label, value in e.probabilities or ():
        if label == (e.label if of is None else of):
            return f"   probability {rounded(value)}"
    return ""


def _mark(e: "Explanation | Verdict", marked: tuple[Span, ...], *, colour: bool) -> str:
    """The caller's text with some spans marked, shortened where it is long; without the blank at its end."""
    before, after = ("\x1b[1;30;42m", "\x1b[0m") if colour else ("[", "]")
    spans = dict.fromkeys(marked, before)
    text = e.text.rstrip()
    short = is_long(text)
    if colour and not short and isinstance(e, Explanation):
        spans = _shades(e) | spans
    parts, end = [], 0
    for (start, stop), mark in sorted(spans.items()):
        parts += [gap(text[end:start], first=end == 0, last=False, short=short)]
        parts += [mark, visible(text[start:stop]), after]
        end = stop
    parts.append(gap(text[end:], first=end == 0, last=True, short=short))
    return "".join(parts)


def _shades(e: Explanation) -> dict[Span, str]:
    """Words in black on blue or orange, the deeper the stronger."""
    found = {}
    for view in views(e)[:1]:
        for span, shade in zip(e.tokens, view.shades, strict=True):
            if shade:
                ramp = _FOR if shade > 0 else _AGAINST
                found[span] = f"\x1b[30;48;5;{ramp[min(len(ramp) - 1, int(abs(shade) * len(ramp)))]}m"
    return found
