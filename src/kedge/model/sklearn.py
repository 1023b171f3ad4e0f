"""scikit-learn pipelines on raw text.

A pipeline whose first step is a CountVectorizer or TfidfVectorizer on single words sees nothing but
word counts: its capabilities are declared here, so that no text is built where counts will do.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kedge.document import Token
from kedge.errors import ModelError
from kedge.model.features import features_of
from kedge.model.forest import forest_chances, is_forest
from kedge.model.heads import head_of
from kedge.model.mlp import is_mlp, mlp_gradient
from kedge.model.model import Model, Predictions, python_label
from kedge.model.outputs import Outputs, read_outputs
from kedge.model.scores import additive_score, gradient, label_algebra, normalised_score
from kedge.model.trees import is_tree, leaf_boxes
from kedge.model.vectorizer import keeps_apart, locate_words, looks_around
from kedge.typing import Bools, Counts, Floats, Label

__all__ = ["count_features", "finds_words", "is_pipeline", "pipeline_model"]


def is_pipeline(model: Any) -> bool:
    """Whether this is a scikit-learn pipeline (told without importing scikit-learn).

    The very type: a subclass may treat its steps in another way, and is asked as it stands.
    """
    kind = type(model)
    return kind.__module__ == "sklearn.pipeline" and kind.__name__ == "Pipeline"


def pipeline_model(pipeline: Any, outputs: Outputs = "auto", classes: Sequence[Label] | None = None) -> Model:
    """A fitted pipeline from raw text to labels, with what its vectoriser lets us know."""
    from sklearn.base import is_regressor
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    try:
        check_is_fitted(pipeline)
    except NotFittedError:
        raise ModelError("This pipeline is not fitted; call pipeline.fit(texts, labels) first.") from None
    final = pipeline.steps[-1][1]
    vectorizer = pipeline.steps[0][1]
    if is_regressor(final) and outputs == "auto":
        raise ModelError(
            f"{type(final).__name__} is a regressor: it predicts numbers, not labels; pass a classifier, or "
            "say outputs='scores' (positive means the second class) or outputs='probabilities'."
        )
    name = " + ".join(type(step).__name__ for _, step in pipeline.steps)
    answer = _answers(final, outputs, classes)

    def predict(texts: Sequence[str]) -> Predictions:
        return answer(_through(pipeline.steps[:-1], texts))

    def parts() -> tuple[object, ...]:
        fitted = ("vocabulary_", "_tfidf", "classes_")
        return tuple(getattr(step, part, None) for _, step in pipeline.steps for part in fitted)

    if not finds_words(vectorizer):
        return Model(predict, name, notes=(_ASKED_BY_TEXT,))

    def tokenize(text: str) -> list[Token] | None:
        return locate_words(vectorizer, text)

    vocabulary = getattr(vectorizer, "vocabulary_", None)  # a hashing vectoriser has none
    reads = None if vocabulary is None else vocabulary.__contains__
    by_pattern = vectorizer.tokenizer is None and looks_around(vectorizer.token_pattern)
    if vocabulary is None or tuple(vectorizer.ngram_range) != (1, 1) or by_pattern:
        notes = (_ASKED_BY_TEXT,)
        return Model(predict, name, tokenize=tokenize, reads=reads, notes=notes, parts=parts)

    def from_counts(words: Sequence[str]) -> Callable[[Counts], Predictions]:
        columns = np.array([vocabulary[w] for w in words], dtype=np.int64)

        def predict_counts(counts: Counts) -> Predictions:
            return answer(_through(pipeline.steps[1:-1], count_features(vectorizer, columns, counts)))

        return predict_counts

    inside = _inside([step for _, step in pipeline.steps[:-1]], final, outputs)
    return Model(
        predict,
        name,
        tokenize=tokenize,
        keeps_apart=lambda text: keeps_apart(vectorizer, text),
        reads=reads,
        from_counts=from_counts,
        parts=parts,
        **inside,
    )


def _through(steps: Sequence[tuple[str, Any]], x: Any) -> Any:
    """What the steps before the last make of their input."""
    for _, step in steps:
        if step is not None and step != "passthrough":
            x = step.transform(x)
    return x


def _inside(steps: Sequence[Any], final: Any, outputs: Outputs) -> dict[str, Any]:
    """The capabilities of estimators whose inside is known; none for any other."""
    features = features_of(steps)
    if features is None or outputs not in {"auto", "labels"}:
        return {}
    if is_tree(final):
        return {"leaves": lambda words, sizes, label: leaf_boxes(features, final, words, sizes, label)}
    if is_mlp(final):

        def slope(words: Sequence[str], counts: Counts, label: Label) -> Floats:
            x = _through(
                [("", step) for step in steps[1:]],
                count_features(steps[0], features.columns(words), counts[None]),
            )
            return mlp_gradient(features, final, x, words, label)

        return {"gradient": slope}
    head = head_of(final)
    if head is None:
        return {}
    return {
        "additive": lambda words, sizes, label: additive_score(features, head, words, sizes, label),
        "normalised": lambda words, label: normalised_score(features, head, words, label),
        "algebra": lambda words, label, ask: label_algebra(features, head, words, label, ask),
        "gradient": lambda words, counts, label: gradient(features, head, words, counts, label),
    }


def _answers(final: Any, outputs: Outputs, classes: Sequence[Label] | None) -> Callable[[Any], Predictions]:
    """The final estimator's own answers, with probabilities where it gives them.

    Labels are those of ``predict``, to the last bit: elsewhere a probability of one half may hide on
    which side of a tie the score lies.
    """
    kind = type(final).__name__ if type(final).__module__.startswith("sklearn.") else ""
    if outputs != "auto" or kind not in _PROBABLE or not hasattr(final, "predict_proba"):
        means: Outputs = "labels" if outputs == "auto" else outputs

        def predict(x: Any) -> Predictions:
            n = x.shape[0] if hasattr(x, "shape") else len(x)
            return read_outputs(final.predict(x), n, means, classes)

        return predict

    def probable(x: Any) -> Predictions:
        names = [python_label(c) for c in final.classes_.tolist()]
        if kind.startswith("LogisticRegression") and len(names) == 2:
            # One product instead of two: predict is the sign of the score, predict_proba its logit.
            score = _score(final, x)
            chance = 1 / (1 + np.exp(-np.clip(score, -700, 700)))
            return _labelled(score > 0, names, np.column_stack([1 - chance, chance]))
        chances = forest_chances(final, x) if is_forest(final) else final.predict_proba(x)
        if kind in _PREDICT_IS_ARGMAX:
            return read_outputs(chances, x.shape[0], "probabilities", names)
        labels = read_outputs(final.predict(x), x.shape[0], "labels").labels
        shares = read_outputs(chances, x.shape[0], "probabilities", names).probabilities
        return Predictions(labels, tuple(names), shares)

    return probable


def _score(final: Any, x: Any) -> Floats:
    """``decision_function`` of a two-class linear model: its own product, to the last bit.

    Its checks of the input take longer than the product on one document. Rows that a vectoriser made
    do not need them; anything else, and a score that is not finite, goes through them.
    """
    coef = final.coef_
    if getattr(x, "format", None) == "csr" and x.shape[1] == coef.shape[1]:
        score: Floats = (x @ coef.T + final.intercept_).reshape(-1)
        if np.isfinite(score).all():
            return score
    checked: Floats = final.decision_function(x)
    return checked


def _labelled(second: Bools, names: list[Label], chances: Floats) -> Predictions:
    both = np.empty(2, dtype=object)
    both[:] = names
    return Predictions(both[second.astype(np.int64)], tuple(names), chances)


# scikit-learn estimators whose predict takes the largest of the very numbers that predict_proba
# gives.
_PREDICT_IS_ARGMAX = frozenset({
    "DecisionTreeClassifier", "RandomForestClassifier", "ExtraTreesClassifier", "MLPClassifier",
    "CalibratedClassifierCV",
})  # fmt: skip

# Estimators whose probabilities speak of the same scores as their labels. (SVC is not among them:
# its probabilities come from a separate calibration.)
_PROBABLE = _PREDICT_IS_ARGMAX | {
    "LogisticRegression", "LogisticRegressionCV", "MultinomialNB", "BernoulliNB", "ComplementNB",
    "GradientBoostingClassifier", "HistGradientBoostingClassifier",
}  # fmt: skip


_ASKED_BY_TEXT = (
    "The pipeline does not start with a vectoriser that kedge reads word by word, so the model is asked "
    "about masked texts."
)


def finds_words(vectorizer: Any) -> bool:
    """Whether the pipeline starts from words that the vectoriser itself finds in the text."""
    from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer

    # Exact types: a subclass may override how text becomes words.
    return (
        type(vectorizer) in {CountVectorizer, TfidfVectorizer, HashingVectorizer}
        and vectorizer.analyzer == "word"
        and vectorizer.input == "content"
    )


def count_features(vectorizer: Any, columns: Counts, counts: Counts) -> Any:
    """The vectoriser's output for rows of word counts: what ``transform`` would give, without text."""
    from scipy.sparse import csr_matrix

    n, d = counts.shape
    order = np.argsort(columns)
    data = counts[:, order]
    if vectorizer.binary:
        data = np.minimum(data, 1)
    indptr = np.arange(0, n * d + 1, d)
    indices = np.tile(columns[order], n)
    shape = (n, len(vectorizer.vocabulary_))
    features = csr_matrix((data.ravel().astype(vectorizer.dtype), indices, indptr), shape=shape)
    features.eliminate_zeros()
    tfidf = getattr(vectorizer, "_tfidf", None)
    return features if tfidf is None else tfidf.transform(features, copy=False)
