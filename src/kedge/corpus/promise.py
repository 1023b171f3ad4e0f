"""One promise for a whole corpus, in place of one for each document, and what became of it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from math import floor
from typing import TYPE_CHECKING, Any, Literal

from kedge.errors import OptionError
from kedge.search.guided.guided import Guided
from kedge.search.strategies import spelling
from kedge.utils.sentences import Option

if TYPE_CHECKING:
    from kedge.explainer import Explainer

__all__ = ["Audit", "Promise", "Promised", "as_promise", "is_proposal", "proposing", "unaudited"]


@dataclass(frozen=True)
class Promise:
    """At least this share of the anchors of a corpus reach the threshold, at confidence 1 - delta.

    Parameters
    ----------
    share
        The share of the anchors without a proof of their own that must reach it.
    samples
        Fresh samples that the check of one anchor may take.
    questions
        Questions of the audit per anchor of the corpus, at most, but always 50,000 in all.
    """

    share: float = 0.95
    samples: int = 2_000
    questions: float = 10

    def __post_init__(self) -> None:
        if not 0 < self.share < 1:
            raise OptionError(Option("share"), f" must lie strictly between 0 and 1, got {self.share!r}.")
        for name in ("samples", "questions"):
            if not getattr(self, name) > 0:
                raise OptionError(Option(name), f" must be above 0, got {getattr(self, name)!r}.")

    def budget(self, population: int) -> float:
        """Queries that the audit may spend in all."""
        return max(50_000, self.questions * population)


Promised = Literal["document", "corpus"] | Promise
"""For each document one of its own, or one for all of them."""


@dataclass(frozen=True)
class Audit:
    """What the audit of a corpus has shown.

    Parameters
    ----------
    population, drawn, failed
        How many anchors had no proof of their own, how many of them were drawn, and how many of these
        could not be proved to reach the threshold.
    proved
        Whether ``share`` is proved.
    share, threshold, delta
        What was to be proved.
    low
        The share that is proved.
    questions
        Texts sent to the model.
    """

    population: int
    drawn: int
    failed: int
    proved: bool
    share: float
    threshold: float
    delta: float
    low: float
    questions: int

    @property
    def sentence(self) -> str:
        """What is promised, or that nothing is."""
        least = f"at least {100 * self.share:.3g}% of {self.population:,} anchors"
        promise = f"{least} reach a precision of {self.threshold:g} (confidence {1 - self.delta:.3g})"
        if self.proved:
            return promise
        found = f"{floor(1000 * self.low) / 10:.3g}%" if self.low else "no share"
        return f"not proved that {promise}; {found} is proved"

    def __str__(self) -> str:
        each = self.questions / max(self.population, 1)
        return (
            f"{self.sentence}; {self.drawn:,} drawn, {self.failed:,} of them not proved; "
            f"{self.questions:,} further queries, {each:.2g} per anchor"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {**asdict(self), "sentence": self.sentence}

    def about(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """A row, and the explanation it may hold, with what the audit says of it."""
        return _changed(row, lambda one: self.told(one["notes"]))

    def told(self, notes: Iterable[str]) -> dict[str, Any]:
        """The status and the notes of an anchor that had no proof of its own."""
        return {
            "status": "audited" if self.proved else "estimated",
            "notes": (*notes, f"Audit: {self.sentence}."),
        }


def as_promise(value: Any) -> Promise | None:
    """What is promised of the corpus as a whole; None where each document has a promise of its own."""
    if value is None or value == "document":
        return None
    if value == "corpus":
        return Promise()
    if not isinstance(value, Promise):
        raise OptionError(
            Option("promise"),
            f" must be 'document', 'corpus' or a kedge.corpus.Promise, got {value!r}.",
            value=value,
        )
    return value


def proposing(explainer: "Explainer") -> "Explainer":
    """The same explainer without the proofs that an audit stands in for."""
    options = explainer.options
    tried = options.strategies
    if not any(isinstance(one, Guided) for one in tried):
        raise OptionError(
            Option("promise", "corpus"),
            " is for black boxes, by ",
            Option("method", "auto"),
            f" or 'guided', not {options.method!r}.",
        )
    if options.objective != "shortest":
        raise OptionError(Option("promise", "corpus"), " is for ", Option("objective", "shortest"), ".")
    unproved = tuple(replace(one, prove=False) if isinstance(one, Guided) else one for one in tried)
    return explainer.with_options(method=unproved, evaluator="auto")


def is_proposal(row: Mapping[str, Any]) -> bool:
    """Whether a row has an anchor without a proof of its own that is estimated to reach the threshold."""
    if row["method"] is None or row["status"] not in {"estimated", "audited"}:
        return False
    name, knobs = spelling(row["method"])
    return name == Guided.name and knobs.get("prove") is False


def unaudited(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of a finished result as it was before the audit, whose sentence is the last of its notes."""
    return _changed(row, lambda one: {"status": "estimated", "notes": one["notes"][:-1]})


def _changed(
    row: Mapping[str, Any], change: Callable[[Mapping[str, Any]], Mapping[str, Any]]
) -> dict[str, Any]:
    """A row of a proposal, and the whole explanation it may hold, changed; other rows as they are."""
    if not is_proposal(row):
        return dict(row)
    changed = {**row, **change(row)}
    if row.get("explanation") is not None:
        changed["explanation"] = {**row["explanation"], **change(row["explanation"])}
    return changed
