"""Where things are: the checkout, and the published review sets, which are outside it."""

import os
from pathlib import Path

ROOT = Path(__file__).parents[2]
SRC = str(ROOT / "src")
REVIEWS = os.environ.get("KEDGE_DATA")
"""The folder of the published review sets, or None; only tests marked ``reviews`` look there."""
