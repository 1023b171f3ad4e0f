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
        The label to reach; None: any other.
    new_label
        The model's label for the changed text; None where nothing was found.
    words, positions, spans
        The words to remove: as the model reads them, as token positions, as character offsets.
    replacements
        What replaces each of them; None where they are removed.
    status
        ``"exact"``: proven that no fewer words will do. ``"verified"``: the model confirmed the new label.
        ``"not_found"``: no change was found.
    minimality
        ``"smallest"``: no fewer words will do. ``"irreducible"``: putting any one of them back restores the
        label. ``"open"``: the budget ran out before that was known.
    after
        The changed text, as the model saw it.
    probabilities, probabilities_after
        The model's class probabilities before and after, where it gives them: (label, value) pairs.
    method
        How it was found: ``"sorting"``, ``"sums"``, ``"windows"``, ``"leads"``, ``"leaves"``, ``"bounds"``,
        ``"arithmetic"`` or ``"asking"``.
    model, perturbation
        The names of the model and of the perturbation.
    queries, seconds
        How many texts were sent to the model, and how long it took.
    tokens
        Character offsets of every token of the text.
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
        """The JSON form; the same seed gives the same string unless ``times`` is set."""
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
