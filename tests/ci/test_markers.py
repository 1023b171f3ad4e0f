"""What a test needs and does not find is a reason that says how to get it."""

import needs
import pytest


def without(monkeypatch, *libraries):
    """Hide some libraries."""
    found = needs.find_spec
    monkeypatch.setattr(needs, "find_spec", lambda name: None if name in libraries else found(name))


def test_every_extra_of_the_project_is_a_marker():
    """So that a test names what it needs, and nothing is declared twice."""
    assert set(needs.PROJECT["project"]["optional-dependencies"]) <= set(needs.MARKERS)


@pytest.mark.torch
@pytest.mark.transformers
def test_a_missing_library_is_named_with_its_extra(monkeypatch):
    """All that are missing, and none that are there."""
    assert needs.missing("transformers") is None
    without(monkeypatch, "transformers")
    assert needs.missing("transformers") == "needs transformers: pip install 'kedge[transformers]'"
    without(monkeypatch, "torch", "transformers")
    assert needs.missing("transformers") == "needs torch and transformers: pip install 'kedge[transformers]'"
    assert needs.missing("slow") is None


def test_what_is_outside_the_checkout_is_asked_for(monkeypatch, tmp_path):
    """The internet by an option, the published review sets by a folder, programs by the path."""
    assert "--network" in needs.missing("network")
    assert needs.missing("network", network=True) is None
    assert "--long" in needs.missing("long")
    assert needs.missing("long", long=True) is None
    for folder, wanted in ((None, True), (str(tmp_path / "none"), True), (str(tmp_path), False)):
        monkeypatch.setattr(needs, "REVIEWS", folder)
        assert ("KEDGE_DATA" in (needs.missing("reviews") or "")) == wanted
    monkeypatch.setattr(needs, "DRIVER", None)
    assert "chromedriver" in needs.missing("browser")
    monkeypatch.setenv("PATH", "")
    assert needs.missing("node") == "needs node on the path"


@pytest.mark.parametrize(
    ("library", "reason"),
    [
        ("torch.nn", "needs torch: pip install 'kedge[torch]'"),
        ("starlette.types", "needs starlette: pip install 'kedge[serve]'"),
        ("selenium", "needs selenium: pip install --group dev"),
        ("kedge.nothing", None),
        ("numpyy", None),
    ],
)
def test_a_failed_import_is_a_skip_only_if_the_library_is_optional(library, reason):
    """A misspelled import stays an error."""
    assert needs.why_not_imported(library) == reason
