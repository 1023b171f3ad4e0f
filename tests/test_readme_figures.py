"""Figures that the documents quote are those of the committed results."""

import importlib.util
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"

if not (RESULTS / "peers.json").exists():
    pytest.skip("the benchmarks are not shipped with this copy", allow_module_level=True)


@pytest.fixture(scope="module")
def quote():
    spec = importlib.util.spec_from_file_location("quote", ROOT / "benchmarks" / "peers" / "quote.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def record():
    return json.loads((RESULTS / "peers.json").read_text(encoding="utf-8"))


def test_the_readme_quotes_the_committed_results(quote, record):
    """The README's comparison is, character for character, what the results file says."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert quote.quoted(readme) == quote.section(record)


def test_every_figure_of_the_results_matters(quote, record):
    """Were any of the quoted figures another one, the README would be wrong."""
    said = quote.section(record)
    column = record["parts"][0]["columns"]["kedge"]
    for name, other in (("cost_median", 77.0), ("cost_mean", 77.0), ("below", {"share": 0.77, "of": 9})):
        kept, column[name] = column[name], other
        assert quote.section(record) != said, name
        column[name] = kept
    record["parts"][0]["columns"]["anchor-exp"]["asked_mean"] = 77_777.0
    assert quote.section(record) != said


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
