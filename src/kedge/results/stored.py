"""Reading an explanation back from JSON; what does not fit together is refused.

The shipped schema says what each field looks like; beyond it the parts must agree with each other and
with the text, so that a report cannot claim words that are not there.
"""

import json
import unicodedata
from functools import cache
from importlib.resources import files
from typing import Any

from kedge.errors import OptionError

__all__ = ["check_explanation", "frozen", "load_explanation"]

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


def load_explanation(text: Any) -> dict[str, Any]:
    """The JSON form as plain data, checked against the schema and the text it is about."""
    try:
        data = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, TypeError, RecursionError) as error:
        raise OptionError(f"This is not JSON that can be read: {error}.") from None
    check_explanation(data)
    return dict(data)


def check_explanation(data: Any) -> None:
    """Refuse what is no explanation, in one sentence that names the part."""
    schema = _schema()
    form = schema["properties"]["format"]["const"]
    if not isinstance(data, dict) or data.get("format") != form:
        got = data.get("format") if isinstance(data, dict) else type(data).__name__
        raise OptionError(
            f"This is not an explanation in format {form} (got {got!r}); it was written by another version "
            "of kedge or is something else."
        )
    try:
        _follow_schema(data, schema, "")
        _check_text(data)
        _check_claims(data)
        _check_influence(data)
    except _Misfit as wrong:
        raise OptionError(f"The explanation does not fit together: {wrong}.") from None


class _Misfit(Exception):  # noqa: N818  (caught here, and told as one of ours)
    """What does not fit."""


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


@cache
def _schema() -> dict[str, Any]:
    text = (files("kedge") / "data" / "explanation.schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


def _follow_schema(value: Any, schema: dict[str, Any], at: str) -> None:
    """Refuse what does not follow the schema, by the few keywords that ours uses."""
    if "$ref" in schema:
        schema = _schema()["$defs"][schema["$ref"].rpartition("/")[2]]
    if "anyOf" in schema:  # ours: something, or null
        schema = schema["anyOf"][int(value is None)]
        _follow_schema(value, schema, at)
        return
    allowed = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if allowed is not None and value not in allowed:
        raise _Misfit(f"{at} is none of {', '.join(map(str, allowed))}")
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(_is_a(value, kind) for kind in kinds):
        raise _Misfit(f"{at or 'it'} is no {' or '.join(kinds)}")
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        _check_range(value, schema, at)
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
        raise _Misfit(f"{at} is {value:g}, which is out of range")


def _check_entries(value: list[Any], schema: dict[str, Any], at: str) -> None:
    if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
        raise _Misfit(f"{at} has {len(value)} entries")
    first = schema.get("prefixItems", [])
    for i, one in enumerate(value):
        _follow_schema(one, first[i] if i < len(first) else schema.get("items", {}), f"{at}[{i}]")


def _check_fields(value: dict[str, Any], schema: dict[str, Any], at: str) -> None:
    known = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            raise _Misfit(f"{name} is missing" + (f" in {at}" if at else ""))
    for name, one in value.items():
        if name in known:
            _follow_schema(one, known[name], f"{at}.{name}" if at else name)
        elif schema.get("additionalProperties") is False:
            raise _Misfit(f"{name!r:.60} is not known")


def _check_text(data: dict[str, Any]) -> None:
    """Refuse places and words that are not in the text."""
    text, tokens = data["text"], data["tokens"]
    end = 0
    for start, stop in tokens:
        if not end <= start < stop <= len(text):
            raise _Misfit("its tokens are not in order inside the text")
        end = stop
    places = [step["positions"] for step in data["trace"]] + [x["removed"] for x in data["examples"]]
    anchors = [data, *data["removals"]]
    if any(k >= len(tokens) for part in (*(a["positions"] for a in anchors), *places) for k in part):
        raise _Misfit("a position is not one of the text's tokens")
    for anchor in anchors:
        _check_anchor(anchor, text, tokens)


def _check_anchor(anchor: dict[str, Any], text: str, tokens: list[list[int]]) -> None:
    """Refuse an anchor whose words are not where it says they are."""
    positions = anchor["positions"]
    if positions != sorted(set(positions)) or anchor["spans"] != [tokens[k] for k in positions]:
        raise _Misfit("its positions and spans are not of the same places")
    if len(anchor["words"]) != len(positions):
        raise _Misfit("it has not one position for each word")
    for word, (start, stop) in zip(anchor["words"], anchor["spans"], strict=True):
        if not _same_word(word, text[start:stop]):
            raise _Misfit(f"the text has {text[start:stop]!r:.40} where the anchor has {word!r:.40}")


def _check_claims(data: dict[str, Any]) -> None:
    """Refuse intervals that are none, and a promise that its own interval breaks."""
    anchors = [data, *data["removals"]]
    own = [anchor[name] for anchor in anchors for name in ("interval", "baseline")]
    for known in (*own, *(step["interval"] for step in data["trace"])):
        if known is not None and not known["low"] <= known["mean"] <= known["high"]:
            raise _Misfit("the mean of an interval is not between its ends")
    base, goal = data["baseline"], data["threshold"]
    reached = None if base is None or base["low"] < goal <= base["high"] else base["low"] >= goal
    if data["needs_no_word"] is not reached:
        raise _Misfit("its baseline does not say what it says of needing no word")
    for anchor in anchors:
        if anchor["status"] in {"exact", "certified"} and anchor["interval"]["low"] < data["threshold"]:
            raise _Misfit(f"it says {anchor['status']}, but its precision may be below the threshold")


def _check_influence(data: dict[str, Any]) -> None:
    """Refuse numbers for other words than those of the text."""
    if (influence := data["influence"]) is None:
        return
    per_token = [(x["values"], x["errors"]) for x in (influence, *influence["classes"])]
    if any(len(numbers) != len(data["tokens"]) for both in per_token for numbers in both):
        raise _Misfit("its influence has not one number for each token")
    places = sorted(k for word in influence["words"] for k in word["positions"])
    if places != list(range(len(data["tokens"]))):
        raise _Misfit("the words of its influence are not the tokens of the text")


def _same_word(word: str, written: str) -> bool:
    """Whether a model may read what is written as this word: its case and accents may differ."""
    if _folded(word) == _folded(written):
        return True
    # A stemmer cuts a word's end, and may change it: "studi" of "studies", "lie" of "lying".
    if word and _folded(word)[:1] == _folded(written)[:1] and len(word) <= len(written) + 1:
        return True
    # A preprocessor may map characters one by one: digits to zero, say.
    return len(word) == len(written) and any(c.isdigit() for c in written)


def _folded(word: str) -> str:
    plain = unicodedata.normalize("NFKD", word.casefold())
    return "".join(c for c in plain if not unicodedata.combining(c))


def named(data: dict[str, Any]) -> dict[str, Any]:
    """The parts of an object, frozen."""
    return {name: frozen(value) for name, value in data.items()}


def frozen(value: Any) -> Any:
    """Lists become tuples again, all the way down."""
    return tuple(frozen(v) for v in value) if isinstance(value, list) else value
