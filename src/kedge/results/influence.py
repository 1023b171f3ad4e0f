"""What each word does to the label, as data: the Banzhaf value of every occurrence and of every word."""

from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import Any, Literal

from kedge.typing import Label

__all__ = ["ClassInfluence", "Influence", "WordInfluence"]

# A word supports or opposes the label if it changes its probability by at least this much.
_NOTABLE = 0.01
# How often a document none of whose words matters may show one that seems to.
_FALSE = 0.05


@dataclass(frozen=True)
class WordInfluence:
    """A word with all of its occurrences: the label's probability with all of them minus that with none."""

    word: str
    positions: tuple[int, ...]
    value: float
    error: float


@dataclass(frozen=True)
class ClassInfluence:
    """What each position adds to the log-odds, or the score, of one class."""

    label: Label
    values: tuple[float, ...]
    errors: tuple[float, ...]


@dataclass(frozen=True)
class Influence:
    """How much each word of a text changes the model's answer while the others are removed at random.

    Every position is kept with probability 1/2 (the perturbation's ``keep``), as for precisions. The
    influence of a position is the mean answer with it minus the mean answer without it: its Banzhaf value.

    Parameters
    ----------
    label
        The label that was explained.
    values, errors
        For each position of the text, the probability that the label holds with the word minus that without
        it; and the standard error of a sampled value, or a bound on the rounding of an exact one. Words that
        the model does not read have the value 0.
    words
        The same for each word with all of its occurrences at once.
    classes
        For each class, what each position adds to its log-odds or score (``scale``); empty for a model that
        gives labels only.
    scale
        ``"log-odds"``; or ``"score"``, the number that a linear model compares: for several classes the score
        of a class less the mean over classes.
    exact
        Whether nothing was sampled.
    samples
        How many samples the values come from; 0 where they are exact.
    """

    label: Label
    values: tuple[float, ...]
    errors: tuple[float, ...]
    words: tuple[WordInfluence, ...]
    classes: tuple[ClassInfluence, ...] = ()
    scale: Literal["log-odds", "score"] | None = None
    exact: bool = False
    samples: int = 0

    def __str__(self) -> str:
        from kedge.render.influences import render_influence

        return render_influence(self)

    @property
    def margin(self) -> float:
        """How many errors away from zero a value must be to stand out.

        One for exact values, whose errors are bounds. Of many sampled values some are large by chance, so
        the more words there are, the more it takes (Bonferroni).
        """
        if self.exact:
            return 1.0
        return NormalDist().inv_cdf(1 - _FALSE / (2 * max(1, len(self.words))))

    @property
    def adversaries(self) -> tuple[WordInfluence, ...]:
        """The words that oppose the label, the strongest first."""
        against = (w for w in self.words if -w.value >= max(_NOTABLE, self.margin * w.error))
        return tuple(sorted(against, key=lambda w: w.value))

    @property
    def supporters(self) -> tuple[WordInfluence, ...]:
        """The words that support the label, the strongest first."""
        for_it = (w for w in self.words if w.value >= max(_NOTABLE, self.margin * w.error))
        return tuple(sorted(for_it, key=lambda w: -w.value))

    def of(self, label: Label) -> ClassInfluence | None:
        """What each position does to one class; None where that is not known."""
        return next((c for c in self.classes if c.label == label), None)

    def to_rows(self) -> list[dict[str, Any]]:
        """One row for each position of the text: ``pandas.DataFrame(e.influence.to_rows())``."""
        written = {k: w.word for w in self.words for k in w.positions}
        return [
            {
                "position": k,
                "word": written[k],
                "influence": value,
                "error": self.errors[k],
                **{f"{self.scale} {c.label}": c.values[k] for c in self.classes},
            }
            for k, value in enumerate(self.values)
        ]

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Influence":
        """Plain data, as ``to_dict`` gives it, read back."""
        words = tuple(WordInfluence(**{**w, "positions": tuple(w["positions"])}) for w in data["words"])
        classes = tuple(
            ClassInfluence(c["label"], tuple(c["values"]), tuple(c["errors"])) for c in data["classes"]
        )
        plain = {**data, "values": tuple(data["values"]), "errors": tuple(data["errors"])}
        return cls(**{**plain, "words": words, "classes": classes})

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)
