"""What a test may need beyond kedge itself, and the sentence that says so where it is missing.

A test that needs an extra of kedge carries its name as a marker (``pytest.mark.torch``), and the other
markers are below. ``tests/conftest.py`` skips what is missing, with the reason.
"""

import os
import re
import shutil
import tomllib
from importlib.util import find_spec
from pathlib import Path

from places import REVIEWS, ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def _libraries(requirements):
    return [re.match(r"[\w.-]+", line).group() for line in requirements if isinstance(line, str)]


EXTRAS = {name: _libraries(lines) for name, lines in PROJECT["project"]["optional-dependencies"].items()}
ALONG = {"dask": "dask", "pydantic": "serve", "starlette": "serve"}
"""Libraries that come along with those of an extra, and the extra."""
TOOLS = {library for group in PROJECT["dependency-groups"].values() for library in _libraries(group)}

MARKERS = {
    "slow": "takes more than ten seconds; leave them out with -m 'not slow'",
    "browser": "drives chromium",
    "node": "runs what the page computes in node",
    "posix": "uses signals, limits, locks or pipes as POSIX has them",
    "network": "reaches the internet; skipped unless --network is given",
    "long": "repeats kills and races for minutes; skipped unless --long is given",
    "reviews": "reads the published review sets, in the folder that $KEDGE_DATA names",
    **{name: f"needs kedge[{name}]: {', '.join(libraries)}" for name, libraries in EXTRAS.items()},
}


CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")


def missing(marker, *, network=False, long=False):
    """Why a test with this marker cannot run here; None if it can."""
    if marker in EXTRAS:
        absent = [library for library in EXTRAS[marker] if find_spec(library) is None]
        return f"needs {' and '.join(absent)}: pip install 'kedge[{marker}]'" if absent else None
    needed = {
        "browser": (CHROMIUM and DRIVER, "needs chromium and chromedriver on the path"),
        "network": (network, "reaches the internet: pytest --network"),
        "long": (long, "repeats kills and races for minutes: pytest --long"),
        "node": (shutil.which("node"), "needs node on the path"),
        "posix": (os.name == "posix", "needs signals, limits, locks or pipes as POSIX has them"),
        "reviews": (
            REVIEWS and Path(REVIEWS).is_dir(),
            "reads the published review sets: set KEDGE_DATA to the folder of their files",
        ),
    }
    there, reason = needed.get(marker, (True, None))
    return None if there else reason


def why_not_imported(library):
    """How to get a library that an import did not find; None if nothing is known of it."""
    top = library.partition(".")[0]
    fewest_first = sorted(EXTRAS, key=lambda extra: len(EXTRAS[extra]))
    extra = ALONG.get(top) or next((extra for extra in fewest_first if top in EXTRAS[extra]), None)
    if extra is not None:
        return f"needs {top}: pip install 'kedge[{extra}]'"
    return f"needs {top}: pip install --group dev" if top in TOOLS else None
