"""Models queried as the official package queries them: by ``predict``, about every token of a text.

The official implementation sees a function from texts to labels. It cuts the text with spaCy's rules for
English and joins what a sample keeps with blanks: ``cant`` becomes ``ca nt``, two candidates, and a
paragraph's end is a candidate too. All of them compete to be in the anchor, those outside the model's
vocabulary too, and every occurrence is one of its own. kedge would do the same with a plain function, but
build each masked text. Here the candidates are those of the plain function, and the labels come from the
positions that a sample keeps: the same answers (``kedge`` verifies a few of them, the tests many), hundreds
of times faster.
"""

import re
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import Any

import numpy as np

import kedge
from kedge.model.model import Model, Predictions
from kedge.text.document import Token

__all__ = [
    "Labels",
    "anchor_words",
    "cut",
    "from_linear",
    "from_network",
    "from_pipeline",
    "letters",
    "position_model",
]

# (n, b) whether a sample keeps each position, to (n,) labels.
Labels = Callable[[Any], Any]

# The units of the model are places: "word place", which no word is.
_APART = " "
# What stands for a token of white space; no vocabulary has it.
_BLANK = "\N{OPEN BOX}"
# The texts that were cut: what is explained is the label that a text had before.
_WHOLE: dict[str, str] = {}
# All masks of a document of so many positions are remembered, for all runs on it.
_REMEMBERED = 16
# Documents whose tables are kept.
_KEPT = 4


def position_model(
    predict: Callable[[Sequence[str]], Any], labels: Callable[[tuple[str, ...]], Labels], name: str
) -> Model:
    """A model of which every position is a candidate.

    Parameters
    ----------
    predict
        Texts to labels, the model itself.
    labels
        For the words of a document, the labels of its samples.
    name
        What it is called.
    """

    def said(texts: Sequence[str]) -> Any:
        return np.asarray(predict([_WHOLE.get(text.lower(), text) for text in texts])).astype(int)

    @lru_cache(maxsize=_KEPT)
    def prepared(words: tuple[str, ...]) -> Labels:
        tokens = tuple(w.split(_APART)[0] for w in words)
        told = labels(tokens)
        label, whole = said([" ".join(tokens)])[0], np.ones((1, len(words)), dtype=np.int64)
        if int(told(whole)[0]) != label:
            return _with_label(told, label, len(words))
        return _remembering(told, len(words))

    def from_counts(words: Sequence[str]) -> Callable[[Any], Predictions]:
        told = prepared(tuple(words))
        return lambda counts: _predictions(told(counts))

    def algebra(words: Sequence[str], sizes: Any, label: Any, ask: Any) -> Callable[[Any], Any]:
        del sizes, ask
        told = prepared(tuple(words))
        return lambda counts: told(counts) == label

    return Model(
        lambda texts: _predictions(said(texts)),
        name,
        tokenize=_places,
        keeps_apart=lambda _: True,
        reads=lambda word: word != f"unk{_APART}0",
        from_counts=from_counts,
        algebra=algebra,
    )


def _with_label(labels: Labels, label: int, places: int) -> Labels:
    """The whole text has the label that it had before it was cut."""
    return lambda kept: np.where(kept.sum(axis=1) == places, label, np.asarray(labels(kept)).astype(int))


@cache
def _english() -> Callable[[str], Any]:
    import spacy

    return spacy.blank("en").tokenizer


def cut(text: str) -> str:
    """A text as the official package rebuilds it: the tokens of spaCy with a blank between them.

    >>> cut("i cant  say")
    'i ca nt ␣ say'
    """
    return _named(" ".join(token.text if token.text.strip() else _BLANK for token in _english()(text)), text)


def letters(text: str) -> str:
    """A text as the authors' exhaustive search rebuilds it: its words, without digits."""
    return _named(" ".join(re.sub(r"[^a-zA-Z]", " ", text.lower()).split()), text)


def _named(found: str, text: str) -> str:
    _WHOLE[found.lower()] = text
    return found


def anchor_words(found: kedge.Explanation) -> tuple[str, ...]:
    """The words of an anchor, as they stand in the text."""
    return tuple(found.text[start:stop].lower() for start, stop in found.spans)


def _places(text: str) -> list[Token]:
    found = enumerate(re.finditer(r"\S+", text))
    return [Token(f"{token[0].lower()}{_APART}{k}", token.start(), token.end()) for k, token in found]


def _predictions(labels: Any) -> Predictions:
    return Predictions(np.asarray(labels).astype(int).astype(object))


def _remembering(labels: Labels, places: int) -> Labels:
    """Each mask of a short document is queried once."""
    if places > _REMEMBERED:
        return labels
    table = np.full(1 << places, -1, dtype=np.int64)
    weight = 1 << np.arange(places)

    def told(kept: Any) -> Any:
        at = kept @ weight
        unknown = np.unique(at[table[at] < 0])
        if len(unknown):
            table[unknown] = labels(unknown[:, None] >> np.arange(places) & 1)
        return table[at]

    return told


def from_pipeline(pipeline: Any) -> Model:
    """A pipeline (or a rule), by what kedge reads of it."""
    model = kedge.as_model(pipeline)
    reads, counted, algebra = model.reads, model.from_counts, model.algebra
    assert reads is not None and counted is not None  # noqa: S101, PT018  (it counts words)

    def labels(words: tuple[str, ...]) -> Labels:
        own = [w for w in dict.fromkeys(words) if reads(w)]
        place = {w: j for j, w in enumerate(own)}
        member = np.zeros((len(words), len(own)), dtype=np.int64)
        for k, word in enumerate(words):
            if word in place:
                member[k, place[word]] = 1
        predict = counted(own)
        ask = lambda counts: predict(counts).hold(1)  # noqa: E731
        holds = (algebra and algebra(own, member.sum(axis=0), 1, ask)) or ask
        return lambda kept: holds(kept @ member)

    return position_model(pipeline.predict, labels, model.name)


def from_linear(pipeline: Any) -> Model:
    """A linear model on TF-IDF without normalisation: a sum over positions."""
    vectorizer, head = pipeline[0], pipeline[-1]
    at, weight, analyze = vectorizer.vocabulary_, head.coef_[0] * vectorizer.idf_, vectorizer.build_analyzer()

    def labels(words: tuple[str, ...]) -> Labels:
        # A token of a text with punctuation may be several words of the vectoriser, or none.
        alpha = np.array([sum(weight[at[w]] for w in analyze(token) if w in at) for token in words])
        bias = float(head.intercept_[0])
        return lambda kept: kept @ alpha + bias > 0

    return position_model(pipeline.predict, labels, "linear")


def from_network(vectorizer: Any, layers: Sequence[tuple[Any, Any]]) -> Model:
    """A ReLU network on TF-IDF, given as (weight, bias) of its layers: the first is a sum over positions."""
    import torch

    torch.set_num_threads(1)
    at, idf = vectorizer.vocabulary_, vectorizer.idf_
    (first, start), *rest = [(torch.tensor(w).float(), torch.tensor(b).float()) for w, b in layers]
    columns = first.T.contiguous()

    def forward(hidden: Any) -> Any:
        for weight, bias in rest:
            hidden = torch.nn.functional.linear(hidden.relu_(), weight, bias)
        return hidden.argmax(dim=1).numpy()

    def labels(words: tuple[str, ...]) -> Labels:
        rows = torch.zeros((len(words), columns.shape[1]))
        for k, word in enumerate(words):
            if word in at:
                rows[k] = columns[at[word]] * float(idf[at[word]])

        @torch.inference_mode()
        def told(kept: Any) -> Any:
            return forward(torch.addmm(start, torch.tensor(kept, dtype=torch.float32), rows))

        return told  # type: ignore[no-any-return]

    @torch.inference_mode()
    def predict(texts: Sequence[str]) -> Any:
        rows = torch.tensor(vectorizer.transform(texts).toarray(), dtype=torch.float32)
        return forward(torch.nn.functional.linear(rows, first, start))

    return position_model(predict, labels, f"{len(layers)} layers")
