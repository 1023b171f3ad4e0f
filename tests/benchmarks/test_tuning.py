"""What is called tuning in the mutation report claims nothing: with other choices every claim stays true."""

import ast
import itertools
import math
import re
import sys
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from chains import all_precisions, chain_reading, made_chain
from counting import precision, shortest
from leading import random_anchor, random_leads
from places import ROOT
from readings import reading_of
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import kedge
from kedge.certificates import checker
from kedge.evaluators.additive import additive_tail
from kedge.evaluators.chain import Chained
from kedge.evaluators.grids.plane import Plane
from kedge.evaluators.leads import Lead
from kedge.evaluators.variables import Variables
from kedge.evaluators.waves import Waves
from kedge.model.scores.additive import AdditiveScore
from kedge.search import Goal
from kedge.search.exact import leading
from kedge.search.exact.branch import Branch
from kedge.search.exact.chain import Chain
from kedge.search.exact.prefixes import shortest_prefix
from kedge.search.exact.tree import Tree
from kedge.text.units import Units

sys.path.insert(0, str(ROOT / "benchmarks"))
try:
    from mutants import SOURCE, put_in_place
    from tuning import TUNING, is_tuning
finally:
    sys.path.pop(0)

CASES = 6
# Of these any value of the same kind will do, but no other number: they follow from names that are changed.
FOLLOW = {"stays"}


def slopes(seed, *, words=16, whole=False):
    """A linear score over words that occur once; the whole document keeps the label."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=words)
    if whole:
        values = np.rint(4 * values)
    values[0] = abs(values[0]) + 3.0
    bias = -float(values.sum()) + rng.choice([1.0, 3.0])
    return AdditiveScore.from_slopes(bias, values, np.ones(words, dtype=np.int64), strict=True)


def sums_of(score, kept=()):
    """Every sum of a linear score given an anchor."""
    sums = np.full(1, score.bias)
    for j, slope in enumerate(score.slopes):
        sums = sums + slope if j in kept else np.concatenate([sums, sums + slope])
    return sums


def sums(seed):
    """Intervals of a linear score hold the truth."""
    score = slopes(seed)
    for kept in ((), (0,)):
        truth = np.mean(sums_of(score, kept) > 0)
        counts = np.bincount(np.array(kept, dtype=int), minlength=16)
        for options in ({"threshold": 0.9}, {"threshold": float(truth)}, {"width": 1e-3}):
            tail = additive_tail(score, counts, **options)
            assert tail.low - 1e-9 <= truth <= tail.high + 1e-9


def prefixes(seed):
    """The shortest of the prefixes, proved or not."""
    for whole in (False, True):
        score = slopes(seed, words=17, whole=whole)
        order = np.argsort(-score.slopes, kind="stable")
        found = shortest_prefix(score, 0.9)
        truth = {n: np.mean(sums_of(score, set(order[:n].tolist())) > 0) for n in range(len(found.kept) + 1)}
        assert all(t.low - 1e-9 <= truth[n] <= t.high + 1e-9 for n, t in found.looked.items() if n in truth)
        assert not found.reached or truth[len(found.kept)] >= 0.9
        assert not found.proven or len(found.kept) == 1 or truth[len(found.kept) - 1] < 0.9


def windows(seed):
    """Sums over neighbours: intervals, and the shortest anchor."""
    score = made_chain(seed, 13, 2)
    truth = all_precisions(score)
    reading = chain_reading(score)
    for kept in ((), (3,)):
        tail = Chained(reading).refine(kept, 0.9)
        assert tail.low - 1e-9 <= truth(kept) <= tail.high + 1e-9
    small = made_chain(seed, 7, 2)
    found, truth = Chain()(chain_reading(small), Goal(0.9), np.random.default_rng(0)), all_precisions(small)
    shorter = itertools.chain(*(itertools.combinations(range(7), n) for n in range(1, len(found.kept))))
    assert found.status == "not_reached" or truth(found.kept) >= 0.9
    assert found.status != "exact" or all(truth(kept) < 0.9 for kept in shorter)


def planes(seed):
    """The joint law of a sum and a norm."""
    rng = np.random.default_rng(seed)
    values = rng.uniform(0.3, 2.0, 5)[:, None] * np.arange(3)
    sizes, kept, bias = np.full(5, 2), np.array([1, 0, 0, 0, 0]), float(rng.normal())
    middle = math.sqrt(float((values[:, 1] ** 2).sum()))
    parts = rng.normal(size=5)[:, None] * values + bias / (2 * middle) * values**2
    tail = Plane(parts, values**2, sizes, kept, 0.5, bias, middle, 0.0).tail(0.01)

    def holds(counts):
        total, norm = (table[np.arange(5), counts].sum(axis=1) for table in (parts, values**2))
        return total + bias * (np.sqrt(norm) - norm / (2 * middle)) > 0

    assert tail is None or tail.low <= precision(holds, kept, sizes) <= tail.high


def rests(seed):
    """A sum without each of its words."""
    score = slopes(seed, words=10)
    variables = Variables.of(score, 0.5)
    means, widths = Waves.of(score, variables).tails()
    for j, (mean, width) in enumerate(
        zip(variables.each(means), variables.each(widths), strict=True)
    ):  # of a word that stays away, and that stays
        left = AdditiveScore.from_slopes(
            score.bias, np.delete(score.slopes, j), np.ones(9, dtype=np.int64), strict=True
        )
        for count in (0, 1):
            truth = np.mean(sums_of(left) + count * score.slopes[j] > 0)
            assert abs(mean[count] - truth) <= width[count] + 1e-9


def leads(seed):
    """A lead over a rival, and the shortest anchor of a label that leads several."""
    rng = np.random.default_rng(seed)
    for _ in range(6):
        own = random_leads(rng)
        kept = random_anchor(rng, own.sizes)
        tail = Lead(own, 0, 0.5).tail(kept, 0.9)
        assert tail.low - 1e-9 <= precision(own.holds, kept, own.sizes) <= tail.high + 1e-9
    words = [f"w{j}" for j in range(8)]
    model = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit([*words, *words], [0, 1, 2, 3] * 4)
    model[-1].coef_ = rng.normal(0, 1.5, model[-1].coef_.shape)
    reading = reading_of(model, " ".join(words))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(leading, "enumerable", lambda _: False)
        found = kedge.Leading()(reading, Goal(0.9), rng)
    judged(found, reading.holds, reading.units.sizes, slack=0.02 if found.evaluator.sampled else 0.0)


def judged(found, holds, sizes, threshold=0.9, slack=0.0):
    """Whether what was found is what it is said to be."""
    kept = np.bincount(np.array(found.kept, dtype=int), minlength=len(sizes))
    assert found.status == "not_reached" or precision(holds, kept, sizes) >= threshold - slack
    assert found.status != "exact" or len(found.kept) == shortest(holds, sizes, threshold)[0]


def branches(seed):
    """Scores that bend."""
    rng = np.random.default_rng(seed)
    sizes = np.array([1, 2, 1, 2, 1])
    tables = tuple(np.append(0.0, np.cumsum(rng.random(m)) + 0.2) for m in sizes)
    score = AdditiveScore(-0.5 * float(sum(t[-1] for t in tables)), tables, strict=True)
    ends = np.cumsum(sizes).tolist()
    units = Units(tuple(tuple(range(e - m, e)) for e, m in zip(ends, sizes.tolist(), strict=True)))
    found = Branch()(SimpleNamespace(additive=score, keep=0.5, units=units), Goal(0.9), rng)
    judged(found, score.holds, sizes)


def trees(seed):
    """Rules."""
    rng = np.random.default_rng(seed)
    rule = kedge.rules.any_of(*(rng.choice(list("abcde"), 2, replace=False).tolist() for _ in range(3)))
    reading = reading_of(rule, "a b c d e a b")
    judged(Tree()(reading, Goal(0.9), rng), reading.holds, reading.units.sizes)


def asked(seed):
    """Proofs by samples; the seeds are those of this test, so that what holds once holds always."""
    rng = np.random.default_rng(seed)
    words = [f"w{j}" for j in range(9)]
    weights = dict(zip(words, rng.normal(size=9).tolist(), strict=True))

    def model(texts):
        return [int(sum(map(weights.get, text.split())) + 0.5 > 0) for text in texts]

    found = kedge.explain(model, " ".join(words), threshold=0.8, method="guided", seed=seed)
    reading = reading_of(model, " ".join(words))
    truth = precision(reading.holds, reading.units.counts(found.positions), reading.units.sizes)
    assert found.status == "not_reached" or truth >= 0.8


def certificates(seed):
    """The checker's own intervals."""
    rng = np.random.default_rng(seed)
    score = slopes(seed, words=14)
    parts = sorted((abs(int(1000 * x)) + 1 for x in score.slopes), reverse=False)
    coins = [([0, v], [1, 1], 2) for v in parts]
    sure = int(rng.uniform(0.2, 0.8) * sum(parts))
    own = checker._Sum.__new__(checker._Sum)
    own.case = SimpleNamespace(
        threshold=Fraction(9, 10), law=lambda n: ([math.comb(n, k) for k in range(n + 1)], 2**n)
    )
    own.bias, own.tables, own.linear = -sure, [[0, v] for v in parts], [True] * 14
    own.sure = own.maybe = 0
    low, high = own.interval([0] * 14)
    assert low <= checker._added_up(coins, sure) <= high


CLAIMS = {
    "evaluators/additive": sums,
    "evaluators/grids/cells": sums,
    "evaluators/chain": windows,
    "evaluators/grids/plane": planes,
    "evaluators/waves": rests,
    "evaluators/wordsums": leads,
    "evaluators/leading": leads,
    "evaluators/leads": leads,
    "search/exact/branch": branches,
    "search/exact/chain": windows,
    "search/exact/foresight": windows,
    "search/exact/leading": leads,
    "search/exact/proposals": leads,
    "search/exact/prefix_tails": prefixes,
    "search/exact/prefixes": prefixes,
    "search/exact/waves": prefixes,
    "search/exact/tree": trees,
    "search/guided/proof": asked,
    "certificates/checker": certificates,
}


class Otherwise(ast.NodeTransformer):
    """Puts another choice in the place of what a function gives, or of what is assigned to some names."""

    def __init__(self, place, names):
        self.place, self.names, self.inside, self.changed = place, names, "", 0

    def _enter(self, node):
        outer, self.inside = self.inside, f"{self.inside}.{node.name}".strip(".")
        self.generic_visit(node)
        self.inside = outer
        return node

    visit_FunctionDef = visit_ClassDef = _enter  # noqa: N815

    def _wrap(self, node):
        self.changed += 1
        call = ast.Call(ast.Name("__other__", ast.Load()), [node.value], [])
        node.value = ast.copy_location(call, node.value)
        return ast.fix_missing_locations(node)

    def visit_Return(self, node):
        """What a listed function gives."""
        here = self.inside == self.place and self.names is None
        return self._wrap(node) if here and node.value is not None else node

    def _assigned(self, node):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        flat = [n for t in targets for n in (t.elts if isinstance(t, ast.Tuple) else [t])]
        names = {ast.unparse(n) for n in flat}
        here = (self.inside or "module") == self.place and self.names is not None
        return self._wrap(node) if here and names <= self.names - FOLLOW | {"_"} and node.value else node

    visit_Assign = visit_AnnAssign = _assigned  # noqa: N815


def other(value, factor, *, whole=True):
    """Another choice of the same kind: larger or smaller; a list the other way round, a verdict reversed."""
    if isinstance(value, bool | str | None):
        return not value if whole and value in {True, False} else value
    if isinstance(value, tuple):
        return tuple(other(one, factor, whole=False) for one in value)
    if isinstance(value, list):
        return value[::-1]
    if isinstance(value, int | np.integer):
        return max(1, int(value * factor)) if value > 0 else value
    return value * factor if isinstance(value, float | Fraction | np.ndarray) else value


def changed_source(entry):
    """The source of an entry's module with a call around each choice."""
    place, _, names = entry.partition(": ")
    path, function = place.split(", ", 1)
    tree = ast.parse((SOURCE / path).read_text(encoding="utf-8"))
    wrap = Otherwise(function, set(names.split(", ")) if names else None)
    return path, ast.unparse(wrap.visit(tree)), wrap.changed


@pytest.mark.parametrize("factor", [0.4, 2.5])
@pytest.mark.parametrize("entry", TUNING)
def test_claims_do_not_depend_on_it(entry, factor):
    """Each choice is made larger and smaller: intervals hold the truth, and exact is what it says."""
    path, source, _ = changed_source(entry)
    name = path.removesuffix(".py").replace("/", ".")
    module, claim = sys.modules[name], CLAIMS[path.removeprefix("kedge/").removesuffix(".py")]
    as_it_is = (SOURCE / path).read_text(encoding="utf-8")
    vars(module)["__other__"] = lambda value: other(value, factor)
    try:
        put_in_place(SimpleNamespace(module=name, code=source, path=path, key=entry))
        for seed in range(CASES):
            claim(seed)
    finally:
        put_in_place(SimpleNamespace(module=name, code=as_it_is, path=path, key=entry))
        del vars(module)["__other__"]
        for made in vars(module).values():
            getattr(made, "cache_clear", lambda: None)()


@pytest.mark.parametrize("entry", TUNING)
def test_what_is_listed_is_there(entry):
    """Each function and each name: a list that names nothing hides nothing, and misleads."""
    path, _, changed = changed_source(entry)
    _, _, names = entry.partition(": ")
    source = (SOURCE / path).read_text(encoding="utf-8")
    assert all(re.search(rf"\b{re.escape(name)}[ ,:]", source) for name in names.split(", ") if names)
    assert changed


def test_only_assignments_to_listed_names_are_tuning():
    """By the line that is changed; all of a function that is listed."""
    plane = "kedge/evaluators/grids/plane.py, Plane.tail"
    assert is_tuning(f"{plane}: z = min(abs(mean_t + self.bias * self.middle / 2.0) / deviation, 2.5) | X 1")
    assert is_tuning(f"{plane}: height, width = math.ceil(1), math.ceil(2) | X 1")
    assert not is_tuning(f"{plane}: total += float(left_t @ weights) | X 1")
    assert not is_tuning(f"{plane}: if deviation == 0.0 or spread == 0.0: | X 1")
    assert not is_tuning("kedge/evaluators/grids/plane.py, Plane._curve: top = self.middle**2 | X 1")
    assert is_tuning("kedge/evaluators/additive.py, _step: if score.exact: | X 1")
