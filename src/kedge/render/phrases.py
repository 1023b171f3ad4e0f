"""What an explanation means, in plain sentences shared by every rendering."""

import math
from collections import Counter
from collections.abc import Sequence

from kedge.explanation import Explanation

__all__ = [
    "headline",
    "listed",
    "meaning",
    "need",
    "promise",
    "provenance",
    "rounded",
    "spread",
    "status_name",
]


def rounded(share: float) -> str:
    """Three digits, rounded towards zero: 0.9499 must not read as 0.950, nor 0.9999 as 1.000."""
    return f"{int(share * 1000 + 1e-9) / 1000:.3f}"


def spread(low: float, high: float) -> tuple[str, str]:
    """An interval, rounded outwards: it must not read as narrower than it is."""
    return rounded(low), f"{min(math.ceil(high * 1000 - 1e-9) / 1000, 1):.3f}"


def listed(words: Sequence[str]) -> str:
    """Words as a sentence lists them, repeated ones counted.

    >>> listed(["very", "very", "good"]), listed(["slow", "cold", "rude"])
    ('“very” (2 times) and “good”', '“slow”, “cold” and “rude”')
    """
    named = [f"“{word}”" if n == 1 else f"“{word}” ({n} times)" for word, n in Counter(words).items()]
    return " and ".join([", ".join(named[:-1]), named[-1]]) if len(named) > 1 else "".join(named)


def promise(e: Explanation) -> str:
    """What the status promises, in one sentence."""
    goal = f"{e.threshold:g}"
    if e.status == "exact":
        best = f"no shorter set of words reaches {goal}" if len(e.words) > 1 else "no set of words is shorter"
        if e.objective == "coverage":
            best = f"no set of words in more documents reaches {goal}"
        return f"Exact: no sampling error, and {best}."
    if e.status == "certified":
        return (
            f"Certified: the precision is at least {goal}; such claims are wrong for at most "
            f"{e.delta:.0%} of documents."
        )
    if e.status == "estimated" and e.interval[1] - e.interval[0] < 1e-9:
        return "Estimated: its precision is exact, but a shorter set of words may reach the threshold too."
    if e.status == "estimated":
        return f"Estimated: judged by samples that may flatter it; the true precision may lie below {goal}."
    return f"Not reached: no set of words was shown to reach {goal}; this is the best one found."


def status_name(e: Explanation) -> str:
    """The status as a word of its own."""
    return e.status.replace("_", " ").capitalize()


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
    if e.status == "not_reached":
        best = f"; the best found is {listed(e.words)}" if e.words else ""
        return f"No anchor was shown to reach {e.threshold:g}{best}."
    if not e.words:
        return f"The label {e.label} holds whatever is removed."
    stay = "stays" if len(e.words) == 1 else "stay"
    return f"The label {e.label} holds while {listed(e.words)} {stay} in place."


def meaning(e: Explanation) -> str:
    """One paragraph for a reader who has never heard of anchors."""
    if e.interval == (0.0, 1.0):
        return f"Too little was asked of the model to know what keeps the label {e.label}. {promise(e)}"
    about = "" if e.status == "exact" else "about "
    cases = f"{about}{int(e.precision * 1000 + 1e-9) / 10:g}% of cases"
    if e.words:
        kept = f"Keep {listed(e.words)} and remove each other word at random"
    else:
        kept = "Remove each word at random"
    sentences = [f"{kept}: the model still says {e.label} in {cases}."]
    if e.baseline is not None and e.words:
        without = f"{int(e.baseline * 1000 + 1e-9) / 10:g}%"
        sentences.append(
            need(e) or f"With no word kept for sure it would be {without}: these words make the difference."
        )
    sentences.append(promise(e))
    return " ".join(sentences)


def provenance(e: Explanation) -> str:
    """How, of which model, and at which cost it was found."""
    took = ""
    if e.seconds is not None:
        took = f" in {e.seconds * 1000:.1f} ms" if e.seconds < 1 else f" in {e.seconds:.1f} s"
    queries = f"{e.queries:,} {'query' if e.queries == 1 else 'queries'}"
    return (
        f"{e.model}, explained by {e.method}{took} with {queries}; perturbation {e.perturbation}, "
        f"seed {e.seed}."
    )
