"""The table of masks in the documentation is the one that was computed."""

import json
import sys

import pytest
from places import ROOT


@pytest.fixture
def masks(monkeypatch):
    """The script, imported as it is run: from its own folder."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import masks

    yield masks
    for name in ("masks", "masked_models", "reviews"):
        sys.modules.pop(name, None)


def test_the_table_is_that_of_the_results(masks):
    """docs/masks.md shows every row of the results file, at least twelve kinds of models, as computed."""
    found = json.loads((ROOT / "benchmarks" / "results" / "masks.json").read_text(encoding="utf-8"))
    page = (ROOT / "docs" / "masks.md").read_text(encoding="utf-8")
    shown = page.partition(masks.BEGIN)[2].partition(masks.END)[0]
    assert masks.table(found["rows"]) in shown
    assert f"{found['documents']} {found['set'].capitalize()} reviews" in shown
    assert len(found["rows"]) >= 12
