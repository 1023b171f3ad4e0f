"""Rules as models: the simplest classifiers whose anchors are known (Propositions 5 and 8).

A rule is a boolean function of which words are present. ``present("good")`` is the smallest; ``&``,
``|`` and ``~`` combine; ``all_present`` and ``any_of`` are the two forms the paper studies.

>>> rule = any_of(["not", "bad"], ["good"])
>>> print(rule, rule.predict(["Not so bad", "Bad!", "good"]))
(not and bad) or good [1, 0, 1]
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Literal

import numpy as np

from kedge.errors import OptionError
from kedge.model.model import Model, Predictions
from kedge.model.scores.leaves import LeafBoxes
from kedge.text.document import Token
from kedge.text.inputs import as_texts, as_words
from kedge.text.tokenize import spaced
from kedge.typing import Bools, Counts, Label

__all__ = ["Rule", "all_present", "any_of", "present", "rule_model"]

# A rule whose decision tree has more leaves than this is treated as a black box.
_MOST_LEAVES = 4096


@dataclass(frozen=True)
class Rule:
    """A boolean function of the presence of words; label 1 where it is true, else 0."""

    operator: Literal["present", "and", "or", "not"]
    parts: tuple["Rule", ...] = ()
    word: str = ""

    def __and__(self, other: "Rule") -> "Rule":
        if not isinstance(other, Rule):
            return NotImplemented
        return Rule("and", (*self._flat("and"), *other._flat("and")))

    def __or__(self, other: "Rule") -> "Rule":
        if not isinstance(other, Rule):
            return NotImplemented
        return Rule("or", (*self._flat("or"), *other._flat("or")))

    def __invert__(self) -> "Rule":
        return Rule("not", (self,))

    def __str__(self) -> str:
        if self.operator == "present":
            return self.word
        inner = [str(p) if p.operator == "present" else f"({p})" for p in self.parts]
        return f"not {inner[0]}" if self.operator == "not" else f" {self.operator} ".join(inner)

    def _flat(self, operator: str) -> tuple["Rule", ...]:
        return self.parts if self.operator == operator else (self,)

    @property
    def words(self) -> tuple[str, ...]:
        """The words the rule asks about."""
        own = (self.word,) if self.operator == "present" else ()
        return tuple(dict.fromkeys((*own, *(w for p in self.parts for w in p.words))))

    def truth(self, have: Mapping[str, Bools]) -> Bools:
        """Where the rule is true, given where each of its words is present."""
        if self.operator == "present":
            return have[self.word]
        values = [part.truth(have) for part in self.parts]
        if self.operator == "not":
            return ~values[0]
        return reduce(np.logical_and if self.operator == "and" else np.logical_or, values)

    def decide(self, known: Mapping[str, bool]) -> bool | None:
        """The rule's value given the presence of some of its words; None while it is open."""
        if self.operator == "present":
            return known.get(self.word)
        values = [part.decide(known) for part in self.parts]
        if self.operator == "not":
            return None if values[0] is None else not values[0]
        settles = self.operator == "or"  # one true part settles an "or", one false part an "and"
        if settles in values:
            return settles
        return None if None in values else not settles

    def predict(self, texts: Iterable[str]) -> list[int]:
        """Labels of texts: 1 where the rule is true, else 0. Case does not count."""
        bags = [{token.word for token in lower_words(text)} for text in as_texts(texts)]
        have = {w: np.array([w in bag for bag in bags], dtype=bool) for w in self.words}
        labels: list[int] = self.truth(have).astype(int).tolist()
        return labels


def present(word: str) -> Rule:
    """Label 1 iff ``word`` is in the text."""
    if not isinstance(word, str) or [t.word for t in lower_words(word)] != [word.lower()]:
        raise OptionError(f"A rule is about single words, got {word!r}.")
    return Rule("present", word=word.lower())


def all_present(words: Iterable[str]) -> Rule:
    """Label 1 iff every word is in the text (Proposition 5)."""
    names = as_words(words)
    if not names:
        raise OptionError("A rule needs at least one word.")
    return reduce(Rule.__and__, map(present, names))


def any_of(*lists: Iterable[str]) -> Rule:
    """Label 1 iff all the words of at least one list are in the text: a small tree (Proposition 8)."""
    if not lists:
        raise OptionError("any_of needs at least one list of words.")
    return reduce(Rule.__or__, map(all_present, lists))


def rule_model(rule: Rule) -> Model:
    """A rule as a model whose inside is known: presence of words, nothing else."""

    def from_counts(words: Sequence[str]) -> Callable[[Counts], Predictions]:
        at = {word: j for j, word in enumerate(words)}

        def predict(counts: Counts) -> Predictions:
            absent = np.zeros(len(counts), dtype=bool)
            have = {w: counts[:, at[w]] > 0 if w in at else absent for w in rule.words}
            return _predictions(rule.truth(have).astype(int).tolist())

        return predict

    def leaves(words: Sequence[str], sizes: Counts, label: Label) -> LeafBoxes | None:
        del sizes  # presence does not depend on how many there are
        return _leaves(rule, words, label)

    return Model(
        predict=lambda texts: _predictions(rule.predict(texts)),
        name=f"rule: {rule}",
        tokenize=lower_words,
        repeats=True,
        local=True,  # no word has a blank in it, and none asks what stands beyond one
        reads=set(rule.words).__contains__,
        learned=False,
        from_counts=from_counts,
        leaves=leaves,
    )


def _leaves(rule: Rule, words: Sequence[str], label: Label) -> LeafBoxes | None:
    """The rule as a decision tree that asks about one word after the other, until it is settled."""
    at = {word: j for j, word in enumerate(words)}
    asked = [word for word in rule.words if word in at]
    absent = {word: False for word in rule.words if word not in at}
    paths, open_paths = [], [absent]
    while open_paths:
        known = open_paths.pop()
        value = rule.decide(known)
        if value is None:
            word = next(w for w in asked if w not in known)
            open_paths += [{**known, word: True}, {**known, word: False}]
        else:
            paths.append((known, value))
        if len(paths) + len(open_paths) > _MOST_LEAVES:
            return None
    low, high = np.full((len(paths), len(words)), -np.inf), np.full((len(paths), len(words)), np.inf)
    for row, (known, _) in enumerate(paths):
        for word, here in known.items():
            if word in at:  # present: more than 0; absent: at most 0
                (low if here else high)[row, at[word]] = 0
    return LeafBoxes(low, high, np.array([int(value) == label for _, value in paths], dtype=bool))


def _predictions(values: list[int]) -> Predictions:
    labels = np.empty(len(values), dtype=object)
    labels[:] = values
    return Predictions(labels, classes=(0, 1))


def lower_words(text: str) -> list[Token]:
    """The default splitter's words in lower case, each at its place."""
    return [Token(t.word.lower(), t.start, t.stop) for t in spaced(text)]
