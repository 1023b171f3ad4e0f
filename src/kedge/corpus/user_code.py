"""Whose code is it? A library's is known by its version; the user's own only by its content."""

import sys
import sysconfig
from functools import cache
from hashlib import blake2b
from pathlib import Path
from types import ModuleType

__all__ = ["is_the_users", "own_modules"]

_SCRIPTS = {"__main__", "__mp_main__"}


def is_the_users(module: str | None) -> bool:
    """Whether a module is the user's own: neither Python's, nor kedge's, nor that of an installed library.

    >>> is_the_users("json"), is_the_users("numpy.linalg"), is_the_users("__main__")
    (False, False, True)
    """
    if module is None or module in _SCRIPTS:
        return True
    if module.partition(".")[0] == "kedge":
        return False
    found = sys.modules.get(module)
    file = getattr(found, "__file__", None)
    return found is None or (file is not None and not _is_installed(file))


def own_modules() -> dict[str, str]:
    """The user's own modules that are loaded, scripts left out, with a hash of each file."""
    found: dict[str, str] = {}
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None) if isinstance(module, ModuleType) else None
        if file and file.endswith(".py") and name not in _SCRIPTS and is_the_users(name):
            try:
                found[name] = blake2b(Path(file).read_bytes(), digest_size=8).hexdigest()
            except OSError:
                continue
    return found


@cache
def _is_installed(file: str) -> bool:
    places = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    return any(Path(file).is_relative_to(place) for place in places)
