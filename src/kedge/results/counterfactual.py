"""The words whose removal, or replacement, changes the label: the result, as data."""

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from kedge.typing import Label, Span
from kedge.utils.messages import readable_json

__all__ = ["Flip"]


@dataclass(frozen=True)
class Flip:
    """What it takes to change the label of a document.

    Parameters
    ----------
    text, label
        The document, and the label that the model gives it.
    to
        The label that was asked for; None: any other.
    new_label
        What the model says about the changed text; None where nothing was found.
    words, positions, spans
        The words that go: as the model reads them, as token positions, as character offsets.
    replacements
        What stands in place of each of them; None where they are removed.
    status
        ``"exact"``: it is proven that no fewer words do. ``"verified"``: the model was asked, and says so.
        ``"not_found"``: no change was found.
    minimality
        ``"smallest"``: no fewer words do. ``"irreducible"``: with any one of them back the label is back.
        ``"open"``: the budget ran out before that was known.
    after
        The changed text, as the model was asked about it.
    probabilities, probabilities_after
        The model's class probabilities before and after, where it gives them: (label, value) pairs.
    method
        How it was found: ``"sorting"``, ``"sums"``, ``"windows"``, ``"leads"``, ``"leaves"``, ``"bounds"``,
        ``"arithmetic"`` or ``"asking"``.
    model, perturbation
        Of which model, and what stands in place of a removed word.
    queries, seconds
        How many texts the model was asked about, and how long it took.
    tokens
        Character offsets of every unit of the text.
    notes
        What else the reader should know.
    """

    text: str
    label: Label
    to: Label | None
    new_label: Label | None
    words: tuple[str, ...]
    positions: tuple[int, ...]
    spans: tuple[Span, ...]
    replacements: tuple[str, ...] | None
    status: Literal["exact", "verified", "not_found"]
    minimality: Literal["smallest", "irreducible", "open"]
    after: str | None
    probabilities: tuple[tuple[Label, float], ...] | None
    probabilities_after: tuple[tuple[Label, float], ...] | None
    method: str
    model: str
    perturbation: str
    queries: int
    tokens: tuple[Span, ...] = field(default=(), repr=False)
    seconds: float | None = field(default=None, compare=False)
    notes: tuple[str, ...] = ()

    @property
    def found(self) -> bool:
        """Whether the label changes."""
        return self.status != "not_found"

    def __str__(self) -> str:
        from kedge.render.flips import render_flip
        from kedge.render.terminal import wants_colour

        return render_flip(self, colour=wants_colour())

    def to_html(self) -> str:
        """One self-contained page."""
        from kedge.render.flips import flip_page

        return flip_page(self)

    def _repr_html_(self) -> str:
        from kedge.render.flips import flip_notebook

        return flip_notebook(self)

    def to_dict(self, *, times: bool = False) -> dict[str, Any]:
        """Plain data; ``times`` adds how long it took."""
        data = asdict(self)
        if not times:
            del data["seconds"]
        return data

    def to_json(self, *, indent: int | None = None, times: bool = False) -> str:
        """The JSON form; the same seed gives the same string unless ``times`` is asked for."""
        return readable_json(self.to_dict(times=times), indent)

    def to_row(self) -> dict[str, Any]:
        """One flat row for a table."""
        return {
            "text": self.text,
            "label": self.label,
            "new_label": self.new_label,
            "removed" if self.replacements is None else "replaced": " ".join(self.words),
            "replacements": None if self.replacements is None else " ".join(self.replacements),
            "length": len(self.words),
            "status": self.status,
            "minimality": self.minimality,
            "after": self.after,
            "method": self.method,
            "queries": self.queries,
            "seconds": self.seconds,
            "positions": self.positions,
            "spans": self.spans,
        }
