"""kedge with its defaults: reading the pipeline, or asking one of its functions as a black box."""

from typing import Any

import kedge

from . import Answer, Asked, Explain


def readable(model: Any) -> Any:
    """What a user would pass: the pipeline, or the torch module with its vectoriser."""
    network = model[-1]
    return kedge.torch_model(network.module, model[0]) if hasattr(network, "module") else model


def make(model: Any, asked: Asked, how: str = "read") -> Explain:
    """An explainer per seed, made once; a bare function hides everything inside the model."""
    given = readable(model) if how == "read" else asked.counting(getattr(model, how))
    explainers: dict[int, kedge.Explainer] = {}

    def explain(text: str, seed: int) -> Answer:
        if seed not in explainers:
            explainers[seed] = kedge.Explainer(given, seed=seed)
        e = explainers[seed].explain(text)
        spans = [(start, stop) for start, stop in e.spans]
        return Answer(spans, e.precision, e.status, e.queries if how == "read" else None)

    return explain
