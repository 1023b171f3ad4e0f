"""Many documents through a fleet of workers, in order, whatever happens to the workers.

Each worker has a batch at hand and one waiting, so that it is never idle. Results are given out in input
order; how far workers may run ahead of the oldest document is bounded, so that memory does not
depend on the size of the corpus. When a worker dies, the documents it had not finished are done again,
each alone: so it is known which one it died of, and a document that kills its worker every time becomes
an outcome with that reason. A worker that takes too long over a document is ended.
"""

import time
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Protocol

from kedge.corpus.items import Item
from kedge.corpus.workers.task import Form, formed
from kedge.errors import Failure, OutOfTime, WorkerDied

__all__ = ["Done", "Fleet", "Lost", "Worker", "explained"]

# On this machine a batch should take about this long: far more than the few milliseconds it costs to send it,
# and short enough that little is lost with a worker and workers end together.
SECONDS = 0.3
# Documents per batch at first, and at most.
FIRST, MOST = 4, 256
# How far workers run ahead of the oldest document that is not done, in batches per worker, and in characters.
AHEAD, CHARACTERS = 32, 1 << 24
# Deaths of its worker, alone with it, until a document is to blame. A crash is its own doing; what was
# killed from outside may be innocent, or have used up the machine's memory.
CRASHES, KILLS = 2, 5
# Seconds beyond its time until a worker is ended: what a search has found in time is still to be put into
# words, and a batch of several documents may begin with one question about all of them.
GRACE = 1.0


class Worker(Protocol):
    """One worker: takes batches, works on them in order."""

    def send(self, items: Sequence[Item]) -> None:
        """Give it a batch."""

    def end(self) -> None:
        """End it, whatever it is doing; the fleet then reports it as lost."""


@dataclass(frozen=True)
class Done:
    """A worker has finished the next documents of its oldest batch, in so many seconds."""

    worker: Worker
    results: Sequence[Any]
    seconds: float


@dataclass(frozen=True)
class Lost:
    """A worker is gone, and why; ``outside`` if something else than its document may have ended it."""

    worker: Worker
    reason: str
    outside: bool = True


class Fleet(Protocol):
    """The workers there are. They may come and go.

    Parameters
    ----------
    depth
        How many batches a worker has at a time: one to work on, perhaps one to go on with.
    batch_seconds
        How long a batch should take.
    """

    depth: int
    batch_seconds: float

    def workers(self) -> Sequence[Worker]:
        """Those that can be given work now."""

    def wait(self, seconds: float | None) -> Iterable[Done | Lost]:
        """What has happened, as soon as something has, or nothing after so many seconds.

        Raises an error where there is no worker and none is to come.
        """


@dataclass
class _Slot:
    """A document's place in the order of results."""

    item: Item
    result: Any = None
    deaths: int = 0
    alone: bool = False

    @property
    def weight(self) -> int:
        return 1000 + (len(self.item.text) if isinstance(self.item.text, str) else 0)


@dataclass
class _Assigned:
    """What a worker has been given, and since when it has been working on the first of it."""

    batches: deque[list[_Slot]] = field(default_factory=deque)
    since: float = 0.0


def explained(
    items: Iterator[Item], fleet: Fleet, form: Form = "outcome", timeout: float | None = None
) -> Generator[Any]:
    """What becomes of each item, in order.

    Parameters
    ----------
    items
        The documents; read only as fast as they are explained.
    fleet
        Who explains them.
    form
        What to give back for each: outcomes or lines of JSON.
    timeout
        Seconds that one document may take.
    """
    yield from _Dispatch(items, fleet, form, timeout).run()


class _Dispatch:
    def __init__(self, items: Iterator[Item], fleet: Fleet, form: Form, timeout: float | None) -> None:
        self._items, self._fleet, self._form, self._timeout = items, fleet, form, timeout
        self._order: deque[_Slot] = deque()  # documents read and not given out, in input order
        self._weight = 0
        self._again: deque[list[_Slot]] = deque()  # what lost workers had not finished
        self._assigned: dict[Worker, _Assigned] = {}
        self._size, self._ended = FIRST, False

    def run(self) -> Generator[Any]:
        while True:
            self._hand_out()
            while self._order and self._order[0].result is not None:
                slot = self._order.popleft()
                self._weight -= slot.weight
                yield slot.result
            if self._ended and not self._order:
                return
            for event in self._fleet.wait(self._patience()):
                if isinstance(event, Done):
                    self._take(event)
                else:
                    self._recover(event.worker, event)
            self._end_slow_workers()

    def _hand_out(self) -> None:
        """Give every worker its batches, the emptiest first."""
        workers = self._fleet.workers()
        for depth in range(self._fleet.depth):
            for worker in workers:
                assigned = self._assigned.setdefault(worker, _Assigned())
                if len(assigned.batches) == depth and (batch := self._batch(len(workers))):
                    self._send(worker, assigned, batch)

    def _send(self, worker: Worker, assigned: _Assigned, batch: list[_Slot]) -> None:
        try:
            worker.send([slot.item for slot in batch])
        except OSError:  # it has died a moment ago: the fleet will say so
            self._again.appendleft(batch)
        except Exception as error:  # noqa: BLE001  (something in a document cannot be pickled)
            if len(batch) > 1:
                self._again.extendleft([slot] for slot in reversed(batch))
            else:
                why = Failure("TextError", f"The document cannot be sent to a worker ({error}).")
                batch[0].result = formed(batch[0].item.failed(why), self._form)
        else:
            if not assigned.batches:
                assigned.since = time.monotonic()
            assigned.batches.append(batch)

    def _batch(self, workers: int) -> list[_Slot]:
        """The next batch: what must be done again, else new documents within the bounds."""
        if self._again:
            return self._again.popleft()
        batch: list[_Slot] = []
        bound = AHEAD * workers * max(self._size, FIRST)
        while not batch and not self._ended and len(self._order) < bound and self._weight < CHARACTERS:
            read = list(islice(self._items, self._size))
            self._ended = len(read) < self._size
            for item in read:
                slot = _Slot(item, item.done)
                self._order.append(slot)
                self._weight += slot.weight
                if item.done is None:
                    batch.append(slot)
        if len(batch) == 1:
            batch[0].alone = True
        return batch

    def _take(self, event: Done) -> None:
        assigned = self._assigned.get(event.worker)
        if assigned is None or not assigned.batches:  # it was ended a moment ago for being slow
            return
        batch = assigned.batches[0]
        for slot, result in zip(batch, event.results, strict=False):
            slot.result = result
        if event.results and event.seconds > 0:
            # At most four times larger at a time: the first documents may not be typical.
            size = int(self._fleet.batch_seconds * len(event.results) / event.seconds)
            self._size = max(1, min(size, 4 * self._size, MOST))
        del batch[: len(event.results)]
        assigned.since = time.monotonic()
        if not batch:
            assigned.batches.popleft()

    def _recover(self, worker: Worker, lost: Lost) -> None:
        """Have the documents of a lost worker done again, or blame the one that it died of."""
        assigned = self._assigned.pop(worker, _Assigned())
        if not assigned.batches:
            return
        first = assigned.batches.popleft()
        self._again.extendleft(reversed(assigned.batches))
        slot = first[0]
        slot.deaths += slot.alone
        if len(first) > 1 or slot.deaths < (KILLS if lost.outside else CRASHES):
            self._apart(first)
        else:
            why = WorkerDied(f"Its worker died of this document, {_times(slot.deaths)} ({lost.reason}).")
            slot.result = formed(slot.item.failed(Failure.of(why)), self._form)

    def _apart(self, batch: list[_Slot]) -> None:
        for slot in reversed(batch):
            slot.alone = True
            self._again.appendleft([slot])

    def _patience(self) -> float | None:
        """Seconds until a worker is too slow; None where there is no limit."""
        if self._timeout is None:
            return None
        busy = [assigned for assigned in self._assigned.values() if assigned.batches]
        ends = [assigned.since + self._timeout + GRACE for assigned in busy]
        return max(0.0, min(ends) - time.monotonic()) + 0.01 if ends else None

    def _end_slow_workers(self) -> None:
        if self._timeout is None:
            return
        now = time.monotonic()
        for worker, assigned in list(self._assigned.items()):
            if not assigned.batches or now - assigned.since <= self._timeout + GRACE:
                continue
            del self._assigned[worker]  # what it had is dealt with here: that it was lost is no news then
            worker.end()
            first = assigned.batches.popleft()
            self._again.extendleft(reversed(assigned.batches))
            if len(first) > 1:
                self._apart(first)
                continue
            why = OutOfTime(f"It took longer than the {self._timeout:g} s that a document may take.")
            first[0].result = formed(first[0].item.failed(Failure.of(why)), self._form)


def _times(n: int) -> str:
    return {1: "once", 2: "twice"}.get(n, f"{n} times")
