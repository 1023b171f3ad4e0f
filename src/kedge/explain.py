"""From a text to its explanation: the whole path on one screen. Read this first.

text -> Document -> Reading -> Precision, Search -> Found -> Explanation
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from kedge.ask import Verdict, judge, select
from kedge.choose import METHODS, PRECISIONS, Way, choose
from kedge.coverage import CorpusIndex, as_index
from kedge.errors import OptionError, OutOfQueries, TextError
from kedge.examples import examples
from kedge.explanation import Example, Explanation, Step, Ties
from kedge.model import Model, as_model
from kedge.model.model import Predictions
from kedge.model.outputs import Outputs
from kedge.oracle import Oracle
from kedge.partial import built_up
from kedge.perturb import Masking, Perturbation
from kedge.precision import Precision
from kedge.reading import Reading, read, read_document
from kedge.search import Covering, Found, Goal
from kedge.seeds import generator
from kedge.tokenize import as_tokenizer
from kedge.typing import Kept, Label
from kedge.verify import verify

if TYPE_CHECKING:
    from kedge.corpus import Outcome
    from kedge.corpus.rules import RuleList

__all__ = ["Explainer", "explain", "precision"]

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
    ties: Literal["first", "random"] = "first"
    samples: int = 100
    beam_width: int = 1
    max_queries: int | None = None
    max_candidates: int = 200_000
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
        _one_of("ties", self.ties, ("first", "random"))
        _one_of("objective", self.objective, ("shortest", "coverage"))
        if self.objective == "coverage" and self.corpus is None:
            raise OptionError("objective='coverage' needs corpus=, the texts that coverage is a share of.")
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
        Algorithm 1), ``"ranked"`` (linear models), ``"branch"`` (other sums over words, and trees)
        or ``"beam"`` (the official Anchors procedure).
    precision
        ``"auto"``, ``"exact"``, ``"gaussian"`` (the paper's approximation) or ``"empirical"``: the
        evaluation function of the search.
    perturbation
        ``"unk"``, or an object such as ``kedge.Masking(mask="...", keep=0.5)``.
    allow_empty
        Whether "no word is needed" may be the answer when it is true.
    ties
        Among equally good anchors the ``"first"`` in the text or a ``"random"`` one.
    samples
        Samples per anchor when an exhaustive search samples.
    beam_width
        How many anchors of each length the beam search keeps.
    max_queries
        How many texts the model may be asked about.
    max_candidates
        How many anchors an exhaustive search may look at.
    batch_size
        How many texts the model is asked about at a time.
    outputs, classes
        What a callable's numbers mean and how its classes are called; see ``as_model``.
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

    def __init__(self, model: Any, **options: Any) -> None:
        try:
            self.options = Options(**options)
        except TypeError:
            known = sorted(f.name for f in fields(Options))
            unknown = ", ".join(sorted(set(options) - set(known)))
            raise OptionError(f"Unknown option: {unknown}. There are: {', '.join(known)}.") from None
        self._perturbation = _perturbation(self.options.perturbation)
        self.given = model
        self._verified = False  # the one thing remembered between texts: see kedge.verify
        self.model: Model = as_model(model, outputs=self.options.outputs, classes=self.options.classes)
        self._tokenizer = None if options.get("tokenizer") is None else as_tokenizer(options["tokenizer"])
        if self.options.corpus is not None:
            self.options = replace(self.options, corpus=as_index(self.options.corpus, self.split))

    def explain(
        self, text: str, label: Label | None = None, *, known: Predictions | None = None
    ) -> Explanation:
        """Explain one text.

        Parameters
        ----------
        text
            The document.
        label
            One of the labels that hold, for a multi-label model.
        known
            The model's answer about the text, where it was asked already (with other texts, say).
        """
        started = time.perf_counter()
        reading, way, found = self._find(text, label, known)
        seen = examples(reading, way.precision, found.kept, self.options.seed)
        return self._explanation(reading, found, seen, way.name, time.perf_counter() - started)

    def precision(self, text: str, words: str | Iterable[str | int], label: Label | None = None) -> Verdict:
        """How surely these words, or positions, of a text keep its label.

        A word named twice is two of its occurrences; no word at all gives the baseline.
        """
        started = time.perf_counter()
        options = self.options
        reading, rng = self._read(text, label)
        verdict = judge(
            reading,
            select(reading.document, words),
            threshold=options.threshold,
            delta=options.delta,
            how=options.precision,
            rng=rng,
        )
        return replace(verdict, seconds=time.perf_counter() - started)

    def masked(self, text: str, removed: Iterable[int]) -> str:
        """The text with these positions removed, as the model is asked about it."""
        document, _ = read_document(self.model, text, self._tokenizer)
        gone = set(removed)
        if gone - set(range(len(document))):
            raise OptionError(
                f"There is no position {max(gone)}; the text has {len(document)} words, numbered from 0."
            )
        kept = np.array([[k not in gone for k in range(len(document))]])
        return self._perturbation.writer(document, generator(self.options.seed, text))(kept)[0]

    def partial(self, text: str, label: Label | None = None) -> tuple[Step, ...]:
        """The precision with nothing kept, then after each word of the anchor, the strongest first.

        >>> import kedge
        >>> explainer = kedge.Explainer(kedge.rules.all_present(["very", "good"]))
        >>> [(s.positions, s.precision) for s in explainer.partial("very good")]
        [((), 0.25), ((0,), 0.5), ((0, 1), 1.0)]
        """
        reading, way, found = self._find(text, label)
        return built_up(reading, way.precision, found.kept)

    def _find(
        self, text: str, label: Label | None, known: Predictions | None = None
    ) -> tuple[Reading, Way, Found]:
        options = self.options
        goal = Goal(
            options.threshold,
            options.delta,
            options.allow_empty,
            options.ties,
            options.samples,
            options.max_candidates,
            options.beam_width,
        )
        reading, rng = self._read(text, label, known)
        way = choose(options.method, options.precision, reading, rng)
        search = way.search
        if options.objective == "coverage":
            search = Covering(options.corpus, search)
        found = search(reading, way.precision, goal, rng)
        if found.baseline is None:
            found = replace(found, baseline=_baseline(reading, way.precision))
        found = replace(found, notes=(*way.notes, *found.notes)) if way.notes else found
        return reading, way, found

    def _read(
        self, text: str, label: Label | None, known: Predictions | None = None
    ) -> tuple[Reading, np.random.Generator]:
        options = self.options
        document, own = read_document(self.model, text, self._tokenizer)
        rng = generator(options.seed, document.text)
        reading = read(
            self.model,
            document,
            own_units=own,
            split_by_user=self._tokenizer is not None,
            perturbation=self._perturbation,
            label=label,
            oracle=Oracle(options.max_queries, options.batch_size, options.progress),
            rng=rng,
            known=known,
        )
        if not self._verified and reading.counted:
            verify(self.model, reading)
            self._verified = True
        return reading, rng

    def explain_corpus(
        self,
        texts: Iterable[str],
        *,
        ids: Iterable[Any] | None = None,
        workers: int | None = None,
        dask: str | None = None,
    ) -> "Iterator[Outcome]":
        """Explain many texts, in order, as fast as the workers allow.

        Parameters
        ----------
        texts, ids
            The documents and, if wanted, what to call them; any iterables, read as they are needed.
        workers
            How many processes; None for all cores, or for whatever ``joblib.parallel_config`` around
            the call says.
        dask
            The address of a dask scheduler whose workers do it instead.

        A text that cannot be explained gives an outcome with its ``error``; it does not end the run.
        """
        from kedge.corpus import explain_texts

        return explain_texts(self, texts, ids=ids, workers=workers, dask=dask)

    def rules(
        self,
        texts: Sequence[str],
        *,
        workers: int | None = None,
        max_rules: int = 20,
        min_precision: float = 0.9,
    ) -> "RuleList":
        """Rules for the whole model: a short list of anchors that covers most of these texts.

        Parameters
        ----------
        texts
            The corpus.
        workers
            How many processes explain it; None for all cores.
        max_rules
            The length of the list at most.
        min_precision
            Rules that give fewer of the documents they cover the model's label are left out.
        """
        from kedge.corpus.rules import pick_rules

        texts = list(texts)
        rows = (outcome.to_row() for outcome in self.explain_corpus(texts, workers=workers))
        return pick_rules(rows, self.index(texts), max_rules=max_rules, min_precision=min_precision)

    def split(self, text: str) -> tuple[str, ...]:
        """The words of a text as the model reads them, those outside its vocabulary included."""
        try:
            return tuple(t.word for t in read_document(self.model, text, self._tokenizer)[0].tokens)
        except TextError:
            return ()

    def index(self, texts: Iterable[str]) -> CorpusIndex:
        """An index of a corpus by the words this model reads, for ``corpus=`` and for saving."""
        return CorpusIndex.build(texts, self.split)

    def _explanation(
        self, reading: Reading, found: Found, seen: Sequence[Example], method: str, seconds: float
    ) -> Explanation:
        document, units = reading.document, reading.units
        anchor = units.anchor(found.kept)
        words = anchor.words(document)

        def positions(kept: Kept) -> tuple[int, ...]:
            return units.anchor(kept).positions

        ties = None
        if (selection := found.selection) is not None:
            tied = tuple(positions(kept) for kept in selection.tied)
            ties = Ties(selection.reaching, selection.shortest, tied)
        return Explanation(
            text=document.text,
            label=reading.label,
            words=words,
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
            objective=self.options.objective,
            coverage=None if (corpus := self.options.corpus) is None else corpus.coverage(words),
            tokens=tuple((t.start, t.stop) for t in document.tokens),
            probabilities=tuple(reading.probabilities.items()) if reading.probabilities else None,
            trace=tuple(Step(positions(c.kept), c.mean, c.low, c.high) for c in found.trace),
            ties=ties,
            examples=seen,
            notes=(*reading.notes, *found.notes),
        )

    def __reduce__(self) -> tuple[Any, ...]:
        # The converted model is made of closures; what travels is the user's own model.
        given = {f.name: getattr(self.options, f.name) for f in fields(Options)}
        return _rebuilt, (self.given, given)


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


def precision(
    model: Any, text: str, words: str | Iterable[str | int], *, label: Label | None = None, **options: Any
) -> Verdict:
    """How surely these words of ``text`` keep the label that ``model`` gives it.

    >>> import kedge
    >>> verdict = kedge.precision(kedge.rules.any_of(["good"], ["nice"]), "nice place, good food", ["good"])
    >>> verdict.precision, verdict.reaches, verdict.status
    (1.0, True, 'exact')
    """
    return Explainer(model, **options).precision(text, words, label)


def _baseline(reading: Reading, precision: Precision) -> float | None:
    """Precision with no word kept, if a closed form knows it or the budget allows a few samples."""
    estimates = precision([()])
    if not estimates.settled[0] and estimates.trials[0] < BASELINE_SAMPLES:
        if reading.oracle.remaining < BASELINE_SAMPLES:
            return None
        try:
            estimates = precision([()], BASELINE_SAMPLES)
        except OutOfQueries:
            return None
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
