"""The audit of a corpus: anchors drawn in pseudorandom order, each checked with samples of its own.

Which anchors are drawn follows from a hash of the seed and their rows, what their checks say from a hash
of the seed, the text and the anchor: the same run has the same audit, with any number of workers and
after any interruption. ``evaluators/shares.py`` has the mathematics.
"""

import heapq
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from kedge.corpus.items import Check, Item
from kedge.corpus.outcome import Outcome
from kedge.corpus.promise import Audit, Promise, is_proposal
from kedge.corpus.workers.backends import explained_somewhere
from kedge.evaluators.shares import Tally
from kedge.studies.checking import Checked

if TYPE_CHECKING:
    from kedge.explainer import Explainer

__all__ = ["Auditor", "Proposal", "Urn", "audited_outcomes"]

# Anchors that are drawn at most, and that are sent to workers at a time at least.
_MOST, _ROUND = 4_000, 8
# An anchor below the threshold passes its check with this part of delta at most.
_LEVEL = 0.8
_UNCHECKED = Checked(proved=False, held=0, lost=0, queries=0)


@dataclass(frozen=True)
class Proposal:
    """An anchor without a proof of its own."""

    row: int
    digest: str
    label: Any
    positions: tuple[int, ...]

    @property
    def key(self) -> str:
        """What identifies it."""
        return f"{self.row} {self.digest} {','.join(map(str, self.positions))} {self.label}"


@dataclass
class Urn:
    """All proposals of a corpus, of which those that would be drawn first are held."""

    seed: int
    population: int = 0
    _first: list[tuple[int, int, Proposal]] = field(default_factory=list)

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, Any]], seed: int) -> "Urn":
        """The proposals among the rows of a result."""
        urn = cls(seed)
        for row in rows:
            if is_proposal(row):
                urn.add(Proposal(row["row"], row["digest"], row["label"], tuple(row["positions"])))
        return urn

    def add(self, proposal: Proposal) -> None:
        """Put one in."""
        self.population += 1
        drawn = blake2b(f"kedge audit {self.seed} {proposal.row}".encode(), digest_size=8).digest()
        entry = (-int.from_bytes(drawn, "big"), -proposal.row, proposal)
        if len(self._first) < _MOST:
            heapq.heappush(self._first, entry)
        else:
            heapq.heappushpop(self._first, entry)

    def order(self) -> list[Proposal]:
        """The proposals in the order in which they are drawn, as many as may be."""
        return [proposal for _, _, proposal in sorted(self._first, reverse=True)]


@dataclass(frozen=True)
class Auditor:
    """Who audits.

    Parameters
    ----------
    explainer
        The model, and the options the anchors were found with.
    promise
        What is to be proved.
    where
        Which workers.
    """

    explainer: "Explainer"
    promise: Promise
    where: Mapping[str, Any]

    def audit(
        self,
        urn: Urn,
        items: Mapping[int, Item],
        known: Mapping[str, Checked],
        record: Callable[[Proposal, Checked], None],
    ) -> Audit:
        """Draw and check until the promise is proved, or will not be.

        Parameters
        ----------
        urn
            The proposals.
        items
            Documents by their rows: of those that may be drawn.
        known
            Checks that were made before, by their keys.
        record
            Called with every check that is made now.
        """
        options, promise = self.explainer.options, self.promise
        delta, level = options.delta, _LEVEL * options.delta
        tally, questions, order = Tally(urn.population, level), 0, urn.order()
        budget = promise.budget(urn.population)
        while needed := tally.still_needed(promise.share, delta):
            drawn = order[tally.drawn : tally.drawn + max(needed, _ROUND)]
            each = questions / max(tally.drawn, 1)
            if len(drawn) < needed or questions + needed * each > budget:
                break
            with closing(self._checked(drawn, items, known, record)) as checks:
                for check in checks:
                    tally, questions = tally.plus(passed=check.proved), questions + check.queries
                    if questions > budget or tally.proves(promise.share, delta):
                        break
        return Audit(
            population=urn.population,
            drawn=tally.drawn,
            failed=tally.failed,
            proved=tally.proves(promise.share, delta),
            share=promise.share,
            threshold=options.threshold,
            delta=delta,
            low=tally.low(delta),
            questions=questions,
        )

    def _checked(
        self,
        drawn: Sequence[Proposal],
        items: Mapping[int, Item],
        known: Mapping[str, Checked],
        record: Callable[[Proposal, Checked], None],
    ) -> Generator[Checked]:
        """The checks of some proposals, in order."""
        level = _LEVEL * self.explainer.options.delta
        asked = (
            _asked(items[p.row], Check(p.positions, p.label, level, self.promise.samples))
            for p in drawn
            if p.key not in known
        )
        explainer = self.explainer.with_options(max_queries=None)
        with closing(explained_somewhere(explainer, asked, **self.where)) as results:
            for proposal in drawn:
                if proposal.key in known:
                    yield known[proposal.key]
                    continue
                result = next(results)
                check = result if isinstance(result, Checked) else _UNCHECKED
                record(proposal, check)
                yield check


def audited_outcomes(auditor: Auditor, outcomes: Iterable[Outcome], label: Any) -> Iterator[Outcome]:
    """Outcomes in memory, with what their audit says of them; the first comes when it is over."""
    everyone = list(outcomes)
    explained = [(one, one.explanation) for one in everyone if one.explanation is not None]
    urn = Urn.of((one.to_row() for one, _ in explained), auditor.explainer.options.seed)
    items = {one.row: Item(one.row, one.id, e.text, label=label) for one, e in explained}
    audit = auditor.audit(urn, items, {}, lambda *_: None)
    for one in everyone:
        e = one.explanation
        if e is not None and is_proposal({"method": e.method, "status": e.status}):
            yield replace(one, explanation=replace(e, **audit.told(e.notes)))
        else:
            yield one


def _asked(item: Item, check: Check) -> Item:
    return Item(item.row, item.id, item.text, label=item.label, check=check)
