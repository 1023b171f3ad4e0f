"""Making a certificate: the claim, what it is about and rests on, and the bounds that a checker finds."""

import sys
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from fractions import Fraction
from hashlib import sha256
from platform import python_version
from typing import Any

from kedge.certificates import checker
from kedge.certificates.proofs import fraction, proof_of
from kedge.errors import CertificateError, OutOfQueries
from kedge.perturb import Masking
from kedge.reading.reading import Reading
from kedge.search.strategy import Found, Goal
from kedge.typing import Label

__all__ = ["issue_certificate", "issued", "named", "plain_label"]

# Bounds are written with so many binary digits, rounded outwards.
_DIGITS = 1 << 40


def issued(
    reading: Reading, found: Found, goal: Goal, model: Mapping[str, Any], *, shortest: bool
) -> dict[str, Any] | str:
    """The certificate of an answer; or, in one sentence, why there is none."""
    try:
        return issue_certificate(reading, found, goal, model, shortest=shortest)
    except (CertificateError, OutOfQueries) as error:
        return error.sentence


def issue_certificate(
    reading: Reading, found: Found, goal: Goal, model: Mapping[str, Any], *, shortest: bool
) -> dict[str, Any]:
    """The certificate of an answer, as data for JSON; refused where nothing was promised.

    Parameters
    ----------
    reading, found, goal
        What was read, what was found, and the goal.
    model
        The model's name and digest.
    shortest
        Whether it is claimed that nothing shorter reaches the threshold. Where the checker cannot show that
        by its own means the certificate does not claim it.
    """
    if found.status not in {"exact", "certified"}:
        raise CertificateError(
            f"An answer whose status is {found.status!r} promises nothing, so there is nothing to certify."
        )
    if not isinstance(reading.perturbation, Masking):
        raise CertificateError(
            f"The perturbation {reading.perturbation.name!r} cannot be drawn again by others, so there is no "
            "certificate; use kedge.Masking()."
        )
    document, anchor = reading.document, reading.units.anchor(found.kept)
    text, proof = document.text, proof_of(reading, found, goal)
    certificate: dict[str, Any] = {
        "format": checker.FORMAT,
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": _versions(),
        "model": dict(model),
        "text": text,
        "text_sha256": sha256(text.encode("utf-8", "surrogatepass")).hexdigest(),
        "label": plain_label(reading.label),
        "tokens": [[t.start, t.stop] for t in document.tokens],
        "units": [list(group) for group in reading.units.members],
        "perturbation": {
            "name": reading.perturbation.name,
            "mask": reading.perturbation.written,
            "protect": list(reading.perturbation.protect),
        },
        "keep": fraction(reading.keep),
        "threshold": fraction(goal.threshold),
        "delta": fraction(goal.delta),
        "seed": int(goal.seed),
        "allow_empty": goal.allow_empty,
        "anchor": {
            "positions": list(anchor.positions),
            "words": [text[start:stop] for start, stop in anchor.spans(document)],
        },
        "shortest": shortest and proof["kind"] != "samples" and not any(proof.get("given", ())),
        "proof": proof,
    }
    return _bounded(certificate, goal)


def _bounded(certificate: dict[str, Any], goal: Goal) -> dict[str, Any]:
    """With the bounds that the checker finds, and sealed; what the checker cannot show is not claimed."""
    threshold = Fraction(goal.threshold)
    low, high, shorter = Fraction(0), Fraction(1), None
    with suppress(checker.Rejected):
        low, high, shorter = checker.bounds(checker.Case(certificate))
    if certificate["shortest"] and (low < threshold or (shorter is not None and shorter >= threshold)):
        return _bounded({**certificate, "shortest": False}, goal)
    if low < threshold:
        raise CertificateError(
            "The precision is so close to the threshold, or to what only rounding decides, that the checker "
            "cannot confirm the claim; there is no certificate."
        )
    bounds = {
        "low": fraction(max(Fraction(low * _DIGITS // 1, _DIGITS), threshold)),
        "high": fraction(min(Fraction(-(-high * _DIGITS // 1), _DIGITS), Fraction(1))),
    }
    if shorter is not None:
        rounded = Fraction(-(-shorter * _DIGITS // 1), _DIGITS)
        bounds["shorter"] = fraction(rounded if rounded < threshold else shorter)
    done = {**certificate, "bounds": bounds}
    return {**done, "seal": checker.seal(done)}


def named(name: str, given: Any) -> dict[str, Any]:
    """The model as a certificate names it; the digest is None for one that cannot be pickled."""
    from kedge.corpus.identity import model_digest

    return {"name": name, "digest": model_digest(given)}


def plain_label(label: Label) -> str | int | float:
    """A label as JSON has it; anything but text and numbers by how it is shown."""
    return label if isinstance(label, (str, int, float)) else repr(label)


def _versions() -> dict[str, str]:
    """What made the certificate: kedge, Python, and the libraries in use."""
    from kedge import __version__

    names = {"numpy": "numpy", "scikit-learn": "sklearn", "torch": "torch", "transformers": "transformers"}
    used = {name: sys.modules[module] for name, module in names.items() if module in sys.modules}
    found = {name: str(getattr(module, "__version__", "unknown")) for name, module in used.items()}
    return {"kedge": __version__, "python": python_version(), **found}
