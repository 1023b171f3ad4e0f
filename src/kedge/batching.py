"""Several texts read at once, before each is explained."""

from collections.abc import Sequence
from contextlib import suppress

from kedge.errors import KedgeError
from kedge.pipeline import Query, Setup, open_document
from kedge.reading.labels import predict_documents
from kedge.reading.reading import Reading, read_document
from kedge.search.exact.leading import Leading
from kedge.search.exact.ranked import Ranked
from kedge.search.strategies import choose_strategy
from kedge.search.strategy import Strategy
from kedge.text.document import Document
from kedge.typing import Label

__all__ = ["prepare_batch"]


def prepare_batch(
    texts: Sequence[str],
    labels: Sequence[Label | None],
    setup: Setup,
) -> list[Query]:
    """Several texts with what the model says of them, from one call; and each read, where that needs no more.

    What a strategy does first it does for all of them at once. A text that cannot be read is left as it is.
    """
    model = setup.converted.model
    if model.from_words is None or setup.tokenizer is not None:
        answers = model.predict(texts)
        return [
            Query(text, label, answers.of(k))
            for k, (text, label) in enumerate(zip(texts, labels, strict=True))
        ]
    queries = [Query(text, label) for text, label in zip(texts, labels, strict=True)]
    read = dict[int, tuple[Document, bool]]()
    for k, text in enumerate(texts):
        with suppress(KedgeError):  # reported when this text is explained by itself
            read[k] = read_document(model, text, None)
    read = {k: found for k, found in read.items() if found[1]}
    if not read:
        return queries
    answers = predict_documents(model, [document for document, _ in read.values()])
    begun = dict[Strategy, list[Reading]]()
    for row, (k, found) in enumerate(read.items()):
        query = Query(texts[k], labels[k], answers.of(row))
        with suppress(KedgeError):
            reading, rng = open_document(query, found, setup)
            begun.setdefault(choose_strategy(setup.options.strategies, reading), []).append(reading)
            query = Query(query.text, query.label, query.known, opened=(setup, reading, rng))
        queries[k] = query
    for strategy, readings in begun.items():
        if isinstance(strategy, (Ranked, Leading)):
            strategy.begin(readings, setup.options.goal)
    return queries
