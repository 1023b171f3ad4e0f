"""Which label of a document is explained."""

from collections.abc import Callable, Sequence

from kedge.errors import LabelError
from kedge.model.model import Model, Predictions
from kedge.text.document import Document, WordRuns
from kedge.typing import Label
from kedge.utils.sentences import Option, Sentence

__all__ = ["label_source", "label_to_explain", "predict_documents"]


def label_source(
    model: Model, document: Document, known: Predictions | None, *, own_units: bool
) -> Callable[[list[str]], Predictions]:
    """What gives the label of a document: the answer that is known, else the model."""
    if known is not None:
        return lambda _: known
    return lambda texts: predict_documents(model, [document]) if own_units else model.predict(texts)


def predict_documents(model: Model, documents: Sequence[Document]) -> Predictions:
    """What a model says of documents in its own words, from one call.

    Words that were found for the reading need not be found again for the answer.
    """
    from_words = model.from_words
    if from_words is None or not all(isinstance(document.tokens, WordRuns) for document in documents):
        return model.predict([document.text for document in documents])
    return from_words(documents)


def label_to_explain(first: Predictions, label: Label | None) -> Label:
    """The label to explain: the model's own, or the user's if it holds."""
    if first.labels is None:
        holding = [c for c in first.classes or () if first.hold(c)[0]]
        known = ", ".join(map(repr, holding)) or "none"
        if label is None:
            raise LabelError(
                "A multi-label model needs ",
                Option("label"),
                f"; the labels that hold for this text are: {known}.",
            )
        if label not in holding:
            first.hold(label)  # an unknown label is refused by name
            raise LabelError(
                f"The label {label!r} does not hold for this text, so there is nothing that keeps it; "
                f"the labels that hold are: {known}."
            )
        return label
    predicted: Label = first.labels[0]
    if label is not None and label != predicted:
        if first.classes is not None:
            first.column(label)
        ways = Sentence("To see what would make it so, ask for a flip with ", Option("to", label), ".")
        if first.comparable:
            reason = Sentence(Option("against", label), f" explains why it is not {label!r}. ")
            ways = Sentence(reason, ways)
        raise LabelError(
            f"The model labels this text {predicted!r}, not {label!r}; an anchor explains the predicted "
            "label. ",
            ways,
        )
    return predicted
