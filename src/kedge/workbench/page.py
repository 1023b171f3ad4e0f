"""The page and its parts, served from the package: nothing is built, nothing is fetched."""

from collections.abc import Callable
from functools import cache, partial
from importlib.resources import files

from kedge.render.html import stylesheet

__all__ = ["STATIC", "index"]


@cache
def _part(name: str) -> str:
    return (files("kedge.workbench") / "static" / name).read_text(encoding="utf-8")


def index() -> str:
    """The page itself."""
    return _part("index.html")


def _style() -> tuple[str, str]:
    return stylesheet("kedge.css", "shades.css") + _part("workbench.css"), "text/css"


def _file(name: str, media_type: str) -> tuple[str, str]:
    return _part(name), media_type


STATIC: dict[str, Callable[[], tuple[str, str]]] = {
    "workbench.css": _style,
    "icon.svg": partial(_file, "icon.svg", "image/svg+xml"),
    **{
        name: partial(_file, name, "text/javascript")
        for name in ("app.js", "api.js", "numbers.js", "picture.js", "reader.js")
    },
}
"""Every file there is, by name: no path of a client's is ever opened."""
