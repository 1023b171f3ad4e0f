"""The command line: in this very process, or in one of its own where that is what is tested."""

import io
import os
import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from importlib import invalidate_caches
from pathlib import Path
from unittest.mock import patch

from places import SRC

from kedge.cli import main


@dataclass(frozen=True)
class Done:
    """What a run left behind."""

    returncode: int
    stdout: str
    stderr: str


def run(*arguments, stdin=b"", cwd="."):
    """Run ``kedge`` with these arguments as its program does: streams, exit code and all.

    Modules that the run finds in its folder are forgotten afterwards, as they would be with a process.
    """
    streams = [io.TextIOWrapper(io.BytesIO(data), encoding="utf-8") for data in (stdin, b"", b"")]
    folder = Path(cwd).resolve()
    before = set(sys.modules)
    invalidate_caches()
    with (
        patch.object(sys, "argv", ["kedge", *map(str, arguments)]),
        patch.object(sys, "stdin", streams[0]),
        patch.object(sys, "path", [place for place in sys.path if place]),
        redirect_stdout(streams[1]),
        redirect_stderr(streams[2]),
        chdir(folder),
    ):
        code = _exit_code()
    for name in set(sys.modules) - before:
        file = Path(getattr(sys.modules[name], "__file__", None) or "/").resolve()
        if file.parent == folder:  # not below it: an environment in the checkout has modules there, too
            del sys.modules[name]
    return Done(code, *(_written(stream) for stream in streams[1:]))


def run_apart(*arguments, cwd=None, **environment):
    """Run ``python -m kedge`` in a process of its own."""
    done = subprocess.run(
        program(*arguments),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        cwd=cwd,
        env={**outside(), **environment},
        check=False,
        timeout=300,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def program(*arguments):
    """The words that start ``kedge`` in a process of its own, with the tests' own Python."""
    return [sys.executable, "-m", "kedge", *map(str, arguments)]


def outside():
    """The environment of such a process: it finds this checkout, and writes UTF-8 everywhere."""
    return {**os.environ, "PYTHONPATH": SRC, "PYTHONIOENCODING": "utf-8", "PYTHONUNBUFFERED": "1"}


def _exit_code():
    try:
        main()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


def _written(stream):
    stream.flush()
    return stream.buffer.getvalue().decode("utf-8")
