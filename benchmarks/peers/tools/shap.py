"""SHAP's explainer for text with its defaults (Owen values, 500 evaluations)."""

from typing import Any

import numpy as np
import shap

from . import Answer, Asked, Explain


def make(model: Any, asked: Asked) -> Explain:
    """It asks for probabilities; words are split by its own pattern tokenizer."""
    predict = asked.counting(lambda texts: model.predict_proba(list(texts)))
    explainer = shap.Explainer(predict, shap.maskers.Text(r"\W+"), silent=True)

    def explain(text: str, seed: int) -> Answer:
        np.random.seed(seed)  # noqa: NPY002  (it draws from the global state)
        found = explainer([text])
        weights = np.asarray(found.values[0])[:, 1].tolist()  # of the positive label
        pairs = zip((str(word).strip() for word in found.data[0]), weights, strict=True)
        return Answer([], ranked=sorted(pairs, key=lambda pair: -pair[1]))

    return explain
