"""Fail where branch coverage is below a floor of pyproject.toml, and name the lines that are missing.

usage: python .ci/floors.py   (from the project's root, after pytest --cov)
"""

import io
import sys
import tomllib
from pathlib import Path

from coverage import Coverage


def main() -> int:
    """Measure each place against its floor; gives the number of places below."""
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))
    coverage = Coverage()
    coverage.load()
    low = 0
    for place, floor in project["tool"]["kedge"]["floors"].items():
        gaps = io.StringIO()
        found = coverage.report(include=[f"{place}/*"], file=gaps)
        below = found < floor
        low += below
        verdict = "below" if below else "at least"
        sys.stdout.write(f"branch coverage of {place}: {found:.2f}%, {verdict} its floor of {floor}%\n")
        if below:
            sys.stdout.write(gaps.getvalue())
    return low


if __name__ == "__main__":
    sys.exit(main())
