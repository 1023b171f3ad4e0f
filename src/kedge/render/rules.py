"""A list of rules as a table for the terminal and as a page."""

from kedge.corpus.rules import RuleList
from kedge.render.terminal import visible

__all__ = ["page", "table"]


def table(rules: RuleList) -> str:
    """The rules as aligned text."""
    head = ("", "label", "words", "coverage", "precision", "adds")
    rows = [
        (
            str(number),
            visible(str(rule.label)),
            visible(" ".join(rule.words)),
            f"{rule.coverage:.2%}",
            f"{rule.precision:.3f}",
            f"{rule.adds:,}",
        )
        for number, rule in enumerate(rules.rules, start=1)
    ]
    widths = [max(len(row[k]) for row in [head, *rows]) for k in range(len(head))]
    words = {1, 2}  # columns of text; the others are numbers and stand to the right

    def line(row: tuple[str, ...]) -> str:
        cells = [
            c.ljust(w) if k in words else c.rjust(w) for k, (c, w) in enumerate(zip(row, widths, strict=True))
        ]
        return "  ".join(cells).rstrip()

    return "\n".join([*map(line, [head, *rows]), "", headline(rules)])


def headline(rules: RuleList) -> str:
    """What the list achieves, in one sentence."""
    if not rules.documents:
        return "There are no documents, so there are no rules."
    if not rules.rules:
        return (
            f"No rule is precise enough: {rules.candidates:,} different anchors of {rules.documents:,} "
            "documents, none picked."
        )
    return (
        f"{len(rules.rules)} rules (of {rules.candidates:,} different anchors) cover {rules.coverage:.1%} of "
        f"{rules.documents:,} documents and give the model's label for {rules.fidelity:.1%} of these."
    )


def page(rules: RuleList) -> str:
    """One self-contained file; whatever is in the words or labels shows as itself."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("kedge.render", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
    )
    return environment.get_template("rules.html.j2").render(rules=rules.rules, headline=headline(rules))
