"""anchor-exp with its defaults: "UNK" for masked words, a blank English spaCy pipeline as tokenizer."""

from typing import Any

import numpy as np
import spacy
from anchor.anchor_text import AnchorText

from . import Answer, Asked, Explain


def make(model: Any, asked: Asked) -> Explain:
    """It asks for labels; its seed is numpy's global one."""
    explainer = AnchorText(spacy.blank("en"), ["0", "1"], use_unk_distribution=True)
    predict = asked.counting(model.predict)

    def explain(text: str, seed: int) -> Answer:
        np.random.seed(seed)  # noqa: NPY002  (it draws from the global state)
        e = explainer.explain_instance(text, predict, threshold=0.95)
        tokens = [(t.idx, t.idx + len(t)) for t in explainer.nlp(text)]
        return Answer([tokens[int(k)] for k in e.features()], float(e.precision()))

    return explain
