"""Everything a user can ask for, checked as soon as it is said."""

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, TypedDict, TypeVar

import numpy as np

from kedge.choose import METHODS, PRECISIONS
from kedge.errors import OptionError
from kedge.model.outputs import Outputs
from kedge.perturb import Masking, Perturbation
from kedge.search import Goal
from kedge.typing import Label

__all__ = ["Options", "OptionsGiven", "OptionsOfAll", "as_perturbation", "with_options"]

Offering = TypeVar("Offering", bound=Callable[..., Any])


@dataclass(frozen=True, kw_only=True)
class Options:
    """Everything a user can ask for. ``docs/options.md`` has the same list with the defaults.

    Parameters
    ----------
    threshold
        The precision that makes an anchor: the label must hold with this probability.
    delta
        The share of "certified" claims that may be wrong.
    seed
        What all randomness comes from; same seed, same answer.
    method
        ``"auto"`` (the most exact way the model and the budget allow), ``"exhaustive"`` (the paper's
        Algorithm 1), ``"ranked"`` (linear models), ``"branch"`` (other sums over words, and trees),
        ``"guided"`` (any model that can be asked: certified), ``"gradient"`` (the ranking of a
        differentiable model) or ``"beam"`` (the official Anchors procedure).
    precision
        ``"auto"``, ``"exact"``, ``"gaussian"`` (the paper's approximation) or ``"empirical"``: the
        evaluation function of the search.
    perturbation
        ``"unk"``, or an object such as ``kedge.Masking(mask="...", keep=0.5)``, ``kedge.Infill(...)``
        (a masked language model) or ``kedge.Neighbours(...)`` (similar words).
    allow_empty
        Whether "no word is needed" may be the answer when it is true.
    ties
        Among equally good anchors the ``"first"`` in the text, the ``"last"`` or a ``"random"`` one. Of a
        linear model these are occurrences of equal weight: of words of different weight that reach the
        same precision the one of largest weight is taken.
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
    outputs
        What a callable's numbers mean: ``"labels"``, ``"probabilities"``, ``"scores"``, ``"multilabel"``, or
        ``"auto"`` where that can be told; see ``as_model``.
    classes
        How the columns of a callable's numbers are called; 0, 1, ... without.
    tokenizer
        How to split the text: a callable giving spans, tokens or strings, a spaCy pipeline, a
        Hugging Face tokenizer. By default the model's own words, else words and emoji.
    progress
        Called with the number of queries so far after every batch.
    corpus
        What ``coverage`` is a share of: texts, a ``CorpusIndex``, or the folder of a saved one.
    objective
        Of the anchors that reach the threshold the ``"shortest"``, or that of largest ``"coverage"``.
    """

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
    corpus: Any = None
    objective: Literal["shortest", "coverage"] = "shortest"

    def __post_init__(self) -> None:
        if not _is_number(self.threshold) or not 0 < self.threshold <= 1:
            raise OptionError(f"threshold must lie in (0, 1], got {self.threshold!r}.")
        if not _is_number(self.delta) or not 0 < self.delta < 1:
            raise OptionError(f"delta must lie strictly between 0 and 1, got {self.delta!r}.")
        _one_of("method", self.method, METHODS)
        _one_of("precision", self.precision, PRECISIONS)
        _one_of("ties", self.ties, ("first", "last", "random"))
        _one_of("objective", self.objective, ("shortest", "coverage"))
        if self.objective == "coverage" and self.corpus is None:
            raise OptionError("objective='coverage' needs corpus=, the texts that coverage is a share of.")
        if not isinstance(self.allow_empty, bool):
            raise OptionError(f"allow_empty must be True or False, got {self.allow_empty!r}.")
        if self.progress is not None and not callable(self.progress):
            raise OptionError("progress must be a function of the number of questions asked so far.")
        for name in ("samples", "beam_width", "max_candidates", "batch_size", "max_queries"):
            value = getattr(self, name)
            if not (value is None and name == "max_queries") and not _at_least(1, value):
                raise OptionError(f"{name} must be a whole number of at least 1, got {value!r}.")
        if not _at_least(0, self.seed):
            raise OptionError(f"seed must be a whole number of at least 0, got {self.seed!r}.")

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> "Options":
        """Options by name; an unknown name is refused with the names there are."""
        known = sorted(f.name for f in fields(cls))
        if unknown := sorted(set(given) - set(known)):
            raise OptionError(f"Unknown option: {', '.join(unknown)}. There are: {', '.join(known)}.")
        return cls(**given)

    def goal(self) -> Goal:
        """What a search is asked for."""
        return Goal(**{f.name: getattr(self, f.name) for f in fields(Goal)})


class OptionsOfAll(TypedDict, total=False):
    """The fields of ``Options`` but for ``seed`` and ``threshold``, of which ``stability`` takes lists."""

    delta: float
    method: str
    precision: str
    perturbation: str | Perturbation
    allow_empty: bool
    ties: Literal["first", "last", "random"]
    samples: int
    beam_width: int
    max_queries: int | None
    max_candidates: int
    shortlist: bool
    batch_size: int
    outputs: Outputs
    classes: Sequence[Label] | None
    tokenizer: Any
    progress: Callable[[int], None] | None
    corpus: Any
    objective: Literal["shortest", "coverage"]


class OptionsGiven(OptionsOfAll, total=False):
    """The fields of ``Options`` as keywords: what an editor completes and a type checker checks."""

    threshold: float
    seed: int


def with_options(*left_out: str) -> Callable[[Offering], Offering]:
    """Show the options where ``**options`` stands: in the signature, and at the end of the docstring.

    So ``help``, a notebook's question mark and its completion know them, and there is one list of
    them, that of ``Options``. Those ``left_out`` the function does not take.
    """

    def shown(offering: Offering) -> Offering:
        signature = inspect.signature(offering)
        own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        offered = [
            inspect.Parameter(f.name, inspect.Parameter.KEYWORD_ONLY, default=f.default, annotation=f.type)
            for f in fields(Options)
            if f.name not in left_out
        ]
        offering.__signature__ = signature.replace(parameters=[*own, *offered])  # type: ignore[attr-defined]
        if offering.__doc__ and Options.__doc__:  # python -OO drops both
            listed = "".join(
                text for name, text in _meanings(Options.__doc__).items() if name not in left_out
            )
            offering.__doc__ = (
                f"{inspect.cleandoc(offering.__doc__)}\n\nOther Parameters\n----------------\n{listed}"
            )
        return offering

    return shown


def _meanings(docstring: str) -> dict[str, str]:
    """The entries of a docstring's list of parameters, by their names."""
    listed = inspect.cleandoc(docstring).partition("----------\n")[2] + "\n"
    entries = re.split(r"^(?=\w)", listed, flags=re.MULTILINE)[1:]
    return {entry.partition("\n")[0]: entry for entry in entries}


def as_perturbation(given: str | Perturbation) -> Perturbation:
    """A perturbation by name, or the object that was given."""
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
    return isinstance(value, (int, float, np.floating, np.integer)) and not isinstance(value, bool)


def _at_least(least: int, value: object) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and int(value) >= least
