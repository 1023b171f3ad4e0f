"""The questions one can ask about a model and a text, each as one function."""

from collections.abc import Iterable
from typing import Any, Unpack

from kedge.explainer import Explainer
from kedge.model.columns import hold_row
from kedge.options import OptionsGiven, with_options
from kedge.perturb import Perturbation
from kedge.results.banzhaf import Influence
from kedge.results.counterfactual import Flip
from kedge.results.explanation import Explanation
from kedge.studies.verdict import Verdict
from kedge.typing import Label

__all__ = ["explain", "flip", "influence", "precision"]


@with_options()
def explain(
    model: Any,
    text: Any,
    *,
    label: Label | None = None,
    against: Label | None = None,
    column: str | None = None,
    **options: Unpack[OptionsGiven],
) -> Explanation:
    """Explain why ``model`` gives ``text`` its label.

    Parameters
    ----------
    model
        The classifier: whatever ``kedge.as_model`` recognises.
    text
        The document; with ``column`` a row of a table.
    label
        One of the labels that hold, for a multi-label model.
    against
        Another label: why this one and not that? The words that keep the label ahead of it.
    column
        For a model of tables: the column whose text is explained. The others are held fixed.
    options
        Options, listed below; each has a default.

    >>> import kedge
    >>> e = kedge.explain(kedge.rules.all_present(["very", "good"]), "Food is very very very very good!")
    >>> e.words, e.status
    (('very', 'good'), 'exact')
    """
    if column is not None:
        model, text = hold_row(model, text, column)
    return Explainer(model, **options).explain(text, label, against=against)


@with_options()
def precision(
    model: Any,
    text: Any,
    words: str | Iterable[str | int],
    *,
    label: Label | None = None,
    column: str | None = None,
    **options: Unpack[OptionsGiven],
) -> Verdict:
    """How reliably these words, or positions, of ``text`` keep the label that ``model`` gives it.

    >>> import kedge
    >>> verdict = kedge.precision(kedge.rules.any_of(["good"], ["nice"]), "nice place, good food", ["good"])
    >>> verdict.precision, verdict.reaches, verdict.status
    (1.0, True, 'exact')
    """
    if column is not None:
        model, text = hold_row(model, text, column)
    return Explainer(model, **options).precision(text, words, label)


@with_options()
def influence(
    model: Any,
    text: Any,
    *,
    label: Label | None = None,
    column: str | None = None,
    samples: int = 2000,
    **options: Unpack[OptionsGiven],
) -> Influence:
    """What every word of ``text`` does to the label that ``model`` gives it: exact where it can be read.

    Parameters
    ----------
    model, text, label, column
        As for ``explain``.
    samples
        How many samples a model is asked about that can only be asked. The standard error is about
        1/sqrt(samples). ``e.influence`` of an explanation asks nothing more than was asked for it.
    options
        Options, listed below; each has a default.

    >>> import kedge
    >>> found = kedge.influence(kedge.rules.all_present(["very", "good"]), "very good food")
    >>> found.values, found.exact
    ((0.5, 0.5, 0.0), True)
    """
    if column is not None:
        model, text = hold_row(model, text, column)
    return Explainer(model, **options).influence(text, label, samples=samples)


@with_options()
def flip(
    model: Any,
    text: Any,
    *,
    label: Label | None = None,
    to: Label | None = None,
    replace: Perturbation | None = None,
    column: str | None = None,
    **options: Unpack[OptionsGiven],
) -> Flip:
    """The fewest words of ``text`` whose removal changes its label.

    Proven to be fewest where the model can be read; of any other model found with few questions, verified by
    asking, and irreducible: with any one of the words back, the label is back.

    Parameters
    ----------
    model, text, label, column
        As for ``explain``.
    to
        The label to reach; without it any other will do.
    replace
        Replace words instead of removing them, by what this perturbation offers: ``kedge.Infill(...)`` or
        ``kedge.Neighbours(...)``.
    options
        Options, listed below; each has a default.

    >>> import kedge
    >>> found = kedge.flip(kedge.rules.any_of(["not", "bad"], ["good"]), "not bad, rather good")
    >>> found.words, found.status
    (('not', 'good'), 'exact')
    """
    if column is not None:
        model, text = hold_row(model, text, column)
    return Explainer(model, **options).flip(text, label, to=to, replace=replace)
