"""The shape of the code: which way imports point, how long modules are, and one meaning for each name."""

import ast
import re
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from statistics import median

import pytest
from places import ROOT

SOURCE = ROOT / "src"

# From the ground up: a module imports from its own layer and from those before it. The longest name that
# fits decides, so that a module of a package may stand elsewhere than the rest of it.
LAYERS = (
    ("errors", "typing", "results.interval", "utils"),
    ("text",),
    ("perturb",),
    ("model",),
    ("reading",),
    ("theory",),
    ("evaluators",),
    ("results",),
    ("search",),
    ("learning",),
    ("prior",),
    ("options",),
    ("studies",),
    ("certificates",),
    ("pipeline",),
    ("batching",),
    ("flipping",),
    ("explainer",),
    ("certificates.recheck",),
    ("api",),
    ("studies.matching", "studies.evaluation", "studies.comparison", "studies.repeats"),
    ("corpus",),
    ("spark", "ray"),
    ("data",),
    ("render",),
    ("plots",),
    ("",),  # kedge itself: what `import kedge` gives
    ("workbench",),
    ("cli",),
    ("__main__",),
)
RANK = {f"kedge.{name}".rstrip("."): rank for rank, layer in enumerate(LAYERS) for name in layer}
LONGEST, TYPICAL = 300, 140
# Whoever checks a certificate elsewhere copies a single file and reads all of it.
LONGER = {"kedge.certificates.checker": 400}


def _name(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {_name(path): path for path in sorted((SOURCE / "kedge").rglob("*.py"))}


@cache
def parsed(module: str) -> ast.Module:
    return ast.parse(MODULES[module].read_text(encoding="utf-8"))


def on_import(node: ast.AST):
    """The import statements that run when a module is imported: not a function's, not a type checker's."""
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.Import() | ast.ImportFrom():
                yield child
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                pass
            case ast.If(test=ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING")):
                pass
            case _:
                yield from on_import(child)


@cache
def imported(module: str) -> frozenset[str]:
    """The modules of kedge that a module imports when it is imported."""
    found = set()
    for statement in on_import(parsed(module)):
        if isinstance(statement, ast.Import):
            names = [alias.name for alias in statement.names]
        else:
            assert statement.level == 0, f"{module} imports by a relative name"
            inner = [f"{statement.module}.{alias.name}" for alias in statement.names]
            names = [name if name in MODULES else str(statement.module) for name in inner]
        found.update(name for name in names if name.partition(".")[0] == "kedge")
    return frozenset(found)


def layer(module: str) -> int | None:
    """The rank of a module: that of the longest name in the list that fits."""
    if module == "kedge":
        return RANK[module]
    parts = module.split(".")
    prefixes = (".".join(parts[:n]) for n in range(len(parts), 1, -1))
    return next((RANK[prefix] for prefix in prefixes if prefix in RANK), None)


def bound(module: str) -> set[str]:
    """The names that a module gives a meaning of its own: what it defines, sets or imports from elsewhere."""
    found = set()
    for statement in parsed(module).body:
        match statement:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                found.add(statement.name)
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                found.add(name)
            case ast.ImportFrom() if statement.module != module:
                found.update(alias.asname or alias.name for alias in statement.names)
    return found


def test_only_imports_that_run_on_import_count():
    """Those of functions and those for a type checker do not; those in a class or under ``try`` do."""
    source = """
import a
if TYPE_CHECKING:
    import b
def f():
    import c
class C:
    import d
    def m(self):
        import e
try:
    import f
except ImportError:
    import g
"""
    found = [alias.name for statement in on_import(ast.parse(source)) for alias in statement.names]
    assert found == ["a", "d", "f", "g"]


@pytest.mark.parametrize("module", MODULES)
def test_imports_point_to_earlier_layers(module):
    """Every module has a layer, and imports nothing from a later one."""
    own = layer(module)
    assert own is not None, f"{module} is in no layer: give it one in {Path(__file__).name}"
    later = {name for name in imported(module) if (layer(name) or 0) > own}
    assert not later, f"{module} imports from later layers: {', '.join(sorted(later))}"


def test_there_is_no_cycle_of_imports():
    """Modules can be put in an order in which each imports only those before it."""
    try:
        order = list(TopologicalSorter({name: imported(name) for name in MODULES}).static_order())
    except CycleError as error:
        pytest.fail(f"a cycle of imports: {' <- '.join(error.args[1])}")
    assert set(order) >= set(MODULES)


@pytest.mark.parametrize("module", MODULES)
def test_no_module_is_long(module):
    """A module can be read in one go."""
    lines = len(MODULES[module].read_text(encoding="utf-8").splitlines())
    assert lines <= LONGER.get(module, LONGEST), f"{module} has {lines} lines"


def test_modules_are_typically_short():
    """Half of the modules that hold code have at most so many lines."""
    lines = [
        len(path.read_text(encoding="utf-8").splitlines())
        for path in MODULES.values()
        if path.name != "__init__.py"
    ]
    assert median(lines) <= TYPICAL


@pytest.mark.parametrize("module", MODULES)
def test_nothing_is_named_like_its_module(module):
    """``kedge.precision.precision`` would be two things of one name."""
    own = module.rpartition(".")[2]
    assert own not in bound(module), f"{module} has something called {own}"


@pytest.mark.parametrize("package", [name for name in MODULES if MODULES[name].name == "__init__.py"])
def test_no_package_hides_a_module_of_its_own(package):
    """A name of a package that is also a module in it means that module."""
    inside = {name.rpartition(".")[2] for name in MODULES if name.rpartition(".")[0] == package}
    hidden = bound(package) & inside
    assert not hidden, f"{package} hides its modules {', '.join(sorted(hidden))}"


def written(module: str):
    """The strings that a module may say: all but docstrings."""
    tree = parsed(module)
    told = [n.value for n in ast.walk(tree) if isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant)]
    skipped = {id(node) for node in told}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            yield node.value


# What is copied, shown on a page of its own, or says how options are written.
_MAY_QUOTE = {"kedge.certificates.checker", "kedge.utils.sentences", "kedge.workbench.schemas"}


@pytest.mark.parametrize("module", sorted(set(MODULES) - _MAY_QUOTE))
def test_options_in_sentences_are_values(module):
    """A sentence that spells an option by hand could not be said in another front end's words."""
    quoted = [text for text in written(module) if re.search(r"(?<!`)`\w+(=|`(?!`))", text)]
    flags = [text for text in written(module) if re.search(r"(?<![\w-])--[a-z]", text)]
    assert not quoted
    assert not flags or module.startswith(("kedge.cli", "kedge.workbench"))
