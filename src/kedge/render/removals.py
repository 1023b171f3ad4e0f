"""How hard a removal a label survives, in sentences."""

from kedge.render.words import about, listed
from kedge.results.explanation import Explanation
from kedge.results.removal import Removal
from kedge.typing import Status
from kedge.utils.rounding import percent

__all__ = ["gone", "removal_rows", "share_gone", "survival"]

# How many of the words go, as one says it; other shares are shown in per cent.
_COUNTED = {0.25: "three of four", 0.1: "nine of ten", 0.05: "nineteen of twenty"}


def share_gone(keep: float) -> str:
    """How many of the other words go, for sentences that speak of words already.

    >>> share_gone(0.1), share_gone(0.5), share_gone(0.3), share_gone(0)
    ('nine of ten', 'half', '70%', 'all others')
    """
    return {**_COUNTED, 0.0: "all others", 0.5: "half"}.get(keep) or percent(1 - keep)


def gone(keep: float) -> str:
    """How many words go.

    >>> gone(0.1), gone(0.5), gone(0.3), gone(0)
    ('nine of ten words', 'half of the words', '70% of the words', 'every word')
    """
    if keep == 0:
        return "every word"
    return f"{share_gone(keep)} {'words' if keep in _COUNTED else 'of the words'}"


def survival(e: Explanation) -> str:
    """How hard a removal the label survives, and which words carry it then; empty where nobody looked."""
    if not e.removals:
        return ""
    held, carried = [r for r in e.removals if not r.words], e.carried_by
    held = [r for r in held if r.status != "estimated"] or held  # what is claimed, where something is
    to_the_end = held[-1].keep == 0
    shown = held[0] if to_the_end else held[-1]
    cases = f"{about(shown.baseline)}{percent(shown.baseline.mean, e.threshold)} of cases"
    said = f"Even with {gone(shown.keep)} gone at random the label holds in {cases}"
    if to_the_end:
        nothing = "a text without words" if e.perturbation in {"removal", "unk"} else "nothing but masks"
        said += f", and with every word gone, too: {e.label} is what the model says of {nothing}"
    if carried is not None:
        said += f". {_takes(e, carried)}"
    statuses = {r.status for r in (*held, *((carried,) if carried else ()))}
    return f"{said} ({_sure(statuses, e.delta)})."


def removal_rows(e: Explanation) -> list[tuple[str, str, str]]:
    """For a table: how many words go, how often the label holds with none kept, and what it takes."""
    return [
        (
            f"{gone(r.keep)[0].upper()}{gone(r.keep)[1:]}",
            f"{about(r.baseline)}{percent(r.baseline.mean, e.threshold)}",
            "no word" if not r.words else listed(r.words),
        )
        for r in e.removals
    ]


def _takes(e: Explanation, removal: Removal) -> str:
    words = listed(removal.words)
    when = "all others" if removal.keep == 0 else gone(removal.keep)
    if removal.status == "not_reached":
        return f"With {when} gone no set of words was shown to reach {e.threshold:g}; the best is {words}"
    return f"With {when} gone it needs {words}"


def _sure(statuses: set[Status], delta: float) -> str:
    """What all of it rests on: the weakest of its claims."""
    if statuses <= {"exact"}:
        return "exact"
    if statuses <= {"exact", "certified"}:
        return f"certified: wrong with probability at most {delta:g}"
    return "an estimate"
