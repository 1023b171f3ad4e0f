"""Options as they are typed."""

from importlib import import_module

import click
import pytest
from command import run

from kedge.cli import COMMANDS
from kedge.cli.wording import DENIED, TYPED, typed
from kedge.utils.sentences import Option


def flags():
    """Every flag of every command."""
    commands = [import_module(module).command for module in COMMANDS.values()]
    options = [p for command in commands for p in command.params if isinstance(p, click.Option)]
    return {flag for option in options for flag in option.opts}


def test_the_options_that_are_typed_are_flags():
    """Of some command, under the name of the library."""
    assert {typed(Option(name)) for name in TYPED} <= flags()
    assert {typed(Option(name, False)) for name in DENIED} <= flags()


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        (Option("method", "auto"), "--method auto"),
        (Option("max_queries"), "--max-queries"),
        (Option("label", "so so"), "--label 'so so'"),
        (Option("mask", ""), "--mask ''"),
        (Option("threshold", 0.95), "--threshold 0.95"),
        (Option("full", True), "--full"),
        (Option("full", False), "no --full"),
        (Option("limit", None), "no --limit"),
        (Option("header", False), "--no-header"),
        (Option("max_candidates"), "`max_candidates`"),
        (Option("perturbation", "unk"), "`perturbation='unk'`"),
    ],
)
def test_options_are_shown_as_they_are_typed(option, expected):
    """With their values; what the command line does not have is left to Python."""
    assert typed(option) == expected


@pytest.fixture
def corpus(tmp_path):
    """A command on two short documents and a long one, and two models to ask."""
    (tmp_path / "in.csv").write_text(f"text\ngood food\ngood staff\n{'nice ' * 60}\n")
    (tmp_path / "mine.py").write_text(
        "def several(texts):\n    return [[1, int('good' in t)] for t in texts]\n"
        "def odd(texts):\n    return [len(t.split()) % 2 for t in texts]\n"
    )
    return lambda *more: run(
        "corpus", "in.csv", "--text", "text", "--out", "out.jsonl", "--workers", "1", *more, cwd=tmp_path
    )


def test_a_run_that_is_refused_says_what_to_type(corpus):
    """The reason comes from another process, and has its options still."""
    done = corpus("--model", "mine:several", "--outputs", "multilabel")
    assert done.returncode == 2
    assert "needs --label; the labels" in done.stderr


def test_a_summary_says_what_to_type(corpus, tmp_path):
    """On the terminal; a row has the sentence as Python has it."""
    done = corpus("--model", "mine:odd", "--method", "exhaustive", "--evaluator", "exact", "--quiet")
    assert "OptionError 1, the first: --method exhaustive with --evaluator exact would take" in done.stdout
    assert "`method='exhaustive'` with `evaluator='exact'` would" in (tmp_path / "out.jsonl").read_text()
