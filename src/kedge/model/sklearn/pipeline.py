"""scikit-learn pipelines on raw text: which of the two readers takes one.

Single words and one step behind them are read as counts (`words`), everything else that can be read as
occurrences (`windows`); docs/design.md says why there are two.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from kedge.errors import ModelError
from kedge.model.answers.outputs import Outputs
from kedge.model.model import Model, Predictions
from kedge.model.sklearn.answers import answers_of
from kedge.model.sklearn.fitted import all_as_written, makes_dense, state_of
from kedge.model.sklearn.heads.decisions import decision_of
from kedge.model.sklearn.trees.ensembles import reads_trees
from kedge.model.sklearn.windows.reader import opened_model, source_model
from kedge.model.sklearn.windows.sources import behind
from kedge.model.sklearn.windows.steps import is_none
from kedge.model.sklearn.windows.tables import columns_of
from kedge.model.sklearn.words.features import features_of, finds_words
from kedge.model.sklearn.words.reader import passed_on, words_model
from kedge.typing import Label
from kedge.utils.sentences import Option

__all__ = ["is_pipeline", "pipeline_model", "row_model"]


def is_pipeline(model: Any) -> bool:
    """Whether this is a scikit-learn pipeline (without importing scikit-learn).

    The very type, with the methods of its class, and all that is inside it likewise: a subclass, or a method
    that replaced another, may treat them in another way, and is queried as it stands.
    """
    kind = type(model)
    if kind.__module__ != "sklearn.pipeline" or kind.__name__ != "Pipeline":
        return False
    return all_as_written(model)


def pipeline_model(pipeline: Any, outputs: Outputs = "auto", classes: Sequence[Label] | None = None) -> Model:
    """A fitted pipeline from raw text to labels, with what its vectoriser lets us know."""
    _refuse_unfit(pipeline, outputs)
    before, final = [step for _, step in pipeline.steps[:-1]], pipeline.steps[-1][1]
    name = " + ".join(type(step).__name__ for _, step in pipeline.steps)
    answer = partial(_answer_now, pipeline, outputs, classes)

    def predict(texts: Sequence[str]) -> Predictions:
        return answer(passed_on([step for _, step in pipeline.steps[:-1]], texts))

    parts = partial(state_of, [pipeline])
    if not _trees_on_words(before, final):
        opened = opened_model(predict, name, before, final, answer, outputs, parts)
        if opened is not None:
            return opened
    return words_model(predict, name, before, final, answer, outputs, parts)


def row_model(pipeline: Any, row: Any, column: str, put: Callable[[Sequence[str]], Any]) -> Model | None:
    """A pipeline on a table as a model of the text in one column of a row; None where it must be queried.

    ``put`` makes a table of the row with each of some texts in it.
    """
    _refuse_unfit(pipeline, "auto")
    (_, first), *middle = pipeline.steps[:-1]
    source, final = columns_of(first, row, column), pipeline.steps[-1][1]
    more = [step for _, step in middle if not is_none(step)]
    if source is None or not all(callable(getattr(step, "transform", None)) for step in more):
        return None
    answer = partial(_answer_now, pipeline, "auto", None)

    def predict(texts: Sequence[str]) -> Predictions:
        return answer(passed_on([step for _, step in pipeline.steps[:-1]], put(texts)))

    whole = behind(source, more)
    parts = partial(state_of, [pipeline])
    return source_model(predict, "", whole, final, decision_of(final), answer, parts)


def _answer_now(
    pipeline: Any, outputs: Outputs, classes: Sequence[Label] | None, features: Any
) -> Predictions:
    """What the last step, as it is now, says about features."""
    return answers_of(pipeline.steps[-1][1], outputs, classes)(features)


def _refuse_unfit(pipeline: Any, outputs: Outputs) -> None:
    """A pipeline that is not fitted, or predicts numbers, has no labels to explain."""
    from sklearn.base import is_regressor
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    try:
        check_is_fitted(pipeline)
    except NotFittedError:
        raise ModelError("This pipeline is not fitted; call pipeline.fit(texts, labels) first.") from None
    final = pipeline.steps[-1][1]
    if is_regressor(final) and outputs == "auto":
        raise ModelError(
            f"{type(final).__name__} is a regressor: it predicts numbers, not labels; pass a classifier, or "
            "say ",
            Option("outputs", "scores"),
            " (positive means the second class) or ",
            Option("outputs", "probabilities"),
            ".",
        )


def _trees_on_words(steps: Sequence[Any], final: Any) -> bool:
    """Whether this is an ensemble of trees on features of single words, made dense on the way or not."""
    features = features_of([step for step in steps if not makes_dense(step)])
    if features is None or reads_trees(final, dense=False) is None:
        return False
    return finds_words(features.vectorizer) and tuple(features.vectorizer.ngram_range) == (1, 1)
