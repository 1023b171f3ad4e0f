"""What several files of the project say of it is the same in all of them."""

import re

import pytest
from needs import EXTRAS, PROJECT
from places import ROOT

import kedge

HOME = PROJECT["project"]["urls"]["Homepage"]
WORKFLOW = ".github/workflows/tests.yml"
SAYS_WHERE = ["CITATION.cff", "CODE_OF_CONDUCT.md", "SECURITY.md", ".github/ISSUE_TEMPLATE/config.yml"]


def text_of(name):
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "pattern"), [("CITATION.cff", r"^version: (\S+)$"), ("CHANGELOG.md", r"^## (\d\S*) - ")]
)
def test_the_version_is_the_same_everywhere(name, pattern):
    """The newest release is what the package says it is, with the same date in both files."""
    assert re.search(pattern, text_of(name), re.MULTILINE).group(1) == kedge.__version__
    date = re.search(r"^date-released: (\S+)$", text_of("CITATION.cff"), re.MULTILINE).group(1)
    assert f"\n## {kedge.__version__} - {date}\n" in text_of("CHANGELOG.md")


@pytest.mark.parametrize("name", SAYS_WHERE)
def test_the_project_has_one_address(name):
    """Forms, citation and metadata point to the same place."""
    found = re.findall(r"https://github\.com/[\w-]+/kedge", text_of(name))
    assert set(found) == {HOME}
    assert all(url.startswith(HOME) for url in PROJECT["project"]["urls"].values())


def test_every_supported_python_is_tested():
    """The classifiers, the oldest one that installs, and the matrix agree."""
    prefix = "Programming Language :: Python :: "
    classifiers = PROJECT["project"]["classifiers"]
    supported = [line.removeprefix(prefix) for line in classifiers if line.startswith(prefix)]
    (tested,) = re.findall(r"python: \[(.*)\]", text_of(WORKFLOW))
    assert tested.replace('"', "").split(", ") == supported
    assert PROJECT["project"]["requires-python"] == f">={supported[0]}"


@pytest.mark.parametrize("name", ["Makefile", WORKFLOW])
def test_every_extra_is_installed_for_the_tests(name):
    """What is not installed would be skipped."""
    (installed,) = re.findall(r"\.\[(.*?)\]", text_of(name))
    assert sorted(installed.split(",")) == sorted(EXTRAS)


def test_the_paper_is_cited():
    """With its authors and where it appeared."""
    citation = text_of("CITATION.cff")
    assert "A Sea of Words: An In-Depth Analysis of Anchors for Text Data" in citation
    for name in ("Lopardo", "Precioso", "Garreau", "AISTATS 2023"):
        assert name in citation
