"""Checks a kedge certificate with Python's standard library alone, in exact arithmetic.

This file needs nothing beside it: ``python checker.py FILE`` prints ``accepted`` and what was proved (exit
code 0), or ``rejected`` and one sentence (exit code 1). It shares no code with the search. The format and the
mathematics are in ``docs/certificates.md``. Without the model it shows that the claim follows from what the
certificate says of the model; ``kedge verify FILE --model M`` compares that with the model itself.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from hashlib import sha256, shake_256
from itertools import accumulate, combinations_with_replacement, product, repeat
from math import comb, gcd, isqrt, lcm, prod, sqrt
from operator import mul
from pathlib import Path
from typing import Any

__all__ = ["FORMAT", "Case", "Rejected", "bounds", "check", "samples", "seal"]

FORMAT = "kedge certificate 1"
# Hoeffding: what rounding to a grid leaves over strays by more than sqrt(6 V), V the sum of the squared
# ranges, with probability at most exp(-12) < 2^-17 to either side.
_FACTOR, _STRAY = 6, Fraction(1, 1 << 17)
# Cells of the first grid and of the finest; sums of so few values are added up one by one; bits of a chance.
_COARSE, _FINE, _FEW, _DIGITS, _SHORT = 1 << 10, 1 << 16, 1 << 12, 30, {1 << k for k in range(11)}
# Bets on "the precision is at least the threshold": stakes, and the wealth put on each, in hundredths.
_BETS = ((100, 50), (90, 10), (75, 12), (50, 10), (25, 8), (10, 6), (3, 4))
# Shorter anchors, or branches of them, that are looked at; more are beyond this checker.
_SHORTER, _BRANCHES = 600, 50_000
_MALFORMED = (ArithmeticError, AttributeError, IndexError, KeyError, RecursionError, TypeError, ValueError)
Bounds = tuple[Fraction, Fraction, Fraction | None]
Part = tuple[list[int], list[int], int]  # values that an independent part takes, weights, and their sum


class Rejected(Exception):  # noqa: N818  (a verdict, not a failure of the program)
    """The certificate does not prove what it claims; the message is one sentence."""


def _need(condition: bool, sentence: str) -> None:
    if not condition:
        raise Rejected(sentence)


def _rational(written: str) -> Fraction:
    top, _, bottom = written.partition("/")
    _need(len(written) <= 3000, "A number of the certificate is too long.")
    return Fraction(int(top), int(bottom or "1"))


def seal(certificate: dict[str, Any]) -> str:
    """SHA-256 of all other fields, as JSON with sorted keys and no blanks."""
    content = {name: value for name, value in certificate.items() if name != "seal"}
    written = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return sha256(written.encode()).hexdigest()


class Case:
    """What every kind of proof is about: units and their sizes, what the anchor keeps, what is asked for."""

    def __init__(self, claim: dict[str, Any]) -> None:
        self.proof, self.text, self.seed = (claim[name] for name in ("proof", "text", "seed"))
        self.threshold, self.delta, self.keep = (_rational(claim[x]) for x in ("threshold", "delta", "keep"))
        units, tokens, anchor = claim["units"], claim["tokens"], claim["anchor"]
        self.least = 0 if claim["allow_empty"] is True else 1
        self.shortest, self.positions = claim["shortest"] is True, anchor["positions"]
        owner = {place: j for j, unit in enumerate(units) for place in unit}
        ends = [0, *(stop for _, stop in tokens)]
        ordered = all(end <= start < stop for end, (start, stop) in zip(ends, tokens, strict=False))
        _need(ordered and ends[-1] <= len(self.text), "The tokens are not places of the text in their order.")
        _need(all(units) and len(owner) == sum(map(len, units)), "The units overlap, or one is empty.")
        _need(set(owner) <= set(range(len(tokens))), "A unit has a position that is not in the text.")
        _need(self.positions == sorted(set(self.positions)), "The positions of the anchor are not in order.")
        _need(set(self.positions) <= set(owner), "The anchor has a position that belongs to no unit.")
        words = [self.text[slice(*tokens[k])] for k in self.positions]
        _need(words == anchor["words"], "The words of the anchor are not those of the text.")
        probable = 0 < self.threshold <= 1 and 0 < self.keep < 1 and 0 < self.delta < 1
        _need(probable, "The threshold, `keep` or `delta` is no probability.")
        _need(len(self.positions) >= self.least, "The anchor is empty, which was not allowed.")
        self.has_shorter = self.shortest and len(self.positions) > self.least
        kept = Counter(owner[k] for k in self.positions)
        self.sizes, self.kept = [len(unit) for unit in units], [kept[j] for j in range(len(units))]

    def law(self, free: int) -> tuple[list[int], int]:
        """Chances of 0..free occurrences staying, as whole numbers over a common one."""
        stay, all_ = self.keep.numerator, self.keep.denominator
        return [comb(free, c) * stay**c * (all_ - stay) ** (free - c) for c in range(free + 1)], all_**free


class _Sum:
    """bias + sum of one table per unit; the label holds iff it is positive (or not negative)."""

    def __init__(self, case: Case) -> None:
        self.case, proof = case, case.proof
        self.linear = [isinstance(entry, str) for entry in proof["scores"]]  # a coefficient, else s(1)..s(m)
        _need(len(self.linear) == len(case.sizes), "There is not one score for each unit.")
        read = [[_rational(x) for x in ([e] if isinstance(e, str) else e)] for e in proof["scores"]]
        bias, rounding = _rational(proof["bias"]), _rational(proof["rounding"])
        own = lcm(bias.denominator, *(x.denominator for t in read for x in t))
        unit = lcm(own, rounding.denominator)
        _need(unit.bit_length() <= 4000, "The scores are too fine to be added up.")
        self.bias, rounded, self.tables = int(bias * unit), int(rounding * unit), list[list[int]]()
        for values, linear, m in zip(read, self.linear, case.sizes, strict=True):
            whole = [x.numerator * (unit // x.denominator) for x in values]
            self.tables.append([c * whole[0] for c in range(m + 1)] if linear else [0, *whole])
            _need(len(self.tables[-1]) == m + 1, "A unit has not one score for each count.")
        # A sum of n terms in double precision is off by (n + 2) 2^-53 times the sum of their sizes, unless
        # all are whole multiples of one power of two and small enough that nothing is ever rounded.
        total = abs(self.bias) + sum(max(map(abs, t)) for t in self.tables)
        common = gcd(self.bias, *(x for t in self.tables for x in t))
        nothing_rounded = own & own - 1 == 0 and total <= (common & -common) << 53
        enough = rounded >= 0 and (nothing_rounded or rounded << 53 >= (len(self.tables) + 2) * total)
        _need(enough, "The bound on the model's rounding is too small.")
        # From here on the label holds for certain; and below this it is lost for certain.
        self.sure = rounded + 1 if rounded or proof["strict"] is True else 0
        self.maybe = -rounded if rounded else self.sure

    def interval(self, kept: list[int]) -> tuple[Fraction, Fraction]:
        """Bounds on the precision of an anchor, refined until they lie on one side of the threshold."""
        base, parts = self.bias, list[Part]()
        for table, linear, a in zip(self.tables, self.linear, kept, strict=True):
            values, low = table[a:], min(table[a:])
            base += low
            if linear and max(values) > low:  # single coins
                rise, (law, whole) = values[1] - values[0], self.case.law(1)
                parts += repeat(([0, abs(rise)], law if rise > 0 else law[::-1], whole), len(values) - 1)
            elif max(values) > low:
                parts.append(([v - low for v in values], *self.case.law(len(values) - 1)))
        parts.sort(key=lambda part: max(part[0]))
        sure, maybe = self.sure - base, self.maybe - base
        if sure <= 0 or sum(max(values) for values, _, _ in parts) < maybe:
            return Fraction(sure <= 0), Fraction(sure <= 0)
        if prod(len(values) for values, _, _ in parts) <= _FEW:
            return _added_up(parts, sure), _added_up(parts, maybe)
        cells, bar = _COARSE, self.case.threshold
        while True:
            lower, upper, guess = _on_grid(parts, sure, maybe, cells)
            if lower >= bar or upper < bar or cells >= _FINE:
                return lower, upper
            # The width goes down as the number of cells goes up: so many should leave the threshold outside.
            apart, width = abs(guess - bar), guess - lower if guess > bar else upper - guess
            cells = min(max(2 * cells, int(cells * 5 * width / (4 * apart)) if apart else _FINE), _FINE)

    def shorter(self) -> Iterator[list[int]]:
        """Anchors among which the best shorter one is: largest coefficients, any of other units."""
        most, least = len(self.case.positions) - 1, self.case.least
        curved = [j for j, linear in enumerate(self.linear) if not linear]
        ranked = sorted((-t[1], j) for j, t in enumerate(self.tables) if self.linear[j] for _ in t[1:])
        helping = sum(rise < 0 for rise, _ in ranked)
        for number, chosen in enumerate(combinations_with_replacement([-1, *curved], most)):
            _need(number < _SHORTER, "There are too many shorter anchors to look at.")
            room = chosen.count(-1)
            take = min(max(helping, least + room - most), room)
            kept = Counter([*chosen[room:], *(j for _, j in ranked[:take])])
            if kept.total() >= least and all(kept[j] <= self.case.sizes[j] for j in curved):
                yield [kept[j] for j in range(len(self.tables))]


def _added_up(parts: list[Part], bar: int) -> Fraction:
    """P(sum >= bar), by all sums there are."""
    sums, whole = {0: 1}, 1
    for values, weights, total in parts:
        new: dict[int, int] = {}
        for (value, weight), (have, chance) in product(zip(values, weights, strict=True), sums.items()):
            new[have + value] = new.get(have + value, 0) + chance * weight
        sums, whole = new, whole * total
    return Fraction(sum(chance for value, chance in sums.items() if value >= bar), whole)


def _on_grid(parts: list[Part], sure: int, maybe: int, cells: int) -> tuple[Fraction, Fraction, Fraction]:
    """Bound P(sum >= sure) from below and P(sum >= maybe) from above, for values >= 0; and guess it.

    Each value is rounded to whole steps. The distribution of the rounded sum is one integer with a field of
    bits for each cell, so that a coin adds a shifted copy. What was rounded off hardly strays from its mean.
    """
    if max(parts[-1][0]) > sure:  # which is enough, whatever else there is
        parts = [([min(v, sure) for v in values], weights, total) for values, weights, total in parts]
    grain = gcd(*(v for values, _, _ in parts for v in values))
    step = grain * max(1, -(-sure // (grain * cells)))
    drift, squares, law = Counter[int](), 0, list[Part]()
    for values, weights, total in parts:
        whole = [(2 * v + step) // (2 * step) for v in values]
        rests = [v - q * step for v, q in zip(values, whole, strict=True)]
        if any(rests):
            drift[total] += sum(map(mul, rests, weights))
            squares += (max(rests) - min(rests)) ** 2
        law += [(whole, weights, total)] * any(whole)
    mean = sum((Fraction(top, total) for total, top in drift.items()), Fraction(0))
    stray, eta = (isqrt(_FACTOR * squares) + 1, _STRAY) if squares else (0, Fraction(0))
    size = max(-((mean - sure - stray) // step), 0)  # so many steps or more are enough for certain
    most = 10 if _SHORT.issuperset(total for _, _, total in law) else _DIGITS
    cut = cells.bit_length() + (19 if squares else 34)
    wide = cut + most + 9 & -8  # bits of a field; when it is full, `cut` of them stay
    field, state, bits, missing, room = (1 << wide) - 1, 1, 0, Fraction(0), (1 << wide * size) - 1
    kept = int.from_bytes(((2 << cut) - 1).to_bytes(wide // 8, "little") * size, "little")
    first, middle, spread = 0, 0.0, 0  # the first cell in the integer; the sum's mean and squared ranges
    for whole, weights, total in law:
        more = total.bit_length() - 1
        if more > most or total != 1 << more:
            more, weights = most, [(w << most) // total for w in weights]  # noqa: PLW2901
            missing += 1 - Fraction(sum(weights), 1 << most)
        if bits + more > wide - 2:
            state, missing = (state >> bits - cut) & kept, missing + Fraction(size - first, 1 << cut)
            bits, drop = cut, int(middle - sqrt(_FACTOR * spread)) - first
            if squares and 16 * drop > size - first:  # cells that hardly any sum is in
                missing += Fraction((state & (1 << wide * drop) - 1) % field, 1 << bits)
                state, first, room = state >> wide * drop, first + drop, room >> wide * drop
        if more == 1:  # a fair coin
            state += state << wide * max(whole)
        else:
            state = sum((state * w) << wide * q for q, w in zip(whole, weights, strict=True))
        state, bits = state & room if state > room else state, bits + more
        middle, spread = middle + sum(map(mul, whole, weights)) / (1 << more), spread + max(whole) ** 2
    stretch = sum((max(values) / step) ** 2 for values, _, _ in parts) / max(spread, 1)  # of the sum itself
    at = middle + (float((sure - mean) / step) - middle) / sqrt(stretch) + 0.5
    ends = [size, -((mean - maybe + stray) // step), int(at), int(at) + 1]
    masks = ((1 << wide * max(cell - first, 0)) - 1 for cell in ends)
    enough, lost, left, right = (Fraction((state & mask) % field, 1 << bits) for mask in masks)
    guess = 1 - left - (right - left) * Fraction(at % 1)
    return max(1 - enough - missing - eta, Fraction(0)), min(1 - lost + eta, Fraction(1)), guess


def _sum_bounds(case: Case) -> Bounds:
    score = _Sum(case)
    shorter = (score.interval(kept)[1] for kept in score.shorter())
    return *score.interval(case.kept), max(shorter) if case.has_shorter else None


def _leaves(case: Case) -> tuple[list[int], list[list[list[int]]], int]:
    """The units asked about; for each, by number kept and leaf, the leaf's chance; over which number."""
    sizes, whole, boxes = case.sizes, 1, list[dict[int, tuple[int, int]]]()
    for leaf in case.proof["leaves"]:
        box = {j: (max(lo, 0), min(hi, sizes[j])) for j, lo, hi in leaf["box"]}
        _need(all(j >= 0 and lo <= hi for j, (lo, hi) in box.items()), "A leaf cannot be reached.")
        for other in boxes:
            both = ((box[j], other[j]) for j in box.keys() & other.keys())
            _need(any(x[0] > y[1] or x[1] < y[0] for x, y in both), "Two leaves overlap.")
        boxes.append(box)
    asked = sorted({j for box in boxes for j in box})
    spans = [[box.get(j, (0, sizes[j])) for box in boxes] for j in asked]
    covered = sum(prod(hi - lo + 1 for lo, hi in row) for row in zip(*spans, strict=True)) if asked else 1
    _need(covered == prod(sizes[j] + 1 for j in asked) and boxes != [], "The leaves leave out some counts.")
    factors, stay = [], case.keep.denominator
    for j, row in zip(asked, spans, strict=True):
        laws = [[0] * a + [x * stay**a for x in case.law(sizes[j] - a)[0]] for a in range(sizes[j] + 1)]
        factors.append([[sum(law[lo : hi + 1]) for lo, hi in row] for law in laws])
        whole *= stay ** sizes[j]
    return asked, factors, whole


def _tree_bounds(case: Case) -> Bounds:
    """The chance of a leaf is a product over units; branches of shorter anchors are cut by what it can be."""
    asked, factors, whole = _leaves(case)
    holds = [leaf["holds"] is True for leaf in case.proof["leaves"]]
    chances = ones = [1] * len(holds)
    for j, table in zip(asked, factors, strict=True):
        chances = list(map(mul, chances, table[case.kept[j]]))
    precision, worst = Fraction(sum(map(mul, chances, holds)), whole), Fraction(0)
    if not case.has_shorter:
        return precision, precision, None
    up, down, stack, branches = [ones], [ones], [(0, 0, ones)], 0
    for table in reversed(factors):
        up.insert(0, [max(c) * x for *c, x in zip(*table, up[0], strict=True)])
        down.insert(0, [min(c) * x for *c, x in zip(*table, down[0], strict=True)])
    least = case.least if len(asked) == len(case.sizes) else 0  # a word not asked about is as good as none
    while stack:
        at, used, parts = stack.pop()
        branches += 1
        _need(branches <= _BRANCHES, "There are too many shorter anchors to look at.")
        at_most = sum(p * u for p, u, h in zip(parts, up[at], holds, strict=True) if h)
        lost = sum(p * d for p, d, h in zip(parts, down[at], holds, strict=True) if not h)
        bound = Fraction(min(at_most, whole - lost), whole)
        if at < len(asked) and bound >= case.threshold:
            longer = enumerate(factors[at][: len(case.positions) - used])
            stack += ((at + 1, used + a, list(map(mul, parts, factor))) for a, factor in longer)
        elif at < len(asked) or used >= least:
            worst = max(worst, bound)
    return precision, precision, worst


def _bits(written: str, count: int) -> str:
    _need(len(written) == 2 * (-(-count // 8)), "The number of answers is not what the certificate says.")
    return "".join(f"{byte:08b}" for byte in bytes.fromhex(written))[:count]


def _table_bounds(case: Case) -> Bounds:
    """All answers given that some occurrences stay: their weighted share is the precision."""
    given = case.proof["given"]
    inside = all(0 <= g <= a for g, a in zip(given, case.kept, strict=True))
    _need(inside, "The table is not of samples that the anchor has.")
    shape = [m - g + 1 for m, g in zip(case.sizes, given, strict=True)]
    count, stay, whole = prod(shape), case.keep.denominator, 1
    _need(count <= 1 << 18, "The table is too large.")
    chance = [int(bit) for bit in _bits(case.proof["answers"], count)]
    for j, size in enumerate(shape):
        after = prod(shape[j + 1 :])
        laws = [[x * stay**a for x in case.law(size - 1 - a)[0]] for a in range(size)]
        for start in range(0, count, size * after):
            rows = [chance[start + c * after : start + (c + 1) * after] for c in range(size)]
            for a, law in enumerate(laws):
                mixed = [sum(map(mul, law, column)) for column in zip(*rows[a:], strict=True)]
                chance[start + a * after : start + (a + 1) * after] = mixed
        whole *= stay ** (size - 1)
    place = sum((a - g) * prod(shape[j + 1 :]) for j, (a, g) in enumerate(zip(case.kept, given, strict=True)))
    precision, worst = Fraction(chance[place], whole), None
    if case.has_shorter:
        _need(not any(given), "A table of some samples says nothing of shorter anchors.")
        lengths, shorter = map(sum, product(*map(range, shape))), range(case.least, len(case.positions))
        worst = Fraction(max(p for p, n in zip(chance, lengths, strict=True) if n in shorter), whole)
    return precision, precision, worst


def samples(case: Case, count: int) -> Iterator[list[int]]:
    """How many occurrences of each unit each sample keeps: coins from a hash of text, anchor and seed."""
    places = ",".join(map(str, case.positions))
    digest = sha256(case.text.encode("utf-8", "surrogatepass")).hexdigest()
    key = f"kedge samples 1\n{digest}\n{places}\n{case.seed}\n".encode()
    free = [m - a for m, a in zip(case.sizes, case.kept, strict=True)]
    ends, fair, bar = list(accumulate(free)), case.keep == Fraction(1, 2), case.keep * (1 << 64)
    _need(bar.denominator == 1, "Coins of this kind cannot be tossed from 64 bits.")
    for i in range(count):
        raw = shake_256(key + i.to_bytes(8, "big")).digest(-(-ends[-1] // 8) if fair else 8 * ends[-1])
        if fair:
            stays = f"{int.from_bytes(raw, 'big'):0{8 * len(raw)}b}"
        else:
            stays = "".join("01"[int.from_bytes(raw[k : k + 8], "big") < bar] for k in range(0, len(raw), 8))
        yield [a + stays[e - f : e].count("1") for a, f, e in zip(case.kept, free, ends, strict=True)]


def _sample_bounds(case: Case) -> Bounds:
    """Bets on the answers: were the precision below the threshold, the wealth would hardly ever grow so."""
    _need(not case.shortest, "Samples do not show that nothing shorter reaches the threshold.")
    level, count = _rational(case.proof["level"]), case.proof["count"]
    _need(0 < level <= case.delta, "The proof has a level that is not within `delta`.")
    answers, seen = _bits(case.proof["answers"], count), {tuple(case.sizes): "1"}
    for row, answer in zip(samples(case, count), answers, strict=True):
        _need(seen.setdefault(tuple(row), answer) == answer, "The same sample has two different answers.")
    held, lost = answers.count("1"), answers.count("0")
    top, bottom = case.threshold.numerator, case.threshold.denominator
    won = (w * (100 * top + s * (bottom - top)) ** held * (100 - s) ** lost for s, w in _BETS)
    wealth = Fraction(sum(won), 100 * (100 * top) ** held * 100**lost)
    _need(wealth * level >= 1, "The answers do not prove that the precision reaches the threshold.")
    return case.threshold, Fraction(1), None


_KINDS = {"sum": _sum_bounds, "tree": _tree_bounds, "table": _table_bounds, "samples": _sample_bounds}


def bounds(case: Case) -> Bounds:
    """Bounds on the precision of the anchor; an upper one for all shorter anchors (None: not claimed)."""
    _need(case.proof["kind"] in _KINDS, "The kind of proof is not known.")
    return _KINDS[case.proof["kind"]](case)


def check(certificate: Any) -> str:
    """What a certificate proves, as a sentence; or `Rejected` with what is wrong."""
    try:
        return _check(certificate)
    except _MALFORMED as error:
        raise Rejected(f"The certificate is not well formed ({type(error).__name__}).") from None


def _check(certificate: dict[str, Any]) -> str:
    _need(certificate["format"] == FORMAT, f"This is not a {FORMAT}.")
    _need(certificate["seal"] == seal(certificate), "The seal is not that of what the certificate says.")
    digest = sha256(certificate["text"].encode("utf-8", "surrogatepass")).hexdigest()
    _need(certificate["text_sha256"] == digest, "The digest is not that of the text.")
    case = Case(certificate)
    claimed = {name: _rational(number) for name, number in certificate["bounds"].items()}
    low, high, shorter = bounds(case)
    _need(low >= case.threshold, "The precision of the anchor was not shown to reach the threshold.")
    _need(case.threshold <= claimed["low"] <= low, "The claimed lower bound does not hold.")
    _need(high <= claimed["high"] <= 1, "The claimed upper bound does not hold.")
    if shorter is not None:
        _need(shorter < case.threshold, "A shorter anchor may reach the threshold.")
        holds = shorter <= claimed["shorter"] < case.threshold
        _need(holds, "The claimed bound on shorter anchors does not hold.")
    words, label = " ".join(certificate["anchor"]["words"]), certificate["label"]
    sure = f", but for a chance of {float(case.delta):g}" if case.proof["kind"] == "samples" else ""
    some = "one word or more" if case.least else "words"  # then nobody looked at the empty set
    sure += f", and no shorter set of {some} does" if case.has_shorter else ""
    return f"[{words}] keeps the label {label!r} in at least {float(case.threshold):g} of samples{sure}."


def main() -> int:
    """Check the file that the command line names."""
    try:
        said, code = f"accepted: {check(json.loads(Path(sys.argv[1]).read_bytes()))}", 0
    except (OSError, ValueError, RecursionError, IndexError) as error:
        said, code = f"rejected: The file cannot be read as a certificate ({type(error).__name__}).", 1
    except Rejected as wrong:
        said, code = f"rejected: {wrong}", 1
    sys.stdout.write(said + "\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
