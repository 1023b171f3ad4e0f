"""The search for a model that can only be asked: rank, find the shortest prefix, improve, certify.

1. Explore. One shared pool of samples teaches a linear surrogate (``exploration``), by regression of the
   log-odds where the model gives probabilities and they are additive, else from labels, asked
   where they say most.
2. Propose. The surrogate ranks the units and predicts the precision of every prefix.
3. Improve. Unless it predicts without error, prefixes of about the predicted length, then anchors with
   a word left out, then single words and pairs that the pool suggests, are estimated by samples
   of the model (``improvement``).
4. Certify. The chosen anchor is proved with fresh samples (``proof``), or a longer one is tried with what
   is left of delta (``capital``).
5. Leave out. Each word is left out in turn (``leaving``); where the rest seems to reach and its proof is
   worth it, that is proved, too.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from kedge.errors import OptionError, OutOfQueries
from kedge.evaluators.bets import Bets, Round
from kedge.evaluators.enumeration import table_size
from kedge.reading.oracle import RECHECKED
from kedge.reading.reading import Reading
from kedge.results.interval import UNKNOWN
from kedge.search.guided.baseline import Baseline, look_at_baseline
from kedge.search.guided.capital import Capital
from kedge.search.guided.exploration import Explored, explore
from kedge.search.guided.improvement import improve
from kedge.search.guided.learner import Learner
from kedge.search.guided.leaving import Need, Needs, estimate
from kedge.search.guided.memory import PooledPrecision
from kedge.search.guided.pool import Pool
from kedge.search.guided.proof import Proof, certify
from kedge.search.guided.telling import about_needs, minimality
from kedge.search.knobs import check_at_least
from kedge.search.strategy import Candidate, Found, Goal, unproved
from kedge.typing import Kept, Status
from kedge.utils.seeds import text_generator
from kedge.utils.sentences import Option, Sentence

__all__ = ["Guided"]

# Kept back for the proof while exploring, as a multiple of what it takes at least.
_RESERVE = 1.7
# A search that can prove something takes at least this many questions before the proof.
_LOOK = 20
# Samples that the proof that no word is needed may take in all, where it was not found at first.
_SETTLING = 600
# Where no word is needed, one that takes more samples than this is the wrong one.
_ANY_WORD = 250
# Questions that the proof of an anchor without one of its words may be expected to take at least (half of
# what the word is worth, if that is more), those after which no further one is begun, and the capital below
# which none is.
_WORTH_LEAVING, _LEAVING, _BROKE = 500, 1_000, 1e-3
# A proposal that is not proved aims this far beyond the threshold, as a share of what is left to 1: so few
# miss it, and most can be checked with few samples.
_AIM = 0.4
# Long documents make expensive questions: the search stops by itself after so many words.
_WORDS, _FEWEST = 30_000_000, 1_000


@dataclass(frozen=True)
class Guided:
    """Certified answers about any model that can be asked.

    Parameters
    ----------
    budget
        Queries after which it stops by itself, when the user set no limit.
    proof
        Fresh samples that the proof of one anchor may take; more where the user allows more queries.
    word
        How many more questions a proof may take if the anchor is one word shorter.
    attempts
        How many anchors may be tried; after each proof that fails, the next.
    stake
        The share of the remaining delta that each proof may use; the last one may use all of it.
    prove
        Whether the anchor is proved. If not, it is a proposal, ``"estimated"``, for an audit to check.
    """

    budget: int = 12_000
    proof: int = 5_000
    word: int = 3_000
    attempts: int = 4
    stake: float = 0.8
    prove: bool = True

    name: ClassVar = "guided"
    ignores: ClassVar = frozenset({"ties"})

    def __post_init__(self) -> None:
        check_at_least("budget", self.budget)
        check_at_least("proof", self.proof)
        check_at_least("word", self.word)
        check_at_least("attempts", self.attempts)
        if not 0 < self.stake <= 1:
            raise OptionError(Option("stake"), f" must lie in (0, 1], got {self.stake!r}.", value=self.stake)

    def obstacle(self, reading: Reading) -> str | None:
        """Any model can be asked."""
        del reading
        return None

    def suits(self, reading: Reading) -> bool:
        """Always: it comes last."""
        del reading
        return True

    def __call__(self, reading: Reading, goal: Goal, rng: np.random.Generator) -> Found:
        """Find an anchor and prove it."""
        budget = reading.oracle.remaining
        if budget == np.inf:
            budget = min(self.budget, max(_FEWEST, _WORDS // len(reading.document)))
        least = Bets().still_needed(goal.threshold, self.stake * goal.delta, 0.0)
        if reading.repeatable:
            least = min(least, table_size(reading, ()))  # or all there are
        least += RECHECKED  # some questions are asked a second time
        hopeless = self.prove and least + _LOOK > budget
        most = min(max(least, 0.4 * budget), _RESERVE * least, budget - _LOOK)
        reserve = 0 if hopeless or not self.prove else int(most)
        same = text_generator(reading.document.text)
        pool = Pool(reading, same, reading.oracle.queries + budget, reserve, goal.seed, rng)
        longest = round(self.proof * max(1.0, budget / self.budget))
        search = _Search(self, Learner(pool, goal, self.word), longest)
        why = f"A proof takes at least {least:,} queries, and {int(budget):,} are left for search and proof; "
        note = Sentence(why, "raise ", Option("max_queries"), ".")
        return search.run(note if hopeless else "")


class _Search:
    """One search: what was found so far, so that it can be told whenever the search must end."""

    def __init__(self, knobs: Guided, learner: Learner, proof: int) -> None:
        self._knobs, self._learner, self._longest = knobs, learner, proof
        self._pool, self._goal = learner.pool, learner.goal
        self._capital = Capital()
        self._trace: list[Candidate] = []
        self._tried: list[Proof] = []
        self._needs: tuple[Need, ...] = ()
        # What is answered when not one fresh sample could be spent on an anchor.
        self._best = Proof(() if self._goal.allow_empty else (0,), UNKNOWN)
        self._baseline: Baseline | None = None

    def run(self, hopeless: str) -> Found:
        """Baseline, explore, improve, prove; whatever stops it, the best that is known by then.

        ``hopeless`` says, where that is so, why nothing can be proved.
        """
        why, proving = "", self._knobs.prove and not hopeless
        try:
            self._search(proving=proving)
            if not self._knobs.prove and not self._best.proved:
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
            best.interval,
            status,
            PooledPrecision(self._pool),
            tuple(self._trace),
            baseline=None if self._baseline is None else self._baseline.interval,
            notes=(
                *((hopeless or why,) if not best.proved else ()),
                *about_needs(self._pool.reading, needs, self._goal.delta),
            ),
            irreducible=length == "irreducible",
            narrow=length == "narrow",
            level=best.level,
        )

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
        if not self._knobs.prove:
            beyond = self._goal.threshold + _AIM * (1 - self._goal.threshold)
            self._learner.goal = replace(self._goal, threshold=beyond)
        opened = None if baseline.word is None else (baseline.word,)
        explored: Explored | None = None
        for attempt in range(self._knobs.attempts):
            if baseline.proved and attempt == 0 and opened is not None:
                kept: Kept = opened
            else:
                explored = explored or explore(self._learner)
                self._best = replace(self._best, kept=explored.proposal)
                checked = improve(explored, [one.kept for one in self._tried])
                self._trace += checked.trace
                kept = checked.kept
            self._best = replace(self._best, kept=kept)
            self._pool.reserve = 0
            self._pool.stand_alone(alone=False)
            if not proving:
                known = estimate(self._learner, kept)
                if self._knobs.prove or known.mean >= self._goal.threshold:
                    return
                self._tried.append(Proof(kept, known))  # a proposal that seems to miss: a longer one is next
                continue
            # What failed is not proposed again; if it were, nothing may be bet on samples that are known.
            if any(one.kept == kept for one in self._tried):  # pragma: no cover
                continue
            if opened is not None and kept != opened:  # its samples were looked at: a proof given up
                self._give_up(opened)
            opened = None
            longest = _ANY_WORD if explored is None else 500 + int(1.5 * self._learner.word)
            last = attempt + 1 == self._knobs.attempts
            self._prove(kept, 1.0 if last else self._knobs.stake, self._longest if last else longest)
            if self._best.proved:
                self._leave_out()
                self._settle_empty(baseline)
                return

    def _prove(self, kept: Kept, share: float, longest: int) -> None:
        at_stake = self._capital.stake(share)
        proof = certify(self._learner, kept, at_stake * self._goal.delta, min(longest, self._longest))
        self._trace.append(Candidate(kept, proof.interval))
        if proof.proved or not self._best.proved:
            self._best = proof
        if not proof.proved:
            self._tried.append(proof)
            self._capital.hand_back(at_stake, proof.log_wealth)

    def _give_up(self, opened: Kept) -> None:
        at_stake, held = self._capital.stake(self._knobs.stake), self._pool.seen(opened)
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
        worth = int(min(max(_WORTH_LEAVING, self._learner.word / 2), self._knobs.word))
        # What failed before is not bet on again: its samples are known.
        needs = Needs(self._learner, worth, (one.kept for one in self._tried))
        last = self._pool.reading.oracle.queries + _LEAVING
        while len(self._best.kept) > 1:
            self._needs = needs(self._best)
            self._trace += [Candidate(need.rest, need.known) for need in self._needs]
            need = self._needs[-1]
            if need.verdict != "open":
                return
            if need.exact:
                self._best = replace(self._best, kept=need.rest, interval=need.known, trials=np.inf)
                continue
            if self._capital.left < _BROKE or self._pool.reading.oracle.queries > last:
                return
            least = Bets().still_needed(self._goal.threshold, self._capital.left * self._goal.delta, 0.0)
            if self._pool.left < least:
                return
            proved = self._best
            self._prove(need.rest, self._knobs.stake, 2 * worth)
            if self._best is proved:
                needs.failed.add(need.rest)
