"""The search over leads step by step, with guesses and intervals that are given."""

from types import SimpleNamespace

import numpy as np
import pytest

import kedge
from kedge.evaluators.leading import Leading as Evaluator
from kedge.results.interval import Interval
from kedge.search import Goal
from kedge.search.exact import leading
from kedge.search.exact.leading import _Search


class Told:
    """Guesses, intervals and proposals as they are written down."""

    def __init__(self, intervals, guesses, best, rivals=1):
        self.intervals, self.guesses, self.bests, self.asked = intervals, guesses, best, []
        self.leads = [f"lead {k}" for k in range(rivals)]

    def refine(self, kept, threshold=None):
        """The interval written down."""
        del threshold
        self.asked.append(kept)
        return self.intervals[kept]

    def guess(self, kept):
        """The guess written down."""
        return self.guesses[kept]

    def best(self, length):
        """The proposal written down."""
        return self.bests[length]

    def close(self, length, number):
        """All others of this length."""
        others = [kept for kept in self.guesses if len(kept) == length and kept != self.bests[length]]
        return others[:number]

    def rival_of(self, unit):
        """The best guess of another word."""
        return max(guess for kept, guess in self.guesses.items() if kept != (unit,) and len(kept) == 1)


def search(told, threshold=0.9, **more):
    """A search that asks what is written down."""
    reading = SimpleNamespace(units=SimpleNamespace(counts=lambda kept: kept, sizes=np.ones(9)))
    knobs = kedge.Leading()
    return _Search(knobs, reading, Goal(threshold, **more), np.random.default_rng(0), told, told)


REACH, MISS, OPEN = Interval(0.92, 0.95, 0.97), Interval(0.5, 0.6, 0.7), Interval(0.85, 0.91, 0.95)


class TestReaching:
    """Whether an anchor reaches: by its interval, else by samples."""

    @pytest.mark.parametrize(
        ("known", "reaches"), [(REACH, True), (MISS, False), (Interval(0.9, 0.9, 0.9), True)]
    )
    def test_what_an_interval_tells_is_not_sampled(self, known, reaches, monkeypatch):
        """And is remembered."""
        monkeypatch.setattr(_Search, "_drawn", lambda *_: 1 / 0)
        told = Told({(1,): known}, {}, {})
        one = search(told)
        assert one._reaches((1,)) == one._reaches((1,)) == reaches
        assert told.asked == [(1,)]
        assert (one.sampled, one.delta) == (set(), 0.05)

    @pytest.mark.parametrize(("drawn", "reaches"), [(REACH, True), (MISS, False)])
    def test_what_it_leaves_open_is_sampled_at_half_of_delta(self, drawn, reaches, monkeypatch):
        """What samples prove takes its place; what they do not prove, does not."""
        monkeypatch.setattr(_Search, "_drawn", lambda *_: drawn)
        one = search(Told({(1,): OPEN}, {}, {}))
        assert one._reaches((1,)) == reaches
        assert one.delta == 0.025
        assert one.sampled == ({(1,)} if reaches else set())
        assert one.looked == {(1,): drawn if reaches else OPEN}

    def test_samples_are_drawn_where_there_is_hope(self, monkeypatch):
        """A middle that misses is given up, but where it is a sum over rivals, which is too low."""
        monkeypatch.setattr(_Search, "_drawn", lambda *_: REACH)
        low = Interval(0.8, 0.88, 0.95)
        assert not search(Told({(1,): low}, {}, {}))._reaches((1,))
        assert search(Told({(1,): low}, {}, {}, rivals=2))._reaches((1,))
        at = Interval(0.8, 0.9, 0.95)
        assert search(Told({(1,): at}, {}, {}))._reaches((1,))


class TestShorter:
    """Ever shorter anchors, until none is left or it cannot be told."""

    def test_from_the_first_that_reaches_downwards(self, monkeypatch):
        """To the first length of which it is proved that nothing reaches."""
        told = Told(
            {(1, 2, 3): REACH, (1, 2): REACH, (1,): MISS, (): MISS},
            {(1, 2, 3): 0.99, (1, 2): 0.95, (1,): 0.6},
            {3: (1, 2, 3), 2: (1, 2), 1: (1,)},
        )
        monkeypatch.setattr(_Search, "_most_precise", lambda _, kept: kept)
        for none, proven in ((True, True), (False, False)):
            monkeypatch.setattr(_Search, "_none_leads", lambda *_, none=none: none)
            one = search(told)
            one._reaches((1, 2, 3))
            assert one._shortest((1, 2, 3), MISS) == ((1, 2), proven)

    @pytest.mark.parametrize(
        ("baseline", "proven"), [(MISS, True), (OPEN, False), (Interval(0.1, 0.5, 0.9), False)]
    )
    def test_nothing_at_all_may_do(self, baseline, proven):
        """Where that would be an answer, one word is the shortest if the empty text misses for certain."""
        one = search(Told({}, {}, {}), allow_empty=True)
        assert one._shortest((4,), baseline) == ((4,), proven)
        assert search(Told({}, {}, {}))._shortest((4,), baseline) == ((4,), True)

    def test_a_length_of_which_something_reaches(self, monkeypatch):
        """The best guess, if it is hopeful; else any that is close, if not all is ruled out."""
        monkeypatch.setattr(_Search, "_most_precise", lambda _, kept: ("most precise", kept))
        monkeypatch.setattr(_Search, "_none_leads", lambda *_: False)
        guesses = {(1, 2): 0.95, (1, 3): 0.9, (2, 3): 0.86}
        told = Told({(1, 2): REACH, (1, 3): MISS, (2, 3): MISS}, guesses, {2: (1, 2)})
        assert search(told)._of_length(2) == (("most precise", (1, 2)), True)
        told = Told({(1, 2): MISS, (1, 3): MISS, (2, 3): REACH}, guesses, {2: (1, 2)})
        assert search(told)._of_length(2) == ((2, 3), True)
        assert told.asked == [(1, 2), (1, 3), (2, 3)]
        told = Told({(1, 2): MISS, (1, 3): MISS, (2, 3): MISS}, guesses, {2: (1, 2)})
        assert search(told)._of_length(2) == (None, False)
        # Far below the threshold nothing is looked at; whatever is ruled out for one rival is ruled out.
        told = Told({}, {(1, 2): 0.84}, {2: (1, 2)})
        assert search(told)._of_length(2) == (None, False)
        assert told.asked == []
        monkeypatch.setattr(_Search, "_none_leads", lambda _, *given: given == ("lead 1", 2))
        told = Told({(1, 2): MISS}, guesses, {2: (1, 2)}, rivals=2)
        assert search(told)._of_length(2) == (None, True)

    def test_the_first_length_that_reaches_is_looked_for_in_growing_steps(self):
        """By one, by two, by four, up to the whole text, which is taken whatever is known of it."""
        bests = {n: tuple(range(n)) for n in range(10)}
        told = Told(dict.fromkeys(bests.values(), MISS), {}, bests)
        told.length = lambda *_: 1
        one = search(told)
        assert one._reaching() == bests[9]
        assert [len(kept) for kept in told.asked] == [1, 2, 4, 8, 9]
        told = Told({kept: REACH if len(kept) >= 4 else MISS for kept in bests.values()}, {}, bests)
        told.length = lambda *_: 2
        assert search(told)._reaching() == bests[5]


@pytest.mark.parametrize("low", [0.9, 0.92, 0.89])
def test_no_word_is_the_answer_where_that_is_allowed_and_enough(low):
    """At the threshold, too; nothing else is looked at then."""
    baseline = Interval(low, 0.95, 1.0)
    one = search(Told({(): baseline}, {}, {}), threshold=np.float64(0.9).item(), allow_empty=True)
    if low < 0.9:
        with pytest.raises(AttributeError):  # on it goes, to what is not written down
            one.found()
    else:
        found = one.found()
        assert (found.kept, found.status, found.interval, found.baseline) == ((), "exact", baseline, baseline)
    needed = search(Told({(): baseline}, {}, {}))
    with pytest.raises(AttributeError):
        needed.found()


class TestMostPrecise:
    """Of the anchors of a length that can be the best, the one whose middle is highest."""

    def order(self, monkeypatch, others):
        """Candidates that are given."""
        asked = []
        found = SimpleNamespace(candidates=lambda length, most: asked.append((length, most)) or others)
        monkeypatch.setattr(
            leading.Dominance, "of", lambda lead, length: asked.append((lead, length)) or found
        )
        return asked

    def test_candidates_close_to_the_best_guess_are_compared(self, monkeypatch):
        """A tie goes to the first; what misses is no answer, and what is far off is not looked at."""
        higher, same = Interval(0.94, 0.96, 0.97), Interval(0.93, 0.96, 0.97)
        told = Told(
            {(1, 2): REACH, (0, 5): higher, (0, 4): same, (2, 3): MISS},
            {(1, 2): 0.95, (0, 5): 0.9505, (0, 4): 0.9496, (2, 3): 0.95, (7, 8): 0.9494},
            {},
        )
        asked = self.order(monkeypatch, [(0, 5), (0, 4), (2, 3), (7, 8)])
        one = search(told)
        one._reaches((1, 2))
        assert one._most_precise((1, 2)) == (0, 4)
        assert (7, 8) not in told.asked
        assert asked == [("lead 0", 2), (2, 24)]

    def test_one_word_that_no_other_comes_near_is_known(self, monkeypatch):
        """And against several rivals nothing is compared."""
        asked = self.order(monkeypatch, None)
        told = Told({(1,): REACH}, {(1,): 0.95, (2,): 0.9489}, {})
        one = search(told)
        one._reaches((1,))
        assert one._most_precise((1,)) == (1,)
        assert asked == []
        told.guesses[(2,)] = 0.9491
        assert one._most_precise((1,)) == (1,)
        assert asked == [("lead 0", 1), (1, 24)]
        many = search(Told({}, {}, {}, rivals=2))
        assert many._most_precise((5, 6)) == (5, 6)


class TestRuledOut:
    """Whether anything of a length may lead one rival often enough."""

    @pytest.mark.parametrize(("most", "ruled_out"), [(0.87, True), (0.88, False), (0.95, False)])
    def test_every_candidate_must_miss_by_more_than_the_slack(self, most, ruled_out, monkeypatch):
        """All of them; none are looked at where the best guess reaches, or where they are too many."""
        order = SimpleNamespace(slack=0.02, candidates=lambda *_: [(1, 2), (3, 4)])
        monkeypatch.setattr(leading.Dominance, "of", lambda *_: order)
        told, asked = Told({}, {}, {2: (1, 2)}), []
        ends = {(1, 2): 0.1, (3, 4): most}
        told.over = lambda lead, counts, bar: asked.append((lead.name, counts, bar)) or ends[counts]
        lead = SimpleNamespace(name="a rival", guess=lambda _: 0.89)
        assert search(told)._none_leads(lead, 2) == ruled_out
        assert asked == [("a rival", kept, pytest.approx(0.88)) for kept in ((1, 2), (3, 4))]
        asked.clear()
        assert not search(told)._none_leads(SimpleNamespace(guess=lambda _: 0.9), 2)
        order.candidates = lambda *_: None
        assert not search(told)._none_leads(lead, 2)
        assert asked == []

    def test_a_rival_is_looked_at_as_closely_as_it_takes(self):
        """A third of the room beside the threshold, a thousandth at the least."""
        asked = []
        for tail, target in ((OPEN, 1e-3), (Interval(0.5, 0.6, 0.91), 0.1), (MISS, None), (REACH, None)):
            lead = SimpleNamespace(
                tail=lambda *_, tail=tail: tail,
                finer=lambda _, half, __: asked.append(half) or Interval(0.1, 0.2, 0.3),
            )
            found = Evaluator.over(SimpleNamespace(), lead, (1,), 0.9)
            assert found == (tail.high if target is None else 0.3)
            assert asked == ([] if target is None else [pytest.approx(target)])
            asked.clear()


@pytest.mark.parametrize("status", ["exact", "certified", "not_reached"])
@pytest.mark.parametrize("few", [True, False])
def test_what_is_not_exact_is_enumerated_where_that_can_be_done(status, few, monkeypatch):
    """The table of all samples has the last word."""
    told = SimpleNamespace(status=status)
    monkeypatch.setattr(leading, "_Search", lambda *_: SimpleNamespace(found=lambda: told))
    monkeypatch.setattr(leading, "enumerable", lambda _: few)
    monkeypatch.setattr(leading, "Enumeration", lambda _: None)
    monkeypatch.setattr(leading, "search_all", lambda *_: "enumerated")
    strategy, goal = kedge.Leading(), Goal(0.9)
    reading = SimpleNamespace(begun={(strategy, goal.threshold, goal.shortest): (None, None)})
    found = strategy(reading, goal, np.random.default_rng(0))
    assert found == ("enumerated" if few and status != "exact" else told)
    assert reading.begun == {}
