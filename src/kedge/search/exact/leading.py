"""The strategy for labels that lead by sums over words: normalised scores, and several classes.

The norm makes every word's share depend on all others, and words help against one rival and not against
another, so no ranking is exact. A Gaussian guess says which anchors to look at
(`kedge.search.exact.proposals`), the precision of each lies between two sums over words
(`kedge.evaluators.leads`), and most words dominate most others, so that of each length only a few anchors
can lead a rival most often (`kedge.search.exact.dominance`). The answer is exact where its interval reaches
the threshold and, for some rival, all that can lead it most often and are one shorter miss it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kedge.evaluators.affordable import enumerable
from kedge.evaluators.empirical import Empirical
from kedge.evaluators.enumeration import Enumeration, table_size
from kedge.evaluators.intervals import mixture_interval
from kedge.evaluators.leading import Leading as Evaluator
from kedge.evaluators.leading import look_together
from kedge.evaluators.leads import Lead
from kedge.reading.reading import Reading
from kedge.results.interval import UNKNOWN, Interval
from kedge.search.exact.dominance import Dominance, prepare_orders
from kedge.search.exact.proposals import Proposals
from kedge.search.exhaustive import search_all
from kedge.search.pruning import prune, without
from kedge.search.strategy import Candidate, Found, Goal
from kedge.typing import Kept, Status
from kedge.utils.numerics import pieces

__all__ = ["Leading"]

# A table of all samples is quicker up to this size.
_TABLE = 1 << 14
# Anchors of one length whose guesses are this close are compared by convolution.
_CLOSE = 1e-3
# Anchors next to the best guess of a length that are looked at before a length is given up.
_NEIGHBOURS = 6
# An anchor whose guess is this far below the threshold is not looked at.
_FAR = 0.05
_UNPROVEN = "The search stopped before it could prove that no shorter anchor exists."


@dataclass(frozen=True)
class Leading:
    """Exact, for most documents, for linear models with the l2 norm, and for several classes.

    Parameters
    ----------
    most
        Anchors of one length that a proof may look at.
    samples
        Samples of counts that may be drawn for one anchor where its interval leaves its side of the
        threshold open.
    """

    most: int = 24
    samples: int = 16_000

    name: ClassVar = "leading"
    ignores: ClassVar = frozenset({"ties"})

    def obstacle(self, reading: Reading) -> str | None:
        """The leads must be sums over words up to the norm."""
        if reading.leads is not None and reading.algebra:
            return None
        return "needs a linear model or naive Bayes on features of single words"

    def suits(self, reading: Reading) -> bool:
        """A small table of all samples is quicker."""
        return table_size(reading) > _TABLE

    def begin(self, readings: Sequence[Reading], goal: Goal) -> None:
        """The first steps for many documents, taken together: no word, and the most promising words."""
        threshold = goal.threshold
        precisions = [Evaluator(reading, threshold) for reading in readings]
        look_together([(one, ()) for one in precisions], threshold)
        if len(readings) > 1:
            prepare_orders([one.leads[0] for one in precisions if len(one.leads) == 1])
        proposals = [Proposals(one.leads) for one in precisions]
        first = [one.best(one.length(threshold, goal.shortest)) for one in proposals]
        look_together(list(zip(precisions, first, strict=True)), threshold)
        for reading, *begun in zip(readings, precisions, proposals, strict=True):
            reading.begun[self, threshold, goal.shortest] = begun

    def __call__(self, reading: Reading, goal: Goal, rng: np.random.Generator) -> Found:
        """Find the shortest anchor that is certified, and prove that nothing shorter will do."""
        key = self, goal.threshold, goal.shortest
        if key not in reading.begun:
            self.begin([reading], goal)
        found = _Search(self, reading, goal, rng, *reading.begun.pop(key)).found()
        if found.status != "exact" and enumerable(reading):
            return search_all(reading, Enumeration(reading), goal, rng)
        return found


class _Search:
    """One document."""

    def __init__(
        self,
        knobs: Leading,
        reading: Reading,
        goal: Goal,
        rng: np.random.Generator,
        precision: Evaluator,
        proposals: Proposals,
    ) -> None:
        self.knobs, self.reading, self.goal, self.rng = knobs, reading, goal, rng
        self.precision, self.proposals = precision, proposals
        self.looked: dict[Kept, Interval] = {}
        self.sampled: set[Kept] = set()
        self.delta = goal.delta

    def found(self) -> Found:
        """The answer."""
        goal = self.goal
        baseline = self.precision.refine((), goal.threshold)
        if goal.allow_empty and baseline.low >= goal.threshold:
            return Found((), baseline, "exact", self.precision, baseline=baseline)
        best, proven = self._shortest(self._most_precise(self._reaching()), baseline)
        if not proven:
            weakest = sorted(set(best), key=lambda unit: -self.proposals.guess(without(best, unit)))
            best = prune(best, self._reaches, shortest=goal.shortest, order=weakest)
        drawn = best in self.sampled
        status: Status = "exact" if proven and not drawn else "certified"
        notes = () if proven else (_UNPROVEN,)
        return Found(
            best,
            self.looked[best],
            status if self.looked[best].low >= goal.threshold else "not_reached",
            Empirical(self.reading, self.rng) if drawn else self.precision,
            tuple(
                Candidate(kept, self.looked[kept])
                for kept in sorted(self.looked, key=lambda k: (len(k), -self.looked[k].mean, k))
            ),
            baseline=baseline,
            notes=notes,
            irreducible=True,
        )

    def _reaching(self) -> Kept:
        """The best guess of the first length from the guessed one on that is known to reach.

        With every word kept the model's own answer settles what bounds leave open, so that there is one.
        """
        length, total = (
            self.proposals.length(self.goal.threshold, self.goal.shortest),
            self.reading.units.sizes.sum(),
        )
        stride = 1
        while True:
            kept = self.proposals.best(length)
            if self._reaches(kept) or length >= total:
                return kept
            length = min(length + stride, int(total))
            stride *= 2

    def _reaches(self, kept: Kept) -> bool:
        """Whether an anchor is known to reach the threshold: by convolution, else by fresh samples."""
        if kept not in self.looked:
            threshold = self.goal.threshold
            known = self.precision.refine(kept, threshold)
            hopeful = known.mean >= threshold or len(self.precision.leads) > 1
            if known.splits(threshold) and hopeful:
                self.delta /= (
                    2  # all that is claimed from samples together fails with probability delta at most
                )
                drawn = self._drawn(kept)
                if drawn.low >= threshold:
                    self.sampled.add(kept)
                    known = drawn
            self.looked[kept] = known
        return self.looked[kept].low >= self.goal.threshold

    def _drawn(self, kept: Kept) -> Interval:
        """An interval from samples of counts, drawn until its side of the threshold is known."""
        hits = trials = 0
        piece, known = 1_000, UNKNOWN
        while trials < self.knobs.samples and known.splits(self.goal.threshold):
            for part in pieces(piece, len(self.reading.units)):
                counts = self.reading.sample(kept, part.stop - part.start, self.rng)
                hits += int(np.count_nonzero(self.reading.holds(counts)))
            trials += piece
            low, high = mixture_interval(hits, trials, self.delta)
            known = Interval(low, hits / trials, high)
            piece = trials
        return known

    def _most_precise(self, known: Kept) -> Kept:
        """The most precise of the anchors of a length that can be the best, one that is known included."""
        length, leads = len(known), self.precision.leads
        if len(leads) > 1:
            return known
        if length == 1 and self.proposals.rival_of(known[0]) < self.proposals.guess(known) - _CLOSE:
            return known
        others = Dominance.of(leads[0], length).candidates(length, self.knobs.most) or []
        guesses = {kept: self.proposals.guess(kept) for kept in (known, *others)}
        close = max(guesses.values()) - _CLOSE
        reaching = [kept for kept, guess in guesses.items() if guess >= close and self._reaches(kept)]
        return min([known, *reaching], key=lambda kept: (-self.looked[kept].mean, kept))

    def _shortest(self, best: Kept, baseline: Interval) -> tuple[Kept, bool]:
        """Ever shorter anchors that reach; and whether it is proven that there is no shorter one."""
        while len(best) > self.goal.shortest:
            length = len(best) - 1
            if length == 0:
                return best, baseline.high < self.goal.threshold
            shorter, proven = self._of_length(length)
            if shorter is None:
                return best, proven
            best = shorter
        return best, True

    def _of_length(self, length: int) -> tuple[Kept | None, bool]:
        """An anchor of a length that reaches, or None; and whether it is proven then that there is none."""
        threshold, proposals = self.goal.threshold, self.proposals
        best = proposals.best(length)
        if proposals.guess(best) >= threshold - _CLOSE and self._reaches(best):
            return self._most_precise(best), True
        if any(self._none_leads(lead, length) for lead in self.precision.leads):
            return None, True
        if proposals.guess(best) < threshold - _FAR:
            return None, False
        for kept in (best, *proposals.close(length, _NEIGHBOURS)):
            if self._reaches(kept):
                return kept, True
        return None, False

    def _none_leads(self, lead: Lead, length: int) -> bool:
        """Whether no anchor of at most a length leads one rival often enough."""
        threshold = self.goal.threshold
        if lead.guess(self.reading.units.counts(self.proposals.best(length))) >= threshold:
            return False  # it would be in vain
        order = Dominance.of(lead, length)
        anchors = order.candidates(length, self.knobs.most)
        if anchors is None:
            return False
        missing = threshold - order.slack
        return all(
            self.precision.over(lead, self.reading.units.counts(kept), missing) < missing for kept in anchors
        )
