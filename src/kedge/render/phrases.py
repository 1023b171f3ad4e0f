"""What an explanation means, in plain sentences shared by every rendering."""

from kedge.explanation import Explanation

__all__ = ["headline", "need", "promise"]


def promise(e: Explanation) -> str:
    """What the status promises, in one sentence."""
    goal = f"{e.threshold:g}"
    if e.status == "exact":
        best = "no shorter set of words" if e.objective == "shortest" else "no set of words in more documents"
        return f"Exact: no sampling error, and {best} reaches {goal}."
    if e.status == "certified":
        return (
            f"Certified: the precision is at least {goal}; such claims are wrong for at most "
            f"{e.delta:.0%} of documents."
        )
    if e.status == "estimated":
        return f"Estimated: judged by samples that may flatter it; the true precision may lie below {goal}."
    return f"Not reached: no set of words was shown to reach {goal}; this is the best one found."


def need(e: Explanation) -> str | None:
    """A warning when the label does not depend on any word."""
    if e.baseline is None or e.baseline < e.threshold:
        return None
    return (
        "No word is really needed: with nothing kept the label still holds with probability "
        f"{e.baseline:.3f}."
    )


def headline(e: Explanation) -> str:
    """What the anchor says."""
    if not e.words:
        return f"The label {e.label} holds whatever is removed."
    named = ", ".join(e.words)
    return f"The label {e.label} holds while {named} stay{'s' if len(e.words) == 1 else ''} in place."
