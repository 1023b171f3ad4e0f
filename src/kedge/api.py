"""The functional API: one function for each question about a model and a text."""

from collections.abc import Iterable
from typing import Any, Unpack

from kedge.explainer import Explainer
from kedge.model.columns import hold_row
from kedge.options import OptionsGiven, with_options
from kedge.perturb import Perturbation
from kedge.results.explanation import Explanation
from kedge.results.flip import Flip
from kedge.results.influence import Influence
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
        The classifier: a fitted scikit-learn pipeline on raw text, a transformers pipeline, a function from
        a list of texts to labels or probabilities; anything that ``kedge.as_model`` accepts.
    text
        The text to explain; with ``column``, a row of a table.
    label
        For a multi-label model: which of the predicted labels to explain.
    against
        Another label: explain why the text has its label rather than this one.
    column
        For a model that takes tables: the column whose text is explained. The other columns stay as they are.
    options
        See below; each has a default.

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
    """How often the label holds while these words of ``text`` are held in place, and whether that is enough.

    Parameters
    ----------
    model, text, label, column
        As for ``explain``.
    words
        Words of the text, or their positions, counted from 0. A word named twice is two occurrences.
    options
        See below; each has a default.

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
    """How much each word of ``text`` changes the probability of its label; exact where kedge reads the model.

    Parameters
    ----------
    model, text, label, column
        As for ``explain``.
    samples
        How many samples are drawn for a black-box model; the standard error is about 1/sqrt(samples).
        ``e.influence`` of an explanation costs no further queries.
    options
        See below; each has a default.

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

    Proven minimal where kedge reads the model, as a rule. For black boxes the model confirms the new label,
    and putting any one of the words back restores the old one.

    Parameters
    ----------
    model, text, label, column
        As for ``explain``.
    to
        The label to reach; by default, any other.
    replace
        Replace words instead of removing them: ``kedge.Infill(...)`` or ``kedge.Neighbours(...)``.
    options
        See below; each has a default.

    >>> import kedge
    >>> found = kedge.flip(kedge.rules.any_of(["not", "bad"], ["good"]), "not bad, rather good")
    >>> found.words, found.status
    (('not', 'good'), 'exact')
    """
    if column is not None:
        model, text = hold_row(model, text, column)
    return Explainer(model, **options).flip(text, label, to=to, replace=replace)
