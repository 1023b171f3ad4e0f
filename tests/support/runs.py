"""Runs of ``kedge corpus`` in processes of their own, to be interrupted and watched from outside."""

import subprocess
import time

from command import outside, program


def start_corpus(folder, *options, source="in.jsonl", text="t", env=None, **kwargs):
    """Start a run in a folder."""
    return subprocess.Popen(
        program("corpus", source, "--text", text, "--quiet", *options),
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**outside(), **(env or {})},
        **kwargs,
    )


def rows_in(path):
    """How many lines a result has so far."""
    return path.read_bytes().count(b"\n") if path.exists() else 0


def wait_for(condition, seconds=60, process=None):
    """Wait until something is so, or a process has ended; fails when that takes too long."""
    end = time.monotonic() + seconds
    while not condition() and (process is None or process.poll() is None):
        assert time.monotonic() < end, "it does not come to that"
        time.sleep(0.005)
