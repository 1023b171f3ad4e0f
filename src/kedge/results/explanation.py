"""The result: frozen data with a versioned JSON form. Rendering is functions of it, elsewhere."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Literal

from kedge.errors import CertificateError
from kedge.results.influence import Influence
from kedge.results.interval import Interval
from kedge.results.lazy import LazyInfluence
from kedge.results.removal import Removal
from kedge.typing import Label, Minimality, Span, Status
from kedge.utils.messages import readable_json
from kedge.utils.sentences import Option, Sentence

__all__ = ["FORMAT", "Example", "Explanation", "Step", "TiedAnchors"]

FORMAT = 2
"""Version of the JSON form; raised when a field changes its meaning."""
_ATOMS = frozenset({int, float, str, bool, type(None)})


@dataclass(frozen=True)
class Step:
    """An anchor that the search tried: its positions, and what is known about its precision."""

    positions: tuple[int, ...]
    interval: Interval

    @property
    def precision(self) -> float:
        """The best estimate."""
        return self.interval.mean


@dataclass(frozen=True)
class TiedAnchors:
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
    interval
        The probability that the label holds while the anchor is held in place: (low, mean, high).
        ``precision`` is its mean.
    status
        ``"exact"``, ``"certified"``, ``"audited"`` (for a corpus), ``"estimated"`` or ``"not_reached"``.
    threshold, delta
        The options it was made with.
    method, evaluator, sampled
        The strategy that found it, as ``method=`` takes it; how it computed precisions (``"convolution"``,
        ``"leaves"``, ``"enumeration"``, ``"gaussian"``, ``"samples"``); and whether any of them was sampled.
    minimality
        ``"shortest"``: no shorter anchor reaches the threshold. ``"irreducible"``: without any one of its
        words, the measured or estimated precision is below the threshold. ``"narrow"``: the same, except for
        words without which the precision is too close to the threshold to decide with few queries; a note
        names them. ``"open"``: none of this is known.
    model, perturbation
        The names of the model and of the perturbation.
    queries, seconds
        How many texts were sent to the model, and how long it took.
    baseline
        The precision with no word held in place, (low, mean, high); at or above the threshold no word is
        needed. None when it was not computed.
    coverage
        Share of the given corpus that contains the anchor; None without a corpus.
    objective
        Which of the anchors that reach the threshold was searched for: the shortest, or the one of largest
        coverage.
    against
        The label that this one was compared with; None: all others.
    seed
        The seed of all randomness.
    tokens
        Character offsets of every token of the text.
    unknown
        Positions of words outside the vocabulary of a model that kedge reads.
    probabilities
        The model's class probabilities for the document, when it gives them: (label, value) pairs.
    trace
        Anchors that the search tried.
    ties
        Equally good anchors, where the search compared every anchor of this length
        (``method="exhaustive"`` always does); else None.
    examples
        Perturbed samples that kept or lost the label.
    removals
        Where no word is needed: what happens when more words are removed, until one is needed
        (``carried_by``). Models that kedge reads always have them, others with ``keep="auto"``. All of these
        claims together are wrong with probability at most ``delta``.
    measure
        What ``influence`` is computed from, on first use; None where nothing is known about the words.
    notes
        What else the reader should know.
    evidence
        The certificate, or why there is none; None without ``certificate=True``. Not in the JSON form.
    prior, backward
        The digest of the ``Prior`` that the search started from, and how many backward passes it took.
    """

    text: str
    label: Label
    words: tuple[str, ...]
    positions: tuple[int, ...]
    spans: tuple[Span, ...]
    interval: Interval
    status: Status
    threshold: float
    delta: float
    method: str
    evaluator: str
    sampled: bool
    minimality: Minimality
    model: str
    perturbation: str
    queries: int
    baseline: Interval | None
    seed: int
    coverage: float | None = None
    objective: Literal["shortest", "coverage"] = "shortest"
    against: Label | None = None
    seconds: float | None = field(default=None, compare=False)
    tokens: Sequence[Span] = field(default=(), repr=False)
    unknown: Sequence[int] = field(default=(), repr=False)
    probabilities: tuple[tuple[Label, float], ...] | None = None
    trace: Sequence[Step] = field(default=(), repr=False)
    ties: TiedAnchors | None = field(default=None, repr=False)
    examples: Sequence[Example] = field(default=(), repr=False)
    removals: Sequence[Removal] = field(default=(), repr=False)
    measure: LazyInfluence | None = field(default=None, repr=False, compare=False)
    notes: tuple[str, ...] = ()
    evidence: dict[str, Any] | str | None = field(default=None, repr=False, compare=False)
    prior: str | None = None
    backward: int = 0

    @property
    def precision(self) -> float:
        """The probability that the label holds while the anchor is held in place: the best estimate."""
        return self.interval.mean

    @property
    def needs_no_word(self) -> bool | None:
        """Whether the baseline reaches the threshold; None while that is not known.

        True is a claim like that of the status: without sampling error where nothing was sampled, else
        wrong with probability at most ``delta``.
        """
        return None if self.baseline is None else self.baseline.reaches(self.threshold)

    @property
    def carried_by(self) -> Removal | None:
        """What carries a label that needs no word: the first of ``removals`` in which a word is needed."""
        return next((removal for removal in self.removals if removal.words), None)

    @property
    def survives(self) -> float | None:
        """The largest share of words that can be removed at random while the label holds."""
        held = [r.keep for r in self.removals if not r.words and r.status != "estimated"]
        return 1 - min(held) if held else None

    @property
    def influence(self) -> Influence | None:
        """How much each word changes the label's probability; None where that is not known."""
        return None if self.measure is None else self.measure()

    @property
    def adversaries(self) -> tuple[str, ...]:
        """The words that oppose the label, the strongest first: without them it holds more often."""
        return () if self.influence is None else tuple(w.word for w in self.influence.adversaries)

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
        left_out = {"measure", "evidence"} | (set() if times else {"seconds"})
        shown = {name: _plain(value) for name, value in vars(self).items() if name not in left_out}
        own = {"needs_no_word": self.needs_no_word, "influence": _plain(self.influence)}
        return {"format": FORMAT, **shown, **own}

    def to_json(self, *, indent: int | None = None, times: bool = False) -> str:
        """The JSON form; the same seed gives the same string unless ``times`` is set."""
        return readable_json(self.to_dict(times=times), indent)

    def certificate(self) -> dict[str, Any]:
        """Everything the claim rests on, for others to check; needs ``certificate=True``."""
        if isinstance(self.evidence, dict):
            return deepcopy(self.evidence)
        unasked = Sentence(
            "This explanation has no certificate; ask for one with ", Option("certificate", True), "."
        )
        raise CertificateError(self.evidence or unasked)

    @classmethod
    def from_json(cls, text: str) -> "Explanation":
        """Read the JSON form back; data that contradicts itself or its own text is refused."""
        from kedge.results.stored import frozen, load_explanation, named

        data = load_explanation(text)
        known = {f.name for f in fields(cls)}
        values = {name: frozen(value) for name, value in data.items() if name in known}
        values["interval"] = Interval(**data["interval"])
        values["baseline"] = None if data["baseline"] is None else Interval(**data["baseline"])
        values["trace"] = tuple(
            Step(tuple(step["positions"]), Interval(**step["interval"])) for step in data["trace"]
        )
        values["examples"] = tuple(Example(**named(one)) for one in data["examples"])
        values["removals"] = tuple(Removal.from_dict(one) for one in data["removals"])
        if (influence := data["influence"]) is not None:
            values["measure"] = LazyInfluence.of(Influence.from_dict(influence))
        values["ties"] = None if data["ties"] is None else TiedAnchors(**named(data["ties"]))
        return cls(**values)

    def to_row(self, *, influence: bool = True) -> dict[str, Any]:
        """One flat row for a table: ``pandas.DataFrame([e.to_row() for e in explanations])``."""
        row = {
            "text": self.text,
            "label": self.label,
            "anchor": " ".join(self.words),
            "length": len(self.words),
            "precision": self.precision,
            "low": self.interval.low,
            "high": self.interval.high,
            "status": self.status,
            "baseline": None if self.baseline is None else self.baseline.mean,
            "needs_no_word": self.needs_no_word,
            "survives": self.survives,
            "carried_by": None if (carried := self.carried_by) is None else " ".join(carried.words),
            "coverage": self.coverage,
            "method": self.method,
            "evaluator": self.evaluator,
            "sampled": self.sampled,
            "minimality": self.minimality,
            "queries": self.queries,
            "seconds": self.seconds,
            "positions": self.positions,
            "spans": self.spans,
        }
        if influence:
            row["adversaries"] = " ".join(self.adversaries)
            row["influence"] = None if self.influence is None else self.influence.values
        return row


def _plain(value: Any) -> Any:
    """Dataclasses and intervals as dicts, sequences as tuples, all the way down."""
    kind = type(value)
    if kind in _ATOMS or (kind is tuple and _ATOMS.issuperset(map(type, value))):
        return value  # most of what there is
    if is_dataclass(kind):
        return {name: _plain(getattr(value, name)) for name in kind.__dataclass_fields__}
    if isinstance(value, Interval):
        return value._asdict()
    listed = isinstance(value, Sequence) and not isinstance(value, (str, bytes))
    return tuple(map(_plain, value)) if listed else value
