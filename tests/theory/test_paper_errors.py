"""The page on the paper's errors is running code."""

import doctest

from places import ROOT

PAGE = ROOT / "docs" / "paper-errors.md"


def test_every_example_of_the_page_prints_what_it_shows():
    """The examples run in order, in one namespace, and none is skipped."""
    failed, tried = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert tried > 30
    assert failed == 0
