"""Figures: rules on the presence of words, the official procedure over many runs against the exact anchor."""

import sys
from collections import Counter
from dataclasses import replace
from typing import Any

import kedge
from kedge import rules, theory

from .result import Check, Figure, Result
from .session import Session
from .setting import corpus
from .style import GREY, ORANGE, bars, canvas

__all__ = ["run"]

TITLE = "Rules: the break point, two-rule trees, all words present"

# The review of Yelp that the paper's code explains under its tree.
PAPER_REVIEW = 112
TREES = (
    (("awesome",), ("not", "bad")),
    (("good",), ("not", "bad")),
    (("great",), ("very", "nice")),
    (("love",), ("best", "place")),
)
PRESENT = (("very", "good"), ("great", "food"), ("not", "bad"), ("good", "food", "place"))
# Bars shown per rule.
SHOWN = 5


def work(item: list[Any]) -> list[str]:
    """The official anchor of each run, as sorted words.

    The official procedure does not know which words a rule reads: all of them compete.
    """
    kind, lists, text, runs = item
    model = kedge.as_model(_rule(kind, lists))
    assert model.tokenize is not None  # a rule finds its own words  # noqa: S101
    model = replace(model, reads={t.word for t in model.tokenize(text) or ()}.__contains__)
    return [
        ", ".join(sorted(kedge.explain(model, text, method="beam", seed=run).words)) for run in range(runs)
    ]


def _rule(kind: str, lists: Any) -> rules.Rule:
    return rules.any_of(*lists) if kind == "tree" else rules.all_present(lists)


def run(session: Session) -> Result:
    """Three figures and the statements they make."""
    runs = session.scale.repeats
    short = [("all", ("very", "good"), f"Food is {'very ' * m}good!") for m in (4, 5)]
    trees = [("tree", lists, _review(_rule("tree", lists), lists, k)) for k, lists in enumerate(TREES)]
    present = [("all", words, _review(_rule("all", words), (words,), -1)) for words in PRESENT]
    sets = {"very-good": short, "trees": trees, "all-present": present}
    claims = {
        "very-good": "With 'very' four times both words are selected; with one more 'very' only 'good' is.",
        "trees": "Of the rules that hold, the shortest is selected.",
        "all-present": "One occurrence of each word is selected, save of words too frequent to vanish.",
    }
    figures, checks = [], []
    for stem, cases in sets.items():
        items = [[kind, lists, text, runs] for kind, lists, text in cases]
        answers = session.each(sys.modules[__name__], stem, items, work)
        hits, numbers = [], {}
        rows, columns = (1, 2) if stem == "very-good" else (2, 2)
        with canvas(session, stem, rows, columns, size=(8.2, 1.9 * rows)) as axes:
            for axis, (kind, lists, text), found in zip(axes, cases, answers, strict=True):
                exact = ", ".join(sorted(kedge.explain(_rule(kind, lists), text).words))
                common = Counter(found).most_common(SHOWN)
                names = [name for name, _ in common]
                bars(
                    axis, names, [n for _, n in common], [ORANGE if n == exact else GREY for n in names], runs
                )
                times = Counter(text.lower().replace("!", "").split())
                rule = _rule(kind, lists)
                axis.set_title(f"{rule}   [{', '.join(f'{w} x{times[w]}' for w in rule.words if times[w])}]")
                hits.append(names[0] == exact)
                numbers[f"{rule}, {len(text.split())} words"] = {"exact": exact, "runs": dict(common)}
        what = "Anchors of the official procedure over " + f"{runs} runs; the exact anchor in orange."
        figures.append(Figure(stem, what, claims[stem], all(hits), numbers))
        checks.append(
            Check(
                f"{claims[stem]} (most frequent official anchor = exact anchor)",
                all(hits),
                f"{sum(hits)} of {len(hits)}",
            )
        )
    checks += _break_point()
    note = (
        "The paper's code names one of its trees (awesome, or not and bad, on one Yelp review). The other "
        "rules "
        "are chosen here; each review is the shortest of Yelp in which all words of the rule occur."
    )
    return Result("rules", TITLE, figures=tuple(figures), checks=tuple(checks), notes=(note,))


def _review(rule: rules.Rule, lists: Any, k: int) -> str:
    """The paper's review for its own tree, else the shortest one with all words of the rule."""
    texts, _ = corpus("yelp")
    wanted = {word for words in lists for word in words}
    if k == 0 and rule.predict([texts[PAPER_REVIEW]])[0]:
        return texts[PAPER_REVIEW]
    # The shortest one: bars should show the rule, not the length of the search.
    return min((text for text in texts if wanted <= set(text.split())), key=len)


def _break_point() -> list[Check]:
    exact = {
        m: kedge.explain(rules.all_present(["very", "good"]), f"Food is {'very ' * m}good!").words
        for m in (4, 5)
    }
    known = {m: theory.all_present_anchor([m, 1]) for m in (4, 5)}
    right = [
        sorted(set(exact[m])) == [w for w, a in zip(("good", "very"), known[m][::-1], strict=True) if a]
        for m in (4, 5)
    ]
    return [
        Check(
            "The break point is floor(log2(1/eps)) = 4, and its border belongs to 'all words selected'.",
            theory.break_point() == 4 and all(right) and len(exact[4]) == 2 and exact[5] == ("good",),
            f"4 times: {', '.join(exact[4])}; 5 times: {', '.join(exact[5])}",
        )
    ]
