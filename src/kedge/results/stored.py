"""Reading an explanation back from JSON; what does not fit together is refused.

The shipped schema says what each field looks like; beyond it the parts must agree with each other and
with the text, so that a report cannot claim words that are not there.
"""

import json
import math
from typing import Any

from kedge.errors import OptionError
from kedge.results.schema import Misfit, explanation_schema, follow_schema
from kedge.text.forms import is_form_of

__all__ = ["check_explanation", "frozen", "load_explanation", "named"]


def load_explanation(text: Any) -> dict[str, Any]:
    """The JSON form as plain data, checked against the schema and the text it is about."""
    try:
        data = json.loads(text, parse_constant=_refuse_constant, parse_float=_finite)
    except (ValueError, TypeError, RecursionError) as error:
        raise OptionError(f"This is not JSON that can be read: {error}.") from None
    check_explanation(data)
    return dict(data)


def check_explanation(data: Any) -> None:
    """Refuse what is no explanation, in one sentence that names the part."""
    schema = explanation_schema()
    form = schema["properties"]["format"]["const"]
    if not isinstance(data, dict) or data.get("format") != form:
        got = data.get("format") if isinstance(data, dict) else type(data).__name__
        raise OptionError(
            f"This is not an explanation in format {form} (got {got!r:.60}); it was written by another "
            "version of kedge or is something else."
        )
    try:
        follow_schema(data, schema)
        _check_text(data)
        _check_claims(data)
        _check_influence(data)
    except Misfit as wrong:
        raise OptionError(f"The explanation does not fit together: {wrong}.") from None


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


def _finite(written: str) -> float:
    if math.isinf(value := float(written)):
        raise ValueError(f"{written:.30} is too large a number")
    return value


def _check_text(data: dict[str, Any]) -> None:
    """Refuse places and words that are not in the text."""
    text, tokens = data["text"], data["tokens"]
    end = 0
    for start, stop in tokens:
        if not end <= start < stop <= len(text):
            raise Misfit("its tokens are not in order inside the text")
        end = stop
    anchors, removed = [data, *data["removals"]], [example["removed"] for example in data["examples"]]
    tied = data["ties"]["best"] if data["ties"] else []
    sets = [*(a["positions"] for a in anchors), *(s["positions"] for s in data["trace"]), *removed, *tied]
    sets.append(data.get("unknown", []))  # not in files of earlier versions
    if any(k >= len(tokens) for positions in sets for k in positions):
        raise Misfit("a position is not one of the text's tokens")
    for anchor in anchors:
        _check_anchor(anchor, text, tokens)
    if any(not set(data["positions"]).isdisjoint(gone) for gone in removed):
        raise Misfit("an example removes a word of the anchor")


def _check_anchor(anchor: dict[str, Any], text: str, tokens: list[list[int]]) -> None:
    """Refuse an anchor whose words are not where it says they are."""
    positions = anchor["positions"]
    if positions != sorted(set(positions)) or anchor["spans"] != [tokens[k] for k in positions]:
        raise Misfit("its positions and spans are not of the same places")
    if len(anchor["words"]) != len(positions):
        raise Misfit("it has not one position for each word")
    for word, (start, stop) in zip(anchor["words"], anchor["spans"], strict=True):
        if not is_form_of(word, text[start:stop]):
            raise Misfit(f"the text has {text[start:stop]!r:.40} where the anchor has {word!r:.40}")


def _check_claims(data: dict[str, Any]) -> None:
    """Refuse intervals that are none, and a promise that the rest of the explanation breaks."""
    anchors = [data, *data["removals"]]
    own = [anchor[name] for anchor in anchors for name in ("interval", "baseline")]
    for known in (*own, *(step["interval"] for step in data["trace"])):
        if known is not None and not known["low"] <= known["mean"] <= known["high"]:
            raise Misfit("the mean of an interval is not between its ends")
    base, goal = data["baseline"], data["threshold"]
    reached = None if base is None or base["low"] < goal <= base["high"] else base["low"] >= goal
    if data["needs_no_word"] is not reached:
        raise Misfit("its baseline does not say what it says of needing no word")
    if data["status"] == "exact" and data["sampled"]:
        raise Misfit("it says exact, but it was sampled")
    for anchor in anchors:
        status, minimality = anchor["status"], anchor["minimality"]
        if status in {"exact", "certified"} and anchor["interval"]["low"] < goal:
            raise Misfit(f"it says {status}, but its precision may be below the threshold")
        if minimality == "shortest" and status not in {"exact", "certified"}:
            raise Misfit(f"it says that nothing shorter will do, but its status is {status}")


def _check_influence(data: dict[str, Any]) -> None:
    """Refuse numbers for other words than those of the text."""
    if (influence := data["influence"]) is None:
        return
    tokens = data["tokens"]
    per_token = [(x["values"], x["errors"]) for x in (influence, *influence["classes"])]
    if any(len(numbers) != len(tokens) for both in per_token for numbers in both):
        raise Misfit("its influence has not one number for each token")
    places = sorted(k for word in influence["words"] for k in word["positions"])
    if places != list(range(len(tokens))):
        raise Misfit("the words of its influence are not the tokens of the text")
    for word in influence["words"]:
        if not all(is_form_of(word["word"], data["text"][slice(*tokens[k])]) for k in word["positions"]):
            raise Misfit(f"its influence has the word {word['word']!r:.40} where the text has another")


def named(data: dict[str, Any]) -> dict[str, Any]:
    """The parts of an object, frozen."""
    return {name: frozen(value) for name, value in data.items()}


def frozen(value: Any) -> Any:
    """Lists become tuples again, all the way down."""
    return tuple(frozen(v) for v in value) if isinstance(value, list) else value
