"""A scikit-learn pipeline on single words as a model: no text is built where counts will do."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from kedge.model.answers.outputs import Outputs
from kedge.model.model import Model, Predictions
from kedge.model.sklearn.fitted import all_finite, makes_dense, state_of
from kedge.model.sklearn.heads.linear import Head, head_of
from kedge.model.sklearn.heads.mlp import is_mlp, mlp_gradient
from kedge.model.sklearn.locating import is_local, keeps_apart, locate_words, looks_around
from kedge.model.sklearn.trees.ensembles import cut_capabilities, reads_trees
from kedge.model.sklearn.trees.leaves import is_tree, leaf_boxes
from kedge.model.sklearn.words.features import (
    Features,
    columns_of,
    count_features,
    document_features,
    features_of,
    finds_words,
)
from kedge.model.sklearn.words.scores import (
    additive_score,
    class_slopes,
    gradient,
    label_algebra,
    label_leads,
    normalised_score,
)
from kedge.text.document import Document, Token
from kedge.text.units import interchangeable
from kedge.typing import Counts, Floats, Label

__all__ = ["passed_on", "words_model"]

_BLACK_BOX = (
    "The pipeline does not start with a vectoriser that kedge can read, so it is treated as a black box."
)


def words_model(
    predict: Callable[[Sequence[str]], Predictions],
    name: str,
    steps: Sequence[Any],
    final: Any,
    answer: Callable[[Any], Predictions],
    outputs: Outputs,
    parts: Callable[[], tuple[object, ...]],
) -> Model:
    """A pipeline as a model with what its vectoriser lets us know: counts of words, its words, or nothing.

    ``predict`` takes texts, ``answer`` the features that the steps make of them.
    """
    vectorizer: Any = steps[0] if steps else None
    if not finds_words(vectorizer):
        return Model(predict, name, notes=(_BLACK_BOX,), parts=parts)

    def tokenize(text: str) -> Sequence[Token] | None:
        return locate_words(vectorizer, text)

    vocabulary = getattr(vectorizer, "vocabulary_", None)  # a hashing vectoriser has none
    reads: Any = None if vocabulary is None else vocabulary.__contains__
    by_pattern = vectorizer.tokenizer is None and looks_around(vectorizer.token_pattern)
    if vocabulary is None or tuple(vectorizer.ngram_range) != (1, 1) or by_pattern:
        notes = (_BLACK_BOX,)
        return Model(predict, name, tokenize=tokenize, reads=reads, notes=notes, parts=parts)

    def predict_counts(words: Sequence[str], counts: Counts) -> Predictions:
        columns = columns_of(vectorizer, words)
        return answer(passed_on(steps[1:], count_features(vectorizer, columns, counts)))

    def from_words(documents: Sequence[Document]) -> Predictions:
        units = [interchangeable(document, reads) for document in documents]
        words = [one.words(document) for one, document in zip(units, documents, strict=True)]
        columns = [columns_of(vectorizer, one) for one in words]
        rows = document_features(vectorizer, columns, [one.sizes for one in units])
        return answer(passed_on(steps[1:], rows))

    return Model(
        predict,
        name,
        tokenize=tokenize,
        keeps_apart=lambda text: keeps_apart(vectorizer, text),
        local=is_local(vectorizer),
        reads=reads,
        from_counts=lambda words: partial(predict_counts, words),
        from_words=from_words,
        parts=parts,
        **_inside(steps, final, outputs),
    )


def passed_on(steps: Sequence[Any], x: Any) -> Any:
    """What steps make of their input."""
    for step in steps:
        if step is not None and step != "passthrough":
            x = step.transform(x)
    return x


def _inside(steps: Sequence[Any], final: Any, outputs: Outputs) -> dict[str, Any]:
    """The capabilities of estimators whose inside is known; none for any other."""
    dense = any(map(makes_dense, steps))
    features = features_of([step for step in steps if not makes_dense(step)])
    if features is None or outputs not in {"auto", "labels"}:
        return {}
    if is_tree(final) and features.norm is None:  # with a norm its leaves are no boxes of counts
        return {"leaves": lambda words, sizes, label: leaf_boxes(features, final, words, sizes, label)}
    if is_mlp(final):

        def slope(words: Sequence[str], counts: Counts, label: Label) -> Floats:
            x = passed_on(steps[1:], count_features(steps[0], features.columns(words), counts[None]))
            return mlp_gradient(features, final, x, words, label)

        return {"gradient": slope}
    trees = reads_trees(final, dense=dense)
    if trees is not None:
        return cut_capabilities(features, trees)
    head = head_of(final)
    if head is None:
        return {}
    # Zero times infinity is no number, also where the word is not in the document.
    return _sums(features, head, (lambda: all_finite(state_of([final]))) if dense else lambda: True)


def _sums(features: Features, head: Head, sound: Callable[[], bool]) -> dict[str, Any]:
    """What can be read of a classifier that compares sums over features, as long as it is sound."""

    def if_sound(read: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *asked: read(*asked) if sound() else None

    return {
        "additive": if_sound(lambda words, sizes, label: additive_score(features, head, words, sizes, label)),
        "normalised": if_sound(lambda words, label: normalised_score(features, head, words, label)),
        "leads": if_sound(lambda words, sizes, label: label_leads(features, head, words, sizes, label)),
        "algebra": if_sound(lambda words, _, label, ask: label_algebra(features, head, words, label, ask)),
        "class_slopes": if_sound(lambda words: class_slopes(features, head, words)),
        "between": lambda label, other: _sums(features, head.between(label, other), sound),
        "gradient": lambda words, counts, label: gradient(features, head, words, counts, label),
    }
