"""From a text to its explanation: the whole path on one screen. Read this first.

text -> Document -> Reading -> Precision, Search -> Found -> Explanation
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

import numpy as np

from kedge.choose import METHODS, PRECISIONS, choose
from kedge.errors import OptionError
from kedge.explanation import Explanation, Step, Ties
from kedge.model import Model, as_model
from kedge.model.outputs import Outputs
from kedge.oracle import Oracle
from kedge.perturb import Masking, Perturbation
from kedge.precision import Precision
from kedge.reading import Reading, read, read_document
from kedge.search import Found, Goal
from kedge.tokenize import as_tokenizer
from kedge.typing import Kept, Label
from kedge.verify import verify

__all__ = ["Explainer", "explain"]

# A sampled baseline is a hint, not a claim: enough draws to tell "needs no word" from "needs some".
BASELINE_SAMPLES = 60


@dataclass(frozen=True, kw_only=True)
class Options:
    """Everything a user can ask for; see ``Explainer``."""

    threshold: float = 0.95
    delta: float = 0.05
    seed: int = 0
    method: str = "auto"
    precision: str = "auto"
    perturbation: str | Perturbation = "unk"
    allow_empty: bool = False
    ties: Literal["first", "last", "random"] = "first"
    samples: int = 100
    beam_width: int = 1
    max_queries: int | None = None
    max_candidates: int = 200_000
    shortlist: bool = False
    batch_size: int = 64
    outputs: Outputs = "auto"
    classes: Sequence[Label] | None = None
    tokenizer: Any = None
    progress: Callable[[int], None] | None = None

    def __post_init__(self) -> None:
        if not _is_number(self.threshold) or not 0 < self.threshold <= 1:
            raise OptionError(f"threshold must lie in (0, 1], got {self.threshold!r}.")
        if not _is_number(self.delta) or not 0 < self.delta < 1:
            raise OptionError(f"delta must lie strictly between 0 and 1, got {self.delta!r}.")
        _one_of("method", self.method, METHODS)
        _one_of("precision", self.precision, PRECISIONS)
        _one_of("ties", self.ties, ("first", "last", "random"))
        for name in ("samples", "beam_width", "max_candidates", "batch_size", "max_queries"):
            value = getattr(self, name)
            if not (value is None and name == "max_queries") and not _at_least(1, value):
                raise OptionError(f"{name} must be a whole number of at least 1, got {value!r}.")
        if not _at_least(0, self.seed):
            raise OptionError(f"seed must be a whole number of at least 0, got {self.seed!r}.")


class Explainer:
    """Explains the decisions of one model. Stateless between texts, so safe to share and to pickle.

    Parameters
    ----------
    model
        A callable from a list of texts to labels or numbers, a fitted scikit-learn pipeline on raw
        text, or a kedge rule.
    threshold
        The precision that makes an anchor: the label must hold with this probability.
    delta
        The share of "certified" claims that may be wrong.
    seed
        What all randomness comes from; same seed, same answer.
    method
        ``"auto"`` (the most exact way the model and the budget allow), ``"exhaustive"`` (the paper's
        Algorithm 1) or ``"beam"`` (the official Anchors procedure).
    precision
        ``"auto"``, ``"exact"`` or ``"empirical"``: the evaluation function of the search.
    perturbation
        ``"unk"``, or an object such as ``kedge.Masking(mask="...", keep=0.5)``.
    allow_empty
        Whether "no word is needed" may be the answer when it is true.
    ties
        Among equally good anchors the ``"first"`` in the text, the ``"last"`` or a ``"random"`` one.
    samples
        Samples per anchor when an exhaustive search samples.
    beam_width
        How many anchors of each length the beam search keeps.
    max_queries
        How many texts the model may be asked about.
    max_candidates
        How many anchors an exhaustive search may look at.
    shortlist
        Let an exhaustive search of a long document go on where a length has more than
        ``max_candidates`` anchors: with those made of the words that are best alone, and a note.
    batch_size
        How many texts the model is asked about at a time.
    outputs, classes
        What a callable's numbers mean and how its classes are called; see ``as_model``.
    tokenizer
        How to split the text: a callable giving spans, tokens or strings, a spaCy pipeline, a
        Hugging Face tokenizer. By default the model's own words, else words and emoji.
    progress
        Called with the number of queries so far after every batch.
    """

    def __init__(self, model: Any, **options: Any) -> None:
        try:
            self.options = Options(**options)
        except TypeError:
            known = sorted(f.name for f in fields(Options))
            unknown = ", ".join(sorted(set(options) - set(known)))
            raise OptionError(f"Unknown option: {unknown}. There are: {', '.join(known)}.") from None
        self._perturbation = _perturbation(self.options.perturbation)
        self._given = model
        self._verified = False  # the one thing remembered between texts: see kedge.verify
        self.model: Model = as_model(model, outputs=self.options.outputs, classes=self.options.classes)
        self._tokenizer = None if options.get("tokenizer") is None else as_tokenizer(options["tokenizer"])

    def explain(self, text: str, label: Label | None = None) -> Explanation:
        """Explain one text; ``label`` picks one of the labels that hold for a multi-label model."""
        started = time.perf_counter()
        options = self.options
        rng = np.random.default_rng(options.seed)
        goal = Goal(
            options.threshold,
            options.delta,
            options.allow_empty,
            options.ties,
            options.samples,
            options.max_candidates,
            options.beam_width,
            options.shortlist,
        )
        document, own = read_document(self.model, text, self._tokenizer)
        reading = read(
            self.model,
            document,
            own_units=own,
            split_by_user=self._tokenizer is not None,
            perturbation=self._perturbation,
            label=label,
            oracle=Oracle(options.max_queries, options.batch_size, options.progress),
            rng=rng,
        )
        if not self._verified and reading.counted:
            verify(self.model, reading)
            self._verified = True
        way = choose(options.method, options.precision, reading, rng)
        found = way.search(reading, way.precision, goal, rng)
        if found.baseline is None:
            found = replace(found, baseline=_baseline(reading, way.precision))
        found = replace(found, notes=(*way.notes, *found.notes)) if way.notes else found
        return self._explanation(reading, found, way.name, time.perf_counter() - started)

    def _explanation(self, reading: Reading, found: Found, method: str, seconds: float) -> Explanation:
        document, units = reading.document, reading.units
        anchor = units.anchor(found.kept)

        def positions(kept: Kept) -> tuple[int, ...]:
            return units.anchor(kept).positions

        ties = None
        if (selection := found.selection) is not None:
            tied = tuple(positions(kept) for kept in selection.tied)
            ties = Ties(selection.reaching, selection.shortest, tied)
        return Explanation(
            text=document.text,
            label=reading.label,
            words=anchor.words(document),
            positions=anchor.positions,
            spans=anchor.spans(document),
            precision=found.mean,
            interval=(found.low, found.high),
            status=found.status,
            threshold=self.options.threshold,
            delta=self.options.delta,
            method=method,
            model=self.model.name,
            perturbation=self._perturbation.name,
            queries=reading.oracle.queries,
            seconds=seconds,
            baseline=found.baseline,
            seed=self.options.seed,
            tokens=tuple((t.start, t.stop) for t in document.tokens),
            probabilities=tuple(reading.probabilities.items()) if reading.probabilities else None,
            trace=tuple(Step(positions(c.kept), c.mean, c.low, c.high) for c in found.trace),
            ties=ties,
            notes=(*reading.notes, *found.notes),
        )

    def __reduce__(self) -> tuple[Any, ...]:
        # The converted model is made of closures; what travels is the user's own model.
        given = {f.name: getattr(self.options, f.name) for f in fields(Options)}
        return _rebuilt, (self._given, given)


def _rebuilt(model: Any, options: dict[str, Any]) -> Explainer:
    return Explainer(model, **options)


def explain(model: Any, text: str, *, label: Label | None = None, **options: Any) -> Explanation:
    """Explain why ``model`` gives ``text`` its label; options are those of ``Explainer``.

    >>> import kedge
    >>> e = kedge.explain(kedge.rules.all_present(["very", "good"]), "Food is very very very very good!")
    >>> e.words, e.status
    (('very', 'good'), 'exact')
    """
    return Explainer(model, **options).explain(text, label)


def _baseline(reading: Reading, precision: Precision) -> float | None:
    """Precision with no word kept, if a closed form knows it or the budget allows a few samples."""
    estimates = precision([()])
    if not estimates.settled[0] and estimates.trials[0] < BASELINE_SAMPLES:
        if reading.oracle.remaining < BASELINE_SAMPLES:
            return None
        estimates = precision([()], BASELINE_SAMPLES)
    return float(estimates.mean[0])


def _perturbation(given: str | Perturbation) -> Perturbation:
    if isinstance(given, str):
        _one_of("perturbation", given, ("unk",))
        return Masking()
    if not all(hasattr(given, name) for name in ("draw", "writer", "keep")):
        raise OptionError(
            "perturbation must be 'unk' or a perturbation such as kedge.Masking(), got "
            f"{type(given).__name__}."
        )
    return given


def _one_of(name: str, value: object, choices: Sequence[str]) -> None:
    if value not in choices:
        raise OptionError(f"{name}={value!r} is not known; choose one of {', '.join(choices)}.")


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _at_least(least: int, value: object) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and int(value) >= least
