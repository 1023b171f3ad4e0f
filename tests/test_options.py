"""The options: one list of them, shown wherever a user may look for it."""

import inspect
import re
from dataclasses import fields
from typing import get_type_hints

import pytest
from places import ROOT

import kedge
from kedge.options import Options, OptionsGiven
from kedge.search.strategies import METHODS, as_strategy

NAMES = [f.name for f in fields(Options)]
PAGE = ROOT / "docs" / "options.md"
LISTED = {"threshold", "seed"}  # stability takes lists of these, by other names


def test_editors_know_every_option():
    """The keywords that a type checker sees are the fields of Options, with the same types."""
    assert get_type_hints(OptionsGiven) == get_type_hints(Options)


@pytest.mark.parametrize("offering", [kedge.explain, kedge.Explainer, kedge.precision, kedge.compare])
def test_help_shows_every_option(offering):
    """Signature and docstring list each option, with its default and what it means."""
    shown = inspect.signature(offering).parameters
    assert {name: shown[name].default for name in NAMES} == {f.name: f.default for f in fields(Options)}
    assert not any(p.kind is p.VAR_KEYWORD for p in shown.values())
    for name in NAMES:
        assert re.search(rf"^{name}\n    \S.{{15}}", offering.__doc__, re.MULTILINE), name


def test_stability_shows_what_it_takes():
    """stability has lists of seeds and thresholds instead of one of each."""
    assert set(NAMES) - set(inspect.signature(kedge.stability).parameters) == LISTED
    assert "\nseed\n" not in kedge.stability.__doc__
    assert "\ndelta\n" in kedge.stability.__doc__


def test_the_page_lists_every_option_with_its_default():
    """docs/options.md has a row for each option, in order, and each method."""
    page = PAGE.read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| `(.+?)` \| \S", page, re.MULTILINE)
    assert rows == [(f.name, repr(f.default)) for f in fields(Options)]
    methods = re.findall(
        r'^\| `"(\w+)"` \| (?:`kedge\.(.+?)`)? ?\|', PAGE.read_text(encoding="utf-8"), re.MULTILINE
    )
    shown = {name: re.sub(r"^\w+", "", made) for name, made in methods}
    assert sorted(shown) == sorted(METHODS)
    for name in METHODS[1:]:
        knobs = ", ".join(f"{f.name}={f.default!r}" for f in fields(as_strategy(name)))
        assert shown[name].replace('"', "'") == f"({knobs})"


def test_equal_weights_obey_ties_and_others_do_not():
    """Of a linear model's words those of equal weight are exchanged, those of largest weight come first."""
    model = kedge.WordWeights({"good": 1.0, "nice": 1.0, "fine": 1.5}, intercept=-0.5)
    chosen = {ties: kedge.explain(model, "good nice", ties=ties).words for ties in ("first", "last")}
    assert chosen == {"first": ("good",), "last": ("nice",)}
    for ties in ("first", "last"):
        e = kedge.explain(model, "good fine nice", ties=ties)
        assert (e.words, e.method, e.evaluator) == (("fine",), "ranked", "convolution")
