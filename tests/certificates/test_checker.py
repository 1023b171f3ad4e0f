"""The checker: what it accepts is proved, what was changed it rejects, and it needs nothing beside it."""

import ast
import json
import random
import shutil
import subprocess
import sys
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from certified import MODELS, TAMPERING, issued, resealed, tampered, written
from hypothesis import given, settings
from hypothesis import strategies as st
from places import ROOT

import kedge
from kedge.certificates import checker

FILE = ROOT / "src" / "kedge" / "certificates" / "checker.py"
HALF = Fraction(1, 2)


class TestAlone:
    def test_it_is_short_enough_to_be_read(self):
        """At most 400 lines: whoever does not trust kedge has to trust these."""
        assert len(FILE.read_text(encoding="utf-8").splitlines()) <= 400

    def test_it_imports_nothing_but_the_standard_library(self):
        """Neither numpy nor any other part of kedge."""
        tree = ast.parse(FILE.read_text(encoding="utf-8"))
        names = [n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)]
        names += [a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names]
        assert names
        assert {str(name).partition(".")[0] for name in names} <= sys.stdlib_module_names

    def test_a_copy_runs_by_itself(self, tmp_path):
        """In a Python that finds no other package; the exit code says which way it went."""
        shutil.copy(FILE, tmp_path / "checker.py")
        right, wrong, broken = issued("linear"), issued("linear"), "{"
        wrong["threshold"] = "99/100"
        for name, content in (("a", json.dumps(right)), ("b", json.dumps(resealed(wrong))), ("c", broken)):
            (tmp_path / name).write_text(content, encoding="utf-8")
        done = [
            subprocess.run(
                [sys.executable, "-I", "-S", "checker.py", name],
                cwd=tmp_path,
                capture_output=True,
                text=True,
                check=False,
            )
            for name in ("a", "b", "c", "nowhere")
        ]
        assert [d.returncode for d in done] == [0, 1, 1, 1]
        assert done[0].stdout.startswith("accepted: [slow cold slow] keeps the label 'negative'")
        assert all(d.stdout.startswith("rejected: ") and d.stdout.count("\n") == 1 for d in done[1:])
        assert not any(d.stderr for d in done)

    @pytest.mark.parametrize(
        ("content", "said", "code"),
        [
            ("{right}", "accepted: [slow cold slow] keeps the label 'negative'", 0),
            ("{wrong}", "rejected: The seal is not that of what the certificate says.", 1),
            ("{", "rejected: The file cannot be read as a certificate (JSONDecodeError).", 1),
            (None, "rejected: The file cannot be read as a certificate (FileNotFoundError).", 1),
        ],
    )
    def test_its_command_line(self, tmp_path, monkeypatch, capsys, content, said, code):
        """One line and an exit code, in this process."""
        right = issued("linear")
        written = {"{right}": json.dumps(right), "{wrong}": json.dumps({**right, "seed": 1})}
        if content is not None:
            (tmp_path / "c").write_text(written.get(content, content), encoding="utf-8")
        monkeypatch.setattr(sys, "argv", ["checker.py", str(tmp_path / "c")])
        assert checker.main() == code
        out = capsys.readouterr().out
        assert out.startswith(said)
        assert out.count("\n") == 1


@pytest.mark.parametrize("name", MODELS)
def test_every_kind_is_accepted(name):
    """What kedge claims of models that can be read, enumerated or only asked is proved."""
    certificate = issued(name)
    assert certificate["proof"]["kind"] == MODELS[name][2]
    assert "keeps the label" in checker.check(certificate)
    assert certificate["shortest"] == (certificate["proof"]["kind"] != "samples")


@pytest.mark.parametrize("what", TAMPERING)
@pytest.mark.parametrize("name", MODELS)
def test_what_was_changed_is_rejected(name, what):
    """Anchor, weights, answers, bounds, text, threshold: one sentence each, with a seal that fits."""
    for seed in range(3):
        forged = tampered(issued(name), what, random.Random(seed))
        if forged is not None:
            with pytest.raises(kedge.KedgeError) as refusal:
                kedge.verify(forged, MODELS[name][0]())
            assert str(refusal.value).endswith(".")
            assert str(refusal.value).count(". ") == 0


def test_any_change_breaks_the_seal():
    """The date, the versions and the model's name as well."""
    for name in ("made", "versions", "model", "label", "seed"):
        certificate = issued("linear")
        certificate[name] = "another"
        with pytest.raises(checker.Rejected, match=r"The seal is not that of what the certificate says\."):
            checker.check(certificate)


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_nonsense_is_rejected_and_nothing_else(data):
    """Whatever is put in place of whatever part, the answer is a verdict."""
    certificate = issued(data.draw(st.sampled_from(sorted(MODELS))))
    parent, key = {"": certificate}, ""
    while isinstance(parent[key], (dict, list)) and parent[key] and (not key or data.draw(st.booleans())):
        parent = parent[key]
        names = sorted(parent) if isinstance(parent, dict) else range(len(parent))
        key = data.draw(st.sampled_from(names))
    parent[key] = data.draw(
        st.none() | st.booleans() | st.integers() | st.text() | st.lists(st.integers(), max_size=3)
    )
    if isinstance(certificate, dict):
        certificate = resealed(certificate)
    try:
        checker.check(certificate)
    except checker.Rejected as refusal:
        assert str(refusal).endswith(".")  # noqa: PT017  (it need not be refused)


class TestClaims:
    """What a certificate says of units and probabilities, on the edge of what can be."""

    def test_units_that_share_a_position_are_rejected(self):
        """Even where each of them could be right."""
        certificate = issued("linear")
        units = certificate["units"]
        units[0] = [*units[0], units[1][0]]
        with pytest.raises(checker.Rejected, match="units overlap"):
            checker.Case(certificate)

    @pytest.mark.parametrize("name", ["threshold", "keep", "delta"])
    @pytest.mark.parametrize("value", ["0/1", "-1/2", "1/1", "3/2"])
    def test_probabilities_lie_between_none_and_all(self, name, value):
        """A threshold of one can be reached; nothing else may be certain."""
        certificate = {**issued("linear"), name: value}
        if (name, value) == ("threshold", "1/1"):
            assert checker.Case(certificate).threshold == 1
        else:
            with pytest.raises(checker.Rejected, match="is no probability"):
                checker.Case(certificate)


class TestSums:
    """The integer programme against plain enumeration."""

    @given(
        st.lists(st.integers(1, 1000), min_size=1, max_size=9),
        st.sampled_from([HALF, Fraction(3, 10), Fraction(0.7)]),
        st.integers(4, 64),
        st.data(),
    )
    @settings(max_examples=120, deadline=None)
    def test_the_grid_encloses_the_truth(self, values, keep, cells, data):
        """However coarse it is, for fair coins and others, and for parts with more than two values."""
        weights = [keep.denominator - keep.numerator, keep.numerator]
        parts = [([0, v], weights, keep.denominator) for v in values]
        parts.append(([3, 0, 500], [1, 2, 1], 4))
        sure = data.draw(st.integers(1, sum(values) + 400))
        maybe = sure - data.draw(st.integers(0, 3))
        low, high, _ = checker._on_grid(parts, sure, maybe, cells)
        assert low <= checker._added_up(parts, sure) <= checker._added_up(parts, maybe) <= high

    @given(st.lists(st.integers(1, 40), min_size=60, max_size=120), st.floats(0.2, 0.8))
    @settings(max_examples=15, deadline=None)
    def test_many_coins_are_cut_short_without_harm(self, values, share):
        """Numbers longer than a field are cut, which is accounted for; a lattice leaves no other error."""
        sure = max(1, int(share * sum(values)))
        low, high, _ = checker._on_grid([([0, v], [1, 1], 2) for v in values], sure, sure, 1 << 12)
        ways = [1]
        for v in values:
            ways = [a + b for a, b in zip([*ways, *[0] * v], [*[0] * v, *ways], strict=True)]
        truth = Fraction(sum(ways[sure:]), 2 ** len(values))
        assert low <= truth <= high
        assert high - low < Fraction(1, 10**9)

    @pytest.mark.parametrize("coin", [([1, 1], 2), ([7, 3], 10)])
    @pytest.mark.parametrize("seed", range(6))
    def test_a_grid_of_a_thousand_cells_is_close_and_its_guess_is_closer(self, seed, coin):
        """Two hundred coins of many sizes, against all their sums. Cells with next to nothing are dropped."""
        rng, (weights, whole) = random.Random(seed), coin
        values = sorted(rng.randint(1, 60) ** 2 for _ in range(200))
        sure = int(sum(values) * weights[1] / whole - 0.8 * sum(v * v for v in values) ** 0.5)
        law, (off, on) = np.ones(1), np.array(weights) / whole
        for v in values:
            law = off * np.pad(law, (0, v)) + on * np.pad(law, (v, 0))
        truth = law[sure:].sum()
        widths = []
        for cells in (1 << 10, 1 << 12):
            low, high, guess = checker._on_grid([([0, v], weights, whole) for v in values], sure, sure, cells)
            assert low <= truth <= high
            assert abs(guess - truth) < (high - low) / 20
            widths.append(high - low)
        assert widths[1] < widths[0] / 3 < Fraction(1, 100)

    def test_a_word_that_outweighs_all_others_by_far_takes_no_more_room(self):
        """Beyond what is enough it makes no difference how large a value is."""
        values = [*range(1000, 1020), 10**40]
        parts = [([0, v], [1, 1], 2) for v in values]
        low, high, _ = checker._on_grid(parts, 12000, 12000, 1 << 10)
        assert low <= HALF + checker._added_up(parts[:-1], 12000) / 2 <= high < low + Fraction(1, 100)

    @given(st.data())
    @settings(max_examples=80, deadline=None)
    def test_bounds_and_shorter_anchors_by_brute_force(self, data):
        """With tables of any shape, ties, and rounding that leaves samples open."""
        sizes = data.draw(st.lists(st.integers(1, 2), min_size=1, max_size=4))
        table = st.integers(-4, 6)
        scores = [data.draw(st.lists(table, min_size=m, max_size=m)) for m in sizes]
        bias, rounding = data.draw(st.integers(-6, 6)), data.draw(st.sampled_from([0, 1]))
        strict = data.draw(st.booleans())
        straight = [m == 1 for m in sizes]
        kept = [data.draw(st.integers(0, m)) for m in sizes]
        case = case_of(sizes, kept, threshold=data.draw(st.sampled_from(["3/4", "19/20", "1/1"])))
        case.proof = {
            "kind": "sum",
            "bias": f"{bias}/1",
            "rounding": f"{rounding}/1",
            "strict": strict,
            "scores": [
                f"{s[0]}/1" if line else [f"{x}/1" for x in s]
                for s, line in zip(scores, straight, strict=True)
            ],
        }

        def precision(counts, bar):
            held = total = 0
            for coins in product(*(range(2 ** (m - a)) for m, a in zip(sizes, counts, strict=True))):
                chosen = [a + c.bit_count() for a, c in zip(counts, coins, strict=True)]
                score = bias + sum(([0, *s])[c] for s, c in zip(scores, chosen, strict=True))
                held += score >= bar
                total += 1
            return Fraction(held, total)

        sure = rounding + 1 if rounding or strict else 0
        low, high, shorter = checker.bounds(case)
        assert (low, high) == (precision(kept, sure), precision(kept, -1 if rounding else sure))
        if sum(kept) > 1:
            rivals = [c for c in product(*(range(m + 1) for m in sizes)) if 0 < sum(c) < sum(kept)]
            assert shorter == max(precision(list(c), -1 if rounding else sure) for c in rivals)
        else:
            assert shorter is None

    @pytest.mark.parametrize("seed", range(4))
    def test_the_grid_is_refined_next_to_the_threshold(self, seed):
        """Where the first grid leaves it open, finer ones do not, or they still enclose the truth."""
        rng = random.Random(seed)
        values = [rng.randint(10**8, 10**9) for _ in range(14)]
        bar = sum(values) // 2
        truth = checker._added_up([([0, v], [1, 1], 2) for v in values], bar)
        first = checker._on_grid([([0, v], [1, 1], 2) for v in values], bar, bar, checker._COARSE)
        for threshold, decided in ((truth, False), (truth - Fraction(1, 2**11), True)):
            assert first[0] < threshold <= first[1]
            case = case_of([1] * 14, [0] * 14, written(threshold))
            case.proof = {"bias": f"{-bar}/1", "rounding": "0/1", "strict": False}
            case.proof["scores"] = [f"{v}/1" for v in values]
            low, high = checker._Sum(case).interval(case.kept)
            assert first[0] <= low <= truth <= high <= first[1]
            assert high - low < first[1] - first[0]
            assert (low >= threshold) == decided

    def test_a_bound_on_rounding_that_is_too_small_is_rejected(self):
        """Sums of doubles are rounded, unless they are multiples of one power of two."""
        certificate = issued("linear")
        certificate["proof"]["rounding"] = "0/1"
        with pytest.raises(checker.Rejected, match=r"The bound on the model's rounding is too small\."):
            checker.check(resealed(certificate))

    def test_the_bound_on_rounding_is_that_of_the_format(self):
        """(d + 2) 2^-53 M and no less: two units, and sizes of bias and scores that add up to 5 + 7 + 5."""
        case = case_of([1, 2], [1, 0])
        need = Fraction(4 * (5 + 7 + 5), 3 << 53)  # thirds are no multiples of a power of two
        proof = {"kind": "sum", "bias": "-5/3", "strict": True, "scores": ["7/3", ["2/3", "-5/3"]]}
        for short in (0, 1):
            case.proof = {**proof, "rounding": written(need - Fraction(short, 3 << 80))}
            if short:
                with pytest.raises(checker.Rejected, match="rounding is too small"):
                    checker.bounds(case)
            else:
                assert checker.bounds(case)[:2] == (Fraction(3, 4), Fraction(3, 4))

    @given(st.lists(st.integers(1, 40), min_size=40, max_size=60), st.floats(0.3, 0.7))
    @settings(max_examples=10, deadline=None)
    def test_uneven_coins_lose_next_to_nothing(self, values, share):
        """Their weights are cut to some thirty bits, which is accounted for."""
        sure = max(1, int(share * sum(values)))
        low, high, _ = checker._on_grid([([0, v], [7, 3], 10) for v in values], sure, sure, 1 << 12)
        ways = [1]
        for v in values:
            ways = [7 * a + 3 * b for a, b in zip([*ways, *[0] * v], [*[0] * v, *ways], strict=True)]
        assert low <= Fraction(sum(ways[sure:]), 10 ** len(values)) <= high
        assert high - low < Fraction(1, 10**6)

    @pytest.mark.parametrize("least", [0, 1])
    @pytest.mark.parametrize("rises", [(-2, -1, -3), (2, -1, -3), (2, 1, -3), (-1, -1)])
    def test_words_that_speak_against_the_label_are_kept_only_if_they_must(self, rises, least):
        """Of shorter anchors the best one is among those looked at, also where nothing helps."""
        case = case_of([1] * len(rises), [1] * len(rises))
        case.least = least
        scores = [f"{rise}/1" for rise in rises]
        case.proof = {"kind": "sum", "bias": "1/1", "rounding": "0/1", "strict": True, "scores": scores}

        def precision(kept):
            coins = list(product(*([1] if k else [0, 1] for k in kept)))
            held = sum(1 + sum(c * r for c, r in zip(coin, rises, strict=True)) > 0 for coin in coins)
            return Fraction(held, len(coins))

        every = [kept for kept in product([0, 1], repeat=len(rises)) if least <= sum(kept) < len(rises)]
        assert checker.bounds(case)[2] == max(map(precision, every))


def case_of(sizes, kept, threshold="19/20"):
    """A case of made-up units."""
    starts = [sum(sizes[:j]) for j in range(len(sizes))]
    units = [list(range(start, start + m)) for start, m in zip(starts, sizes, strict=True)]
    positions = [k for unit, a in zip(units, kept, strict=True) for k in unit[:a]]
    count = sum(sizes)
    return checker.Case(
        {
            "proof": {},
            "text": "x " * count,
            "seed": 0,
            "threshold": threshold,
            "delta": "1/20",
            "keep": "1/2",
            "units": units,
            "tokens": [[2 * k, 2 * k + 1] for k in range(count)],
            "allow_empty": not positions,
            "shortest": True,
            "anchor": {"positions": positions, "words": ["x"] * len(positions)},
        }
    )


class TestTablesAndTrees:
    @pytest.mark.parametrize(("unread", "shorter"), [(0, HALF), (1, Fraction(5, 8))])
    def test_a_word_that_the_tree_does_not_ask_about_is_as_good_as_none(self, unread, shorter):
        """Of three words the label wants all, or one at most: 5/8 of samples, 1/2 with any one or two kept.

        The empty set is no anchor; a fourth word of which the tree knows nothing is one, and does as well.
        """
        case = case_of([1] * (3 + unread), [1, 1, 1] + [0] * unread, threshold="1/2")
        rows = product([0, 1], repeat=3)
        boxes = [([[j, c, c] for j, c in enumerate(row)], sum(row) != 2) for row in rows]
        case.proof = {"kind": "tree", "leaves": [{"box": box, "holds": holds} for box, holds in boxes]}
        assert checker.bounds(case) == (1, 1, shorter)

    @given(st.data())
    @settings(max_examples=60, deadline=None)
    def test_a_tree_and_its_table_say_the_same(self, data):
        """Both by exact sums; the branches that are cut never hide a shorter anchor that reaches."""
        sizes = data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
        kept = [data.draw(st.integers(0, m)) for m in sizes]
        leaves = grown([(0, m) for m in sizes], data)
        tree, table = case_of(sizes, kept, "3/4"), case_of(sizes, kept, "3/4")
        tree.proof = {
            "kind": "tree",
            "leaves": [
                {"box": [[j, lo, hi] for j, (lo, hi) in enumerate(box)], "holds": holds}
                for box, holds in leaves
            ],
        }
        bits = ""
        for counts in product(*(range(m + 1) for m in sizes)):
            inside = [
                holds
                for box, holds in leaves
                if all(lo <= c <= hi for c, (lo, hi) in zip(counts, box, strict=True))
            ]
            assert len(inside) == 1
            bits += "01"[inside[0]]
        padded = bits + "0" * (-len(bits) % 8)
        digits = "".join(f"{int(padded[k : k + 8], 2):02x}" for k in range(0, len(padded), 8))
        table.proof = {"kind": "table", "given": [0] * len(sizes), "answers": digits}
        one, other = checker.bounds(tree), checker.bounds(table)
        assert one[:2] == other[:2]
        assert (one[2] is None) == (other[2] is None)
        if one[2] is not None:
            assert one[2] >= other[2]
            assert (one[2] < Fraction(3, 4)) == (other[2] < Fraction(3, 4))

    @pytest.mark.parametrize(
        ("leaves", "why"),
        [
            ([[[0, 0, 1]], [[0, 1, 2]]], "Two leaves overlap."),
            ([[[0, 0, 0]], [[0, 2, 2]]], "The leaves leave out some counts."),
            ([], "The leaves leave out some counts."),
            ([[[0, 2, 1]]], "A leaf cannot be reached."),
        ],
    )
    def test_leaves_must_be_a_partition(self, leaves, why):
        """A leaf more, or one less, would be a precision that is not there."""
        case = case_of([2, 1], [1, 0])
        case.proof = {"kind": "tree", "leaves": [{"box": box, "holds": True} for box in leaves]}
        with pytest.raises(checker.Rejected, match=why):
            checker.bounds(case)


def grown(box, data, depth=3):
    """The leaves of a random tree on counts."""
    wide = [j for j, (lo, hi) in enumerate(box) if lo < hi]
    if not depth or not wide or data.draw(st.booleans()):
        return [(box, data.draw(st.booleans()))]
    j = data.draw(st.sampled_from(wide))
    lo, hi = box[j]
    cut = data.draw(st.integers(lo, hi - 1))
    left, right = list(box), list(box)
    left[j], right[j] = (lo, cut), (cut + 1, hi)
    return grown(left, data, depth - 1) + grown(right, data, depth - 1)


class TestSamples:
    def test_the_wealth_is_that_of_the_bets(self):
        """67 clean answers prove 0.95 at 0.05, 66 do not: what the search says of its own bets."""
        from kedge.evaluators.bets import Bets, Round

        for count in (66, 67):
            case = case_of([1] * 40, [1] + [0] * 39)
            case.shortest = False
            digits = bytes([255] * -(-count // 8)).hex()
            case.proof = {"kind": "samples", "level": "1/20", "count": count, "answers": digits}
            if Bets((Round(count),)).proves(0.95, 0.05):
                assert checker.bounds(case)[0] == case.threshold
            else:
                with pytest.raises(checker.Rejected, match="The answers do not prove"):
                    checker.bounds(case)
        assert count == 67

    def test_the_bets_are_those_of_the_format(self):
        """Stakes and weights as docs/certificates.md has them; the weights are one whole wealth."""
        page = (ROOT / "docs" / "certificates.md").read_text(encoding="utf-8")
        rows = [line for line in page.splitlines() if line.startswith(("| s |", "| w |"))]
        stakes, weights = ([float(x) for x in row.split("|")[2:-1]] for row in rows)
        assert [(s / 100, w / 100) for s, w in checker._BETS] == list(zip(stakes, weights, strict=True))
        assert sum(w for _, w in checker._BETS) == 100

    def test_one_sample_has_one_answer(self):
        """With one free word there are two samples, and a log that contradicts itself proves nothing."""
        case = case_of([1, 1], [1, 0])
        case.shortest = False
        case.proof = {"kind": "samples", "level": "1/20", "count": 80, "answers": "ff" * 5 + "00" * 5}
        with pytest.raises(checker.Rejected, match="The same sample has two different answers"):
            checker.bounds(case)

    def test_levels_beyond_delta_are_rejected(self):
        """A proof may be given a part of delta, not more."""
        certificate = issued("black box")
        certificate["proof"]["level"] = written(Fraction(1, 10))
        with pytest.raises(checker.Rejected, match="not within `delta`"):
            checker.check(resealed(certificate))
