"""One adapter per tool: ``make(model, asked)`` gives a function from a text and a seed to an answer."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Spans = list[tuple[int, int]]


@dataclass
class Answer:
    """What a tool said.

    ``spans`` are the anchor's character offsets in the text (empty for a tool that weighs words),
    ``claimed`` is the precision it states, ``asked`` the texts it says it asked about where the
    model was not asked through a function, ``ranked`` the words and what each weighs, the heaviest first.
    """

    spans: Spans
    claimed: float | None = None
    status: str | None = None
    asked: int | None = None
    ranked: list[tuple[str, float]] | None = None


Explain = Callable[[str, int], Answer]


class Asked:
    """Counts texts and calls where the model is called; ``remember`` keeps the distinct texts as well."""

    def __init__(self, *, remember: bool = False) -> None:
        self.remember = remember
        self.clear()

    def clear(self) -> None:
        """Start again."""
        self.texts = 0
        self.calls = 0
        self.distinct: set[str] = set()

    def counting(self, predict: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """The same function, counted."""

        def ask(texts: Any) -> Any:
            self.texts += len(texts)
            self.calls += 1
            if self.remember:
                self.distinct.update(texts)
            return predict(texts)

        return ask


@dataclass(frozen=True)
class Tool:
    """A column of the tables."""

    title: str
    module: str
    home: str
    packages: tuple[str, ...]
    anchors: bool = True
    options: tuple[str, ...] = ()


TOOLS = {
    "kedge": Tool("kedge, reading the model", "ours", "kedge", ("kedge",), options=("read",)),
    "kedge-proba": Tool(
        "kedge, asking probabilities", "ours", "kedge", ("kedge",), options=("predict_proba",)
    ),
    "kedge-labels": Tool("kedge, asking labels", "ours", "kedge", ("kedge",), options=("predict",)),
    "anchor-exp": Tool("anchor-exp", "anchor_exp", "peers", ("anchor-exp", "spacy")),
    "alibi": Tool("alibi", "alibi", "peers", ("alibi", "spacy")),
    "lime": Tool("LIME", "lime", "peers", ("lime",), anchors=False),
    "shap": Tool("SHAP", "shap", "peers", ("shap",), anchors=False),
}
