"""The options of explanations: the one list of them, checked as soon as they are given."""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields
from difflib import get_close_matches
from functools import cached_property
from textwrap import fill
from typing import Any, Literal, TypedDict, TypeVar, get_args

import numpy as np

from kedge.errors import OptionError
from kedge.model.answers.outputs import OUTPUTS, Outputs
from kedge.perturb import Perturbation  # noqa: TC001  (annotations are looked up)
from kedge.prior import Prior, check_prior
from kedge.search.knobs import check_at_least
from kedge.search.strategies import EVALUATORS, METHODS, strategies_for
from kedge.search.strategy import EvaluatorName, Goal, Strategy
from kedge.typing import Label, Ties
from kedge.utils.sentences import Option

__all__ = ["Options", "OptionsGiven", "option_fields", "with_options"]

Offering = TypeVar("Offering", bound=Callable[..., Any])
Objective = Literal["shortest", "coverage"]


def _option(default: Any, meaning: str, *, flag: str | None = None, choices: Sequence[str] = ()) -> Any:
    """A field with its meaning, its help on the command line (None: it has no flag) and its choices."""
    return field(default=default, metadata={"meaning": meaning, "flag": flag, "choices": choices})


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of explanations; ``help(kedge.explain)`` and ``docs/options.md`` show the same list."""

    threshold: float = _option(
        0.95,
        "The precision that makes an anchor: the label must hold with this probability.",
        flag="The precision to reach.",
    )
    delta: float = _option(
        0.05,
        'The error level of "certified" claims: for each document, wrong with at most this probability.',
        flag="The error level of certified claims: wrong with at most this probability.",
    )
    seed: int = _option(
        0, "The source of all randomness; same seed, same answer.", flag="Same seed, same answer."
    )
    method: "str | Strategy | tuple[str | Strategy, ...]" = _option(
        "auto",
        '``"auto"`` (the most exact search the model and the budget allow) or one strategy, by name or '
        "with parameters, ``kedge.Beam(width=4)``: ``Ranked`` (linear scores), ``Branch`` (other sums over "
        "words), ``Chain`` (sums over n-grams), ``Tree`` (decision trees, rules), ``Leading`` (normalised "
        "TF-IDF, several classes), ``Lazy`` (short texts, any model), ``Exhaustive`` (the paper's Algorithm "
        "1), ``Guided`` (any black box), ``Gradient`` (the ranking of a differentiable model), ``Beam`` (the "
        "official Anchors procedure). Of a tuple of them the first that fits a document is used, as ``auto`` "
        "does.",
        flag=f"How to search: {', '.join(METHODS)}, or with parameters, as in 'beam(width=4)'.",
    )
    evaluator: EvaluatorName = _option(
        "auto",
        'How the search computes precisions: ``"auto"``, ``"exact"``, ``"gaussian"`` (the paper\'s '
        'approximation) or ``"empirical"`` (samples).',
        flag="How the precision of an anchor is computed.",
        choices=EVALUATORS,
    )
    perturbation: "str | Perturbation" = _option(
        "auto",
        '``"auto"`` (masking in the way that suits the model), ``"unk"`` (masking by UNK), or an object such '
        'as ``kedge.Masking(mask="...", keep=0.5)``, ``kedge.Infill(...)`` (a masked language model) or '
        "``kedge.Neighbours(...)`` (similar words).",
    )
    mask: str | None = _option(
        None,
        'What replaces a removed word, ``""`` for nothing; short for '
        "``perturbation=kedge.Masking(mask=...)``. By default what suits the model: see ``docs/masks.md``.",
        flag="What replaces a removed word; '' deletes it. By default what suits the model.",
    )
    keep: "float | Literal['auto']" = _option(
        0.5,
        "The probability that a word outside the anchor is kept; short for "
        "``perturbation=kedge.Masking(keep=...)``. "
        'Where no word is needed at 1/2, ``"auto"`` goes on with 1/4, 1/10, 1/20 and 0 until one is: '
        "``e.removals``. Models that kedge reads get this by default.",
        flag="The probability that a word outside the anchor is kept; 'auto' lowers it until a word is "
        "needed.",
    )
    allow_empty: bool = _option(
        False,
        "Whether the anchor may be empty where no word is needed.",
        flag="Let the anchor be empty where no word is needed.",
    )
    ties: Ties = _option(
        "strongest",
        'Which of equally precise anchors, where the search knows all of them: the ``"strongest"``, whose '
        'words alone support the label most, the ``"first"`` in the text, the ``"last"`` or a '
        '``"random"`` one.',
        choices=get_args(Ties),
    )
    max_queries: int | None = _option(
        None,
        "The most texts that may be sent to the model, per explanation.",
        flag="The most texts that may be sent to the model, per explanation.",
    )
    batch_size: int = _option(64, "How many texts are sent to the model at a time.")
    outputs: Outputs = _option(
        "auto",
        'What a callable\'s numbers mean: ``"labels"``, ``"probabilities"``, ``"scores"``, ``"multilabel"``, '
        'or ``"auto"`` where that is clear; see ``as_model``.',
        flag="What a callable's numbers mean.",
        choices=OUTPUTS,
    )
    classes: Sequence[Label] | None = _option(None, "Class names, in column order; by default 0, 1, ...")
    tokenizer: Any = _option(
        None,
        "How to split the text: a callable giving spans, tokens or strings, a spaCy pipeline, a Hugging Face "
        "tokenizer. By default the model's own words, else words and emoji.",
    )
    progress: Callable[[int], None] | None = _option(
        None, "Called with the number of queries so far after every batch."
    )
    corpus: Any = _option(
        None,
        "The texts to measure ``coverage`` on: a list, a ``CorpusIndex``, or the folder of a saved one.",
    )
    objective: Objective = _option(
        "shortest",
        'Which anchor among those that reach the threshold: the ``"shortest"``, or the largest in '
        '``"coverage"``.',
        choices=get_args(Objective),
    )
    certificate: bool = _option(
        False, "Whether ``e.certificate()`` returns a proof that others can check; it may cost more queries."
    )

    prior: Prior | None = _option(
        None,
        "What was learned about the model from other texts, ``kedge.Prior.learn(model, texts)``, so that a "
        "black box takes fewer queries. Proofs do not rely on it.",
    )

    def __post_init__(self) -> None:
        self._check_number("threshold", "must lie in (0, 1]", lambda x: 0 < x <= 1)
        self._check_number("delta", "must lie strictly between 0 and 1", lambda x: 0 < x < 1)
        for f in fields(self):
            value, choices = getattr(self, f.name), f.metadata["choices"]
            if choices and (not isinstance(value, str) or value not in choices):
                raise OptionError(
                    Option(f.name, value), f" is not known; choose one of {', '.join(choices)}."
                )
        if self.objective == "coverage" and self.corpus is None:
            raise OptionError(
                Option("objective", "coverage"),
                " needs ",
                Option("corpus"),
                ", the texts to measure coverage on.",
            )
        if self.keep != "auto":
            self._check_number("keep", "must be 'auto' or lie strictly between 0 and 1", lambda x: 0 < x < 1)
        for name in ("allow_empty", "certificate"):
            if not isinstance(value := getattr(self, name), bool):
                raise OptionError(Option(name), f" must be True or False, got {value!r}.", value=value)
        if self.progress is not None and not callable(self.progress):
            raise OptionError(Option("progress"), " must be a function of the number of queries so far.")
        check_prior(self.prior)
        check_at_least("batch_size", self.batch_size)
        if self.max_queries is not None:
            check_at_least("max_queries", self.max_queries)
        check_at_least("seed", self.seed, 0)
        for name, kind in (("threshold", float), ("delta", float), ("seed", int), ("batch_size", int)):
            object.__setattr__(self, name, kind(getattr(self, name)))  # numpy's numbers are not JSON's
        self._check_strategy()

    def _check_number(self, name: str, must: str, fits: Callable[[float], bool]) -> None:
        value = getattr(self, name)
        number = isinstance(value, (int, float, np.floating, np.integer)) and not isinstance(value, bool)
        if not number or not fits(value):
            raise OptionError(Option(name), f" {must}, got {value!r}.", value=value)

    def _check_strategy(self) -> None:
        """Refuse options that the chosen strategy does not use."""
        tried = strategies_for(self.method, self.evaluator)
        if len(tried) > 1 or self.method == "auto":
            return
        for name in sorted(tried[0].ignores):
            if (value := getattr(self, name)) != _default(name):
                own = any(f.name == name for f in fields(tried[0]))  # type: ignore[arg-type]
                other = f"set its own, method=kedge.{type(tried[0]).__name__}({name}={value!r})"
                raise OptionError(
                    Option(name, value),
                    " is not used by ",
                    Option("method", tried[0].name),
                    f"; {other if own else 'leave it out'}.",
                )

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> "Options":
        """Options by name; an unknown name is refused, with a list of those that exist."""
        known = sorted(f.name for f in fields(cls))
        if unknown := sorted(set(given) - set(known)):
            near = get_close_matches(unknown[0], known, n=1)
            which = f"perhaps you meant `{near[0]}`." if near else f"the options are {', '.join(known)}."
            raise OptionError(f"There is no option `{unknown[0]}`; {which}", option=unknown[0])
        return cls(**given)

    @property
    def given(self) -> dict[str, Any]:
        """The options by name, as ``read`` takes them."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    @property
    def keep_given(self) -> float | None:
        """``keep`` where it was given as a number other than the default."""
        return None if self.keep in {"auto", _default("keep")} else float(self.keep)

    @cached_property
    def strategies(self) -> tuple[Strategy, ...]:
        """The strategies to try, in order."""
        return strategies_for(self.method, self.evaluator)

    @cached_property
    def goal(self) -> Goal:
        """What a search has to find."""
        asked = {f.name: getattr(self, f.name) for f in fields(Goal) if f.name != "settle_empty"}
        return Goal(**asked, settle_empty=self.keep == "auto")


def _default(name: str) -> Any:
    return next(f.default for f in fields(Options) if f.name == name)


class OptionsGiven(TypedDict, total=False):
    """The fields of ``Options`` as keywords, for editors and type checkers; a test keeps the two alike."""

    threshold: float
    delta: float
    seed: int
    method: "str | Strategy | tuple[str | Strategy, ...]"
    evaluator: EvaluatorName
    perturbation: "str | Perturbation"
    mask: str | None
    keep: "float | Literal['auto']"
    allow_empty: bool
    ties: Ties
    max_queries: int | None
    batch_size: int
    outputs: Outputs
    classes: Sequence[Label] | None
    tokenizer: Any
    progress: Callable[[int], None] | None
    corpus: Any
    objective: Objective
    certificate: bool
    prior: Prior | None


def option_fields(left_out: Iterable[str] = ()) -> list[Field[Any]]:
    """The options, without those left out."""
    gone = set(left_out)
    return [f for f in fields(Options) if f.name not in gone]


def with_options(*left_out: str) -> Callable[[Offering], Offering]:
    """Show the options where ``**options`` stands: in the signature, and at the end of the docstring.

    So ``help``, a notebook's question mark and its completion know them. Those ``left_out`` the function
    does not take.
    """

    def show(offering: Offering) -> Offering:
        signature = inspect.signature(offering)
        own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        offered = [
            inspect.Parameter(f.name, inspect.Parameter.KEYWORD_ONLY, default=f.default, annotation=f.type)
            for f in option_fields(left_out)
        ]
        offering.__signature__ = signature.replace(parameters=[*own, *offered])  # type: ignore[attr-defined]
        if offering.__doc__:  # python -OO drops it
            listed = "\n".join(_entry(f) for f in option_fields(left_out))
            offering.__doc__ = (
                f"{inspect.cleandoc(offering.__doc__)}\n\nOther Parameters\n----------------\n{listed}\n"
            )
        return offering

    return show


def _entry(option: "Field[Any]") -> str:
    meaning = fill(option.metadata["meaning"], 96, initial_indent="    ", subsequent_indent="    ")
    return f"{option.name}\n{meaning}"
