"""How hard a removal a label survives, in sentences."""

from kedge.render.words import about, listed
from kedge.results.explanation import Explanation
from kedge.results.removal import Removal
from kedge.typing import Status
from kedge.utils.rounding import percent

__all__ = ["confidence", "predicts", "removal_rows", "share_removed", "survival"]


def share_removed(keep: float) -> str:
    """How many of the words are removed.

    >>> share_removed(0.1), share_removed(0.5), share_removed(0)
    ('90% of the words', 'half of the words', 'all words')
    """
    return {0.0: "all words", 0.5: "half of the words"}.get(keep) or f"{percent(1 - keep)} of the words"


def survival(e: Explanation) -> str:
    """How hard a removal the label survives, and which words carry it then; "" where that is not known."""
    if not e.removals:
        return ""
    held, carried = [r for r in e.removals if not r.words], e.carried_by
    held = [r for r in held if r.status != "estimated"] or held  # what is claimed, where something is
    to_the_end = held[-1].keep == 0
    shown = held[0] if to_the_end else held[-1]
    cases = f"{about(shown.baseline)}{percent(shown.baseline.mean, e.threshold)} of cases"
    said = f"even with {share_removed(shown.keep)} removed at random, the label holds in {cases}"
    if to_the_end:
        nothing = "a text without words" if e.perturbation in {"removal", "unk"} else "a text of masks only"
        said += f". It holds even with all words removed: the model {predicts(e)} for {nothing}"
    if carried is not None:
        said += f". {_takes(e, carried)}"
    statuses = {r.status for r in (*held, *((carried,) if carried else ()))}
    return f"{said} ({_sure(statuses, e.delta)})."


def predicts(e: Explanation) -> str:
    """What the model does where the label holds: against another label, only these two are compared."""
    return f"predicts “{e.label}”" if e.against is None else f"prefers “{e.label}” to “{e.against}”"


def removal_rows(e: Explanation) -> list[tuple[str, str, str]]:
    """For a table: how many words are removed, how often the label holds, and which words are enough."""
    return [
        (
            share_removed(r.keep).capitalize(),
            f"{about(r.baseline)}{percent(r.baseline.mean, e.threshold)}",
            "no word" if not r.words else listed(r.words),
        )
        for r in e.removals
    ]


def _takes(e: Explanation, removal: Removal) -> str:
    words = listed(removal.words)
    when = "all other words" if removal.keep == 0 else share_removed(removal.keep)
    if removal.status == "not_reached":
        return f"With {when} removed, no set of words was shown to reach {e.threshold:g}; the best is {words}"
    enough = "is" if len(set(removal.words)) == 1 else "are"
    return f"With {when} removed, {words} {enough} enough to keep it"


def _sure(statuses: set[Status], delta: float) -> str:
    """What all of it rests on: the weakest of its claims."""
    if statuses <= {"exact"}:
        return "exact"
    if statuses <= {"exact", "certified"}:
        return f"certified, {confidence(delta)}"
    return "an estimate"


def confidence(delta: float) -> str:
    """The level of claims that are wrong with probability at most ``delta``.

    >>> confidence(0.05), confidence(0.001)
    ('95% confidence', '99.9% confidence')
    """
    return f"{100 * (1 - delta):.10g}% confidence"
