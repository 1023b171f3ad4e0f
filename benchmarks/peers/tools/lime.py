"""LIME's text explainer with its defaults (5,000 samples, 10 words)."""

from typing import Any

from lime.lime_text import LimeTextExplainer

from . import Answer, Asked, Explain


def make(model: Any, asked: Asked) -> Explain:
    """It asks for probabilities."""
    predict = asked.counting(model.predict_proba)

    def explain(text: str, seed: int) -> Answer:
        found = LimeTextExplainer(class_names=["0", "1"], random_state=seed).explain_instance(text, predict)
        ranked = sorted(found.as_list(), key=lambda pair: -pair[1])
        return Answer([], ranked=[(str(word), float(weight)) for word, weight in ranked])

    return explain
