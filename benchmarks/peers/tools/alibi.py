"""alibi's AnchorText with its defaults: sampling "unknown", a blank English spaCy pipeline as tokenizer."""

from typing import Any

import numpy as np
import spacy
from alibi.explainers import AnchorText

from . import Answer, Asked, Explain


def make(model: Any, asked: Asked) -> Explain:
    """It asks for labels; its seed sets numpy's global one."""
    nlp = spacy.blank("en")
    explainer = AnchorText(
        predictor=asked.counting(model.predict), sampling_strategy="unknown", nlp=nlp, seed=0
    )

    def explain(text: str, seed: int) -> Answer:
        np.random.seed(seed)  # noqa: NPY002  (it draws from the global state)
        e = explainer.explain(text, threshold=0.95)
        tokens = [(t.idx, t.idx + len(t)) for t in nlp(text)]
        return Answer([tokens[int(k)] for k in e.data["raw"]["feature"]], float(np.squeeze(e.precision)))

    return explain
