"""Where a number comes from: the source that made it, and the commit that source is at."""

import ast
import subprocess
from functools import cache
from hashlib import sha256
from pathlib import Path

import kedge

__all__ = ["commit", "digest", "uncommitted"]

_HERE = Path(__file__).resolve().parent
_LIBRARY = Path(kedge.__file__).resolve().parent
# Parts of the library that show answers and have no say in them.
_SHOWN = {"cli", "corpus", "plots", "render", "workbench"}
# Modules beside the experiments that write down what was found.
_WRITING = {"report", "reproduce", "style"}


@cache
def digest(module: str) -> str:
    """A digest of the source behind an experiment: its module, what that imports here, and the library."""
    parts = sorted(_closure(module) - _WRITING)
    return sha256("".join([_library(), *(_source(_HERE / f"{p}.py") for p in parts)]).encode()).hexdigest()


@cache
def _library() -> str:
    files = [f for f in sorted(_LIBRARY.rglob("*.py")) if f.relative_to(_LIBRARY).parts[0] not in _SHOWN]
    return sha256("".join(_source(f) for f in files).encode()).hexdigest()


def _source(path: Path) -> str:
    return f"{path.name}\n{path.read_text(encoding='utf-8')}\n"


def _closure(module: str) -> set[str]:
    """A module of the experiments and all those it imports, directly or not."""
    found, todo = set(), [module]
    while todo:
        if (name := todo.pop()) in found or not (_HERE / f"{name}.py").is_file():
            continue
        found.add(name)
        tree = ast.parse((_HERE / f"{name}.py").read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.level == 1:
                todo += [node.module] if node.module else [alias.name for alias in node.names]
    return found


@cache
def commit() -> str:
    """The commit the source tree is at, where git knows."""
    return _git("rev-parse", "--short=12", "HEAD") or "unknown"


def uncommitted() -> list[str]:
    """Files of the source tree that differ from the commit: no results, and nothing that git ignores."""
    return _git("status", "--porcelain", "--", ":(top)", ":(top,exclude)papers/*/results/*").splitlines()


def _git(*arguments: str) -> str:
    try:
        found = subprocess.run(  # noqa: S603
            ["git", "-C", str(_HERE), *arguments],  # noqa: S607
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return found.stdout.rstrip()
