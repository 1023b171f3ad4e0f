"""A list of rules as a table for the terminal and as a page."""

from dataclasses import replace
from textwrap import wrap

from kedge.corpus.rules import CorpusRule, RuleList
from kedge.utils.messages import visible
from kedge.utils.rounding import rounded

__all__ = ["page", "sentences", "table"]

LEGEND = (
    ("coverage", "share of documents that contain the words"),
    ("precision", "share of those that have the label"),
    ("adds", "documents with the label that no earlier rule for that label covers"),
)
"""What the columns of a table mean."""
EXPLAINS = ("explains", "documents whose own anchor is exactly these words")
"""The column that only a page has room for."""
# Characters of a line of text under the table.
_WIDTH = 100


def table(rules: RuleList) -> str:
    """The rules as aligned text."""
    head = ("", "label", "words", "coverage", "precision", "adds")
    rows = [
        (
            str(number),
            visible(str(rule.label)),
            visible(" ".join(rule.words)),
            f"{rule.coverage:.2%}",
            rounded(rule.precision),
            f"{rule.adds:,}",
        )
        for number, rule in enumerate(rules.rules, start=1)
    ]
    if not rows:
        return "\n".join(sentences(rules))
    widths = [max(len(row[k]) for row in [head, *rows]) for k in range(len(head))]
    words = {1, 2}  # columns of text; the others are numbers and stand to the right

    def line(row: tuple[str, ...]) -> str:
        cells = [
            c.ljust(w) if k in words else c.rjust(w) for k, (c, w) in enumerate(zip(row, widths, strict=True))
        ]
        return "  ".join(cells).rstrip()

    legend = "; ".join(f"{name}: {meaning}" for name, meaning in LEGEND)
    return "\n".join([*map(line, [head, *rows]), "", *sentences(rules), "", *wrap(f"{legend}.", _WIDTH)])


def sentences(rules: RuleList) -> list[str]:
    """What the list achieves, and what was left out."""
    if not rules.documents:
        return ["There are no documents, so there are no rules."]
    many = f"{rules.candidates:,} different anchor{'s' * (rules.candidates != 1)}"
    of = f"{rules.documents:,} document{'s' * (rules.documents != 1)}"
    one = len(rules.rules) == 1
    if rules.rules:
        achieved = (
            f"{len(rules.rules)} rule{'' if one else 's'} (of {many}) {'covers' if one else 'cover'} "
            f"{rules.coverage:.1%} of {of} and {'gives' if one else 'give'} the model's label for "
            f"{rules.fidelity:.1%} of these."
        )
    elif rules.candidates:
        achieved = f"None of {many} of {of} is precise enough to be a rule."
    else:
        achieved = f"There is no anchor in {of} to make a rule from."
    if not rules.needless:
        return [achieved]
    left_out = (
        "1 document needs no word to keep its label, so its anchor is not used as a rule."
        if rules.needless == 1
        else f"{rules.needless:,} documents need no word to keep their label, so their anchors are not used "
        "as rules."
    )
    return [achieved, left_out]


def page(rules: RuleList, model: str | None = None, corpus: str | None = None) -> str:
    """One self-contained file; whatever is in the words or labels shows as itself.

    Parameters
    ----------
    rules
        The list.
    model, corpus
        What the model and its documents are called, for the title.
    """
    from kedge.render.html import environment, style, writable

    title = f"Rules of {model or 'a model'}" + (f" on {corpus}" if corpus else "")
    return (
        environment()
        .get_template("rules.html.j2")
        .render(
            style=style(),
            headline=writable(title),
            sentences=sentences(rules),
            rules=[_writable(rule) for rule in rules.rules],
            legend=(*LEGEND, EXPLAINS),
            rounded=rounded,
        )
    )


def _writable(rule: CorpusRule) -> CorpusRule:
    from kedge.render.html import writable

    return replace(rule, words=tuple(map(writable, rule.words)), label=writable(str(rule.label)))
