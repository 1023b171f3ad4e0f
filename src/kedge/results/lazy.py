"""Parts of a result that are computed on first access."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, TypeVar, overload

from kedge.results.influence import Influence

__all__ = ["LazyInfluence", "LazySequence"]

Item = TypeVar("Item")


class LazySequence(Sequence[Item]):
    """A sequence that is drawn on first use; it compares, copies and pickles as a tuple."""

    def __init__(self, draw: Callable[[], Iterable[Item]]) -> None:
        self._draw: Callable[[], Iterable[Item]] | None = draw
        self._drawn: tuple[Item, ...] = ()

    def _all(self) -> tuple[Item, ...]:
        draw = self._draw
        if draw is not None:
            # Two threads may both draw; the same seed gives them the same.
            self._drawn, self._draw = tuple(draw()), None
        return self._drawn

    def __len__(self) -> int:
        return len(self._all())

    def __iter__(self) -> Iterator[Item]:
        return iter(self._all())

    @overload
    def __getitem__(self, index: int) -> Item: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Item, ...]: ...
    def __getitem__(self, index: int | slice) -> Item | tuple[Item, ...]:
        return self._all()[index]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (tuple, LazySequence)):
            return self._all() == tuple(other)
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self._all())

    def __repr__(self) -> str:
        return repr(self._all())

    def __reduce__(self) -> tuple[Any, ...]:
        return tuple, (self._all(),)


class LazyInfluence:
    """An influence that is computed on first access; it pickles as what it is computed from.

    What is made of closures is computed before it is pickled.
    """

    def __init__(self, compute: Callable[[], Influence]) -> None:
        self._compute = compute
        self._known: Influence | None = None

    @classmethod
    def of(cls, influence: Influence) -> "LazyInfluence":
        """One that is known."""
        return cls(partial(_same, influence))

    def __call__(self) -> Influence:
        """Work it out, once."""
        if self._known is None:
            self._known = self._compute()
        return self._known

    def __reduce__(self) -> tuple[Any, ...]:
        if self._known is None and isinstance(self._compute, partial):
            return LazyInfluence, (self._compute,)
        return LazyInfluence, (partial(_same, self()),)


def _same(influence: Influence) -> Influence:
    return influence
