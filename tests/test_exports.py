"""The names kedge gives: all there, all shown, all documented."""

import inspect
import subprocess
import sys
from importlib import import_module
from pkgutil import walk_packages
from types import ModuleType

import pytest
from command import outside
from needs import why_not_imported

import kedge

MODULES = [
    "kedge",
    *sorted(m.name for m in walk_packages(kedge.__path__, "kedge.") if "__main__" not in m.name),
]


@pytest.mark.parametrize("name", kedge.__all__)
def test_every_exported_name_is_there_and_documented(name):
    """Lazy ones included, each with a docstring of its own."""
    value = getattr(kedge, name)
    assert inspect.getdoc(value)
    assert isinstance(value, ModuleType) or value.__module__.startswith("kedge.")


def test_dir_shows_what_is_exported():
    """Lazy names too, before they are used: what a notebook completes on."""
    code = "import kedge; print(set(kedge.__all__) - set(dir(kedge)))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=outside(), check=True
    )
    assert done.stdout == "set()\n"
    assert dir(kedge) == sorted(dir(kedge))


def test_names_are_in_order():
    """A name is found, and a merge is easy."""
    assert kedge.__all__ == sorted(kedge.__all__)
    assert len(kedge.__all__) == len(set(kedge.__all__))


def test_a_lazy_name_is_its_module():
    """``kedge.tokenize`` and ``kedge.datasets`` stand for modules further down."""
    assert kedge.tokenize is import_module("kedge.text.tokenize")
    assert kedge.datasets is import_module("kedge.data.datasets")


def test_a_name_that_is_not_there_is_an_attribute_error():
    """As of any module."""
    with pytest.raises(AttributeError, match="module 'kedge' has no attribute 'expalin'"):
        kedge.expalin  # noqa: B018


@pytest.mark.parametrize("name", MODULES)
def test_a_module_has_what_it_lists(name):
    """``from module import *`` works everywhere."""
    try:
        module = import_module(name)
    except ModuleNotFoundError as error:
        reason = why_not_imported(error.name or "")
        if reason is None:
            raise
        pytest.skip(reason)
    assert [listed for listed in getattr(module, "__all__", ()) if not hasattr(module, listed)] == []
