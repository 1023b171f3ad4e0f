"""What all tests share: patience with slow machines, and the markers, declared and obeyed in one place."""

import pytest
from hypothesis import HealthCheck, settings
from made import write_review_sets
from needs import MARKERS, missing, why_not_imported
from places import REVIEWS

from kedge.data import datasets

# A loaded machine is slow, not wrong: no example has a deadline. Every run draws the same examples, so that a
# failure or a missed floor of coverage is not the luck of one run; --hypothesis-profile=explore draws others.
_PATIENT = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("explore", **_PATIENT)
settings.register_profile("kedge", derandomize=True, **_PATIENT)
settings.load_profile("kedge")


def pytest_addoption(parser):
    parser.addoption("--network", action="store_true", help="also run the tests that reach the internet")
    parser.addoption("--long", action="store_true", help="also repeat kills and races for minutes")


def pytest_configure(config):
    for name, meaning in MARKERS.items():
        config.addinivalue_line("markers", f"{name}: {meaning}")


def pytest_collection_modifyitems(config, items):
    """Skip tests whose needs are not met, each with the reason."""
    given = {name: config.getoption(f"--{name}") for name in ("network", "long")}
    for item in items:
        reasons = (missing(marker.name, **given) for marker in item.iter_markers())
        if reason := next(filter(None, reasons), None):
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    """Skip a module whose library is not installed, with the reason; any other error stands."""
    report = yield
    error = report.call.excinfo.value if report.call.excinfo else None
    cause = error if isinstance(error, ModuleNotFoundError) else getattr(error, "__cause__", None)
    if isinstance(cause, ModuleNotFoundError) and (why := why_not_imported(cause.name or "")):
        report.outcome = "skipped"
        report.longrepr = (str(collector.path), 1, f"Skipped: {why}")
    return report


@pytest.fixture
def made_reviews(tmp_path_factory, monkeypatch):
    """Small review sets in place of the published ones."""
    folder = tmp_path_factory.mktemp("reviews")
    for name, files in write_review_sets(folder).items():
        monkeypatch.setitem(datasets.FILES, name, files)
    monkeypatch.setenv("KEDGE_DATA", str(folder))


@pytest.fixture(params=["made", pytest.param("published", marks=pytest.mark.reviews)])
def review_sets(request, monkeypatch):
    """What ``kedge.datasets.load`` finds: small made sets, and once more the published ones."""
    if request.param == "made":
        request.getfixturevalue("made_reviews")
    else:
        monkeypatch.setenv("KEDGE_DATA", REVIEWS)
    return request.param
