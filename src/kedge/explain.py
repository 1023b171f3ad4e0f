"""From a text to its explanation: the whole path on one screen. Read this first.

text -> Document -> Reading -> Precision, Search -> Found -> Explanation
"""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from kedge.ask import Verdict, judge, select
from kedge.assemble import assemble
from kedge.choose import Way, choose
from kedge.coverage import CorpusIndex, as_index
from kedge.errors import OptionError, OutOfQueries, TextError
from kedge.examples import examples
from kedge.explanation import Explanation, Step
from kedge.given import given_texts
from kedge.model import Model, as_model
from kedge.model.model import Predictions
from kedge.options import Options, OptionsGiven, as_perturbation, with_options
from kedge.oracle import Oracle
from kedge.partial import built_up
from kedge.precision import Precision
from kedge.reading import Reading, read, read_document
from kedge.search import Covering, Found
from kedge.seeds import generator
from kedge.tokenize import as_tokenizer
from kedge.typing import Label
from kedge.verify import verify

if TYPE_CHECKING:
    from kedge.corpus import Outcome
    from kedge.corpus.rules import RuleList

__all__ = ["Explainer", "explain", "precision"]

# A sampled baseline is a hint, not a claim: enough draws to tell "needs no word" from "needs some".
BASELINE_SAMPLES = 60


@with_options()
class Explainer:
    """Explains the decisions of one model. Stateless between texts, so safe to share and to pickle.

    Parameters
    ----------
    model
        A callable from a list of texts to labels or numbers, a fitted scikit-learn pipeline on raw
        text, a kedge rule: whatever ``kedge.as_model`` recognises.
    options
        What is asked for, listed below; each has a default.
    """

    def __init__(self, model: Any, **options: Unpack[OptionsGiven]) -> None:
        self.options = Options.read(options)
        self._goal = self.options.goal()
        self._perturbation = as_perturbation(self.options.perturbation)
        self.given = model
        self._understand()
        self._tokenizer = None if options.get("tokenizer") is None else as_tokenizer(options["tokenizer"])
        if self.options.corpus is not None:
            self.options = replace(self.options, corpus=as_index(self.options.corpus, self.split))

    def __repr__(self) -> str:
        changed = [
            f"{f.name}={v!r}" for f in fields(Options) if (v := getattr(self.options, f.name)) != f.default
        ]
        return f"Explainer({', '.join([self.model.name, *changed])})"

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
        return assemble(
            reading,
            found,
            seen,
            options=self.options,
            method=way.name,
            model=self.model.name,
            seconds=time.perf_counter() - started,
        )

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
        reading, rng = self._read(text, label, known)
        way = choose(options.method, options.precision, reading, rng)
        search = way.search
        if options.objective == "coverage":
            search = Covering(options.corpus, search)
        found = search(reading, way.precision, self._goal, rng)
        if found.baseline is None:
            found = replace(found, baseline=_baseline(reading, way.precision))
        found = replace(found, notes=(*way.notes, *found.notes)) if way.notes else found
        return reading, way, found

    def _understand(self) -> None:
        """Convert the user's model; once, and again after it was fitted anew."""
        options = self.options
        self.model: Model = as_model(self.given, outputs=options.outputs, classes=options.classes)
        self._parts = self.model.parts() if self.model.parts is not None else ()
        self._verified = False  # the one thing remembered between texts: see kedge.verify

    def _read(
        self, text: str, label: Label | None, known: Predictions | None = None
    ) -> tuple[Reading, np.random.Generator]:
        options = self.options
        now = self.model.parts() if self.model.parts is not None else ()
        if any(a is not b for a, b in zip(now, self._parts, strict=True)):
            self._understand()
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
        label: Label | None = None,
        workers: int | None = None,
        dask: str | None = None,
    ) -> "Iterator[Outcome]":
        """Explain many texts, in order, as fast as the workers allow.

        Parameters
        ----------
        texts, ids
            The documents and, if wanted, what to call them; any iterables, read as they are needed.
        label
            The label to explain, for a multi-label model.
        workers
            How many processes; None for all cores, or for whatever ``joblib.parallel_config`` around
            the call says.
        dask
            The address of a dask scheduler whose workers do it instead.

        A text that cannot be explained gives an outcome with its ``error``; it does not end the run.
        """
        from kedge.corpus import explain_texts

        return explain_texts(self, texts, ids=ids, label=label, workers=workers, dask=dask)

    def rules(
        self,
        texts: Sequence[str],
        *,
        label: Label | None = None,
        workers: int | None = None,
        max_rules: int = 20,
        min_precision: float = 0.9,
    ) -> "RuleList":
        """Rules for the whole model: a short list of anchors that covers most of these texts.

        Parameters
        ----------
        texts
            The corpus.
        label
            The label to explain, for a multi-label model.
        workers
            How many processes explain it; None for all cores.
        max_rules
            The length of the list at most.
        min_precision
            Rules that give fewer of the documents they cover the model's label are left out.
        """
        from kedge.corpus.rules import check_rules, pick_rules

        check_rules(max_rules, min_precision)
        texts = list(given_texts(texts))
        rows = (outcome.to_row() for outcome in self.explain_corpus(texts, label=label, workers=workers))
        index = self.index(texts)
        return pick_rules(
            rows,
            index,
            max_rules=max_rules,
            min_precision=min_precision,
            threshold=self.options.threshold,
        )

    def split(self, text: str) -> tuple[str, ...]:
        """The words of a text as the model reads them, those outside its vocabulary included."""
        try:
            return tuple(t.word for t in read_document(self.model, text, self._tokenizer)[0].tokens)
        except TextError:
            return ()

    def index(self, texts: Iterable[str]) -> CorpusIndex:
        """An index of a corpus by the words this model reads, for ``corpus=`` and for saving."""
        return CorpusIndex.build(texts, self.split)

    def __reduce__(self) -> tuple[Any, ...]:
        # The converted model is made of closures; what travels is the user's own model.
        given = {f.name: getattr(self.options, f.name) for f in fields(Options)}
        return _rebuilt, (self.given, given)


def _rebuilt(model: Any, options: dict[str, Any]) -> Explainer:
    return Explainer(model, **options)


@with_options()
def explain(
    model: Any, text: str, *, label: Label | None = None, **options: Unpack[OptionsGiven]
) -> Explanation:
    """Explain why ``model`` gives ``text`` its label.

    Parameters
    ----------
    model
        The classifier: whatever ``kedge.as_model`` recognises.
    text
        The document.
    label
        One of the labels that hold, for a multi-label model.
    options
        What is asked for, listed below; each has a default.

    >>> import kedge
    >>> e = kedge.explain(kedge.rules.all_present(["very", "good"]), "Food is very very very very good!")
    >>> e.words, e.status
    (('very', 'good'), 'exact')
    """
    return Explainer(model, **options).explain(text, label)


@with_options()
def precision(
    model: Any,
    text: str,
    words: str | Iterable[str | int],
    *,
    label: Label | None = None,
    **options: Unpack[OptionsGiven],
) -> Verdict:
    """How surely these words, or positions, of ``text`` keep the label that ``model`` gives it.

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
