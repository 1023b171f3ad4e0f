"""The facade: one model, explained as the options say."""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from kedge.batching import prepare_batch
from kedge.errors import TextError
from kedge.flipping import FlipQuery, flip_label
from kedge.model import Model
from kedge.model.model import Predictions
from kedge.model.source import Source
from kedge.options import Options, OptionsGiven, option_fields, with_options
from kedge.perturb import Perturbation
from kedge.perturb.choice import as_perturbation
from kedge.pipeline import Query, Setup, explain_text, find_anchor, open_reading
from kedge.reading.masked_text import perturbation_in_use, text_without
from kedge.reading.reading import Reading, read_document
from kedge.results.explanation import Explanation
from kedge.results.flip import Flip
from kedge.results.influence import Influence
from kedge.search.knobs import check_at_least, make_evaluator
from kedge.studies.influences import influence_of
from kedge.studies.steps import Steps, build_up
from kedge.studies.verdict import Verdict, judge, select
from kedge.text.anchor import Anchor
from kedge.text.index import CorpusIndex, as_index
from kedge.text.inputs import as_texts
from kedge.text.tokenize import as_tokenizer
from kedge.typing import Label
from kedge.utils.seeds import generator
from kedge.utils.threads import one_thread

if TYPE_CHECKING:
    from kedge.corpus import Outcome, Promised
    from kedge.corpus.rules import RuleList

__all__ = ["Explainer"]


@with_options()
class Explainer:
    """Explains the decisions of one model. Stateless between texts: safe to share between threads.

    It can be pickled if the model can.

    Parameters
    ----------
    model
        The classifier: a fitted scikit-learn pipeline on raw text, a transformers pipeline, a function from
        a list of texts to labels or probabilities; anything that ``kedge.as_model`` accepts.
    options
        See below; each has a default.
    """

    def __init__(self, model: Any, **options: Unpack[OptionsGiven]) -> None:
        checked = Options.read(options)
        self._set_up(Source(model, checked.outputs, checked.classes), checked)

    def _set_up(self, source: Source, options: Options) -> None:
        self._source, self.options = source, options
        self._perturbation = as_perturbation(options.perturbation, options.mask, options.keep_given)
        self._tokenizer = None if options.tokenizer is None else as_tokenizer(options.tokenizer)
        if options.corpus is not None:
            self.options = replace(options, corpus=as_index(options.corpus, self.split))

    def _setup(self) -> Setup:
        return Setup(self._source.current(), self.options, self._perturbation, self._tokenizer)

    def with_options(self, **changes: Unpack[OptionsGiven]) -> "Explainer":
        """An explainer of the same model with some options changed; the converted model is shared."""
        checked = Options.read({**self.options.given, **changes})
        if any(getattr(checked, name) != getattr(self.options, name) for name in ("outputs", "classes")):
            return Explainer(self.given, **checked.given)
        other = object.__new__(type(self))
        other._set_up(self._source, checked)
        return other

    @property
    def given(self) -> Any:
        """The model as the user gave it."""
        return self._source.given

    @property
    def model(self) -> Model:
        """The model as it was converted."""
        return self._source.current().model

    def __repr__(self) -> str:
        changed = [
            f"{f.name}={v!r}" for f in option_fields() if (v := getattr(self.options, f.name)) != f.default
        ]
        return f"Explainer({', '.join([self.model.name, *changed])})"

    def explain(
        self,
        text: str,
        label: Label | None = None,
        *,
        against: Label | None = None,
        known: Predictions | None = None,
    ) -> Explanation:
        """Explain one text.

        Parameters
        ----------
        text
            The text to explain.
        label
            For a multi-label model: which of the predicted labels to explain.
        against
            Another label: explain why the text has its label rather than this one.
        known
            The model's prediction for the text, if it is known already.
        """
        return self.answer(Query(text, label, known, against))

    @one_thread()
    def answer(self, query: Query, *, bare: bool = False) -> Explanation:
        """Explain a text that is partly known; ``bare``: without harder removals, unless requested."""
        setup = query.opened[0] if query.opened is not None else self._setup()
        return explain_text(query, setup, given=self.given, bare=bare)

    @one_thread()
    def prepare_batch(self, texts: Sequence[str], labels: Sequence[Label | None]) -> list[Query]:
        """Several texts with what the model says of them, from one call, for ``answer``."""
        return prepare_batch(texts, labels, self._setup())

    @one_thread()
    def precision(self, text: str, words: str | Iterable[str | int], label: Label | None = None) -> Verdict:
        """How often the label holds while these words are held in place: see ``kedge.precision``.

        No word at all gives the baseline.
        """
        started = time.perf_counter()
        reading, rng = self._open(Query(text, label))
        options, chosen = self.options, select(reading.document, words)
        limits: Any = {"threshold": options.threshold, "delta": options.delta}
        verdict = judge(reading, chosen, evaluator=options.evaluator, rng=rng, **limits)
        return replace(verdict, seconds=time.perf_counter() - started)

    @one_thread()
    def influence(self, text: str, label: Label | None = None, *, samples: int = 2000) -> Influence:
        """How much each word of a text changes the probability of its label: see ``kedge.influence``."""
        check_at_least("samples", samples, 20)
        reading, rng = self._open(Query(text, label))
        return influence_of(reading, samples, rng)

    @one_thread()
    def flip(
        self,
        text: str,
        label: Label | None = None,
        *,
        to: Label | None = None,
        replace: Perturbation | None = None,
    ) -> Flip:
        """The fewest words whose removal, or replacement, changes the label of a text: see ``kedge.flip``."""
        return flip_label(FlipQuery(text, label, to, replace), self._setup())

    @one_thread()
    def partial(self, text: str | Explanation, label: Label | None = None) -> Steps:
        """The baseline, then the precision after each word of the anchor is added, the strongest first.

        Parameters
        ----------
        text
            The text, or its explanation, whose anchor is then used as it is.
        label
            As for ``explain``.

        ``steps.queries`` is how many texts were sent to the model; steps beyond ``max_queries`` are left out.

        >>> import kedge
        >>> explainer = kedge.Explainer(kedge.rules.all_present(["very", "good"]))
        >>> [(s.positions, s.precision) for s in explainer.partial("very good")]
        [((), 0.25), ((0,), 0.5), ((0, 1), 1.0)]
        """
        if isinstance(text, Explanation):
            reading, rng = self._open(Query(text.text, text.label))
            kept, ends = reading.units.kept(Anchor(text.positions)), (text.baseline, text.interval)
            evaluator = make_evaluator("empirical" if text.sampled else "auto", reading, rng)
            return build_up(reading, evaluator, kept, ends=ends)
        reading, rng = self._open(Query(text, label))
        _, found = find_anchor(reading, self.options, rng)
        return build_up(reading, found.evaluator, found.kept, ends=(found.baseline, found.interval))

    def read(self, text: str, label: Label | None = None) -> Reading:
        """The model's view of a text: what evaluators and strategies see."""
        return self._open(Query(text, label))[0]

    def _open(self, query: Query) -> tuple[Reading, np.random.Generator]:
        return open_reading(query, self._setup())

    def masked(self, text: str, removed: Iterable[int]) -> str:
        """The text with these positions removed, as the model would see it."""
        document, _ = read_document(self.model, text, self._tokenizer)
        fitted = perturbation_in_use(self._perturbation, self.model, lambda: self.read(text))
        return text_without(document, removed, fitted, generator(self.options.seed, text))

    def split(self, text: str) -> tuple[str, ...]:
        """The words of a text as the model reads them, including those outside its vocabulary."""
        try:
            return tuple(read_document(self.model, text, self._tokenizer)[0].words)
        except TextError:
            return ()

    def index(self, texts: Iterable[str], onto: CorpusIndex | str | Path | None = None) -> CorpusIndex:
        """An index of a corpus by the words this model reads; ``onto`` extends an existing index."""
        added = CorpusIndex.build(texts, self.split)
        return added if onto is None else CorpusIndex.merge(as_index(onto, self.split), added)

    def explain_corpus(
        self,
        texts: Iterable[str],
        *,
        ids: Iterable[Any] | None = None,
        label: Label | None = None,
        workers: int | None = None,
        dask: str | None = None,
        timeout: float | None = None,
        promise: "Promised" = "document",
    ) -> "Iterator[Outcome]":
        """Explain many texts, in order, as fast as the workers allow.

        Parameters
        ----------
        texts, ids
            The documents and, optionally, their names; any iterables, read as they are needed.
        label
            The label to explain, for a multi-label model.
        workers
            How many processes; None for all cores, or for whatever ``joblib.parallel_config`` around
            the call says.
        dask
            The address of a dask scheduler whose workers do it instead.
        timeout
            Seconds that one text may take.
        promise
            For black boxes, ``"corpus"`` proves by an audit of some anchors what share of all of them reach
            the threshold, instead of each one by itself (``docs/corpora.md``). Outcomes come after the audit.

        A text that cannot be explained gives an outcome with an ``error``; the run goes on.
        """
        from kedge.corpus import explain_texts

        where: Any = {"workers": workers, "dask": dask, "timeout": timeout}
        return explain_texts(self, texts, ids=ids, label=label, promise=promise, **where)

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
            How many rules at most.
        min_precision
            The least share of the documents a rule covers that must have its label.
        """
        from kedge.corpus.rules import check_rules, index_of, pick_rules

        check_rules(max_rules, min_precision)
        texts = list(as_texts(texts))
        rows = (outcome.to_row() for outcome in self.explain_corpus(texts, label=label, workers=workers))
        index = index_of(self, lambda: texts)
        return pick_rules(rows, index, max_rules=max_rules, min_precision=min_precision)

    def __reduce__(self) -> tuple[Any, ...]:
        # The converted model is made of closures, so the user's own model is pickled.
        return partial(Explainer, **self.options.given), (self.given,)
