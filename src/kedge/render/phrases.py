"""What an explanation means, in plain sentences shared by every rendering."""

from typing import TYPE_CHECKING

from kedge.render.removals import confidence, predicts, survival
from kedge.render.words import about, duration, listed, queries
from kedge.results.explanation import Explanation
from kedge.typing import Status
from kedge.utils.rounding import percent, rounded

if TYPE_CHECKING:
    from kedge.studies.verdict import Verdict

__all__ = [
    "baseline",
    "equally_good",
    "headline",
    "leading_status",
    "meaning",
    "needless",
    "no_word_needed",
    "promise",
    "provenance",
    "spent",
    "status_name",
    "tells_words",
    "unknown",
    "verdict",
    "way",
]

# An interval narrower than this is a number.
_POINT = 1e-9
# Sets of words that are as good as the anchor and named beside it.
_NAMED = 3
# Words outside the vocabulary that are named.
_UNKNOWN = 6

# An interval wider than this is what one or two samples leave.
_NEXT_TO_NOTHING = 0.8


def needless(e: Explanation) -> bool:
    """Whether the label needs none of the words that are shown, surely or as far as is known."""
    return bool(e.words) and e.baseline is not None and e.baseline.mean >= e.threshold


def baseline(e: Explanation) -> str | None:
    """The precision with no word kept, as it is shown: with "about" if it is an estimate."""
    return None if e.baseline is None else f"{about(e.baseline)}{rounded(e.baseline.mean, e.threshold)}"


def promise(e: Explanation, *, needless_said: bool = False) -> str:
    """What the status promises; first of all, unless that is said elsewhere, if no word is needed."""
    if not needless(e):
        return _promise(e)
    said = [] if needless_said else [no_word_needed(e)]
    return " ".join(said + ([_promise(e)] if tells_words(e) else []))


def tells_words(e: Explanation) -> bool:
    """Whether the words found say something: any word would do where none is needed.

    Words that cover the most documents were requested all the same.
    """
    return not e.needs_no_word or e.objective == "coverage"


def no_word_needed(e: Explanation) -> str:
    """That no word is needed, as a fact where it is one, and why."""
    if e.baseline is None:
        return ""
    if e.needs_no_word and (how_hard := survival(e)):
        return f"No word is needed: {how_hard}"
    holds = f"the label holds with probability {about(e.baseline)}{rounded(e.baseline.mean, e.threshold)}"
    if e.sampled:
        kept = percent(e.baseline.mean, e.threshold)
        share = "all" if e.baseline.mean == 1 else f"about {kept} of"
        holds = f"{share} samples keep the label"
    if not e.needs_no_word:
        return f"Probably no word is needed: with none held in place, {holds}."
    sure = f"certified, {confidence(e.delta)}" if e.sampled else "exact"
    return f"No word is needed: with none held in place, {holds} ({sure})."


def _promise(e: Explanation) -> str:
    """What the status promises, in one sentence."""
    goal = f"{e.threshold:g}"
    if e.status == "exact":
        best = f"no shorter set of words reaches {goal}" if len(e.words) > 1 else "no anchor can be shorter"
        if e.objective == "coverage":
            best = f"no set of words that covers more documents reaches {goal}"
        return f"Exact: no sampling error, and {best}."
    if e.status == "certified":
        return f"Certified: the precision is at least {goal}, with {confidence(e.delta)}.{_needed(e)}"
    if e.status == "audited":
        return (
            "Audited: an estimate for this document; an audit of its corpus proved what share of the anchors "
            f"reach {goal}."
        )
    if e.status == "estimated":
        return f"Estimated: {_doubt(e, goal)}."
    return f"Not reached: no set of words was shown to reach {goal}; this is the best one found."


def _needed(e: Explanation) -> str:
    """That no word can be left out, where that was looked at."""
    if e.minimality != "irreducible" or len(e.words) < 2:
        return ""
    return (
        " No word can be left out: without any one of them, the measured or estimated precision is below "
        f"{e.threshold:g}."
    )


def _doubt(e: Explanation, goal: str) -> str:
    """Why an answer is only an estimate."""
    if e.sampled:
        return f"the samples suggest it, but nothing is proved; the true precision may be below {goal}"
    if e.interval.low < e.threshold:
        return f"nothing was sampled, but the bounds on the precision do not settle whether it reaches {goal}"
    known = "its precision is exact" if _is_number(e) else f"it reaches {goal} without sampling error"
    return f"{known}, but a shorter set of words may reach {goal} too"


def equally_good(e: Explanation) -> str:
    """Other sets of words that tie with the anchor, by name; empty where none is known."""
    if e.ties is None or e.needs_no_word:
        return ""
    named = {tuple(sorted(word.lower() for word in e.words)): ""}
    # Spelled as the anchor is: a model that reads lower case shows "the" where the text has "The".
    lowered = any(e.text[slice(*span)] != word for word, span in zip(e.words, e.spans, strict=False))
    for positions in e.ties.best:
        words = [e.text[slice(*e.tokens[k])] for k in positions]
        words = [word.lower() for word in words] if lowered else words
        named.setdefault(tuple(sorted(word.lower() for word in words)), listed(words))
    others = [name for name in named.values() if name]
    if not others:
        return ""
    more = f"; and {len(others) - _NAMED:,} more" if len(others) > _NAMED else ""
    return f"Equally good: {'; '.join(others[:_NAMED])}{more}."


def unknown(e: Explanation) -> str:
    """Which words are not in the model's vocabulary; empty where all are, or nothing is known of it."""
    words = list(dict.fromkeys(e.text[slice(*e.tokens[k])] for k in e.unknown))
    if not words:
        return ""
    if len(words) <= _UNKNOWN:
        return f"Not in the model's vocabulary: {listed(words)}."
    named = ", ".join(f"“{word}”" for word in words[:_UNKNOWN])
    return f"Not in the model's vocabulary: {named} and {len(words) - _UNKNOWN:,} more."


def _is_number(e: Explanation) -> bool:
    return e.interval.width < _POINT


def verdict(v: "Verdict") -> str:
    """Whether the chosen words are an anchor, in one sentence."""
    shown, goal = rounded(v.precision, v.threshold), f"{v.threshold:g}"
    if v.status == "exact":
        how = "exact"
    elif v.evaluator == "gaussian":
        how = "certified by the normal approximation and its error bound"
    else:
        how = f"certified, {confidence(v.delta)}"
    if v.reaches is None:
        return f"Undecided: the precision is about {shown}, and its interval contains the threshold {goal}."
    if v.reaches:
        return f"Yes: the precision {shown} reaches the threshold {goal} ({how})."
    return f"No: the precision {shown} is below the threshold {goal} ({how})."


def leading_status(e: Explanation) -> Status:
    """The status of what an answer says first: of "no word is needed", where that is so."""
    return e.status if not e.needs_no_word else "certified" if e.sampled else "exact"


def status_name(e: Explanation) -> str:
    """The status as a word."""
    return leading_status(e).replace("_", " ").capitalize()


def headline(e: Explanation) -> str:
    """What the anchor says."""
    ahead = None if e.against is None else f"ahead of “{e.against}”"
    if e.needs_no_word:
        return f"The label “{e.label}” needs no word{f' to stay {ahead}' if ahead else ''}."
    if e.status == "not_reached":
        best = f"; the best found is {listed(e.words)}" if e.words else ""
        return f"No anchor was shown to reach {e.threshold:g}{best}."
    holds = f"stays {ahead}" if ahead else "holds"
    if not e.words:
        return f"The label “{e.label}” {holds} with no word held in place."
    stay = "stays" if len(e.words) == 1 else "stay"
    return f"The label “{e.label}” {holds} while {listed(e.words)} {stay} in place."


def meaning(e: Explanation) -> str:
    """One paragraph for a reader who has never heard of anchors."""
    if e.interval.width > _NEXT_TO_NOTHING and e.sampled:
        return f"The model was queried too little to know what keeps the label “{e.label}”. {promise(e)}"
    if e.needs_no_word:
        return promise(e)
    roughly = "" if e.status == "exact" else "about "
    if e.words:
        kept = f"Keep {listed(e.words)} and remove the other words at random"
    else:
        kept = "Remove words at random"
    cases = f"{roughly}{percent(e.precision, e.threshold)} of cases"
    sentences = [f"{kept}: the model still {predicts(e)} in {cases}."]
    if e.baseline is not None and e.words and not needless(e):
        without = f"{about(e.baseline)}{percent(e.baseline.mean, e.threshold)}"
        sentences.append(f"With no word held in place, it does so in {without}.")
    sentences.append(promise(e))
    return " ".join(sentences)


def way(e: "Explanation | Verdict") -> str:
    """How an answer was found, in a few words."""
    if isinstance(e, Explanation):
        return f"{e.method} ({e.evaluator})"
    return f"{e.samples:,} samples" if e.samples else e.evaluator


def provenance(e: Explanation) -> str:
    """How it was found, for which model, and at what cost."""
    took = f" in {time}" if (time := duration(e.seconds)) else ""
    return (
        f"{e.model}, explained by {way(e)}{took} with {spent(e)}; perturbation {e.perturbation}, "
        f"seed {e.seed}."
    )


def spent(e: "Explanation | Verdict") -> str:
    """How many queries and backward passes it took."""
    passes = getattr(e, "backward", 0)
    return f"{queries(e.queries)} and {passes} backward passes" if passes else queries(e.queries)
