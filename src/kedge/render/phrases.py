"""What an explanation means, in plain sentences shared by every rendering."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kedge.explanation import Explanation
from kedge.render.numbers import percent, rounded

if TYPE_CHECKING:
    from kedge.ask import Verdict

__all__ = [
    "baseline",
    "headline",
    "listed",
    "meaning",
    "needless",
    "promise",
    "provenance",
    "status_name",
    "verdict",
]

# How `Explanation.method` ends where every precision was computed; otherwise it was sampled.
_COMPUTED = ("(as needed)", "(convolution)", "(enumeration)", "(gaussian)", "(leaves)")
# An interval narrower than this is a number.
_POINT = 1e-9


def listed(words: Sequence[str]) -> str:
    """Words as a sentence lists them, repeated ones counted.

    >>> listed(["very", "very", "good"]), listed(["slow", "cold", "rude"])
    ('“very” (2 times) and “good”', '“slow”, “cold” and “rude”')
    """
    named = [f"“{word}”" if n == 1 else f"“{word}” ({n} times)" for word, n in Counter(words).items()]
    return " and ".join([", ".join(named[:-1]), named[-1]]) if len(named) > 1 else "".join(named)


def needless(e: Explanation) -> bool:
    """Whether the label seems to need none of the words: it holds as surely as asked for without."""
    return bool(e.words) and e.baseline is not None and e.baseline >= e.threshold


def baseline(e: Explanation) -> str | None:
    """The precision with no word kept, as it is shown: "about" so much if it is an estimate."""
    return None if e.baseline is None else f"{_about(e)}{rounded(e.baseline, e.threshold)}"


def _about(e: Explanation) -> str:
    # A search that asks as needed is exact about the anchor, and about the baseline only if it reaches.
    hint = e.method.endswith("(as needed)") and (e.baseline or 0) < e.threshold
    return "about " if e.status != "exact" or hint else ""


def promise(e: Explanation) -> str:
    """What the status promises; first of all, where it is so, that no word is needed."""
    if e.baseline is None or not needless(e):
        return _promise(e)
    goal, without = f"{e.threshold:g}", rounded(e.baseline, e.threshold)
    if e.status != "exact":
        holds = f"the label holds with probability about {without}"
        if not e.method.endswith(_COMPUTED):
            share = f"about {percent(e.baseline, e.threshold)} of" if e.baseline < 1 else "all"
            holds = f"{share} samples keep the label"
        return f"Probably no word is needed: with nothing kept {holds}. {_promise(e)}"
    best = f"This word reaches {goal} as well"
    if e.objective == "coverage":
        best = f"Of the sets of words that reach {goal}, none is in more documents than this one"
    elif len(e.words) > 1:
        best = f"Of the sets of at least one word, none shorter than this one reaches {goal}"
    elif _is_number(e) or e.method.startswith("ranked"):  # else another's interval may overlap with its own
        best = "Of single words, none keeps it better than this one"
    return f"No word is needed: with nothing kept the label holds with probability {without}. {best} (exact)."


def _promise(e: Explanation) -> str:
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
            f"{percent(e.delta)} of documents."
        )
    if e.status == "estimated":
        return f"Estimated: {_doubt(e, goal)}."
    return f"Not reached: no set of words was shown to reach {goal}; this is the best one found."


def _doubt(e: Explanation, goal: str) -> str:
    """Why an answer is an estimate only."""
    if not e.method.endswith(_COMPUTED):
        return f"judged by samples that may flatter it; the true precision may lie below {goal}"
    if e.interval[0] < e.threshold:
        return (
            f"nothing was sampled, but what is known of the precision leaves open whether it reaches {goal}"
        )
    known = "its precision is exact" if _is_number(e) else f"it reaches {goal} without sampling error"
    return f"{known}, but a shorter set of words may reach {goal} too"


def _is_number(e: Explanation) -> bool:
    return e.interval[1] - e.interval[0] < _POINT


def verdict(v: "Verdict") -> str:
    """Whether the chosen words are an anchor, in one sentence."""
    shown, goal = rounded(v.precision, v.threshold), f"{v.threshold:g}"
    if v.status == "exact":
        how = "exact"
    elif v.method == "gaussian":
        how = "certified: by the normal approximation and its error bound"
    else:
        how = f"certified: wrong with probability at most {v.delta:g}"
    if v.reaches is None:
        return f"Open: {shown}, asked for {goal}; what is known leaves room on both sides of it."
    return f"{'Yes' if v.reaches else 'No'}: {shown}, asked for {goal} ({how})."


def status_name(e: Explanation) -> str:
    """The status as a word of its own."""
    return e.status.replace("_", " ").capitalize()


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
    if e.interval == (0.0, 1.0) and not e.method.endswith(_COMPUTED):
        return f"Too little was asked of the model to know what keeps the label {e.label}. {promise(e)}"
    roughly = "" if e.status == "exact" else "about "
    if e.words:
        kept = f"Keep {listed(e.words)} and remove each other word at random"
    else:
        kept = "Remove each word at random"
    cases = f"{roughly}{percent(e.precision, e.threshold)} of cases"
    sentences = [f"{kept}: the model still says {e.label} in {cases}."]
    if e.baseline is not None and e.words and not needless(e):
        without = f"{_about(e)}{percent(e.baseline, e.threshold)}"
        sentences.append(
            f"With no word kept for sure it would be {without}: these words make the difference."
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
