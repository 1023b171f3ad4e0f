"""Figures that the documents quote are those of the committed results."""

import importlib.util
import json
import re

import pytest
from places import ROOT

RESULTS = ROOT / "benchmarks" / "results"


@pytest.fixture(scope="module")
def quote():
    spec = importlib.util.spec_from_file_location("quote", ROOT / "benchmarks" / "peers" / "quote.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def record():
    return json.loads((RESULTS / "peers.json").read_text(encoding="utf-8"))


def test_the_pages_quote_the_committed_results(quote, record):
    """The comparisons are, character for character, what the results file says."""
    assert [path.name for path in quote.SECTIONS] == ["README.md", "peers.md"]
    for path, section in quote.SECTIONS.items():
        assert quote.quoted(path.read_text(encoding="utf-8")) == section(record), path.name


def test_the_readme_has_one_short_table_of_figures(quote, record):
    """At most eight rows; the long table is behind a link."""
    rows = [line for line in quote.summary(record).splitlines() if line.startswith("|")]
    assert 1 < len(rows) - 2 <= 8


def test_every_figure_of_the_results_matters(quote, record):
    """Were any of the quoted figures another one, a page would be wrong."""
    said, more = quote.summary(record), quote.details(record)
    column = record["parts"][0]["columns"]["kedge"]
    for name, other in (("cost_median", 77.0), ("cost_mean", 77.0), ("below", {"share": 0.77, "of": 9})):
        kept, column[name] = column[name], other
        assert quote.summary(record) != said, name
        column[name] = kept
    record["parts"][0]["columns"]["anchor-exp"]["asked_mean"] = 77_777.0
    assert quote.details(record) != more


def test_the_results_say_what_made_them(record):
    """Versions, date and settings are in the file, and the table beside it is of the same day."""
    assert record["versions"]["peers"].keys() >= {"anchor-exp", "alibi", "lime", "shap", "numpy"}
    assert record["versions"]["kedge"]["scikit-learn"] == record["versions"]["peers"]["scikit-learn"]
    assert record["date"] in (RESULTS / "peers.md").read_text(encoding="utf-8")


def test_the_page_about_the_peers_quotes_what_was_seen():
    """Every figure of docs/peers.md that is not a setting is in the output of the examples."""
    page = (ROOT / "docs" / "peers.md").read_text(encoding="utf-8").split("## Other text")[1]
    page = page.replace(",", "")
    seen = (RESULTS / "peers-mistakes.txt").read_text(encoding="utf-8").replace(",", "")
    figures = set(re.findall(r"(?<![\w.`=])\d+(?:\.\d+)?(?![\w`])", page))
    known = set(re.findall(r"\d+(?:\.\d+)?", seen))
    # Thresholds, the slack of their rule and what follows from it, options, sizes that the page itself sets.
    settings = {"0.95", "0.05", "0.91", "0.1", "1", "0", "4", "10000", "100", "80", "3000"}
    assert figures - settings <= known
    assert len(figures - settings) > 5


def test_the_judge_of_all_tools_is_quoted():
    """The table of the comparison by one judge is the committed one, and so are the README's shares."""
    table = (RESULTS / "judged.md").read_text(encoding="utf-8")
    assert table in (ROOT / "docs" / "peers.md").read_text(encoding="utf-8")
    rows = json.loads((RESULTS / "judged.json").read_text(encoding="utf-8"))
    reaching = {row["tool"]: f"{row['reaching']:.0%}" for row in rows if row["set"] == "yelp"}
    said = (ROOT / "README.md").read_text(encoding="utf-8")
    for tool in ("LIME", "SHAP", "anchor-exp", "alibi"):
        assert f"{reaching[tool]} of {tool}'s" in said
    assert reaching["kedge"] == "100%"


def test_the_flips_are_quoted():
    """The table of flips is the committed one, and it meets what is asked of flips."""
    table = (RESULTS / "flips.md").read_text(encoding="utf-8")
    assert table in (ROOT / "docs" / "questions.md").read_text(encoding="utf-8")
    rows = json.loads((RESULTS / "flips.json").read_text(encoding="utf-8"))["rows"]
    assert rows["logistic, read"]["cost_in_predictions"] <= 5
    assert rows["logistic, read"]["proven_fewest"] == rows["logistic, read"]["documents"]
    assert rows["logistic, asked for labels"]["questions_median"] <= 150
    for row in rows.values():
        assert row["irreducible"] == row["found"]
