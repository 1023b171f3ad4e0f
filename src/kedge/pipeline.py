"""From a text to its explanation: the whole path on one screen. Read this first.

text -> Document -> Reading -> Strategy -> Found -> Explanation
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kedge.errors import LabelError, OptionError
from kedge.model.contrast import between, the_pair
from kedge.model.model import Model, Predictions
from kedge.model.source import Converted
from kedge.options import Options
from kedge.perturb import Perturbation
from kedge.reading.labels import label_to_explain
from kedge.reading.oracle import ASKED_AGAIN, Oracle
from kedge.reading.reading import Reading, read, read_document
from kedge.reading.verification import confirm, verify
from kedge.results.explanation import Explanation, Step, TiedAnchors
from kedge.results.lazy import LazySequence
from kedge.results.removal import Removal
from kedge.search.covering import Covering
from kedge.search.empty import baseline_of
from kedge.search.strategies import choose_strategy, spell
from kedge.search.strategy import Candidate, Found, Strategy
from kedge.search.timeout_fallback import fallback_anchor
from kedge.studies.examples import draw_examples
from kedge.studies.influences import measure_influence
from kedge.studies.removals import CLAIMS, can_be_harder, harder_removals, is_free, without_questions
from kedge.text.document import Document
from kedge.text.inputs import one_text
from kedge.text.tokenize import Tokenizer
from kedge.typing import Kept, Label
from kedge.utils.deadline import TimeIsUp
from kedge.utils.seeds import generator
from kedge.utils.sentences import Option, Sentence

__all__ = ["Query", "Setup", "explain_text", "find_anchor", "open_document", "open_reading"]


_REPEATS_UNCHECKED = Sentence(
    "Every text that matters was queried, so this is exact if the model is deterministic; checking that "
    f"takes {ASKED_AGAIN} more queries, for which ",
    Option("max_queries"),
    " left no room.",
)


@dataclass(frozen=True)
class Setup:
    """What an explainer brings to every text.

    Parameters
    ----------
    converted
        The model as it was converted.
    options
        The user's options.
    perturbation, tokenizer
        What two of these options stand for; a tokenizer of None leaves splitting to the model.
    """

    converted: Converted
    options: Options
    perturbation: Perturbation
    tokenizer: Tokenizer | None


@dataclass(frozen=True)
class Query:
    """A text to explain, for a label (against another), and what the model is known to say about it.

    ``opened`` is the text as it was read already, with which setup, and its generator.
    """

    text: str
    label: Label | None = None
    known: Predictions | None = None
    against: Label | None = None
    opened: tuple[Setup, Reading, np.random.Generator] | None = None


def open_reading(query: Query, setup: Setup) -> tuple[Reading, np.random.Generator]:
    """One model's view of one text, checked against the model: the only way in."""
    return open_document(query, read_document(setup.converted.model, query.text, setup.tokenizer), setup)


def open_document(
    query: Query, read_already: tuple[Document, bool], setup: Setup
) -> tuple[Reading, np.random.Generator]:
    """The same of a text whose words were found already, and whether they are the model's own."""
    document, own_words = read_already
    converted, options = setup.converted, setup.options
    rng = generator(options.seed, document.text)
    reading = read(
        converted.model,
        document,
        own_units=own_words,
        split_by_user=setup.tokenizer is not None,
        perturbation=setup.perturbation,
        label=query.label,
        oracle=Oracle(options.max_queries, options.batch_size, options.progress),
        rng=rng,
        known=query.known,
    )
    if reading.counted:
        confirm(reading)
        if not converted.checked:
            verify(converted.model, reading)
            converted.checked.append(True)
    if options.prior is not None:
        words = reading.units.words(document)
        reading = replace(reading, prior=options.prior.weigh(words, reading.label))
    return reading, rng


def explain_text(query: Query, setup: Setup, *, given: Any, bare: bool = False) -> Explanation:
    """The explanation of a text; against another label that of the model of these two.

    ``bare`` leaves out harder removals that were not requested.
    """
    options, converted = setup.options, setup.converted
    started = time.perf_counter()
    if query.against is None:
        if query.opened is not None:
            _, reading, rng = query.opened
        else:
            reading, rng = open_reading(query, setup)
        return explain_reading(
            reading, options, rng, model=converted.model, given=given, started=started, bare=bare
        )
    if options.certificate:
        raise OptionError(
            Option("against"), " and ", Option("certificate"), " do not go together; leave one of them out."
        )
    pair, two, first = _contrasted(query, query.against, converted)
    reading, rng = open_reading(pair, replace(setup, converted=two))
    found = explain_reading(reading, options, rng, model=two.model, given=given, started=started, bare=bare)
    shares = first.distribution()
    return replace(
        found, against=query.against, probabilities=None if shares is None else tuple(shares.items())
    )


def _unknown(reading: Reading, model: Model) -> Sequence[int]:
    """The positions of words that are not in the vocabulary of a model that is read."""
    reads, document, units = model.reads, reading.document, reading.units
    if reads is None or not model.learned or not reading.counted:
        return ()

    def found() -> Iterator[int]:
        known = {k for group in units.members for k in group}
        return (k for k, word in enumerate(document.words) if k not in known and not reads(word))

    return LazySequence(found)


def _contrasted(query: Query, against: Label, converted: Converted) -> tuple[Query, Converted, Predictions]:
    """A query about one label against another, the model of these two, and what it says of all labels."""
    model = converted.model
    first = query.known or Oracle().ask(model.predict, [one_text(query.text)])  # counted when it is read
    label = label_to_explain(first, query.label)
    if label == against:
        raise LabelError(
            f"The model labels this text {label!r}; ", Option("against"), " takes another label."
        )
    if first.labels is not None and len(first.classes or ()) == 2:
        first.column(against)
        return replace(query, label=label, known=first), converted, first  # there is no third label
    pair = replace(query, label=label, known=the_pair(first, label, against))
    return pair, Converted(between(model, label, against)), first


def find_anchor(reading: Reading, options: Options, rng: np.random.Generator) -> tuple[Strategy, Found]:
    """The anchor, by the first strategy that fits the reading; and which strategy that was."""
    strategy, goal = choose_strategy(options.strategies, reading), options.goal
    if options.keep == "auto":
        goal = replace(goal, delta=goal.delta / CLAIMS)
    search = Covering(options.corpus, strategy) if options.objective == "coverage" else strategy
    try:
        found = search(reading, goal, rng)
        baseline = baseline_of(reading, found, goal, rng)
        return strategy, found if baseline is found.baseline else replace(found, baseline=baseline)
    except TimeIsUp:
        return strategy, fallback_anchor(reading, goal, rng)


def explain_reading(
    reading: Reading,
    options: Options,
    rng: np.random.Generator,
    *,
    model: Model,
    given: Any,
    started: float,
    bare: bool = False,
) -> Explanation:
    """The explanation of a reading, in the words and places of the caller's own text."""
    strategy, found = find_anchor(reading, options, rng)
    if found.status == "exact" and not reading.check_repeats():
        found = replace(found, status="certified", notes=(*found.notes, _REPEATS_UNCHECKED))
    examples = draw_examples(reading, found, options.seed)
    removals = () if bare and options.keep != "auto" else _removals(reading, found, options)
    document, units, looked = reading.document, reading.units, found.trace
    anchor = units.anchor(found.kept)
    words = anchor.words(document)

    def positions(kept: Kept) -> tuple[int, ...]:
        return units.anchor(kept).positions

    def step(candidate: Candidate) -> Step:
        return Step(positions(candidate.kept), candidate.interval)

    ties = None
    if (selection := found.selection) is not None:
        best = tuple(positions(kept) for kept in selection.tied)
        ties = TiedAnchors(selection.reaching, selection.shortest, best)
    minimality = found.minimality if options.objective == "shortest" else "open"
    evidence = None
    if options.certificate:
        from kedge.certificates.issue import issued, named

        about = named(model.name, given)
        evidence = issued(reading, found, options.goal, about, shortest=minimality == "shortest")
    return Explanation(
        text=document.text,
        label=reading.label,
        words=words,
        positions=anchor.positions,
        spans=anchor.spans(document),
        interval=found.interval,
        status=found.status,
        threshold=options.threshold,
        delta=getattr(strategy, "delta", options.delta),  # a strategy may have its own
        method=spell(strategy),
        evaluator=found.evaluator.name,
        sampled=found.evaluator.sampled,
        minimality=minimality,
        model=model.name,
        perturbation=reading.perturbation.name,
        queries=reading.oracle.queries,
        baseline=found.baseline,
        seed=options.seed,
        coverage=None if options.corpus is None else options.corpus.coverage(words),
        objective=options.objective,
        seconds=time.perf_counter() - started,
        tokens=LazySequence(lambda: ((t.start, t.stop) for t in document.tokens)),  # built on first access
        unknown=_unknown(reading, model),  # likewise
        probabilities=tuple(reading.probabilities.items()) if reading.probabilities else None,
        trace=LazySequence(lambda: map(step, looked)),  # likewise
        ties=ties,
        examples=examples,  # likewise
        removals=removals,  # likewise, where they cost no query
        measure=measure_influence(reading, found),  # likewise
        notes=(*reading.notes, *found.notes, *_hint(reading, found, options)),
        evidence=evidence,
        backward=reading.oracle.backward,
        prior=None if options.prior is None or strategy.name != "guided" else options.prior.digest,
    )


def _hint(reading: Reading, found: Found, options: Options) -> tuple[str, ...]:
    """Where no word is needed and harder removals would cost queries: how to request them."""
    reached = found.baseline is not None and found.baseline.reaches(options.threshold)
    if not reached or options.keep == "auto" or is_free(reading, found) or not can_be_harder(reading):
        return ()
    lower = " removes more words, until the label needs one, and says which."
    return (Sentence(Option("keep", "auto"), lower),)


def _at_most_certified(removal: Removal) -> Removal:
    return replace(removal, status="certified") if removal.status == "exact" else removal


def _removals(reading: Reading, found: Found, options: Options) -> Sequence[Removal]:
    """What a label that needs no word needs when more is removed: where requested, or where it is free."""
    known = found.baseline
    if known is None or known.mean < options.threshold or not can_be_harder(reading):
        return ()
    free = is_free(reading, found)
    if not free and options.keep != "auto":
        return ()
    own = replace(options.goal, delta=options.delta / CLAIMS, settle_empty=False)
    exact = not found.evaluator.sampled and found.evaluator.name != "gaussian"
    if not free:
        told = harder_removals(reading, known, own, options.seed, proven=exact)
        # Only for an exact answer was it checked that the model repeats itself.
        return tuple(told) if found.status == "exact" else tuple(map(_at_most_certified, told))
    apart = without_questions(reading)
    return LazySequence(
        lambda: harder_removals(apart, known, own, options.seed, proven=exact, again=not exact)
    )
