"""A judge for any explainer: are its words enough, and are they needed? With as many words for all."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from kedge.errors import KedgeError, OptionError, TextError
from kedge.explainer import Explainer
from kedge.options import OptionsGiven, with_options
from kedge.results.interval import Interval
from kedge.search.knobs import check_at_least
from kedge.text.document import Document
from kedge.text.inputs import as_texts
from kedge.utils.messages import name_error, shorten, visible
from kedge.utils.seeds import generator

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Evaluation", "Judged", "evaluate", "usable_positions"]

Explains = Callable[[str], Any]
"""A text to words, positions, (word, weight) pairs or a mapping from words to weights, the best first."""

OURS, FLOOR = "kedge", "random"
"""The names of kedge's own anchors and of random words in an evaluation."""


@dataclass(frozen=True)
class Judged:
    """One tool's words for one text.

    Parameters
    ----------
    tool, row, size
        Which tool, which text, and how many words were judged.
    words
        What they are.
    sufficiency
        The probability that the label holds while they are kept and the others come and go: their precision.
    exact
        Whether that is exact; else its interval is certified.
    lost
        Whether the label is lost when they alone are removed; of random words the share.
    """

    tool: str
    row: int
    size: int
    words: tuple[str, ...]
    sufficiency: Interval
    exact: bool
    lost: float


@dataclass(frozen=True)
class Evaluation:
    """How the words of several tools do, at the same number of words for each text.

    ``judged`` has one entry for each tool and text, ``skipped`` why some have none.
    """

    judged: tuple[Judged, ...]
    threshold: float
    skipped: tuple[str, ...] = field(default=())

    @property
    def tools(self) -> tuple[str, ...]:
        """The tools, in the order they were given, kedge first and random words last."""
        return tuple(dict.fromkeys(one.tool for one in self.judged))

    def of(self, tool: str) -> list[Judged]:
        """What was judged of one tool."""
        return [one for one in self.judged if one.tool == tool]

    def table(self) -> list[dict[str, Any]]:
        """One row for each tool: means over its texts."""
        rows = []
        for tool in self.tools:
            mine = self.of(tool)
            reach = [one.sufficiency.low >= self.threshold for one in mine]
            rows.append(
                {
                    "tool": tool,
                    "texts": len(mine),
                    "size": float(np.mean([one.size for one in mine])),
                    "sufficiency": float(np.mean([one.sufficiency.mean for one in mine])),
                    "reaching": float(np.mean(reach)),
                    "comprehensiveness": float(np.mean([one.lost for one in mine])),
                    "exact": all(one.exact for one in mine),
                }
            )
        return rows

    def to_rows(self) -> list[dict[str, Any]]:
        """One row for each tool and text: ``pandas.DataFrame(evaluation.to_rows())``."""
        return [
            {**asdict(one), "sufficiency": one.sufficiency.mean, "low": one.sufficiency.low}
            for one in self.judged
        ]

    def __str__(self) -> str:
        wide = max(len("tool"), *(len(tool) for tool in self.tools)) if self.tools else 4
        head = f"{'tool':<{wide}}  texts  words  sufficiency  reaching {self.threshold:g}  comprehensiveness"
        wider = len(f"reaching {self.threshold:g}")
        lines = [
            f"{row['tool']:<{wide}}  {row['texts']:>5}  {row['size']:>5.1f}  {row['sufficiency']:>11.3f}"
            f"  {row['reaching']:>{wider}.0%}  {row['comprehensiveness']:>17.0%}"
            for row in self.table()
        ]
        return visible("\n".join([head, *lines, *self.skipped]))

    def plot(self, *, ax: "Axes | None" = None) -> "Axes":
        """Sufficiency and comprehensiveness of each tool, with matplotlib."""
        from kedge.plots import evaluation

        return evaluation(self, ax=ax)


@with_options()
def evaluate(
    model: Any,
    texts: Iterable[str],
    explainers: Mapping[str, Explains] | None = None,
    *,
    size: int | None = None,
    random: int = 5,
    **options: Unpack[OptionsGiven],
) -> Evaluation:
    """Judge what several tools say of the same texts, by the model itself.

    Parameters
    ----------
    model
        The classifier: whatever ``kedge.as_model`` recognises.
    texts
        The documents.
    explainers
        For each tool a function from a text to its words, the most important first: words, positions counted
        from 0, (word, weight) pairs or a mapping from words to weights, of which those above zero count. A
        word stands for all of its occurrences; words that the model does not read are passed over.
    size
        How many words of each are judged; by default as many as kedge's own anchor of the text has.
    random
        How many draws of as many random words make the floor.
    options
        Options, listed below; each has a default.

    >>> import kedge
    >>> model = kedge.WordWeights({"good": 2.0, "nice": 1.0, "slow": -1.5}, intercept=-0.5)
    >>> judged = kedge.evaluate(model, ["good nice and slow"], {"first word": lambda text: text.split()})
    >>> [(row["tool"], row["size"], row["sufficiency"]) for row in judged.table()][:2]
    [('kedge', 2.0, 1.0), ('first word', 2.0, 1.0)]
    """
    tools = _tools(explainers or {})
    check_at_least("random", random, 0)
    if size is not None:
        check_at_least("size", size)
    explainer = Explainer(model, **options)
    judged: list[Judged] = []
    skipped: list[str] = []
    failed: KedgeError | None = None
    for row, text in enumerate(as_texts(texts)):
        try:
            judged += _judge_text(explainer, row, text, tools, size, random, skipped)
        except OptionError:
            raise
        except KedgeError as error:
            failed = failed or error
            skipped.append(f"Text {row} is left out: {error}")
    if failed and not judged:
        raise failed
    if not judged:
        raise TextError("There are no texts to judge.")
    order = {name: i for i, name in enumerate((OURS, *tools, FLOOR))}
    judged.sort(key=lambda one: (order[one.tool], one.row))
    return Evaluation(tuple(judged), explainer.options.threshold, tuple(skipped))


def _tools(explainers: Mapping[str, Explains]) -> dict[str, Explains]:
    """The tools by name; anything but a function, or a name that is taken, is refused."""
    if not isinstance(explainers, Mapping):
        raise OptionError(f"explainers must map names to functions, got {type(explainers).__name__}.")
    for name, tool in explainers.items():
        if not isinstance(name, str) or name in {OURS, FLOOR}:
            raise OptionError(f"A tool needs a name other than {OURS!r} and {FLOOR!r}, got {name!r}.")
        if not callable(tool):
            raise OptionError(
                f"The tool {name!r} must be a function from a text to words, got {type(tool).__name__}."
            )
    return dict(explainers)


def _judge_text(
    explainer: Explainer,
    row: int,
    text: str,
    tools: Mapping[str, Explains],
    size: int | None,
    random: int,
    skipped: list[str],
) -> list[Judged]:
    """Every tool's words for one text."""
    ours = explainer.explain(text)
    reading = explainer.read(text)
    read = sorted(k for members in reading.units.members for k in members)
    count = min(len(ours.positions) if size is None else size, len(read))
    best = list(ours.positions)
    if size is not None and ours.influence is not None:
        rest = sorted(set(read) - set(best), key=lambda k: -ours.influence.values[k])  # type: ignore[union-attr]
        best = (best + rest)[:count]
    found = [_judge(explainer, OURS, row, text, [best])]
    for name, tool in tools.items():
        try:
            said = tool(text)
        except Exception as error:  # noqa: BLE001  (a tool that fails on one text is judged by the others)
            skipped.append(f"Text {row}: {name} raised {name_error(error)}.")
            continue
        try:
            positions = usable_positions(reading.document, said, read)[:count]
        except (TypeError, ValueError, IndexError):
            raise OptionError(
                f"{name} must return words, positions, (word, weight) pairs or a mapping from words to "
                f"weights, got {shorten(repr(said))}."
            ) from None
        if len(positions) < count:
            skipped.append(
                f"Text {row}: {name} names {len(positions)} of {count} words that the model reads."
            )
        if positions:
            found.append(_judge(explainer, name, row, text, [positions]))
    if random and count:
        rng = generator(explainer.options.seed, text)
        draws = [sorted(rng.choice(read, count, replace=False).tolist()) for _ in range(random)]
        found.append(_judge(explainer, FLOOR, row, text, draws))
    return found


def _judge(explainer: Explainer, tool: str, row: int, text: str, sets: Sequence[Sequence[int]]) -> Judged:
    """The mean over several sets of words of one size."""
    verdicts = [explainer.precision(text, positions) for positions in sets]
    removed = explainer.model.predict([explainer.masked(text, positions) for positions in sets])
    lost = 1.0 - float(removed.hold(verdicts[0].label).mean())
    low, mean, high = (float(np.mean([v.interval[i] for v in verdicts])) for i in range(3))
    exact = all(v.status == "exact" for v in verdicts)
    return Judged(tool, row, len(sets[0]), verdicts[0].words, Interval(low, mean, high), exact, lost)


def usable_positions(document: Document, given: Any, read: Iterable[int]) -> list[int]:
    """The positions that a tool's answer names, in its order; a word is all of its occurrences.

    >>> from kedge.text.tokenize import words
    >>> document = Document("so so good", words("so so good"))
    >>> usable_positions(document, [("good", 0.5), ("so", 0.1), ("bad", -1)], range(3))
    [2, 0, 1]
    """
    if isinstance(given, Mapping):
        given = sorted(given.items(), key=lambda pair: -pair[1])
    elif isinstance(given, str):
        given = given.split()
    allowed, found = set(read), dict[int, None]()
    places: dict[str, list[int]] = {}
    for k, token in enumerate(document.tokens):
        places.setdefault(token.word.casefold(), []).append(k)
    for item in given:
        name = item
        if isinstance(item, tuple):
            if item[1] <= 0:
                continue
            name = item[0]
        at = places.get(name.strip().casefold(), []) if isinstance(name, str) else [int(name)]
        found.update(dict.fromkeys(k for k in at if k in allowed))
    return list(found)
