"""Checking a certificate against the model that it is about.

The checker shows that the claim follows from what the certificate says of the model. With the model at hand
that is compared too: weights and leaves are read again, answers are queried again.
"""

import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from kedge.certificates.checker import Case, Rejected, check, samples
from kedge.certificates.issue import plain_label
from kedge.certificates.proofs import Proof, all_samples, sum_proof, tree_proof
from kedge.errors import CertificateError, LabelError
from kedge.explainer import Explainer
from kedge.model.answers.outputs import Outputs
from kedge.perturb import Masking
from kedge.reading.reading import Reading
from kedge.text.document import Token
from kedge.typing import Bools, Counts, Label

__all__ = ["verify"]


def verify(
    certificate: Any,
    model: Any = None,
    *,
    ask: int | None = None,
    outputs: Outputs = "auto",
    classes: Sequence[Label] | None = None,
) -> str:
    """What a certificate proves, in one sentence; a `CertificateError` says what is wrong.

    Parameters
    ----------
    certificate
        What ``e.certificate()`` gave, or its JSON form read back.
    model
        The model, for what the certificate says of it to be compared with what it says itself.
    ask
        How many of the logged answers, drawn at random, are queried again; None for all.
    outputs, classes
        What the model's numbers mean, and its class names, as for ``explain``.

    >>> import kedge
    >>> rule = kedge.rules.all_present(["very", "good"])
    >>> e = kedge.explain(rule, "Food is very very good!", certificate=True)
    >>> kedge.verify(e.certificate(), rule).split(", and ")[1]
    'no shorter set of one word or more does. The model agrees.'
    """
    try:
        proved = check(certificate)
    except Rejected as wrong:
        raise CertificateError(str(wrong)) from None
    if model is None:
        return proved
    reading = _read_again(certificate, model, outputs, classes)
    asked = _compare(reading, certificate, ask)
    return f"{proved} The model agrees{asked}."


def _read_again(
    certificate: dict[str, Any], model: Any, outputs: Outputs, classes: Sequence[Label] | None
) -> Reading:
    """The model's reading of the text, in the same words and with the same mask."""
    written = certificate["perturbation"]
    case = Case(certificate)
    masking = Masking(mask=written["mask"], keep=float(case.keep), protect=tuple(written["protect"]))
    explainer = Explainer(model, outputs=outputs, classes=classes, perturbation=masking)
    spans = [tuple(span) for span in certificate["tokens"]]

    def same_words(text: str) -> list[Token]:
        return [Token(text[start:stop], start, stop) for start, stop in spans]

    label = certificate["label"]
    try:
        reading = explainer.read(case.text)
        if [(t.start, t.stop) for t in reading.document.tokens] != spans:
            # The text was split by a tokenizer of the user's own.
            reading = explainer.with_options(tokenizer=same_words).read(case.text)
    except LabelError:  # a multi-label model needs to know which one
        reading = _labelled(explainer, case.text, label)
    if plain_label(reading.label) != label:
        raise CertificateError(f"The model labels the text {reading.label!r}, not {label!r}.")
    if [list(group) for group in reading.units.members] != certificate["units"]:
        raise CertificateError("The model does not read the text in the units of the certificate.")
    return reading


def _labelled(explainer: Explainer, text: str, label: Any) -> Reading:
    try:
        return explainer.read(text, label)
    except LabelError as error:
        raise CertificateError(error.sentence) from None


def _compare(reading: Reading, certificate: dict[str, Any], ask: int | None) -> str:
    """Refuse what the model does not confirm; returns how much of it was queried again."""
    proof: Proof = certificate["proof"]
    if proof["kind"] in {"sum", "tree"}:
        score, leaves = reading.additive, reading.leaves
        now = None
        if proof["kind"] == "sum" and score is not None:
            now = sum_proof(score)
        if proof["kind"] == "tree" and leaves is not None:
            now = tree_proof(leaves, reading.units.sizes)
        if now != proof:
            what = "weights" if proof["kind"] == "sum" else "leaves"
            raise CertificateError(f"The model's {what} are not those of the certificate.")
        return ""
    rows, logged = _logged(Case(certificate))
    chosen = range(len(rows)) if ask is None or ask >= len(rows) else _drawn(len(rows), ask)
    at = np.fromiter(chosen, dtype=np.int64)
    wrong = int(np.count_nonzero(reading.holds(rows[at]) != logged[at]))
    if wrong:
        raise CertificateError(
            f"For {wrong} of the {len(at)} samples queried again the model gives another answer."
        )
    return f", queried again on {len(at)} of {len(rows)} samples"


def _logged(case: Case) -> tuple[Counts, Bools]:
    """The samples of a certificate, as the checker draws them, and the answers that were logged."""
    if case.proof["kind"] == "table":
        given = np.array(case.proof["given"], dtype=np.int64)
        sizes = np.array(case.sizes, dtype=np.int64)
        rows = all_samples(sizes, given, slice(0, int(np.prod(sizes - given + 1))))
    else:
        rows = np.array(list(samples(case, case.proof["count"])), dtype=np.int64)
    bits = np.frombuffer(bytes.fromhex(case.proof["answers"]), dtype=np.uint8)
    return rows, np.unpackbits(bits, count=len(rows)).astype(bool)


def _drawn(count: int, ask: int) -> list[int]:
    """Which answers to query again: chosen so that a forger cannot predict them."""
    return sorted(random.SystemRandom().sample(range(count), max(ask, 0)))
