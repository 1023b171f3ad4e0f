"""The result: frozen data with a versioned JSON form. Rendering is functions of it, elsewhere."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Literal

from kedge.errors import OptionError
from kedge.typing import Label, Span, Status

__all__ = ["FORMAT", "Example", "Explanation", "Step", "Ties"]

FORMAT = 1
"""Version of the JSON form; raised when a field changes its meaning."""


@dataclass(frozen=True)
class Step:
    """An anchor the search looked at: its positions and what was learned of its precision."""

    positions: tuple[int, ...]
    precision: float
    low: float
    high: float


@dataclass(frozen=True)
class Ties:
    """Algorithm 1's sets.

    How many anchors reach the threshold (None: not counted), how many of them are shortest, and
    the positions of those of largest precision, of which one was taken.
    """

    reaching: int | None
    shortest: int
    best: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Example:
    """A perturbed sample given the anchor: which positions were removed, and whether the label held."""

    removed: tuple[int, ...]
    holds: bool


@dataclass(frozen=True)
class Explanation:
    """Why a document has its label: the shortest set of words that keeps it.

    Parameters
    ----------
    text, label
        The document, and the label that was explained.
    words, positions, spans
        The anchor: its words as the model reads them, their token positions, and their character
        offsets in ``text``.
    precision, interval
        Probability that the label holds when only the anchor is kept for sure: best estimate, and
        (low, high).
    status
        ``"exact"``, ``"certified"``, ``"estimated"`` or ``"not_reached"``.
    threshold, delta
        What was asked for.
    method, model, perturbation
        How it was found, of which model, under which perturbation.
    queries, seconds
        How many texts the model was asked about, and how long it all took.
    baseline
        The precision with no word kept; at or above the threshold no word is needed. It is an
        estimate from samples unless the model was read, or the status is exact and it reaches the
        threshold. None when it was not looked at.
    coverage
        Share of the given corpus that contains the anchor; None without a corpus.
    objective
        What was looked for among the anchors that reach the threshold: the shortest, or the one of
        largest coverage.
    seed
        What all randomness came from.
    tokens
        Character offsets of every unit of the text.
    probabilities
        The model's class probabilities for the document, when it gives them: (label, value) pairs.
    trace
        Anchors that were looked at on the way.
    ties
        Sizes of Algorithm 1's sets, where a search looked at every anchor of the answer's length. None
        elsewhere: for scores that are sums over words, for guided and beam searches, and for short texts
        of models that can only be asked, where most anchors are ruled out before they are known
        (``method="exhaustive"`` counts).
    examples
        Perturbed samples that kept or lost the label.
    notes
        What else the reader should know.
    """

    text: str
    label: Label
    words: tuple[str, ...]
    positions: tuple[int, ...]
    spans: tuple[Span, ...]
    precision: float
    interval: tuple[float, float]
    status: Status
    threshold: float
    delta: float
    method: str
    model: str
    perturbation: str
    queries: int
    baseline: float | None
    seed: int
    coverage: float | None = None
    objective: Literal["shortest", "coverage"] = "shortest"
    seconds: float | None = field(default=None, compare=False)
    tokens: tuple[Span, ...] = field(default=(), repr=False)
    probabilities: tuple[tuple[Label, float], ...] | None = None
    trace: tuple[Step, ...] = field(default=(), repr=False)
    ties: Ties | None = field(default=None, repr=False)
    examples: Sequence[Example] = field(default=(), repr=False)
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        from kedge.render.terminal import render, wants_colour

        return render(self, colour=wants_colour())

    def to_html(self) -> str:
        """One self-contained page, to be saved, sent, or opened in any browser."""
        from kedge.render.html import page

        return page(self)

    def _repr_html_(self) -> str:
        from kedge.render.html import notebook

        return notebook(self)

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the search: length against precision of each candidate, with matplotlib; see ``plots``."""
        from kedge.plots import search

        return search(self, ax=ax)

    def to_dict(self, *, times: bool = False) -> dict[str, Any]:
        """Plain data, with the version of its form; ``times`` adds how long it took."""
        shown = {name: value for name, value in vars(self).items() if times or name != "seconds"}
        return {"format": FORMAT, **{name: _plain(value) for name, value in shown.items()}}

    def to_json(self, *, indent: int | None = None, times: bool = False) -> str:
        """The JSON form; the same seed gives the same string unless ``times`` is asked for."""
        return json.dumps(self.to_dict(times=times), ensure_ascii=False, indent=indent)

    @classmethod
    def from_json(cls, text: str) -> "Explanation":
        """Read the JSON form back."""
        try:
            data = json.loads(text)
        except (json.JSONDecodeError, TypeError, UnicodeDecodeError) as error:
            raise OptionError(f"This is not JSON: {error}.") from None
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            got = data.get("format") if isinstance(data, dict) else type(data).__name__
            raise OptionError(
                f"This is not an explanation in format {FORMAT} (got {got!r}); it was written by another "
                "version of kedge or is something else."
            )
        known = {f.name for f in fields(cls)}
        try:
            values = {name: _frozen(value) for name, value in data.items() if name in known}
            values["trace"] = tuple(Step(**_named(s)) for s in data.get("trace", ()))
            values["examples"] = tuple(Example(**_named(s)) for s in data.get("examples", ()))
            values["ties"] = None if data.get("ties") is None else Ties(**_named(data["ties"]))
            read = cls(**values)
        except (AttributeError, TypeError) as error:
            raise OptionError(f"The explanation is not whole: {error}.") from None
        numbers = (read.precision, read.threshold, read.delta, *read.interval)
        if not all(isinstance(number, (int, float)) for number in numbers):
            raise OptionError("The explanation is not whole: its precision or interval is not a number.")
        return read

    def to_row(self) -> dict[str, Any]:
        """One flat row for a table: ``pandas.DataFrame([e.to_row() for e in explanations])``."""
        return {
            "text": self.text,
            "label": self.label,
            "anchor": " ".join(self.words),
            "length": len(self.words),
            "precision": self.precision,
            "low": self.interval[0],
            "high": self.interval[1],
            "status": self.status,
            "baseline": self.baseline,
            "coverage": self.coverage,
            "method": self.method,
            "queries": self.queries,
            "seconds": self.seconds,
            "positions": self.positions,
            "spans": self.spans,
        }


def _plain(value: Any) -> Any:
    """Dataclasses as dicts, sequences as tuples, all the way down."""
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return tuple(map(_plain, value))
    return value


def _named(data: dict[str, Any]) -> dict[str, Any]:
    return {name: _frozen(value) for name, value in data.items()}


def _frozen(value: Any) -> Any:
    """Lists become tuples again, all the way down."""
    return tuple(_frozen(v) for v in value) if isinstance(value, list) else value
