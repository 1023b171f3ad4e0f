"""A scikit-learn pipeline opened on one document: scores and labels of masked texts by algebra.

The vectorisers' grams become windows of positions (`occurrences`), the steps act on them (`parts`), and the
classifier decides by a few sums (`decisions`). What is left of the model is a small matrix.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from kedge.model.answers.outputs import Outputs
from kedge.model.answers.predictions import Predictions
from kedge.model.model import Model
from kedge.model.scores.inside import Inside
from kedge.model.sklearn.fitted import all_finite
from kedge.model.sklearn.heads.decisions import Decision, decision_of
from kedge.model.sklearn.heads.linear import head_of
from kedge.model.sklearn.trees.boosted import Boosted
from kedge.model.sklearn.trees.ensembles import reads_trees
from kedge.model.sklearn.windows.forests import Algebra, tree_algebra
from kedge.model.sklearn.windows.leading import leads_of
from kedge.model.sklearn.windows.occurrences import Windows, in_units
from kedge.model.sklearn.windows.parts import Part, cut
from kedge.model.sklearn.windows.sources import Source, Table, Vectoriser, source_of
from kedge.model.sklearn.windows.sums import Sums
from kedge.model.sklearn.words.features import features_of
from kedge.perturb.masking import UNKNOWN, Masking
from kedge.text.document import Document, Token
from kedge.text.units import Units
from kedge.typing import Counts

__all__ = ["open_pipeline", "opened_model", "shared_tokens", "source_model"]


def shared_tokens(source: Source, text: str) -> Sequence[Token] | None:
    """The smallest pieces of a text that no vectoriser reads across; None where they cannot be placed."""
    found = [grams.tokens(text) for grams in source.vectorisers()]
    known = [tokens for tokens in found if tokens is not None]
    if len(known) < len(found):
        return None
    if len(known) == 1 or all(tokens == known[0] for tokens in known):
        return known[0]
    merged: list[Token] = []
    for token in sorted(chain.from_iterable(known), key=lambda t: (t.start, -t.stop)):
        if merged and token.start < merged[-1].stop:
            last = merged[-1]
            if token.stop > last.stop:
                merged[-1] = Token(text[last.start : token.stop], last.start, token.stop)
        else:
            merged.append(token)
    return merged


def opened_model(
    predict: Callable[[Sequence[str]], Predictions],
    name: str,
    steps: Sequence[Any],
    final: Any,
    answer: Callable[[Any], Predictions],
    outputs: Outputs,
    parts: Callable[[], tuple[object, ...]],
) -> Model | None:
    """A pipeline of more than single words and one step as a model; None for one that is not read so.

    ``predict`` takes texts, ``answer`` the features that the steps make of them.
    """
    source = source_of(steps)
    if source is None:
        return None
    decision = decision_of(final) if outputs in {"auto", "labels"} else None
    plain = features_of(steps) is not None and source.vectorisers()[0].words_alone
    if plain and (decision is None or head_of(final) is not None):
        return None
    return source_model(predict, name, source, final, decision, answer, parts)


def source_model(
    predict: Callable[[Sequence[str]], Predictions],
    name: str,
    source: Source,
    final: Any,
    decision: Decision | None,
    answer: Callable[[Any], Predictions],
    parts: Callable[[], tuple[object, ...]],
) -> Model:
    """A classifier behind known features as a model."""
    vectorisers = source.vectorisers()
    known = all(not grams.hashed and not grams.characters for grams in vectorisers)
    # A mask outside all vocabularies has no effect. Else removal has none, but for n-grams: new neighbours
    # would be read as such, so that a mask must stand between them, and what it adds is part of the sums.
    several = any(grams.longest > 1 for grams in vectorisers)

    return Model(
        predict,
        name,
        tokenize=partial(shared_tokens, source),
        reads=(lambda word: any(grams.reads(word) for grams in vectorisers)) if known else None,
        opened=partial(open_pipeline, source, decision, _trees(final, decision), answer, parts),
        mask=None if known else UNKNOWN if several else "",
        parts=parts,
    )


def _trees(final: Any, decision: Decision | None) -> Callable[[bool], Boosted | None] | None:
    """The trees of an ensemble as they are now, by whether it gets arrays; None for any other classifier."""
    sparse, dense = reads_trees(final, dense=False), reads_trees(final, dense=True)
    if decision is not None or sparse is None or dense is None:
        return None
    return lambda gets_arrays: dense() if gets_arrays else sparse()


def open_pipeline(
    source: Source,
    decision: Decision | None,
    trees: Callable[[bool], Boosted | None] | None,
    answer: Callable[[Any], Predictions],
    parts: Callable[[], tuple[object, ...]],
    document: Document,
    masking: Masking,
) -> Inside | None:
    """What is known of a pipeline on a document; None where masked texts must be queried."""
    vectorisers, mask = source.vectorisers(), masking.written
    # Grams that cancel each other leave a zero behind, steps may fill in all zeros, and zero times infinity
    # is no number.
    zeros = not isinstance(source, Vectoriser) or source.grams.cancels
    if zeros and not all_finite(parts()):
        return None
    found = [grams.occurrences(document, mask) for grams in vectorisers]
    known = [occurrences for occurrences in found if occurrences is not None]
    if len(known) < len(found) or not all(grams.masks_cleanly(document, masking) for grams in vectorisers):
        return None
    units, windows, tables = in_units(known, [token.word for token in document.tokens])
    opened = Opened(source, units, windows, tables)

    def predict(counts: Counts) -> Predictions:
        return answer(source.matrix(windows.rows(counts), iter(tables)))

    def bare() -> Predictions:
        without = ((table, np.zeros_like(base), columns) for table, base, columns in tables)
        return answer(source.matrix(np.zeros((1, len(windows))), without))

    speaks = bool(mask) and any(grams.knows(mask) for grams in vectorisers)
    told = Inside(units, predict, bare=bare if speaks else None)
    if trees is not None and len(units):
        return replace(told, algebra=_by_trees(opened, trees))
    part = None if decision is None or not len(units) else _features(opened, decision)
    if part is None or decision is None:
        return told
    sums = Sums.of(units, windows, part, decision)
    if not sums.finite:
        return told
    return replace(
        told,
        additive=sums.additive,
        chain=sums.chain,
        leads=partial(leads_of, sums),
        algebra=sums.algebra,
        gradient=sums.gradient,
    )


def _by_trees(opened: "Opened", trees: Callable[[bool], Boosted | None]) -> Algebra | None:
    """What an ensemble says of rows of counts; None where it cannot be followed."""
    source, tables = opened.source, opened.tables
    part = source.part(iter(tables))
    if part is None:
        return None
    dense = not hasattr(source.matrix(np.zeros((1, len(opened.windows))), iter(tables)), "tocsr")
    boosted = trees(dense)
    return None if boosted is None else tree_algebra(boosted, opened.windows, part)


def _features(opened: "Opened", decision: Decision) -> Part | None:
    """The features that the classifier adds up; None where a step is not known."""
    part = opened.source.part(iter(opened.tables))
    return part if part is None or decision.cut is None else cut(part, decision.cut)


@dataclass(frozen=True, eq=False)
class Opened:
    """A document's windows, and the tables of every vectoriser over them."""

    source: Source
    units: Units
    windows: Windows
    tables: list[Table]
