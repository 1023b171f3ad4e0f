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

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kedge.errors import OptionError
from kedge.evaluators.bets import Bets
from kedge.evaluators.enumeration import table_size
from kedge.reading.oracle import RECHECKED
from kedge.reading.reading import Reading
from kedge.search.guided.course import Search
from kedge.search.guided.learner import Learner
from kedge.search.guided.pool import Pool
from kedge.search.knobs import check_at_least
from kedge.search.strategy import Found, Goal
from kedge.utils.seeds import text_generator
from kedge.utils.sentences import Option, Sentence

__all__ = ["Guided"]

# Kept back for the proof while exploring, as a multiple of what it takes at least.
_RESERVE = 1.7
# A search that can prove something takes at least this many questions before the proof.
_LOOK = 20
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
    word: int = 4_500
    attempts: int = 4
    stake: float = 0.9
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
        learner = Learner(pool, goal, self.word)
        search = Search(learner, longest, self.attempts, self.stake, prove=self.prove)
        return search.run(_why_hopeless(goal, least, int(budget)) if hopeless else "")


def _why_hopeless(goal: Goal, least: int, budget: int) -> Sentence:
    """Why nothing can be proved, and what to do."""
    if goal.threshold >= 1:
        why = "No samples prove that a label never changes, and the texts are too many to query all; "
        return Sentence(why, "lower ", Option("threshold"), ", to 0.99 say.")
    why = f"A proof takes at least {least:,} queries, and {budget:,} are left for search and proof; "
    return Sentence(why, "raise ", Option("max_queries"), ".")
