"""Querying the model: each distinct input once, in batches, within the budget, and counted.

An oracle lives as long as one explanation. Queries are counted here, where the model is called.
"""

from collections.abc import Callable, Sequence
from hashlib import blake2b
from itertools import cycle, islice
from typing import Any, TypeVar

import numpy as np

from kedge.errors import Inconsistent, KedgeError, ModelRaised, OutOfQueries, OutOfTime
from kedge.model.model import Predictions
from kedge.typing import Bools, Counts, Floats, Label
from kedge.utils.deadline import TimeIsUp
from kedge.utils.messages import first_line, shorten
from kedge.utils.numerics import logistic
from kedge.utils.sentences import Option

__all__ = ["ASKED_AGAIN", "RECHECKED", "Memory", "Oracle", "RowMemory", "text_keys"]

Questions = TypeVar("Questions", list[str], Counts)
Progress = Callable[[int], None]

# The same text may come back with slightly different probabilities from a batched or GPU model;
# more than this is a model that does not give the same answer twice (dropout left on, sampling).
_SAME_PROBABILITY = 1e-3
# How many earlier texts are queried a second time to detect such a model.
RECHECKED = 3
ASKED_AGAIN = 59
"""How many answers are asked for a second time before a claim about a black box is called
exact: one that changes an answer in twenty is found out with probability 1 - 0.95^59 > 0.95."""


class Oracle:
    """The one place where the model is called.

    Parameters
    ----------
    max_queries
        How many texts (or rows of counts) the model may be queried with; None for no limit.
    batch_size
        How many are sent to it at a time.
    progress
        Called with the number of queries so far after every batch.
    """

    def __init__(
        self,
        max_queries: int | None = None,
        batch_size: int = 64,
        progress: Progress | None = None,
    ) -> None:
        self.queries = 0
        self.backward = 0
        self.batch_size = batch_size
        self._limit = float("inf") if max_queries is None else max_queries
        self._progress = progress

    @property
    def remaining(self) -> float:
        """How many more queries are allowed; infinite without a limit."""
        return self._limit - self.queries

    def ask(
        self, predict: Callable[[Questions], Predictions], batch: Questions, *, report: bool = True
    ) -> Predictions:
        """One call of the model; ``report`` whether ``progress`` is called, which may end the search."""
        if len(batch) > self.remaining:
            sent = f"{self.queries:,} {'query' if self.queries == 1 else 'queries'}"
            raise OutOfQueries(
                f"After {sent}, the next {len(batch):,} would exceed ",
                Option("max_queries", self._limit),
                "; raise ",
                Option("max_queries"),
                ".",
            )
        self.queries += len(batch)
        try:
            predictions = predict(batch)
        except KedgeError:
            raise
        except TimeIsUp:
            raise OutOfTime(
                f"The time limit was near after {self.queries:,} queries, so the search ended here."
            ) from None
        except (Exception, SystemExit) as error:
            reason = first_line(error)
            raise ModelRaised(
                f"The model raised {type(error).__name__} on "
                f"{len(batch)} text{'s' if len(batch) > 1 else ''}{': ' + reason if reason else ''}."
            ) from error
        if report and self._progress is not None:
            self._progress(self.queries)
        return predictions


class Memory:
    """Answers about one label, each input queried once.

    Parameters
    ----------
    oracle, predict, label
        The oracle that is queried, with which function, and about which label.
    recheck
        Repeat the first few queries, to detect a model that does not repeat itself.
    repeats
        It is known that the model repeats itself.
    """

    def __init__(
        self,
        oracle: Oracle,
        predict: Callable[[list[str]], Predictions] | Callable[[Counts], Predictions],
        label: Label,
        *,
        recheck: bool,
        repeats: bool = False,
    ) -> None:
        self._oracle, self._predict, self._label = oracle, predict, label
        self._repeats = repeats
        self._known: dict[bytes | str, tuple[bool, float]] = {}
        self._chances: dict[bytes | str, Floats] = {}
        self._recheck: int = RECHECKED if recheck else 0
        self._early: list[tuple[Any, bool, float]] = []
        self._asked: list[tuple[Any, bool, float]] = []

    def ask_again(self) -> bool:
        """Repeat some queries, if there is room; a model that changes an answer is refused."""
        if self._repeats or not self._asked:
            return True
        if self._oracle.remaining < ASKED_AGAIN:
            return False
        again = list(islice(cycle(self._asked), ASKED_AGAIN))
        for start in range(0, len(again), self._oracle.batch_size):
            part = again[start : start + self._oracle.batch_size]
            questions: Any = [question for question, _, _ in part]
            if not isinstance(questions[0], str):
                questions = np.stack(questions)
            self._compare(part, self._oracle.ask(self._predict, questions), 0)
        return True

    def remember(self, text: str, predictions: Predictions) -> None:
        """Store an answer from before the label was known."""
        self._store(text_keys([text]), [text], predictions)

    def __call__(self, questions: list[str] | Counts, keys: Sequence[bytes | str]) -> tuple[Bools, Floats]:
        """(n,) whether the label holds, and (n,) its log-odds (NaN for a model without them)."""
        new = {key: i for i, key in enumerate(keys) if key not in self._known}
        places = list(new.values())
        for start in range(0, len(places), self._oracle.batch_size):
            at = places[start : start + self._oracle.batch_size]
            batch = [questions[i] for i in at] if isinstance(questions, list) else questions[at]
            batch_keys = [keys[i] for i in at]
            self._ask(batch, batch_keys)
        answers = [self._known[key] for key in keys]
        holds = np.fromiter((a[0] for a in answers), dtype=bool, count=len(answers))
        odds = np.fromiter((a[1] for a in answers), dtype=np.float64, count=len(answers))
        return holds, odds

    def chances(self, questions: list[str] | Counts, keys: Sequence[bytes | str]) -> Floats:
        """(n, k) the probability of each class, for a model that gives them."""
        self(questions, keys)
        return np.array([self._chances[key] for key in keys])

    def _ask(self, batch: list[str] | Counts, keys: list[bytes | str]) -> None:
        again = self._early[: self._recheck] if isinstance(batch, list) else []
        if len(batch) + len(again) > self._oracle.remaining:
            again = []
        asked = batch + [text for text, _, _ in again] if isinstance(batch, list) else batch
        predictions = self._oracle.ask(self._predict, asked)  # type: ignore[type-var, arg-type]
        self._store(keys, batch, predictions)
        if again:
            self._compare(again, predictions, len(batch))
            self._recheck -= len(again)
            self._early = self._early[len(again) :]

    def _store(
        self, keys: Sequence[bytes | str], batch: list[str] | Counts, predictions: Predictions
    ) -> None:
        holds, odds = _answers(predictions, self._label)
        self._known.update(zip(keys, zip(holds.tolist(), odds.tolist(), strict=False), strict=False))
        if predictions.probabilities is not None:
            self._chances.update(zip(keys, predictions.probabilities, strict=False))
        for kept, most in ((self._early, self._recheck), (self._asked, ASKED_AGAIN)):
            room = max(0, most - len(kept))
            kept.extend(zip(batch[:room], holds.tolist(), odds.tolist(), strict=False))

    def _compare(self, again: list[tuple[Any, bool, float]], predictions: Predictions, offset: int) -> None:
        holds, odds = _answers(predictions, self._label)
        for i, (question, held, odd) in enumerate(again, start=offset):
            text = question if isinstance(question, str) else f"word counts {question.tolist()}"
            first, second = _probability(odd), _probability(float(odds[i]))
            if held != holds[i] or abs(first - second) > _SAME_PROBABILITY:
                how = (
                    "with and without the explained label"
                    if held != holds[i]
                    else f"with probability {first:.4f} and then {second:.4f}"
                )
                raise Inconsistent(
                    f"The model answered the same text differently, {how}: {shorten(text)!r}. Anchors need a "
                    "deterministic model; switch off dropout or sampling (model.eval())."
                )


def _answers(predictions: Predictions, label: Label) -> tuple[Bools, Floats]:
    odds = predictions.log_odds(label)
    holds = predictions.hold(label)
    return holds, np.full(len(holds), np.nan) if odds is None else odds


def _probability(odds: float) -> float:
    return 0.0 if np.isnan(odds) else float(logistic(odds))


def text_keys(texts: Sequence[str]) -> list[bytes | str]:
    """Keys of texts: themselves when short, a 128-bit digest when long."""
    return [
        t if len(t) <= 64 else blake2b(t.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        for t in texts
    ]


def _row_keys(counts: Counts) -> list[bytes | str]:
    """Keys of rows of counts."""
    small = np.ascontiguousarray(counts, dtype=np.int32)
    return [row.tobytes() for row in small]


class RowMemory:
    """A memory that is queried with rows of counts.

    Parameters
    ----------
    memory
        The memory.
    """

    __slots__ = ("_memory",)

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def holds(self, counts: Counts) -> Bools:
        """(n,) whether the label holds."""
        return self.answers(counts)[0]

    def log_odds(self, counts: Counts) -> Floats:
        """(n,) its log-odds."""
        return self.answers(counts)[1]

    def answers(self, counts: Counts) -> tuple[Bools, Floats]:
        """Both, from one query."""
        return self._memory(counts, _row_keys(counts))

    def chances(self, counts: Counts) -> Floats:
        """(n, k) the probability of each class."""
        return self._memory.chances(counts, _row_keys(counts))
