"""What the README shows is true: its snippets run, its commands and links exist."""

import re
import shlex
from importlib import import_module

import click
import pytest
from places import ROOT

import kedge
from kedge.cli import COMMANDS
from kedge.data.demo import review_model, reviews
from kedge.results.explanation import Explanation

README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, flags=re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def names() -> dict[str, object]:
    """What the README's python snippets leave behind, run one after the other with the demo's model."""
    texts, _ = reviews()
    names: dict[str, object] = {"model": review_model(), "texts": list(texts[:3])}
    for block in blocks("python"):
        exec(compile(block, "README.md", "exec"), names)  # noqa: S102
    return names


def test_the_snippets_run_and_give_what_the_comments_say(names):
    """Statuses, the interval's order and the way it was found."""
    e = names["e"]
    assert isinstance(e, Explanation)
    assert (names["low"], names["mean"], names["high"]) == e.interval
    assert names["low"] <= names["mean"] == e.precision <= names["high"]
    assert (e.method, e.evaluator, e.sampled, e.status) == ("ranked", "convolution", False, "exact")
    assert isinstance(names["v"], kedge.Verdict)
    assert names["v"].reaches is False


def test_the_printed_explanation_is_the_one_shown(names):
    """To the letter, but for the time it took."""
    shown = blocks("text")[0]
    timeless = re.compile(r"[\d.]+ m?s$", re.MULTILINE)
    assert timeless.sub("T", str(names["e"])).strip() == timeless.sub("T", shown).strip()


def test_the_table_of_models_holds_expressions_that_work():
    """Word weights and rules as they are written in docs/models.md explain a text."""
    page = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
    written = re.findall(r"`(kedge\.(?:WordWeights|rules)[^`]*)`", page)
    assert len(written) >= 3
    for given in written:
        model = eval(given, {"kedge": kedge})  # noqa: S307
        assert kedge.explain(model, "very good, not bad").status == "exact"


def test_the_commands_exist_with_their_options():
    """Every ``kedge ...`` line names a command, and options which that command has."""
    lines = [line for block in blocks("sh") for line in block.splitlines() if line.startswith("kedge ")]
    assert len(lines) >= 5
    for line in lines:
        _, name, *words = shlex.split(line, comments=True)
        command = import_module(COMMANDS[name]).command
        assert isinstance(command, click.Command)
        known = {flag for option in command.params for flag in option.opts}
        assert {word for word in words if word.startswith("--")} <= known, line


def test_every_extra_is_named():
    """The README lists the extras of pyproject.toml, no others."""
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    said = README.split("Extras:")[1].split("what `kedge reproduce` needs")[0]
    named = set(re.findall(r"`(\w+)`", said))
    assert named == set(project["optional-dependencies"])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files_that_exist(page):
    """Links and pictures of the project's own pages."""
    text = page.read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)#\s]+)", text) + re.findall(r'src="([^"]+)"', text)
    for target in targets:
        if "://" not in target:
            assert (page.parent / target).exists(), target
