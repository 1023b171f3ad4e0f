"""Mutants of the modules that carry a promise: which there are, and how one takes the place of the original.

A mutant is one change by one operator of cosmic-ray (``pip install cosmic-ray``). Its key names the module,
the function, the line and the operator, so that it stays the same when other parts of a module are edited.
"""

import ast
import hashlib
import sys
import types
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

SOURCE = Path(__file__).resolve().parents[1] / "src"
# The modules whose answers are promises.
MODULES = (
    "kedge/evaluators/**/*.py", "kedge/search/exact/*.py", "kedge/search/guided/proof.py",
    "kedge/search/guided/capital.py", "kedge/certificates/checker.py",
)  # fmt: skip
# Operators whose mutants say nothing here (decorators such as dataclass), or need to be told of a variable.
_LEFT_OUT = ("core/RemoveDecorator", "core/Variable")


@dataclass(frozen=True)
class Mutant:
    """One change of one module."""

    path: Path
    operator: str
    occurrence: int
    key: str
    line: int
    lines: tuple[int, int]  # of the statement that is changed
    body: tuple[int, int]  # of the function around it, or of the whole module
    origin: str  # a digest of that function: the same as long as nobody edits it
    everywhere: bool  # whether it is in no function

    @property
    def module(self) -> str:
        """Its name as it is imported."""
        return ".".join(self.path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")

    @cached_property
    def code(self) -> str:
        """The changed source."""
        from cosmic_ray.mutating import mutate_code
        from cosmic_ray.plugins import get_operator

        source = self.path.read_text(encoding="utf-8")
        return mutate_code(source, get_operator(self.operator)(), self.occurrence) or source

    @property
    def is_python(self) -> bool:
        """Whether it can be compiled: a star that parts arguments is no product."""
        try:
            compile(self.code, str(self.path), "exec")
        except SyntaxError:
            return False
        return True

    @property
    def change(self) -> tuple[str, str]:
        """The line before and after."""
        before, after = (
            text.splitlines()[self.line - 1].strip()
            for text in (self.path.read_text(encoding="utf-8"), self.code)
        )
        return before, after


def drawn(count: int, seed: int) -> tuple[list[Mutant], int]:
    """So many mutants, and how many there are: those whose keys have the lowest digests.

    Which are drawn does therefore not change with an edit elsewhere.
    """
    paths = (path for pattern in MODULES for path in sorted(SOURCE.glob(pattern)))
    everything = [mutant for path in paths for mutant in _of_module(path)]
    everything.sort(key=lambda mutant: hashlib.sha256(f"{seed} {mutant.key}".encode()).digest())
    return everything[:count], len(everything)


def _of_module(path: Path) -> Iterator[Mutant]:
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.plugins import get_operator, operator_names

    source, seen = path.read_text(encoding="utf-8"), Counter[str]()
    nodes, places = list(ast_nodes(get_ast(source))), _Places(source)
    for name in sorted(operator_names()):
        if name.startswith(_LEFT_OUT):
            continue
        operator = get_operator(name)()
        positions = [at for node in nodes for at in operator.mutation_positions(node)]
        for k, ((line, column), _) in enumerate(positions):
            if not places.annotates(line, column):
                yield places.mutant(path, name, k, line, seen)


class _Places:
    """Where things stand in a module."""

    def __init__(self, source: str) -> None:
        self.rows = source.splitlines()
        tree = ast.parse(source)
        self.statements = [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]
        self.functions: list[tuple[str, Any]] = []
        self._name(tree, "")
        marks = [getattr(node, name, None) for node in ast.walk(tree) for name in ("annotation", "returns")]
        self.annotations = [mark for mark in marks if mark is not None]

    def _name(self, node: ast.AST, prefix: str) -> None:
        for child in ast.iter_child_nodes(node):
            named = isinstance(child, ast.FunctionDef | ast.ClassDef)
            name = f"{prefix}.{child.name}".strip(".") if named else prefix
            if isinstance(child, ast.FunctionDef):
                self.functions.append((name, child))
            self._name(child, name)

    def annotates(self, line: int, column: int) -> bool:
        """Whether a place is in an annotation, which decides nothing."""
        at = (line, column)
        return any(
            (a.lineno, a.col_offset) <= at < (a.end_lineno, a.end_col_offset) for a in self.annotations
        )

    def mutant(self, path: Path, operator: str, occurrence: int, line: int, seen: Counter[str]) -> Mutant:
        """The mutant of an operator at this line."""
        around = [(name, f) for name, f in self.functions if f.lineno <= line <= f.end_lineno]
        name, function = around[-1] if around else ("module", None)
        body = (function.lineno, function.end_lineno) if function else (1, len(self.rows))
        own = "\n".join(self.rows[body[0] - 1 : body[1]]) if function else self.rows[line - 1]
        headers = ((a, b) for a, b in map(self._header, self.statements) if a <= line <= b)
        lines = min(headers, key=lambda span: span[1] - span[0], default=(line, line))
        short = operator.removeprefix("core/")
        key = f"{path.relative_to(SOURCE)}, {name}: {self.rows[line - 1].strip()} | {short}"
        seen[key] += 1
        return Mutant(
            path, operator, occurrence, f"{key} {seen[key]}", line, lines, body,
            hashlib.sha256(own.encode()).hexdigest()[:12], function is None,
        )  # fmt: skip

    @staticmethod
    def _header(statement: Any) -> tuple[int, int]:
        inner = getattr(statement, "body", None)
        last = inner[0].lineno - 1 if inner else statement.end_lineno
        return statement.lineno, max(last, statement.lineno)


def put_in_place(mutant: Mutant) -> None:
    """Change the module that is loaded into the mutant: its functions' code, its defaults, its constants.

    Others may have imported its functions, so that these stay the same objects.
    """
    module = sys.modules[mutant.module]
    fresh = types.ModuleType(mutant.module)
    fresh.__dict__.update({k: v for k, v in vars(module).items() if k.startswith("__")})
    try:
        exec(compile(mutant.code, str(mutant.path), "exec"), vars(fresh))  # noqa: S102
    except Exception as error:
        raise ImportError(mutant.key) from error
    for name, new in list(vars(fresh).items()):
        if name.startswith("__"):
            continue
        old = vars(module).get(name)
        if _plain(new) and _plain(old):
            if not _equal(old, new):
                for other in list(sys.modules.values()):
                    if getattr(other, "__dict__", {}).get(name) is old and "kedge" in other.__name__:
                        setattr(other, name, new)
                setattr(module, name, new)
        else:
            _graft(old, new, mutant.module)
            getattr(old, "cache_clear", lambda: None)()  # what was worked out before


def _graft(old: Any, new: Any, module: str) -> None:
    if isinstance(new, type):
        if new.__module__ == module and isinstance(old, type):
            _graft_class(old, new, module)
        return
    for stale, grown in zip(_functions(old), _functions(new), strict=False):
        if grown.__module__ != module:
            continue
        if len(stale.__code__.co_freevars) == len(grown.__code__.co_freevars):
            stale.__code__ = grown.__code__
        stale.__defaults__, stale.__kwdefaults__ = grown.__defaults__, grown.__kwdefaults__


def _graft_class(old: type, new: type, module: str) -> None:
    known: Mapping[str, Any] = vars(old)
    if hasattr(new, "_field_defaults"):  # a named tuple's own constructor belongs to no module
        made: Any = old.__new__
        made.__defaults__ = new.__new__.__defaults__
    for name, value in vars(new).items():
        if name in {"__dict__", "__weakref__", "__doc__", "__module__", "__slots__"} or name not in known:
            continue
        if _plain(value) and not _equal(known[name], value):
            setattr(old, name, value)
        elif not _plain(value):
            _graft(known[name], value, module)


def _functions(thing: Any) -> list[Any]:
    """The functions inside of what a decorator made of them."""
    if isinstance(thing, types.FunctionType):
        inner = getattr(thing, "__wrapped__", None)
        return [thing, *(_functions(inner) if inner is not None else [])]
    if isinstance(thing, staticmethod | classmethod):
        return _functions(thing.__func__)
    if isinstance(thing, property):
        return [f for part in (thing.fget, thing.fset) for f in _functions(part)]
    if isinstance(thing, cached_property):
        return _functions(thing.func)
    return _functions(thing.__wrapped__) if hasattr(thing, "__wrapped__") else []


def _plain(value: Any) -> bool:
    if isinstance(value, tuple | list | frozenset | set):
        return all(map(_plain, value))
    if isinstance(value, dict):
        return all(_plain(k) and _plain(v) for k, v in value.items())
    return value is None or isinstance(value, int | float | str | bytes | Fraction | np.ndarray | np.generic)


def _equal(old: Any, new: Any) -> bool:
    if isinstance(old, np.ndarray) or isinstance(new, np.ndarray):
        return np.array_equal(old, new)
    return bool(type(old) is type(new) and old == new)
