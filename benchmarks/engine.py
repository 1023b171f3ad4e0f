"""Which kedge was measured."""

import subprocess
from pathlib import Path


def engine() -> str:
    """The commit that last changed what is measured, and whether it has been changed since."""

    def git(*command: str) -> str:
        asked = ["git", "-C", str(Path(__file__).parents[1]), *command, "--", "src/kedge"]
        return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()

    return git("log", "-1", "--format=%h") + (" (changed)" if git("status", "--porcelain") else "")
