"""One guided search: baseline, explore, improve, trim, prove, leave out; or all texts, where they are few.

It can be stopped at any time, and then tells the best that is known.
"""

from dataclasses import replace

import numpy as np

from kedge.errors import OutOfQueries
from kedge.evaluators.bets import Bets, Round
from kedge.evaluators.enumeration import table_size
from kedge.results.interval import UNKNOWN, Interval
from kedge.search.exact.lazy import ask_the_rest, still_to_ask
from kedge.search.guided.baseline import Baseline, look_at_baseline
from kedge.search.guided.capital import Capital
from kedge.search.guided.exploration import Explored, explore, explore_further, proposed
from kedge.search.guided.idle import without_idle
from kedge.search.guided.improvement import Looks, improve
from kedge.search.guided.learner import Learner
from kedge.search.guided.leaving import ROUND, Need, Needs, estimate
from kedge.search.guided.looking import look_at
from kedge.search.guided.memory import PooledPrecision
from kedge.search.guided.proof import Proof, certify
from kedge.search.guided.sharpening import sharpen
from kedge.search.guided.telling import about_needs, minimality
from kedge.search.strategy import Candidate, Found, unproved
from kedge.typing import Kept, Status

__all__ = ["Search"]

# Samples that the proof that no word is needed may take in all, where it was not found at first.
_SETTLING = 600
# Where no word is needed, one that takes more samples than this is the wrong one.
_ANY_WORD = 250
# Questions that the proof of an anchor without one of its words may be expected to take at least (half of
# what the word is worth, if that is more).
_WORTH_LEAVING = 500
# Such proofs at most: each takes place at a smaller part of delta.
_AGAIN = 2
# Questions about words that may be left out before the proof.
_TRIMMING = 400
# A proposal that is not proved aims this far beyond the threshold, as a share of what is left to 1: so few
# miss it, and most can be checked with few samples.
_AIM = 0.4


class Search:
    """One search: what was found so far, so that it can be told whenever the search must end."""

    def __init__(self, learner: Learner, proof: int, attempts: int, stake: float, *, prove: bool) -> None:
        self._learner, self._longest = learner, proof
        self._attempts, self._stake, self._prove_it = attempts, stake, prove
        self._pool, self._goal = learner.pool, learner.goal
        self._capital = Capital()
        self._trace: list[Candidate] = []
        self._tried: list[Proof] = []
        self._needs: tuple[Need, ...] = ()
        # What is answered when not one fresh sample could be spent on an anchor.
        self._best = Proof(() if self._goal.allow_empty else (0,), UNKNOWN)
        self._baseline: Baseline | None = None
        self._explored: Explored | None = None
        self._dear = False
        # Anchors that are not tried again: their samples are known.
        self._known: list[Kept] = []

    def run(self, hopeless: str) -> Found:
        """Baseline, explore, improve, prove; whatever stops it, the best that is known by then.

        ``hopeless`` says, where that is so, why nothing can be proved.
        """
        why, proving = "", self._prove_it and not hopeless
        try:
            self._search(proving=proving)
            if proving and (self._dear or self._worth_the_rest()):
                return self._ask_the_rest()
            if not self._prove_it and not self._best.proved:
                return self._proposed()
            if not self._best.proved:
                why = f"No proof succeeded for the {len(self._tried)} anchors that were tried."
        except OutOfQueries as error:
            why = error.sentence
        best = self._best if self._best.proved else self._unproved()
        status: Status = "certified" if best.proved else unproved(best.interval, self._goal)
        needs = self._needs if best.proved and len(best.kept) > 1 else ()
        length = minimality(len(best.kept), needs) if best.proved else "open"
        return Found(
            best.kept,
            self._best_estimate(best.kept, best.interval) if best.proved else best.interval,
            status,
            PooledPrecision(self._pool),
            tuple(self._trace),
            baseline=None if self._baseline is None else self._best_estimate((), self._baseline.interval),
            notes=(
                *((hopeless or why,) if not best.proved else ()),
                *about_needs(self._pool.reading, needs, self._goal.delta),
            ),
            irreducible=length == "irreducible",
            narrow=length == "narrow",
            level=best.level,
        )

    def _best_estimate(self, kept: Kept, known: Interval) -> Interval:
        """An interval with the best estimate within it: samples of the search count, too."""
        if not self._learner.fitted:
            return known
        mean = look_at(self._learner, kept, self._pool.given(kept)).mean
        return Interval(known.low, mean, known.high).within(known.low, known.high)

    def _proposed(self) -> Found:
        """The anchor that would have been proved, with what the questions so far say of it."""
        kept, baseline, pooled = self._best.kept, self._baseline, PooledPrecision(self._pool)
        known = estimate(self._learner, kept)
        status: Status = "estimated" if known.mean >= self._goal.threshold else "not_reached"
        trace = (*self._trace, Candidate(kept, known))
        return Found(kept, known, status, pooled, trace, baseline=baseline.interval if baseline else None)

    def _unproved(self) -> Proof:
        """The anchor of which most is known to speak for it, with what the questions so far say of it."""
        sampled = [one for one in self._tried if one.trials]
        if sampled:
            return max(sampled, key=lambda one: (one.interval.low, one.interval.mean))
        known = {one.kept: one.interval for one in self._trace if len(one.kept) >= self._goal.shortest}
        if len(self._pool):
            known[self._best.kept] = estimate(self._learner, self._best.kept)
        if not known:
            return self._best
        kept = max(
            known, key=lambda one: (known[one].mean >= self._goal.threshold, known[one].low, -len(one))
        )
        return replace(self._best, kept=kept, interval=known[kept])

    def _search(self, *, proving: bool) -> None:
        baseline = self._baseline = look_at_baseline(self._learner)
        self._trace.append(Candidate((), baseline.interval))
        if baseline.proved and self._goal.allow_empty:
            self._best = Proof((), baseline.interval, True, baseline.bets.trials, self._goal.delta)
            return
        if not self._prove_it:
            beyond = self._goal.threshold + _AIM * (1 - self._goal.threshold)
            self._learner.goal = replace(self._goal, threshold=beyond)
        opened = None if baseline.word is None else (baseline.word,)
        for attempt in range(self._attempts):
            first = opened if baseline.proved and attempt == 0 else None
            kept: Kept = first or self._next_anchor()
            self._dear = proving and not first and self._is_dear(kept)
            if self._dear or (not proving and self._will_do(kept)):
                return
            if not proving:
                continue
            if not first:
                sharpen(self._learner, kept)
            self._begin(kept)
            if opened is not None and kept != opened:  # its samples were looked at: a proof given up
                self._give_up(opened)
            opened = None
            longest = _ANY_WORD if self._explored is None else 500 + int(1.5 * self._learner.word)
            last = attempt + 1 == self._attempts
            self._prove(kept, 1.0 if last else self._stake, self._longest if last else longest)
            if self._best.proved:
                self._leave_out()
                self._settle_empty(baseline)
                return

    def _begin(self, kept: Kept) -> None:
        """From here on all samples count, and all questions may be used."""
        self._best = replace(self._best, kept=kept)
        self._pool.reserve = 0
        self._pool.stand_alone(alone=False)

    def _will_do(self, kept: Kept) -> bool:
        """Whether an anchor that is not to be proved is the answer; if not, a longer one is next."""
        self._begin(kept)
        known = estimate(self._learner, kept)
        if self._prove_it or known.mean >= self._goal.threshold:
            return True
        self._tried.append(Proof(kept, known))
        self._known.append(kept)
        return False

    def _next_anchor(self) -> Kept:
        """What is worth proving next: looked at, and without the words that it seems to do without."""
        if self._explored is None:
            self._explored = explore(self._learner)
        elif len(self._tried) == 1 and self._learner.learns:
            self._explored = explore_further(self._learner)
            self._pool.stand_alone(alone=False)
        self._best = replace(self._best, kept=self._explored.proposal)
        checked = improve(self._explored, [one.kept for one in self._tried])
        self._trace += checked.trace
        kept = self._trimmed(checked.kept)
        if self._learner.vouched and not self._tried:  # the looks have taught it all there is to know
            kept = proposed(self._learner)
        self._learner.fix_word()
        return kept

    def _is_dear(self, kept: Kept) -> bool:
        """Whether the proof and the leaving out would ask more than asking about all texts that are left.

        Where the surrogate is often wrong, several words may not be the fewest: all texts are worth a word.
        """
        learner, known = self._learner, look_at(self._learner, kept, self._pool.given(kept))
        rest = self._rest()
        if rest == np.inf:
            return False
        several = len(kept) > 1 and not learner.vouched
        asks = learner.cost(1 - known.mean) + several * len(kept) * ROUND
        often = several and not learner.seldom_wrong and rest <= learner.word
        return often or min(asks, table_size(self._pool.reading)) > rest

    def _worth_the_rest(self) -> bool:
        """Whether all texts are asked about: a word may not be needed, and it or the search cost as much."""
        if self._best.proved and minimality(len(self._best.kept), self._needs) == "irreducible":
            return False
        return self._rest() <= max(self._learner.word, self._pool.reading.oracle.queries)

    def _rest(self) -> float:
        return still_to_ask(self._pool.reading, self._pool.everything()[0])

    def _ask_the_rest(self) -> Found:
        """The shortest anchor there is, from all texts that matter; those known already cost nothing."""
        hint = 0.5 if self._baseline is None else self._baseline.interval.mean
        pool = self._pool
        found = ask_the_rest(pool.reading, self._goal, pool.proofs, pool.everything(), hint)
        return replace(found, trace=(*self._trace, *found.trace))

    def _trimmed(self, kept: Kept) -> Kept:
        """Leave out, before the proof, what the anchor seems to do without: looks cost less than proofs."""
        if self._learner.vouched:
            return kept
        needs, looks = self._leaving(), Looks(self._learner)
        if not self._tried:  # after a proof that failed, words that seem to do nothing are worth a try
            kept = without_idle(self._pool, kept)
        try:
            last = self._pool.reading.oracle.queries + _TRIMMING
            while len(kept) > 1 and (rest := needs.spare(kept, last)) is not None:
                if not looks.reaches(rest):
                    needs.failed.add(rest)
                else:
                    kept = rest
        except OutOfQueries:
            pass
        self._trace += looks.trace
        return kept

    def _leaving(self) -> Needs:
        worth = int(min(max(_WORTH_LEAVING, self._learner.word / 2), self._learner.most_per_word))
        return Needs(self._learner, worth, self._known)

    def _prove(self, kept: Kept, share: float, longest: int) -> None:
        if kept in self._known:  # pragma: no cover  (it is not proposed again)
            return
        at_stake = self._capital.stake(share)
        proof = certify(self._learner, kept, at_stake * self._goal.delta, min(longest, self._longest))
        self._trace.append(Candidate(kept, proof.interval))
        if proof.proved or not self._best.proved:
            self._best = proof
        if not proof.proved:
            self._tried.append(proof)
            self._known.append(kept)
            self._capital.hand_back(at_stake, proof.log_wealth)

    def _give_up(self, opened: Kept) -> None:
        at_stake, held = self._capital.stake(self._stake), self._pool.seen(opened)
        self._known.append(opened)
        bets = Bets((Round(int(held.sum()), int((~held).sum())),))
        self._capital.hand_back(at_stake, bets.log_wealth(self._goal.threshold))

    def _settle_empty(self, begun: Baseline) -> None:
        """Go on with the proof that no word is needed, where that seems so and is asked for."""
        likely = begun.interval.mean >= self._goal.threshold and not begun.proved
        if likely and self._goal.settle_empty and self._pool.left > 0:
            proof = certify(self._learner, (), self._goal.delta, _SETTLING, begun.bets)
            self._baseline = replace(begun, interval=proof.interval, proved=proof.proved)
            self._trace.append(Candidate((), proof.interval))

    def _leave_out(self) -> None:
        """Leave out, one by one, words without which the proved anchor may well reach; prove it again."""
        needs = self._leaving()
        again = 0
        while len(self._best.kept) > 1:
            needs.level = self._stake * self._capital.left * self._goal.delta
            needs.worth *= again < _AGAIN and self._capital.left > 0
            self._needs = needs(self._best)
            self._trace += [Candidate(need.rest, need.known) for need in self._needs]
            need = self._needs[-1]
            if need.verdict != "open":
                return
            if need.exact:
                self._best = replace(self._best, kept=need.rest, interval=need.known, trials=np.inf)
                continue
            least = Bets().still_needed(self._goal.threshold, needs.level, 0.0)
            if self._pool.left < least:
                return
            proved, again = self._best, again + 1
            self._prove(need.rest, self._stake, 2 * needs.worth)
            if self._best is proved:
                needs.failed.add(need.rest)
