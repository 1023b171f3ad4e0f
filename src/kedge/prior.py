"""What was learned about a model once, for all later explanations: how much each word supports each label.

A prior never touches a claim. It leads a search to the right words with a few queries; proofs rest on
fresh samples. It is frozen once learned, so the same seed, text and prior give the same answer.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from kedge.errors import OptionError, OutOfQueries, StorageError, TextError
from kedge.learning import SampledText, learn_weights
from kedge.reading.expected import Expected
from kedge.text.inputs import as_texts
from kedge.typing import Floats, Label
from kedge.utils.sentences import Option

if TYPE_CHECKING:
    from kedge.options import OptionsGiven

__all__ = ["Prior", "check_prior"]

FORMAT = 2
# A word of this share of the largest weight says nothing.
_NOTHING = 1e-3
# Digits that are kept of a weight.
_DIGITS = 6


@dataclass(frozen=True)
class Prior:
    """How much each word supports each label of a model, learned from a corpus.

    Parameters
    ----------
    model
        The name of the model it was learned from.
    labels
        The labels, one row of weights each.
    words
        The words, one column each, whatever their case.
    weights
        (labels, words) what one more occurrence adds to the label's log-odds, up to scale.
    levels
        (labels,) the log-odds of a label without any word, to the same scale.
    texts, queries, seed
        How many texts it was learned from, with how many queries, and which seed.
    """

    model: str
    labels: tuple[Label, ...]
    words: tuple[str, ...]
    weights: Floats = field(repr=False)
    levels: Floats = field(repr=False)
    texts: int
    queries: int
    seed: int = 0

    @classmethod
    def learn(
        cls,
        model: Any,
        texts: Iterable[str],
        *,
        queries: int = 10_000,
        **options: "Unpack[OptionsGiven]",
    ) -> "Prior":
        """Ask a model about masked texts of a corpus, and fit one linear model over words to the answers.

        Parameters
        ----------
        model, options
            As for ``kedge.explain``.
        texts
            Some texts of the kind that will be explained; a hundred are a good number.
        queries
            How many queries may be spent in all.
        """
        from kedge.explainer import Explainer

        texts = list(dict.fromkeys(as_texts(texts)))
        if not texts:
            raise OptionError("A prior is learned from texts, and there are none.", option="texts")
        if queries < len(texts):
            texts = texts[: max(1, queries)]
        explainer = Explainer(model, **options)
        seed = explainer.options.seed
        each = explainer.with_options(max_queries=max(queries // len(texts), 1))
        sources: list[SampledText] = []
        for text in texts:
            try:
                sources.append(SampledText.of(each.read(text), np.random.default_rng([seed, len(sources)])))
            except (TextError, OutOfQueries):
                continue  # nothing can be learned from this one
        if not sources:
            raise OptionError("None of the texts has a word that the model reads.", option="texts")
        found = learn_weights(sources)
        large = np.abs(found.weights).max(axis=0) > _NOTHING * np.abs(found.weights).max(initial=0)
        return cls(
            explainer.model.name,
            found.labels,
            tuple(word for word, is_large in zip(found.words, large.tolist(), strict=True) if is_large),
            _rounded(found.weights[:, large]),
            _rounded(found.levels),
            len(sources),
            sum(source.reading.oracle.queries for source in sources),
            seed,
        )

    @cached_property
    def digest(self) -> str:
        """What names it: a hash of all that it says."""
        content = json.dumps(self._plain(), sort_keys=True, ensure_ascii=False)
        return blake2b(content.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()

    @cached_property
    def _columns(self) -> dict[str, int]:
        return {word: i for i, word in enumerate(self.words)}

    def weigh(self, words: Sequence[str], label: Label) -> Expected | None:
        """The weights of some words for a label, and its level; None for a label that it does not know."""
        if label not in self.labels:
            return None
        place = self.labels.index(label)
        row = self.weights[place]
        at = [self._columns.get(word.casefold(), -1) for word in words]
        return Expected(np.array([row[i] if i >= 0 else 0.0 for i in at]), float(self.levels[place]))

    def save(self, path: str | Path) -> None:
        """Write it to a file, as JSON."""
        Path(path).write_text(json.dumps(self._plain(), ensure_ascii=False), encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path) -> "Prior":
        """Read back what ``save`` wrote."""
        try:
            data = json.loads(Path(path).read_text(encoding="utf-8"))
            if data["format"] != FORMAT:
                raise StorageError(f"{path} is a prior of another version of kedge; learn it again.")
            weights = np.array(data["weights"], dtype=np.float64).reshape(len(data["labels"]), -1)
            prior = cls(
                data["model"],
                tuple(data["labels"]),
                tuple(data["words"]),
                weights,
                np.array(data["levels"], dtype=np.float64).reshape(len(data["labels"])),
                data["texts"],
                data["queries"],
                data["seed"],
            )
        except OSError as error:
            raise StorageError(f"{path} cannot be read: {error.strerror}.") from error
        except (ValueError, KeyError, TypeError) as error:
            raise StorageError(f"{path} holds no prior; save one with Prior.save.") from error
        if weights.shape[1] != len(prior.words):
            raise StorageError(f"{path} holds no prior; save one with Prior.save.")
        return prior

    def _plain(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "model": self.model,
            "labels": list(self.labels),
            "words": list(self.words),
            "weights": self.weights.tolist(),
            "levels": self.levels.tolist(),
            "texts": self.texts,
            "queries": self.queries,
            "seed": self.seed,
        }

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Prior) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        known = f"{len(self.words):,} words, {len(self.labels)} labels, {self.queries:,} queries"
        return f"Prior({self.model!r}, {known}, digest {self.digest})"


def check_prior(given: object) -> None:
    """Refuse what is neither a prior nor None."""
    if given is not None and not isinstance(given, Prior):
        raise OptionError(
            Option("prior"),
            f" must be a kedge.Prior, got {type(given).__name__}; learn one with "
            "kedge.Prior.learn(model, texts), or load it with kedge.Prior.load(path).",
        )


def _rounded(values: Floats) -> Floats:
    """To the digits that are kept."""
    plain = [float(f"{v:.{_DIGITS}g}") for v in values.ravel().tolist()]
    return np.array(plain).reshape(values.shape)
