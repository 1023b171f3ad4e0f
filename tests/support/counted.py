"""A model for tests of workers; a module of its own, so that other processes can import it."""

import os
import time
from pathlib import Path


class Counted:
    """A model that notes in which process it was unpacked, and is slow enough to be interrupted."""

    def __init__(self, log):
        self.log = log

    def __setstate__(self, state):
        self.__dict__.update(state)
        with Path(self.log).open("a") as file:
            file.write(f"{os.getpid()}\n")

    def __call__(self, texts):
        time.sleep(0.0003 * len(texts))
        return ["good" if "good" in t else "bad" for t in texts]
