"""Whether data follow the shipped schema, by the few keywords that it uses."""

import json
from functools import cache
from importlib.resources import files
from typing import Any

__all__ = ["Misfit", "explanation_schema", "follow_schema"]

# The types of JSON, as Python has them.
_KINDS: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
    "array": (list,),
    "object": (dict,),
}


class Misfit(Exception):  # noqa: N818  (caught where data is read, and raised again as a KedgeError)
    """What does not fit."""


@cache
def explanation_schema() -> dict[str, Any]:
    """The schema of an explanation, as it is shipped."""
    text = (files("kedge") / "data" / "explanation.schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


def follow_schema(value: Any, schema: dict[str, Any], at: str = "") -> None:
    """Refuse what does not follow a schema, with the name of the part."""
    if "$ref" in schema:
        schema = explanation_schema()["$defs"][schema["$ref"].rpartition("/")[2]]
    if "anyOf" in schema:  # ours: something, or null
        follow_schema(value, schema["anyOf"][int(value is None)], at)
        return
    allowed = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if allowed is not None and value not in allowed:
        raise Misfit(f"{at} is none of {', '.join(map(str, allowed))}")
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(_is_a(value, kind) for kind in kinds):
        raise Misfit(f"{at} is no {' or '.join(kinds)}")
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        _check_range(value, schema, at)
    elif isinstance(value, str):
        _check_length(value, "Length", "characters", schema, at)
    elif isinstance(value, dict):
        _check_fields(value, schema, at)
    elif isinstance(value, list):
        _check_entries(value, schema, at)


def _is_a(value: Any, kind: str) -> bool:
    return isinstance(value, _KINDS[kind]) and (kind == "boolean" or not isinstance(value, bool))


def _check_range(value: float, schema: dict[str, Any], at: str) -> None:
    low, high = schema.get("minimum", value), schema.get("maximum", value)
    above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    strictly = (above is None or value > above) and (below is None or value < below)
    if not low <= value <= high or not strictly:
        raise Misfit(f"{at} is {value!s:.30}, which is out of range")


def _check_length(value: Any, keyword: str, parts: str, schema: dict[str, Any], at: str) -> None:
    if not schema.get(f"min{keyword}", 0) <= len(value) <= schema.get(f"max{keyword}", len(value)):
        raise Misfit(f"{at} has {len(value)} {parts}")


def _check_entries(value: list[Any], schema: dict[str, Any], at: str) -> None:
    _check_length(value, "Items", "entries", schema, at)
    first = schema.get("prefixItems", [])
    for i, one in enumerate(value):
        follow_schema(one, first[i] if i < len(first) else schema.get("items", {}), f"{at}[{i}]")


def _check_fields(value: dict[str, Any], schema: dict[str, Any], at: str) -> None:
    known = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            raise Misfit(f"{name} is missing" + (f" in {at}" if at else ""))
    for name, one in value.items():
        if name in known:
            follow_schema(one, known[name], f"{at}.{name}" if at else name)
        elif schema.get("additionalProperties") is False:
            raise Misfit(f"{name!r:.60} is not known")
