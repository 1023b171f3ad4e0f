"""The documents of a run on their way to the workers: counted, so that none is lost unnoticed."""

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from kedge.corpus.items import Item
from kedge.corpus.remedies import START_OVER
from kedge.errors import KedgeError, StorageError, TextError

__all__ = ["Feed", "Passed", "Tracked"]


class Feed:
    """The items of a source, one by one.

    A source that ends badly ends like any other here, so that what was read before is finished; ``close``
    then says what was wrong.

    Parameters
    ----------
    items
        The documents.
    name
        What sentences call their source.
    """

    def __init__(self, items: Iterator[Item], name: str = "The corpus") -> None:
        self._items, self._name = items, name
        self._error: Exception | None = None
        self.read = 0

    def __iter__(self) -> Iterator[Item]:
        return self

    def __next__(self) -> Item:
        if self._error is not None:
            raise StopIteration
        try:
            item = next(self._items)
        except StopIteration:
            raise
        except Exception as error:  # noqa: BLE001  (every source has errors of its own)
            self._error = error
            raise StopIteration from None
        self.read += 1
        return item

    def close(self, written: int) -> None:
        """Check that as many documents came back as were read, to the end of the source."""
        if written != self.read:
            raise StorageError(
                f"{self.read:,} documents were read, but there are {written:,} results, so the run was not "
                "finished. Please report this, and ",
                START_OVER,
            )
        error = self._error
        if error is None:
            return
        if isinstance(error, KedgeError):
            raise error
        if not self._name:
            raise error  # the caller's own iterable raised it
        reason = getattr(error, "strerror", None) or f"{type(error).__name__}: {error}"
        kept = (
            f"beyond row {self.read - 1} ({reason}); the rows before it are kept"
            if self.read
            else f"({reason})"
        )
        raise TextError(f"{self._name} cannot be read {kept}.") from error


class Passed(NamedTuple):
    """A document that has come back: where it stood in the source, and whether it was done before."""

    position: int
    done: bool


class Tracked:
    """Items, remembering where in the source those in flight stand."""

    def __init__(self, items: Iterator[Item]) -> None:
        self._items = items
        self._ahead: deque[Passed] = deque()

    def __iter__(self) -> Iterator[Item]:
        return self

    def __next__(self) -> Item:
        item = next(self._items)
        self._ahead.append(Passed(item.position, item.done is not None))
        return item

    def passed(self) -> Passed:
        """Take note that the next item has come back."""
        return self._ahead.popleft()
