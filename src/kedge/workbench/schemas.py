"""What clients send and what they get back, as the OpenAPI schema documents it."""

import json
from importlib.resources import files
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from kedge.corpus.files.columns import COLUMNS

__all__ = [
    "EXPLANATION",
    "ROW",
    "ErrorBody",
    "ExplainRequest",
    "FlipBody",
    "FlipRequest",
    "Health",
    "InfluenceBody",
    "InfluenceRequest",
    "ModelInfo",
    "PrecisionRequest",
    "PredictRequest",
    "Prediction",
    "VerdictBody",
    "with_explanation",
]

JsonLabel = bool | int | float | str
# Pairs are lists of two: OpenAPI has no other way that all of its tools understand.
Pair = Annotated[list[JsonLabel], Field(min_length=2, max_length=2)]
Share = Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)]


class _Body(BaseModel):
    """Only what is known is taken, and as what it is."""

    model_config = ConfigDict(extra="forbid", strict=True)


class _TextRequest(_Body):
    text: str = Field(min_length=1, description="The document.", examples=["The soup was cold."])
    label: JsonLabel | None = Field(None, description="Which label to explain, for a multi-label model.")
    threshold: Share = Field(0.95, description="The precision that makes an anchor.")
    delta: Annotated[float, Field(gt=0, lt=1, allow_inf_nan=False)] = Field(
        0.05, description="How likely a certified claim about a text may be wrong."
    )
    seed: Annotated[int, Field(ge=0, lt=2**32)] = Field(0, description="Same seed, same answer.")
    max_queries: Annotated[int, Field(ge=1, le=10_000_000)] | None = Field(
        None, description="The most texts that may be sent to the model."
    )


class ExplainRequest(_TextRequest):
    """A text to explain."""

    method: str = Field(
        "auto",
        description="How to search: a name, or with parameters, as in beam(width=4).",
        max_length=200,
    )
    against: JsonLabel | None = Field(
        None, description="Another label: what keeps the text's own label ahead of it?"
    )
    allow_empty: bool = Field(False, description="Whether 'no word is needed' may be the answer.")
    keep: Literal["auto"] | Annotated[float, Field(gt=0, lt=1, allow_inf_nan=False)] = Field(
        0.5,
        description="The probability that a word outside the anchor stays; auto: lower ones, too.",
    )


class PrecisionRequest(_TextRequest):
    """A set of words to judge."""

    words: list[int | str] = Field(
        description="Words, or positions of words counted from 0; a word named twice is two occurrences.",
        max_length=100_000,
    )


class FlipRequest(_Body):
    """A text whose label is to change."""

    text: str = Field(min_length=1, description="The document.", examples=["The soup was cold."])
    label: JsonLabel | None = Field(None, description="Which label to lose, for a multi-label model.")
    to: JsonLabel | None = Field(None, description="The label to reach; null: any other.")
    seed: Annotated[int, Field(ge=0, lt=2**32)] = Field(0, description="Same seed, same answer.")
    max_queries: Annotated[int, Field(ge=1, le=10_000_000)] | None = Field(
        None, description="The most texts that may be sent to the model."
    )


class InfluenceRequest(_TextRequest):
    """A text whose words are weighed."""

    samples: Annotated[int, Field(ge=20, le=1_000_000)] = Field(
        2000, description="How many samples are drawn for a black box."
    )


class PredictRequest(_Body):
    """A text of which some words are removed."""

    text: str = Field(min_length=1)
    removed: list[Annotated[int, Field(ge=0)]] = Field(
        default_factory=list, description="Positions of the words to mask.", max_length=100_000
    )


class Prediction(BaseModel):
    """The model's answer about a text."""

    label: JsonLabel | None
    labels: list[JsonLabel] = Field(description="All labels that hold, for a multi-label model.")
    probabilities: list[Pair] | None = Field(description="Pairs of label and probability.")
    masked: str = Field(description="The text that was sent to the model.")


class IntervalBody(BaseModel):
    """What is known of a probability: its ends, and the best estimate."""

    low: float
    mean: float
    high: float


class VerdictBody(BaseModel):
    """What is known of the precision of a set of words."""

    text: str
    label: JsonLabel
    words: list[str]
    positions: list[int]
    spans: list[Annotated[list[int], Field(min_length=2, max_length=2)]]
    interval: IntervalBody
    status: Literal["exact", "certified"]
    threshold: float
    delta: float
    evaluator: str = Field(description="How it was found.")
    samples: int = Field(description="How many samples were drawn.")
    queries: int
    seconds: float | None
    reaches: bool | None = Field(description="Whether it is an anchor; null while that is open.")


class WordInfluenceBody(BaseModel):
    """What a word does with all of its occurrences."""

    word: str
    positions: list[int]
    value: float
    error: float


class ClassInfluenceBody(BaseModel):
    """What each token adds to the log-odds or score of one class."""

    label: JsonLabel
    values: list[float]
    errors: list[float]


class InfluenceBody(BaseModel):
    """What each token does to the label: Banzhaf values, and how far off they may be."""

    label: JsonLabel
    values: list[float]
    errors: list[float]
    words: list[WordInfluenceBody]
    classes: list[ClassInfluenceBody]
    scale: Literal["log-odds", "score"] | None
    exact: bool = Field(description="Whether nothing was sampled.")
    samples: int


class FlipBody(BaseModel):
    """What it takes to change the label."""

    text: str
    label: JsonLabel
    to: JsonLabel | None
    new_label: JsonLabel | None
    words: list[str]
    positions: list[int]
    spans: list[Annotated[list[int], Field(min_length=2, max_length=2)]]
    replacements: list[str] | None
    status: Literal["exact", "verified", "not_found"]
    minimality: Literal["smallest", "irreducible", "open"]
    after: str | None = Field(description="The changed text, as it was sent to the model.")
    probabilities: list[Pair] | None
    probabilities_after: list[Pair] | None
    method: str
    model: str
    perturbation: str
    queries: int
    tokens: list[Annotated[list[int], Field(min_length=2, max_length=2)]]
    seconds: float | None
    notes: list[str]
    said: str = Field(description="The answer in words.")


class ModelInfo(BaseModel):
    """The model being served, and the server's limits."""

    name: str
    version: str
    methods: list[str]
    documents: list[str] = Field(description="Texts to try.")
    characters: int = Field(description="The longest text that is explained.")
    seconds: float = Field(description="The longest time one request may work.")


class Health(BaseModel):
    """The server is there; "stuck" while no worker is left because the model does not return."""

    status: Literal["ok", "stuck"]
    jobs: int = Field(description="Requests being worked on or waiting.")


class Problem(BaseModel):
    """What went wrong."""

    kind: str
    message: str


class ErrorBody(BaseModel):
    """Every refusal: one sentence, never a traceback."""

    error: Problem


EXPLANATION = {"$ref": "#/components/schemas/Explanation"}
_SCALARS: dict[str, list[str]] = {kind: [kind, "null"] for kind in ("string", "integer", "number", "boolean")}
_OF_A_RUN = {"row", "id", "digest", "error_kind", "error"}
ROW = {
    "title": "Row",
    "description": "An explanation as one flat row, as `kedge corpus` writes it.",
    "type": "object",
    "additionalProperties": False,
    "properties": {
        name: {} if name == "label" else {"type": _SCALARS.get(kind, ["array", "null"])}
        for name, kind in COLUMNS.items()
        if name not in _OF_A_RUN
    },
    "required": [name for name in COLUMNS if name not in _OF_A_RUN],
}


def with_explanation(openapi: dict[str, Any]) -> dict[str, Any]:
    """Add the package's own JSON schema of an explanation to the server's components."""
    source = (files("kedge") / "data" / "explanation.schema.json").read_text(encoding="utf-8")
    # References inside the schema point into its own $defs; here these are components.
    schema = json.loads(source.replace("#/$defs/", "#/components/schemas/explanation-"))
    parts = {f"explanation-{name}": part for name, part in schema.pop("$defs").items()}
    schema.pop("$schema", None)
    openapi.setdefault("components", {}).setdefault("schemas", {}).update({"Explanation": schema, **parts})
    return openapi
