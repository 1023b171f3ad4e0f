"""Certificates of every kind, and what can be done to them."""
# ruff: noqa: ARG001  (what changes a certificate has one signature)

import json
from copy import deepcopy
from fractions import Fraction
from functools import cache

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import kedge
from kedge.certificates import checker
from kedge.data.demo import review_model, reviews

LONG = (
    "The service was slow and the soup was cold, but the staff were friendly and the dessert was delicious. "
    "The waiter was slow, the food was not good, and we will not come back to this place."
)
SHORT = "The food was not very good"


def parity(texts):
    """A black box that can only be asked."""
    return [int("cold" in text or ("slow" in text and "waiter" in text)) for text in texts]


@cache
def fitted(name):
    """A model of each kind, trained on the embedded reviews."""
    parts = {
        "naive Bayes": (CountVectorizer(), BernoulliNB()),
        "tree": (CountVectorizer(), DecisionTreeClassifier(random_state=0)),
        "forest": (CountVectorizer(), RandomForestClassifier(8, random_state=0)),
        "normalised": (TfidfVectorizer(), LogisticRegression(C=100.0)),
    }
    return make_pipeline(*parts[name]).fit(*reviews())


MODELS = {
    "linear": (review_model, LONG, "sum"),
    "additive": (lambda: fitted("naive Bayes"), LONG, "sum"),
    "tree": (lambda: fitted("tree"), LONG, "tree"),
    "rule": (lambda: kedge.rules.all_present(["very", "good"]), "Food is very very very very good!", "tree"),
    "asked": (lambda: parity, "so slow, this waiter, so cold", "table"),
    "forest": (lambda: fitted("forest"), SHORT, "table"),
    "black box": (lambda: parity, LONG, "samples"),
    "counted": (lambda: fitted("normalised"), LONG, "samples"),
}


@cache
def _issued(name):
    model, text, _ = MODELS[name]
    e = kedge.explain(model(), text, certificate=True)
    return json.dumps(e.certificate())


def issued(name):
    """The certificate of one answer, as it is read from a file."""
    return json.loads(_issued(name))


def resealed(certificate):
    """What a forger would hand in: the seal fits again."""
    return {**certificate, "seal": checker.seal(certificate)}


def number(written):
    top, _, bottom = written.partition("/")
    return Fraction(int(top), int(bottom))


def written(value):
    exact = Fraction(value)
    return f"{exact.numerator}/{exact.denominator}"


def tampered(certificate, what, rng):
    """The certificate with one thing changed that matters, sealed again; None where it has no such thing."""
    forged = deepcopy(certificate)
    proof, bounds = forged["proof"], forged["bounds"]
    changed = _TAMPERING[what](forged, proof, bounds, rng)
    return resealed(forged) if changed else None


def _anchor(forged, proof, bounds, rng):
    """Another word in place of one of the anchor's."""
    mine = forged["anchor"]["positions"]
    others = [k for unit in forged["units"] if not set(unit) & set(mine) for k in unit]
    if not others:
        return False
    chosen = sorted({*rng.sample(mine, len(mine) - 1), rng.choice(others)})
    words = [forged["text"][slice(*forged["tokens"][k])] for k in chosen]
    forged["anchor"] = {"positions": chosen, "words": words}
    return True


def _shorter(forged, proof, bounds, rng):
    """A word of the anchor left out."""
    anchor = forged["anchor"]
    if len(anchor["positions"]) < 2:
        return False
    at = rng.randrange(len(anchor["positions"]))
    del anchor["positions"][at], anchor["words"][at]
    return True


def _word(forged, proof, bounds, rng):
    """A word of the anchor called something else."""
    words = forged["anchor"]["words"]
    words[rng.randrange(len(words))] += "x"
    return True


def _text(forged, proof, bounds, rng):
    """A letter of the text."""
    at = rng.randrange(len(forged["text"]))
    forged["text"] = forged["text"][:at] + chr(ord(forged["text"][at]) + 1) + forged["text"][at + 1 :]
    return True


def _weights(forged, proof, bounds, rng):
    """One weight, by a little."""
    if proof["kind"] != "sum":
        return False
    at = rng.randrange(len(proof["scores"]))
    while isinstance(proof["scores"][at], list):
        at = rng.randrange(len(proof["scores"]))
    proof["scores"][at] = written(number(proof["scores"][at]) + Fraction(rng.choice([-1, 1]), 64))
    return True


def _leaf(forged, proof, bounds, rng):
    """The label of a leaf."""
    if proof["kind"] != "tree":
        return False
    leaf = rng.choice(proof["leaves"])
    leaf["holds"] = not leaf["holds"]
    return True


def _answers(forged, proof, bounds, rng):
    """One answer of the model."""
    if proof["kind"] not in {"table", "samples"}:
        return False
    bits = bytearray(bytes.fromhex(proof["answers"]))
    count = proof.get("count") or int(
        np.prod([len(u) - g + 1 for u, g in zip(forged["units"], proof["given"], strict=True)])
    )
    at = rng.randrange(count)
    bits[at // 8] ^= 128 >> at % 8
    proof["answers"] = bits.hex()
    return True


def _low(forged, proof, bounds, rng):
    """A lower bound that is too good, or too bad to show the claim."""
    low = number(bounds["low"])
    if low == 1 or proof["kind"] == "samples":
        bounds["low"] = written(number(forged["threshold"]) - Fraction(1, 1000))
    else:
        bounds["low"] = written((low + 1) / 2)
    return True


def _high(forged, proof, bounds, rng):
    """An upper bound that is too good."""
    bounds["high"] = written(number(bounds["high"]) - Fraction(rng.randrange(1, 40), 1000))
    return True


def _other(forged, proof, bounds, rng):
    """A bound on shorter anchors that is too good."""
    if "shorter" not in bounds:
        return False
    bounds["shorter"] = written(number(bounds["shorter"]) / 2 - Fraction(1, 1000))
    return True


def _threshold(forged, proof, bounds, rng):
    """A higher threshold."""
    if number(bounds["low"]) == 1:
        forged["threshold"] = written(1 + Fraction(1, 1000))
    else:
        forged["threshold"] = written((number(bounds["low"]) + 1) / 2)
    return True


def _level(forged, proof, bounds, rng):
    """A proof that claims less doubt."""
    if proof["kind"] != "samples":
        return False
    proof["level"] = written(number(proof["level"]) / 1000)
    return True


_TAMPERING = {
    "anchor": _anchor,
    "anchor cut": _shorter,
    "word": _word,
    "text": _text,
    "weights": _weights,
    "leaf": _leaf,
    "answers": _answers,
    "lower bound": _low,
    "upper bound": _high,
    "bound on shorter ones": _other,
    "threshold": _threshold,
    "level": _level,
}
TAMPERING = tuple(_TAMPERING)
