"""Each limit of the checker at its last number and one beyond, and tables given that some words stay."""

from fractions import Fraction
from itertools import pairwise, product
from math import comb, gcd, isqrt, prod

import pytest
from certified import issued
from hypothesis import given, settings
from hypothesis import strategies as st

from kedge.certificates import checker
from kedge.certificates.checker import Case, Rejected


def claim(text="ab cd ef", tokens=((0, 2), (3, 5), (6, 8)), units=((0,), (1, 2)), positions=(0,), **more):
    """A claim as it is read from a file, of which the proof is not looked at."""
    words = [text[start:stop] for k in positions for start, stop in [tokens[k]]]
    return {
        "proof": None,
        "text": text,
        "seed": 0,
        "threshold": "3/4",
        "delta": "1/20",
        "keep": "1/2",
        "units": [list(unit) for unit in units],
        "tokens": [list(token) for token in tokens],
        "anchor": {"positions": list(positions), "words": words},
        "allow_empty": False,
        "shortest": True,
    } | more


def with_proof(sizes, kept, proof, **more):
    """A case of units of these sizes that keeps the first occurrences of each."""
    ends = [sum(sizes[:j]) for j in range(len(sizes) + 1)]
    units = [range(a, b) for a, b in pairwise(ends)]
    positions = [k for unit, a in zip(units, kept, strict=True) for k in unit[:a]]
    tokens = [(2 * k, 2 * k + 1) for k in range(ends[-1])]
    text = " ".join("x" * ends[-1])
    given = claim(text, tokens, units, positions, **{"allow_empty": not positions, **more})
    return Case(given | {"proof": proof})


class TestClaims:
    """Places, units and anchors on the edge of what can be."""

    def test_tokens_may_touch_and_end_with_the_text(self):
        """But be neither empty, nor overlap, nor go beyond it."""
        assert Case(claim("abcd", [(0, 1), (1, 3), (3, 4)])).sizes == [1, 2]
        for tokens in ([(0, 1), (1, 1), (3, 4)], [(0, 2), (1, 3), (3, 4)], [(0, 1), (1, 3), (3, 5)]):
            with pytest.raises(Rejected, match="not places of the text"):
                Case(claim("abcd", tokens))
        with pytest.raises(Rejected, match="not places of the text"):
            Case(claim("abcd", [(-1, 1), (1, 3), (3, 4)]))

    @pytest.mark.parametrize(
        ("changed", "why"),
        [
            ({"units": [[0], []]}, "or one is empty"),
            ({"units": [[0], [0, 1]]}, "The units overlap"),
            ({"units": [[0], [1, 1]]}, "The units overlap"),
            ({"units": [[0], [3]]}, "not in the text"),
            ({"units": [[0], [-1]]}, "not in the text"),
            ({"anchor": {"positions": [1, 0], "words": ["cd", "ab"]}}, "not in order"),
            ({"anchor": {"positions": [0, 0], "words": ["ab", "ab"]}}, "not in order"),
            ({"units": [[0], [1]], "anchor": {"positions": [2], "words": ["ef"]}}, "belongs to no unit"),
            ({"anchor": {"positions": [0], "words": ["cd"]}}, "not those of the text"),
            ({"anchor": {"positions": [], "words": []}}, "The anchor is empty"),
        ],
    )
    def test_what_does_not_fit_together_is_rejected(self, changed, why):
        """One sentence each."""
        with pytest.raises(Rejected, match=why):
            Case(claim() | changed)

    def test_what_is_kept_of_each_unit(self):
        """Positions of words that no unit has are nobody's; whether anything is shorter."""
        case = Case(claim(positions=(1,)))
        assert (case.sizes, case.kept, case.least, case.has_shorter) == ([1, 2], [0, 1], 1, False)
        case = Case(claim(positions=(0, 2)))
        assert (case.kept, case.has_shorter) == ([1, 1], True)
        assert not Case(claim(positions=(0, 2), shortest=False)).has_shorter
        for positions, shorter in (((), False), ((2,), True)):
            case = Case(claim(positions=positions, allow_empty=True))
            assert (case.least, case.has_shorter) == (0, shorter)
        assert Case(claim(units=[[0]])).sizes == [1]

    def test_a_law_is_of_whole_numbers(self):
        """Over the common denominator."""
        law, whole = Case(claim(keep="2/7")).law(3)
        assert whole == 343
        assert law == [comb(3, c) * 2**c * 5 ** (3 - c) for c in range(4)]

    def test_numbers_have_three_thousand_signs_at_most(self):
        """As they are written."""
        assert checker._rational("1" * 3000) == int("1" * 3000)
        assert checker._rational("1/" + "3" * 2998) == Fraction(1, int("3" * 2998))
        assert (checker._rational("7"), checker._rational("-3/6")) == (7, Fraction(-1, 2))
        for written in ("1" * 3001, "1/" + "3" * 2999):
            with pytest.raises(Rejected, match="too long"):
                checker._rational(written)


class TestSums:
    """Scores as whole numbers."""

    @staticmethod
    def sums(sizes, scores, **more):
        """A proof by a sum."""
        proof = {"kind": "sum", "bias": "0/1", "rounding": "0/1", "strict": True, "scores": scores}
        return with_proof(sizes, [1] + [0] * (len(sizes) - 1), proof | more)

    def test_scores_may_be_fine_to_four_thousand_bits(self):
        """Of the common denominator."""
        for bits, fits in ((3999, True), (4000, False)):
            case = self.sums([1], [f"1/{1 << bits}"])
            if fits:
                assert checker._Sum(case).tables == [[0, 1]]
            else:
                with pytest.raises(Rejected, match="too fine"):
                    checker._Sum(case)

    def test_one_score_for_each_unit_and_count(self):
        """A coefficient, or one for each count from one on."""
        case = self.sums([2, 2], ["1/2", ["1/1", "3/1"]])
        assert checker._Sum(case).tables == [[0, 1, 2], [0, 2, 6]]
        for scores, why in (
            (["1/2"], "for each unit"),
            (["1/2", "1/2", "1/2"], "for each unit"),
            (["1/2", ["1/1"]], "for each count"),
            (["1/2", ["1/1", "2/1", "3/1"]], "for each count"),
        ):
            case.proof["scores"] = scores
            with pytest.raises(Rejected, match=why):
                checker._Sum(case)

    def test_sums_of_doubles_are_not_rounded_up_to_two_to_the_fifty_three(self):
        """Cells of the largest power of two that divides all; one more, and nothing is sure."""
        most = 1 << 53
        for bias, largest, fits in (
            (1, most - 1, True),
            (-1, most - 1, True),
            (1, most, False),
            (3, most - 2, False),
        ):
            case = self.sums([1], [f"{largest}/1"], bias=f"{bias}/1")
            if fits:
                assert checker._Sum(case).bias == bias
            else:
                with pytest.raises(Rejected, match="rounding is too small"):
                    checker._Sum(case)
        # Twice as much is twice as coarse.
        assert checker._Sum(self.sums([1], [f"{2 * most - 2}/1"], bias="2/1")).bias == 2
        with pytest.raises(Rejected, match="rounding is too small"):
            checker._Sum(self.sums([1], ["1/3"]))
        with pytest.raises(Rejected, match="rounding is too small"):
            checker._Sum(self.sums([1], ["1/2"], rounding="-1/8"))

    @pytest.mark.parametrize(
        ("rounding", "strict", "sure", "maybe"),
        [("0/1", True, 1, 1), ("0/1", False, 0, 0), ("1/4", True, 2, -1), ("1/4", False, 2, -1)],
    )
    def test_where_the_label_holds_and_where_it_may(self, rounding, strict, sure, maybe):
        """In units of a quarter: above zero, or from it on; within the rounding it may be either."""
        found = checker._Sum(self.sums([1], ["3/4"], rounding=rounding, strict=strict))
        assert (found.sure, found.maybe) == (sure, maybe)

    @pytest.mark.parametrize("keep", ["1/2", "1/3"])
    def test_what_is_certain_or_impossible_is_told_at_once(self, keep):
        """By the lowest and by the highest sum, to the last unit."""
        for bias, kept, truth in ((-2, [1, 0], 1), (-3, [1, 0], None), (-7, [1, 0], None), (-8, [1, 0], 0)):
            case = self.sums([1, 2], ["3/1", "2/1"], bias=f"{bias}/1")
            case.keep = Fraction(keep)
            low, high = checker._Sum(case).interval(kept)
            if truth is None:
                k = case.keep
                chance = 1 - (1 - k) ** 2 if bias == -3 else Fraction(0)
                assert low == high == chance
            else:
                assert low == high == truth


def packed(bits):
    """Answers as a certificate has them."""
    padded = bits + "0" * (-len(bits) % 8)
    return "".join(f"{int(padded[k : k + 8], 2):02x}" for k in range(0, len(padded), 8))


class TestTables:
    """All answers, or those given that some occurrences stay."""

    @given(st.data())
    @settings(max_examples=60, deadline=None)
    def test_the_share_of_a_table_by_brute_force(self, data):
        """Whatever stays in all of its samples; of shorter anchors only a whole table says anything."""
        sizes = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
        kept = [data.draw(st.integers(0, m)) for m in sizes]
        whole = data.draw(st.booleans())
        given = [0 if whole else data.draw(st.integers(0, a)) for a in kept]
        keep = data.draw(st.sampled_from(["1/2", "2/7"]))
        rows = list(product(*(range(g, m + 1) for g, m in zip(given, sizes, strict=True))))
        holds = {row: data.draw(st.booleans()) for row in rows}
        proof = {
            "kind": "table",
            "given": given,
            "answers": packed("".join("01"[holds[row]] for row in rows)),
        }
        case = with_proof(sizes, kept, proof, keep=keep, shortest=not any(given))

        def share(anchor):
            total, k = Fraction(0), case.keep
            for row in rows:
                if all(c >= a for c, a in zip(row, anchor, strict=True)):
                    chance = Fraction(holds[row])
                    for c, a, m in zip(row, anchor, sizes, strict=True):
                        chance *= comb(m - a, c - a) * k ** (c - a) * (1 - k) ** (m - c)
                    total += chance
            return total

        low, high, shorter = checker.bounds(case)
        assert low == high == share(kept)
        if case.has_shorter:
            rivals = [row for row in rows if case.least <= sum(row) < sum(kept)]
            assert shorter == max(map(share, rivals))
        else:
            assert shorter is None

    def test_a_table_is_of_samples_that_the_anchor_has(self):
        """No more stays in all of them than the anchor keeps, and no less than none."""
        for stays in ([2], [-1]):
            proof = {"kind": "table", "given": stays, "answers": "ff"}
            with pytest.raises(Rejected, match="samples that the anchor has"):
                checker.bounds(with_proof([3], [1], proof, shortest=False))
        proof = {"kind": "table", "given": [1], "answers": "e0"}
        assert checker.bounds(with_proof([3], [1], proof, shortest=False)) == (1, 1, None)
        with pytest.raises(Rejected, match="says nothing of shorter anchors"):
            checker.bounds(with_proof([3], [2], proof))

    def test_tables_have_two_to_the_eighteen_answers_at_most(self):
        """One word more is too much; and there are as many answers as samples."""
        for words, why in ((18, "number of answers"), (19, "too large")):
            proof = {"kind": "table", "given": [0] * words, "answers": "ff"}
            with pytest.raises(Rejected, match=why):
                checker.bounds(with_proof([1] * words, [0] * words, proof))
        for answers in ("ff" * 3, "ff"):
            proof = {"kind": "table", "given": [0], "answers": answers}
            with pytest.raises(Rejected, match="number of answers"):
                checker.bounds(with_proof([8], [0], proof))


class TestGrids:
    """Sums on a grid where nothing is cut: each step is known to the last bit."""

    @staticmethod
    def reference(parts, sure, maybe, cells):
        """Values to the nearest step; what is left over by its mean, and how far it may stray."""
        parts = [([min(v, sure) for v in values], weights, total) for values, weights, total in parts]
        grain = gcd(*(v for values, _, _ in parts for v in values))
        step = grain * max(1, -(-sure // (grain * cells)))
        law, missing, mean, squares = {0: Fraction(1)}, Fraction(0), Fraction(0), 0
        plain = all(
            total in {2**k for k in range(11)} for values, _, total in parts if 2 * max(values) >= step
        )
        for values, weights, total in parts:
            whole = [int(Fraction(v, step) + Fraction(1, 2)) for v in values]
            rests = [v - q * step for v, q in zip(values, whole, strict=True)]
            mean += Fraction(sum(r * w for r, w in zip(rests, weights, strict=True)), total)
            squares += (max(rests) - min(rests)) ** 2
            if not any(whole):
                continue
            bits = 10 if plain else 30
            fine = total & (total - 1) == 0 and total <= 2**bits
            chances = [
                Fraction(w, total) if fine else Fraction(w * 2**bits // total, 2**bits) for w in weights
            ]
            missing += 1 - sum(chances)
            new = {}
            for (q, chance), (have, often) in product(zip(whole, chances, strict=True), law.items()):
                new[have + q] = new.get(have + q, 0) + often * chance
            law = new
        stray, eta = (isqrt(6 * squares) + 1, Fraction(1, 2**17)) if squares else (0, Fraction(0))
        enough, least = -((mean - sure - stray) // step), -((mean - maybe + stray) // step)
        below, lost = (sum(chance for q, chance in law.items() if q < cell) for cell in (enough, least))
        return max(1 - below - missing - eta, Fraction(0)), min(1 - lost + eta, Fraction(1))

    @given(st.data())
    @settings(max_examples=60, deadline=None)
    def test_both_ends_to_the_last_bit(self, data):
        """Fair coins, uneven ones, and parts of several values; on a lattice, or rounded."""
        values = data.draw(st.lists(st.integers(1, 900), min_size=3, max_size=12))
        if data.draw(st.booleans()):
            values = [40 * v for v in values]
        uneven = data.draw(
            st.sampled_from([[], [([0, 333], [7, 3], 10)], [([0, 31, 200], [9, 42, 49], 100)]])
        )
        parts = [([0, v], [1, 1], 2) for v in values]
        parts += [([0, 77, 300], [1, 2, 1], 4), ([0, 500], [3, 1], 4), ([250, 0], [5, 3], 8)]
        parts += uneven
        parts.sort(key=lambda part: max(part[0]))
        most = sum(max(v) for v, _, _ in parts)
        sure = data.draw(st.integers(1, most))
        maybe = sure - data.draw(st.integers(0, 5))
        cells = data.draw(st.sampled_from([16, 64, 1024]))
        low, high, _ = checker._on_grid(parts, sure, maybe, cells)
        assert (low, high) == self.reference(parts, sure, maybe, cells)


class TestTrees:
    """Leaves and branches."""

    @given(st.data())
    @settings(max_examples=60, deadline=None)
    def test_where_no_branch_is_cut_the_bound_is_the_best_of_the_shorter_ones(self, data):
        """At a threshold that next to every branch reaches: by brute force, with words nobody asks about."""
        sizes = data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
        asked = data.draw(st.integers(1, len(sizes)))
        kept = [data.draw(st.integers(0, m)) for m in sizes]
        keep = data.draw(st.sampled_from(["1/2", "2/7"]))
        rows = list(product(*(range(m + 1) for m in sizes[:asked])))
        holds = {row: data.draw(st.booleans()) for row in rows}
        leaves = [{"box": [[j, c, c] for j, c in enumerate(row)], "holds": holds[row]} for row in rows]
        tree = with_proof(sizes, kept, {"kind": "tree", "leaves": leaves}, threshold="1/1000000", keep=keep)

        def share(anchor):
            total, k = Fraction(0), tree.keep
            for row in rows:
                if all(c >= a for c, a in zip(row, anchor, strict=True)):
                    chance = Fraction(holds[row])
                    for c, a, m in zip(row, anchor, sizes, strict=False):
                        chance *= comb(m - a, c - a) * k ** (c - a) * (1 - k) ** (m - c)
                    total += chance
            return total

        low, high, shorter = checker.bounds(tree)
        assert low == high == share(kept[:asked])
        if tree.has_shorter:
            # One of the others is as good as none, so that what keeps nothing of these has a length, too.
            least = tree.least if asked == len(sizes) else 0
            assert shorter == max(share(row) for row in rows if least <= sum(row) < sum(kept))
        else:
            assert shorter is None

    @given(st.data())
    @settings(max_examples=40, deadline=None)
    def test_the_bound_of_all_branches_at_once(self, data):
        """What leaves with the label can become at the most, or what the others leave: the smaller one."""
        sizes = data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
        keep = data.draw(st.sampled_from(["1/2", "2/7"]))
        rows = list(product(*(range(m + 1) for m in sizes)))
        holds = {row: data.draw(st.booleans()) for row in rows} | {rows[-1]: True}
        leaves = [{"box": [[j, c, c] for j, c in enumerate(row)], "holds": holds[row]} for row in rows]
        case = with_proof(sizes, sizes, {"kind": "tree", "leaves": leaves}, threshold="1/1", keep=keep)
        if not case.has_shorter:
            return

        def chances(c, m):
            k = case.keep
            given = (
                comb(m - a, c - a) * k ** (c - a) * (1 - k) ** (m - c) if a <= c else 0 for a in range(m + 1)
            )
            return [Fraction(x) for x in given]

        ends = {max: Fraction(0), min: Fraction(0)}
        for row in rows:
            end = max if holds[row] else min
            ends[end] += prod(end(chances(c, m)) for c, m in zip(row, sizes, strict=True))
        bound = min(ends[max], 1 - ends[min])
        if bound < 1:  # else branches are looked at one by one
            assert checker.bounds(case) == (1, 1, bound)

    @pytest.mark.parametrize(
        ("boxes", "why"),
        [
            ([[[0, -5, 1]], [[0, 2, 99]]], None),
            ([[[0, 0, 1], [1, 0, 0]], [[0, 0, 1], [1, 1, 1]], [[0, 2, 2]]], None),
            ([[[0, 0, 1]], [[0, 1, 2]]], "overlap"),
            ([[[0, 0, 0]], [[0, 2, 2]]], "leave out"),
            ([[[0, 2, 1]], [[0, 0, 2]]], "cannot be reached"),
            ([[[-1, 0, 2]]], "cannot be reached"),
            ([[[0, 0, 1], [1, 0, 0]], [[0, 1, 2]], [[0, 0, 0], [1, 1, 1]]], "overlap"),
            ([[]], None),
        ],
    )
    def test_leaves_may_ask_for_more_than_there_is(self, boxes, why):
        """What is beyond a word's counts is cut off; together they are all counts, each once."""
        leaves = [{"box": box, "holds": True} for box in boxes]
        case = with_proof([2, 1], [1, 1], {"kind": "tree", "leaves": leaves})
        if why is None:
            assert checker.bounds(case) == (1, 1, 1)
        else:
            with pytest.raises(Rejected, match=why):
                checker.bounds(case)

    def test_branches_that_cannot_reach_are_cut_and_their_bound_is_told(self):
        """What a leaf can still become, at the most and at the least."""
        boxes = [([[0, 0, 0]], False), ([[0, 1, 2], [1, 0, 0]], False), ([[0, 1, 2], [1, 1, 1]], True)]
        leaves = [{"box": box, "holds": holds} for box, holds in boxes]
        case = with_proof([2, 1], [1, 1], {"kind": "tree", "leaves": leaves}, threshold="99/100")
        low, high, shorter = checker.bounds(case)
        assert low == high == 1
        # With one word kept: of the first unit 1 x 1/2, of the other 3/4 x 1. Both are below, at the start.
        assert Fraction(3, 4) <= shorter < Fraction(99, 100)


class TestSamples:
    """Bets on answers."""

    def test_samples_of_a_claim_that_is_the_shortest_prove_nothing(self):
        """Nor at a level of nothing, or beyond delta."""
        proof = {"kind": "samples", "level": "1/20", "count": 80, "answers": "ff" * 10}
        with pytest.raises(Rejected, match="nothing shorter"):
            checker.bounds(with_proof([1] * 40, [1] + [0] * 39, proof))
        for level in ("0/1", "-1/20", "1/19"):
            with pytest.raises(Rejected, match="level that is not within"):
                checker.bounds(with_proof([1] * 40, [1] + [0] * 39, proof | {"level": level}, shortest=False))
        low, high, shorter = checker.bounds(with_proof([1] * 40, [1] + [0] * 39, proof, shortest=False))
        assert (low, high, shorter) == (Fraction(3, 4), 1, None)

    def test_the_wealth_that_is_just_enough(self):
        """Won by the answers, times the level: one is enough, and less is not."""
        clean = 30
        case = with_proof([1] * 40, [1] + [0] * 39, None, shortest=False, delta="99/100")
        t = case.threshold
        for lost in (0, 2):
            held = clean - lost
            wealth = Fraction(0)
            for s, w in checker._BETS:
                stake = Fraction(s, 100)
                wealth += Fraction(w, 100) * (1 + stake * (1 / t - 1)) ** held * (1 - stake) ** lost
            bits = "1" * held + "0" * lost
            for level, enough in ((1 / wealth, True), (1 / wealth * (1 - Fraction(1, 10**9)), False)):
                case.proof = {"kind": "samples", "count": clean, "answers": packed(bits)}
                case.proof["level"] = f"{level.numerator}/{level.denominator}"
                if enough:
                    assert checker.bounds(case)[0] == t
                else:
                    with pytest.raises(Rejected, match="do not prove"):
                        checker.bounds(case)

    @pytest.mark.parametrize("keep", ["1/4", "3/4"])
    def test_coins_of_sixty_four_bits_fall_as_often_as_they_should(self, keep):
        """Each occurrence by itself; what the anchor keeps stays."""
        case = with_proof([3, 1, 2], [1, 0, 2], None, keep=keep)
        rows = list(checker.samples(case, 2000))
        for j, (m, a) in enumerate(((3, 1), (1, 0), (2, 2))):
            counts = [row[j] for row in rows]
            assert a <= min(counts)
            assert max(counts) <= m
            share = (sum(counts) / 2000 - a) / max(m - a, 1)
            assert abs(share - (float(case.keep) if m > a else 0.0)) < 0.04
        case.keep = Fraction(1, 3)
        with pytest.raises(Rejected, match="cannot be tossed"):
            next(checker.samples(case, 1))


def test_a_bound_may_be_the_threshold_itself():
    """From below; a shorter anchor must stay below it, and an upper end is no more than one."""

    def at(name, threshold):
        certificate = issued(name)
        claimed = certificate["bounds"] | {"low": str(threshold), "high": "1/1"}
        changed = certificate | {"threshold": str(threshold), "bounds": claimed}
        return changed | {"seal": checker.seal(changed)}

    assert "keeps the label" in checker.check(at("rule", Fraction(1)))
    shorter, high = (
        Fraction(issued(name)["bounds"][end]) for name, end in (("rule", "shorter"), ("linear", "high"))
    )
    for name, threshold, why in (
        ("rule", shorter, "A shorter anchor may"),
        ("linear", high + Fraction(1, 10**6), "not shown to reach"),
    ):
        with pytest.raises(Rejected, match=why):
            checker.check(at(name, threshold))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("linear", "of samples, and no shorter set of one word or more does."),
        ("tree", "of samples."),
        ("black box", "of samples, but for a chance of 0.05."),
    ],
)
def test_what_is_proved_is_said_in_a_sentence(name, said):
    """With the words, the label, the threshold; and how sure it is."""
    certificate = issued(name)
    words = " ".join(certificate["anchor"]["words"])
    wanted = f"[{words}] keeps the label {certificate['label']!r} in at least 0.95 {said}"
    assert checker.check(certificate) == wanted
