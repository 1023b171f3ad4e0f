"""The soak counts the same whoever counts it, and goes on where it ended."""

import json
import sys

import pytest
from places import ROOT


@pytest.fixture
def soak(monkeypatch):
    """The script with small blocks, imported as it is run: from its own folder."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import soak

    monkeypatch.setattr(soak, "CASES", 2)
    monkeypatch.setattr(soak, "EACH", 4)
    monkeypatch.setattr(soak, "BATCH", 2)
    yield soak
    for name in ("soak", "engine"):
        sys.modules.pop(name, None)


def _run(soak, folder, *options):
    with pytest.raises(SystemExit) as left:
        soak.main(["--out", str(folder), *options])
    assert left.value.code == 0
    return json.loads((folder / "soak.json").read_text(encoding="utf-8"))


def test_processes_count_what_one_would_have_counted(soak, tmp_path):
    """Two processes take disjoint blocks, from the first on, and a later run takes those that follow."""
    half = _run(soak, tmp_path, "--answers", "20", "--nulls", "3", "--jobs", "2")
    assert half["statuses"]["exact"] >= 20
    assert half["nulls"] == 3
    whole = _run(soak, tmp_path, "--answers", "45", "--nulls", "6", "--jobs", "2", "--resume")
    assert whole["blocks"] > half["blocks"]
    alone = soak.Tally()
    for block in range(whole["blocks"]):
        alone.add(soak.run_block(0, block))
    alone.add(soak.run_nulls(0, 6))
    for name in ("statuses", "families", "ways", "broken", "false_exact", "blocks", "nulls", "claims"):
        assert whole[name] == getattr(alone, name)
    page = (tmp_path / "soak.md").read_text(encoding="utf-8")
    assert "**Verdict: the promises held.**" in page
    assert f"kedge at commit {whole['commit']}." in page


def test_results_of_another_engine_are_not_gone_on_with(soak, tmp_path, monkeypatch):
    """What an older commit answered says nothing of the one that would go on, nor does another seed."""
    _run(soak, tmp_path, "--answers", "1", "--nulls", "0")
    stored = (tmp_path / "soak.json").read_bytes()
    with pytest.raises(SystemExit, match="seed is 1"):
        soak.main(["--out", str(tmp_path), "--resume", "--seed", "1"])
    monkeypatch.setattr(soak, "engine", lambda: "another")
    with pytest.raises(SystemExit, match="kedge is at another"):
        soak.main(["--out", str(tmp_path), "--resume"])
    assert (tmp_path / "soak.json").read_bytes() == stored
