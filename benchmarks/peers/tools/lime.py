"""LIME's text explainer with its defaults (5,000 samples, 10 words); for its cost only."""

from typing import Any

from lime.lime_text import LimeTextExplainer

from . import Answer, Asked, Explain


def make(model: Any, asked: Asked) -> Explain:
    """It asks for probabilities."""
    predict = asked.counting(model.predict_proba)

    def explain(text: str, seed: int) -> Answer:
        LimeTextExplainer(class_names=["0", "1"], random_state=seed).explain_instance(text, predict)
        return Answer([])

    return explain
