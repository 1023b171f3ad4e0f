"""docs/design.md is a map of the code: its table is the tree, its walks are what runs."""

import importlib.util
import inspect
import re
import sys
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import pytest
from places import ROOT

import kedge
from kedge.corpus.items import items_of
from kedge.corpus.workers.task import explain_each
from kedge.corpus.workers.transfer import stored
from kedge.data.demo import review_model

PAGE = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
PACKAGE = ROOT / "src" / "kedge"
TEXT = (
    "The service was slow and the soup was cold, but the staff were friendly and the dessert was delicious."
)


def tree() -> set[str]:
    """Every module beside ``__init__.py`` and every package, as the table writes them."""
    packages = {path.parent for path in PACKAGE.rglob("__init__.py")} - {PACKAGE}
    return {path.name for path in PACKAGE.glob("*.py")} | {
        f"{path.relative_to(PACKAGE).as_posix()}/" for path in packages
    }


def table() -> list[list[str]]:
    """The names in each row of the table of the tree."""
    section = PAGE.split("## The tree")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (`.*?) \| ", section, flags=re.MULTILINE)
    return [re.findall(r"`([^`]+)`", row) for row in rows]


def architecture() -> Any:
    spec = importlib.util.spec_from_file_location("architecture", ROOT / "tests" / "test_architecture.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def module_name(shown: str) -> str:
    """``search/exact/`` is the module kedge.search.exact."""
    name = shown.removesuffix("/").removesuffix(".py").replace("/", ".").removesuffix("__init__")
    return f"kedge.{name}".rstrip(".")


def test_the_table_is_the_tree():
    """Every module and package at the top has one row, and so has every package inside; no row is of old."""
    shown = [name for row in table() for name in row]
    assert len(shown) == len(set(shown))
    assert tree() - set(shown) == set(), "not in the table of docs/design.md"
    assert [name for name in shown if not (PACKAGE / name).exists()] == []


def test_the_table_is_in_import_order():
    """A row's layer is that of tests/test_architecture.py, and layers follow each other."""
    layer = architecture().layer
    layers = [layer(module_name(name)) for row in table() for name in row]
    assert None not in layers
    assert layers == sorted(layers)


@dataclass
class Walk:
    """What one walk of the page lists, and what was entered."""

    steps: list[str]
    repeated: set[str]
    entered: list[str] = field(default_factory=list)
    times: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, title: str, part: int = 0) -> "Walk":
        """The part-th list under a title."""
        section = PAGE.split(f"### {title}\n")[1].split("\n#")[0]
        lists = re.split(r"^1\. ", section, flags=re.MULTILINE)[1:]
        lines = ("1. " + lists[part]).splitlines()
        steps, repeated = [], set()
        for line in lines:
            if re.match(r"\d+\. ", line):
                names = re.findall(r"`([\w.<>]+)`", line.split(": ")[0])
                steps += names
                repeated.update(names if "*repeatedly*" in line else [])
        return cls(steps, repeated)

    def note(self, frame: FrameType, event: str, _: Any) -> None:
        """Take down a function that is entered; a generator that goes on is not entered again."""
        module = frame.f_globals.get("__name__", "")
        if event != "call" or not module.startswith("kedge."):
            return
        name = f"{module.removeprefix('kedge.')}.{frame.f_code.co_qualname}"
        if self.times[name] and frame.f_code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE):
            return
        self.times[name] += 1
        if self.times[name] == 1:
            self.entered.append(name)

    def take(self, work: Callable[[], object]) -> None:
        """Run some work, in any of its threads, and compare."""
        threading.setprofile(self.note)
        sys.setprofile(self.note)
        try:
            work()
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
        assert len(self.steps) > 4
        assert [name for name in self.steps if name not in self.times] == [], "listed, but not entered"
        assert [name for name in self.entered if name in self.steps] == self.steps
        again = {name for name in self.steps if self.times[name] > 1}
        assert again <= self.repeated, "entered more than once"


@pytest.fixture(scope="module")
def pipeline() -> Any:
    return review_model()


def test_the_walk_of_a_linear_pipeline(pipeline):
    """Every function listed is entered, in that order, once."""
    Walk.of("A linear pipeline").take(lambda: kedge.explain(pipeline, TEXT))


def test_the_walk_of_a_black_box(pipeline):
    """The same for a function that gives probabilities."""

    def probabilities(texts: list[str]) -> Any:
        return pipeline.predict_proba(texts)

    Walk.of("A black box").take(lambda: kedge.explain(probabilities, TEXT))


def test_the_walk_of_a_corpus_with_two_workers(pipeline):
    """In the process that asks, with two real workers; and what a worker does, run in this process."""
    explainer = kedge.Explainer(pipeline)
    texts = [TEXT, "The food was not good at all", "Very good food."] * 2
    walk = Walk.of("A corpus with two workers")
    walk.take(lambda: list(explainer.explain_corpus(texts, workers=2)))
    batch = list(items_of(texts))
    worker = Walk.of("A corpus with two workers", part=1)
    with stored(explainer) as folder:
        worker.take(lambda: list(explain_each(folder.load(), batch, "outcome")))


@pytest.mark.serve
def test_the_walk_of_a_request_to_the_workbench(pipeline):
    """Through the whole application, the thread of the job included."""
    import asyncio

    import httpx

    from kedge.workbench import create_app

    app = create_app(pipeline)

    async def ask() -> None:
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            answer = await client.post("/api/explain", json={"text": TEXT})
            assert answer.status_code == 200, answer.text

    Walk.of("One request to the workbench").take(lambda: asyncio.run(ask()))
