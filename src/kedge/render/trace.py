"""Algorithm 1's picture as coordinates: each candidate's length against its precision."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor

from kedge.results.explanation import Explanation, Step
from kedge.utils.rounding import is_wide, rounded, spread

__all__ = ["Row", "Scatter", "best_of_each_length", "scatter", "spread_out"]

# The drawing area in the SVG's own units, inside a view box of 640 x 250.
_LEFT, _RIGHT, _TOP, _BOTTOM = 44.0, 632.0, 10.0, 214.0
# So many dots say all there is to say; the best of each length come first.
_DOTS = 600
# Layers of precision in which dots of one length stand side by side.
_LAYERS = 48


@dataclass(frozen=True)
class Tick:
    """A place on an axis and its name."""

    at: float
    name: str


@dataclass(frozen=True)
class Row:
    """The best candidate of a length."""

    length: int
    words: str
    precision: str
    spread: str
    chosen: bool


@dataclass(frozen=True)
class Scatter:
    """Everything a template needs to draw the search."""

    x: tuple[Tick, ...]
    y: tuple[Tick, ...]
    dots: tuple[tuple[float, float], ...]
    goal: float
    chosen: tuple[float, float] | None
    baseline: tuple[float, float] | None
    rows: tuple[Row, ...]
    seen: int
    label: str


def spread_out(steps: Sequence[Step]) -> list[float]:
    """A horizontal offset for each candidate, so that none hides another: a swarm per length.

    Candidates of one length whose precisions fall into the same layer stand side by
    side, from the middle outwards, the first of them in the middle.
    """
    low = min((s.precision for s in steps), default=0.0)
    height = max(max((s.precision for s in steps), default=1.0) - low, 0.1) / _LAYERS
    layers: dict[tuple[int, int], list[int]] = {}
    for i, step in enumerate(steps):
        layers.setdefault((len(step.positions), int((step.precision - low) / height)), []).append(i)
    offsets = [0.0] * len(steps)
    for members in layers.values():
        apart = min(0.7 / max(1, len(members) - 1), 0.05)
        for rank, i in enumerate(members):
            offsets[i] = (rank + 1) // 2 * (1 if rank % 2 else -1) * apart
    return offsets


def best_of_each_length(e: Explanation) -> list[Step]:
    """Of the candidates the best of each length, the anchor itself in its own."""
    best: dict[int, Step] = {}
    for step in e.trace:
        length = len(step.positions)
        if length not in best or step.precision > best[length].precision or step.positions == e.positions:
            if length in best and best[length].positions == e.positions:
                continue
            best[length] = step
    return [best[length] for length in sorted(best)]


def scatter(e: Explanation) -> Scatter | None:
    """The coordinates, or None for a search that left no trace."""
    steps = sorted(e.trace, key=lambda s: (s.positions != e.positions, -s.precision))[:_DOTS]
    if not steps:
        return None
    shown = [(len(s.positions), s.precision) for s in steps]
    if e.baseline is not None:
        shown.append((0, e.baseline.mean))
    shortest, longest = min(shown)[0], max(shown)[0]
    lowest = min([precision for _, precision in shown] + [e.threshold])
    floor_y = max(0.0, min(floor(lowest * 10) / 10, 0.9))

    def across(length: float) -> float:
        return round(_LEFT + (length - shortest + 0.5) / (longest - shortest + 1) * (_RIGHT - _LEFT), 1)

    def up(precision: float) -> float:
        share = (precision - floor_y) / (1 - floor_y)
        return round(_BOTTOM - max(0.0, min(share, 1.0)) * (_BOTTOM - _TOP), 1)

    dots = tuple(
        (across(len(s.positions) + shift), up(s.precision))
        for s, shift in zip(steps, spread_out(steps), strict=True)
    )
    own = steps[0].positions == e.positions and not e.needs_no_word  # any word would do then
    step = 5 if floor_y >= 0.9 else 10 if floor_y >= 0.5 else 20
    levels = [percent / 100 for percent in range(100, round(100 * floor_y) - 1, -step)]
    every = max(1, (longest - shortest + 1) // 16)
    return Scatter(
        x=tuple(Tick(across(n), str(n)) for n in range(shortest, longest + 1, every)),
        y=tuple(Tick(up(level), f"{level:.2f}") for level in levels),
        dots=dots[1:] if own else dots,
        goal=up(e.threshold),
        chosen=dots[0] if own else None,
        baseline=None if e.baseline is None else (across(0), up(e.baseline.mean)),
        rows=tuple(_row(e, step) for step in best_of_each_length(e)),
        seen=len(steps),
        label=(
            f"Scatter plot of {len(steps)} sets of words: number of words kept against precision, with "
            f"the threshold {e.threshold:g} and the anchor of {len(e.positions)} words at "
            f"{rounded(e.precision, e.threshold)}."
        ),
    )


def _row(e: Explanation, step: Step) -> Row:
    words = [e.text[slice(*e.tokens[k])] for k in step.positions if k < len(e.tokens)]
    shown = " · ".join(words[:12]) + (f" and {len(words) - 12} more" if len(words) > 12 else "")
    known = step.interval
    return Row(
        len(step.positions),
        shown or "(nothing)",
        rounded(step.precision, e.threshold),
        " to ".join(spread(known, e.threshold)) if is_wide(known) else "",
        step.positions == e.positions and not e.needs_no_word,
    )
