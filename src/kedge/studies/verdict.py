"""Is this set of words an anchor? The precision of words the user chose.

Exact where the model can be read or every sample queried, else an interval from fresh samples
that holds with probability 1 - delta however often it was looked at on the way.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np

from kedge.errors import OptionError
from kedge.evaluators import Chained, Gaussian, Leaves
from kedge.evaluators.additive import additive_tail
from kedge.evaluators.affordable import enumerable, question_budget
from kedge.evaluators.enumeration import anchor_precision
from kedge.evaluators.intervals import mixture_interval
from kedge.evaluators.leading import Leading
from kedge.reading.reading import Reading
from kedge.results.interval import Interval
from kedge.search.knobs import evaluator_obstacle
from kedge.search.strategy import EvaluatorName
from kedge.text.anchor import Anchor
from kedge.text.document import Document
from kedge.typing import Kept, Label, Span
from kedge.utils.messages import readable_json
from kedge.utils.sentences import Option

__all__ = ["Verdict", "judge", "select"]

# A sampled verdict looks at its interval after this many samples, then after each doubling.
_FIRST_LOOK = 64
# Once the side of the threshold is known, an interval this narrow is precise enough to stop.
_NARROW = 0.05
# A convolution is refined to this width, a tenth of a second's work, in documents up to this length;
# in longer ones until the side of the threshold is known.
_SHARP, _LONG = 1e-3, 3000


@dataclass(frozen=True)
class Verdict:
    """What is known of the precision of a set of words.

    Parameters
    ----------
    text, label
        The document, and the label to keep.
    words, positions, spans
        The chosen words: as the model reads them, as token positions, as character offsets.
    interval
        The probability that the label holds while these are held in place: (low, mean, high). ``precision``
        is its mean.
    status
        ``"exact"``: no sampling error. ``"certified"``: the interval is wrong with probability at
        most delta.
    threshold, delta
        The precision that makes an anchor, and the error level of a certified interval.
    evaluator, samples
        How it was found: ``"convolution"``, ``"passes"``, ``"leaves"``, ``"enumeration"``,
        ``"gaussian"`` or ``"samples"``; and how many samples were drawn.
    queries, seconds
        How many texts were sent to the model, and how long it took.
    """

    text: str
    label: Label
    words: tuple[str, ...]
    positions: tuple[int, ...]
    spans: tuple[Span, ...]
    interval: Interval
    status: Literal["exact", "certified"]
    threshold: float
    delta: float
    evaluator: str
    samples: int
    queries: int
    seconds: float | None = field(default=None, compare=False)

    @property
    def precision(self) -> float:
        """The best estimate."""
        return self.interval.mean

    @property
    def reaches(self) -> bool | None:
        """Whether the words are an anchor; None while the interval contains the threshold."""
        return self.interval.reaches(self.threshold)

    def __str__(self) -> str:
        from kedge.render.terminal import render_verdict, wants_colour

        return render_verdict(self, colour=wants_colour())

    def to_dict(self, *, times: bool = False) -> dict[str, Any]:
        """Plain data; ``times`` adds how long it took."""
        data = {**asdict(self), "interval": self.interval._asdict(), "reaches": self.reaches}
        if not times:
            del data["seconds"]
        return data

    def to_json(self, *, indent: int | None = None, times: bool = False) -> str:
        """The JSON form; the same seed gives the same string unless ``times`` is set."""
        return readable_json(self.to_dict(times=times), indent)


def select(document: Document, chosen: str | Iterable[str | int]) -> Anchor:
    """The positions of words or of position numbers; a word named twice is two occurrences.

    >>> from kedge.text.tokenize import words
    >>> document = Document("so so good", words("so so good"))
    >>> select(document, "so good").positions, select(document, [1, 2]).positions
    ((0, 2), (1, 2))
    """
    if isinstance(chosen, str):
        chosen = chosen.split()
    if not isinstance(chosen, Iterable):
        raise OptionError(
            Option("words"), f" must be a list of words or positions, got {type(chosen).__name__}."
        )
    positions: list[int] = []
    for item in chosen:
        if isinstance(item, str):
            positions.append(_place(document, item, positions))
        elif isinstance(item, (int, np.integer)) and not isinstance(item, bool):
            if not 0 <= item < len(document):
                raise OptionError(
                    f"There is no position {item}; the text has {len(document)} words, numbered from 0.",
                )
            positions.append(int(item))
        else:
            raise OptionError(Option("words"), " must be a list of words, or of their positions in the text.")
    return Anchor(positions)


def _place(document: Document, word: str, used: Sequence[int]) -> int:
    """The first place of a word that is not used yet; its own spelling before other cases."""
    alike = [k for k, t in enumerate(document.tokens) if t.word.casefold() == word.casefold()]
    alike.sort(key=lambda k: document.tokens[k].word != word)  # stable: in the order of the text
    free = [k for k in alike if k not in used]
    if free:
        return free[0]
    if alike:
        times = "once" if len(alike) == 1 else f"{len(alike)} times"
        raise OptionError(f"The word {word!r} is in the text only {times}.")
    if re.search(rf"(?<!\w){re.escape(word)}(?!\w)", document.text, re.IGNORECASE):
        raise OptionError(f"The model does not read the word {word!r}, so it cannot be part of an anchor.")
    raise OptionError(f"The word {word!r} is not in the text.")


def judge(
    reading: Reading,
    anchor: Anchor,
    *,
    threshold: float,
    delta: float,
    evaluator: EvaluatorName,
    rng: np.random.Generator,
) -> Verdict:
    """The precision of an anchor, as exactly as the model and the budget allow.

    ``evaluator`` is the option of that name: ``"empirical"`` forbids closed forms, ``"gaussian"`` takes the
    paper's approximation with its bound.
    """
    kept = reading.units.kept(anchor)
    known = _inside(reading, kept, threshold, evaluator)
    in_doubt = known is None or known.interval.in_doubt
    if evaluator in {"auto", "exact"} and in_doubt and enumerable(reading, kept):
        interval = anchor_precision(reading, kept)
        known = _Known(interval, "exact" if reading.check_repeats() else "certified", "enumeration")
    if known is None:
        hits, trials = _sample(reading, kept, threshold, delta, rng)
        low, high = mixture_interval(hits, trials, delta)
        sampled = Interval(low, hits / trials if trials else 0.5, high)
        known = _Known(sampled, "certified", "samples", trials)
    document = reading.document
    return Verdict(
        document.text,
        reading.label,
        anchor.words(document),
        anchor.positions,
        anchor.spans(document),
        known.interval,
        known.status,
        threshold,
        delta,
        known.evaluator,
        known.samples,
        reading.oracle.queries,
    )


class _Known(NamedTuple):
    """What is known, and how."""

    interval: Interval
    status: Literal["exact", "certified"]
    evaluator: str
    samples: int = 0


def _inside(reading: Reading, kept: Kept, threshold: float, name: EvaluatorName) -> _Known | None:
    """The answer of a model that can be read; None for one that must be queried."""
    if name == "gaussian":
        if (obstacle := evaluator_obstacle(name, reading)) is not None:
            raise OptionError(f"Judging words {obstacle}.", option="evaluator", value=name)
        return _Known(Gaussian(reading).refine(kept), "certified", name)
    inside = (reading.additive, reading.chain, reading.leaves, reading.leads)
    if name == "empirical" or all(known is None for known in inside):
        return None
    if reading.chain is not None:
        return _Known(Chained(reading).refine(kept, threshold), "exact", "passes")
    if reading.additive is not None:
        counts = reading.units.counts(kept)
        width = _SHARP if len(reading.document) <= _LONG else None
        tail = additive_tail(reading.additive, counts, reading.keep, threshold=threshold, width=width)
        return _Known(tail, "exact", "convolution")
    if reading.leaves is not None:
        return _Known(Leaves(reading).refine(kept), "exact", "leaves")
    known = Leading(reading, threshold).refine(kept, threshold)
    # Where convolutions leave the side of the threshold open, samples may decide.
    return None if known.splits(threshold) else _Known(known, "exact", "convolution")


def _sample(
    reading: Reading, kept: Kept, threshold: float, delta: float, rng: np.random.Generator
) -> tuple[int, int]:
    """Fresh samples until the side of the threshold is clear: how many kept the label, of how many."""
    hits = trials = 0
    most = question_budget(reading)
    while (n := _next_look(trials, most, reading)) > 0:
        hits += int(reading.holds(reading.sample(kept, n, rng)).sum())
        trials += n
        low, high = mixture_interval(hits, trials, delta)
        if high - low <= _NARROW and (low >= threshold or high < threshold):
            break
    return hits, trials


def _next_look(trials: int, most: int, reading: Reading) -> int:
    left: Sequence[float] = (max(_FIRST_LOOK, trials), most - trials, reading.oracle.remaining)
    return int(min(left))
