"""Is this set of words an anchor? The precision of words the user chose.

Exact where the model can be read or every sample asked about, else an interval from fresh samples
that holds with probability 1 - delta however often it was looked at on the way.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np

from kedge.anchor import Anchor
from kedge.choose import enumerable, question_budget
from kedge.document import Document
from kedge.errors import OptionError
from kedge.precision import Gaussian, Leaves, Precision
from kedge.precision.additive import additive_tail
from kedge.precision.enumeration import anchor_precision
from kedge.precision.intervals import mixture_interval
from kedge.precision.tails import Tail
from kedge.reading import Reading
from kedge.typing import Kept, Label, Span

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
    precision, interval
        Probability that the label holds when these are kept for sure: best estimate, (low, high).
    status
        ``"exact"``: no sampling error. ``"certified"``: the interval is wrong with probability at
        most delta.
    threshold, delta
        What makes an anchor, and how much doubt is allowed.
    method, queries, seconds
        How it was found, how many texts the model was asked about, how long it took.
    """

    text: str
    label: Label
    words: tuple[str, ...]
    positions: tuple[int, ...]
    spans: tuple[Span, ...]
    precision: float
    interval: tuple[float, float]
    status: Literal["exact", "certified"]
    threshold: float
    delta: float
    method: str
    queries: int
    seconds: float | None = field(default=None, compare=False)

    @property
    def reaches(self) -> bool | None:
        """Whether the words are an anchor; None while the interval contains the threshold."""
        low, high = self.interval
        if low >= self.threshold:
            return True
        return False if high < self.threshold else None

    def __str__(self) -> str:
        from kedge.render.terminal import render_verdict, wants_colour

        return render_verdict(self, colour=wants_colour())

    def to_dict(self, *, times: bool = False) -> dict[str, Any]:
        """Plain data; ``times`` adds how long it took."""
        data = {**asdict(self), "reaches": self.reaches}
        if not times:
            del data["seconds"]
        return data

    def to_json(self, *, indent: int | None = None, times: bool = False) -> str:
        """The JSON form; the same seed gives the same string unless ``times`` is asked for."""
        return json.dumps(self.to_dict(times=times), ensure_ascii=False, indent=indent)


def select(document: Document, chosen: str | Iterable[str | int]) -> Anchor:
    """The positions of words or of position numbers; a word named twice is two occurrences.

    >>> from kedge.tokenize import words
    >>> document = Document("so so good", words("so so good"))
    >>> select(document, "so good").positions, select(document, [1, 2]).positions
    ((0, 2), (1, 2))
    """
    if isinstance(chosen, str):
        chosen = chosen.split()
    if not isinstance(chosen, Iterable):
        raise OptionError(f"Words to judge are a list of words or positions, got {type(chosen).__name__}.")
    positions: list[int] = []
    for item in chosen:
        if isinstance(item, str):
            positions.append(_place(document, item, positions))
        elif isinstance(item, (int, np.integer)) and not isinstance(item, bool):
            if not 0 <= item < len(document):
                raise OptionError(
                    f"There is no position {item}; the text has {len(document)} words, numbered from 0."
                )
            positions.append(int(item))
        else:
            raise OptionError("Words to judge are a list of words, or of their positions in the text.")
    return Anchor(positions)


def _place(document: Document, word: str, used: Sequence[int]) -> int:
    """The first place of a word that is not used yet; its own spelling before other cases."""
    alike = [k for k, t in enumerate(document.tokens) if t.word.casefold() == word.casefold()]
    alike.sort(key=lambda k: document.tokens[k].word != word)  # stable: in the order of the text
    free = [k for k in alike if k not in used]
    if not free:
        often = f"in the text {len(alike)} times only" if alike else "not in the text"
        raise OptionError(f"The word {word!r} is {often}; choose words that the model reads there.")
    return free[0]


def judge(
    reading: Reading, anchor: Anchor, *, threshold: float, delta: float, how: str, rng: np.random.Generator
) -> Verdict:
    """The precision of an anchor by the most exact road that the model and the budget allow.

    ``how`` is the option ``precision``: ``"empirical"`` forbids closed forms, ``"gaussian"`` takes the
    paper's approximation with its bound.
    """
    kept = reading.units.kept(anchor)
    known = _inside(reading, kept, threshold, how)
    if how in {"auto", "exact"} and (known is None or known.tail.in_doubt) and enumerable(reading, kept):
        known = _Known(anchor_precision(reading, kept), "exact", "enumeration")
    if known is not None:
        return _verdict(reading, anchor, known, threshold, delta)
    hits, trials = _sampled(reading, kept, threshold, delta, rng)
    mean = hits / trials if trials else 0.5
    low, high = mixture_interval(hits, trials, delta)
    known = _Known(Tail(low, mean, high), "certified", f"{trials:,} samples")
    return _verdict(reading, anchor, known, threshold, delta)


class _Known(NamedTuple):
    """What one of the roads found."""

    tail: Tail
    status: Literal["exact", "certified"]
    method: str


def _verdict(reading: Reading, anchor: Anchor, known: _Known, threshold: float, delta: float) -> Verdict:
    document = reading.document
    return Verdict(
        document.text,
        reading.label,
        anchor.words(document),
        anchor.positions,
        anchor.spans(document),
        known.tail.mean,
        (known.tail.low, known.tail.high),
        known.status,
        threshold,
        delta,
        known.method,
        reading.oracle.queries,
    )


def _inside(reading: Reading, kept: Kept, threshold: float, how: str) -> _Known | None:
    """The answer of a model that can be read; None for one that must be asked."""
    evaluator: Precision
    if how == "gaussian":
        evaluator = Gaussian(reading)
    elif how == "empirical" or (reading.additive is None and reading.leaves is None):
        return None
    elif reading.additive is not None:
        counts = reading.units.counts(kept)
        width = _SHARP if len(reading.document) <= _LONG else None
        tail = additive_tail(reading.additive, counts, reading.keep, threshold=threshold, width=width)
        return _Known(tail, "exact", "convolution")
    else:
        evaluator = Leaves(reading)
    estimates = evaluator([kept])
    low, high = (float(side[0]) for side in estimates.bounds(1.0))
    by_normal = how == "gaussian"
    name: Literal["exact", "certified"] = "certified" if by_normal else "exact"
    return _Known(Tail(low, float(estimates.mean[0]), high), name, how if by_normal else "leaves")


def _sampled(
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
