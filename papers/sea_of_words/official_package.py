"""The official package itself (anchor-exp) beside ``method="beam"``: whether they agree in distribution.

For each of some documents of every table both are run ten times. If they are one procedure, the anchors of
the two are draws of one law, and which program gave which anchor does not matter: the distance of the two
sets of anchors is compared with that after mixing them at random (a permutation test of the energy
distance, with one minus the Jaccard similarity as distance).

The package takes the last of an ``argsort`` of means. Equal means come in another order in the scalar sort of
an older numpy than in today's; so it is run twice, as it is and with the scalar sort, which is what the
authors had and ``method="beam"`` has.
"""

import json
import pickle
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from .judge import z_paired
from .networks import Network, authors_network, trained_network
from .result import Beyond, Check, Result, Table
from .session import Session
from .setting import (
    classifier,
    jaccard,
    official,
    official_anchors,
    positives,
    ranked_words,
    split,
    top_words,
)
from .table_networks import positive_documents

__all__ = ["energy", "permutation_share", "run"]

TITLE = "The official package (anchor-exp) beside the procedure used here"
# Where `make bench` puts the environment of other packages.
PEERS = Path(__file__).resolve().parents[2] / ".venv-peers" / "bin" / "python"
WORKER = Path(__file__).with_name("package_worker.py")
# Documents and runs of each case, the words of a document at the most, and seconds the package may take.
DOCUMENTS, RUNS, WORDS, SECONDS = 20, 10, 60, 30.0
MIXED = 2_000
# Tables, as model and data set. Long reviews take the package minutes each: Yelp's are the short ones.
CASES = (
    ("logistic", "restaurants"),
    ("logistic", "yelp"),
    ("perceptron", "restaurants"),
    ("forest", "restaurants"),
    ("3 layers", "restaurants"),
    ("3 layers", "yelp"),
    ("10 layers", "restaurants"),
    ("20 layers", "restaurants"),
)


def run(session: Session) -> Result:
    """Skipped, with the reason, where the environment of the package is not there."""
    if not PEERS.is_file():
        reason = "Skipped: the environment of the official package is not there; `make bench` makes it."
        return Result("package", TITLE, notes=(reason,))
    extra, checks = [], []
    for kind, data in CASES if session.scale.most is None else CASES[:1]:
        found = _both(session, kind, data)
        if found is None or not found["package"]:
            continue
        name, p = f"{kind}, {data}", permutation_share(found["package"], found["here"])
        scalar = permutation_share(found["scalar"], found["here"])
        count = len(found["package"])
        means = {who: float(np.mean(found[f"{who} similarity"])) for who in ("package", "here")}
        z = z_paired(
            *({str(i): v for i, v in enumerate(found[f"{w} similarity"])} for w in ("here", "package"))
        )
        note = f"{count} documents"
        ranked = kind != "forest"  # which has no coefficients to rank by
        extra += [
            Beyond(name, "similarity to the ranking, anchor-exp", means["package"] if ranked else None),
            Beyond(name, "similarity to the ranking, here", means["here"] if ranked else None),
            Beyond(name, "z, paired", z if ranked else None, None, count, note),
            Beyond(name, "p, package as installed", p, None, count),
            Beyond(name, "p, package with the scalar sort", scalar, None, count),
            Beyond(name, "seconds a run, anchor-exp", found["seconds"], None, count),
        ]
        # Several cases are looked at: each may be wrong for the others' sake.
        checks.append(
            Check(
                f"{name}: with the scalar sort the anchors of the two are draws of one law (p above 0.05 / "
                f"{len(CASES)}).",
                scalar > 0.05 / len(CASES),
                f"p = {scalar:.3f}; as installed {p:.3f}",
            )
        )
    text = (
        f"Both programs, {RUNS} runs each on the same documents of at most {WORDS} words (a forest and "
        "networks "
        "answer the package slowly). Both cut words with spaCy's English rules, as the package does."
    )
    return Result("package", TITLE, (Table(TITLE, (), text, tuple(extra)),), checks=tuple(checks))


def _both(session: Session, kind: str, data: str) -> dict[str, Any] | None:
    """The anchors of both programs on some documents, and their similarity to the ranking."""
    most, runs = session.scale.of(DOCUMENTS, RUNS)
    network = _network(session, kind, data) if kind.endswith("layers") else None
    if network is not None:
        texts = [text for text, _ in positive_documents(network, data, split(data).test)]
    else:
        texts = positives(data, kind)
    short = [t for t in texts if 3 <= len(t.split()) <= WORDS][:most]

    def work(item: list[Any]) -> dict[str, Any]:
        told, ordered = (
            _package(network or classifier(data, kind), item[3], item[4], scalar=scalar)
            for scalar in (False, True)
        )
        done = item[3][: min(len(told["anchors"]), len(ordered["anchors"]))]
        model = network.model if network else official(data, kind)
        here = [[list(a) for a in official_anchors(model, text, item[4])] for text in done]
        answer = {
            "package": told["anchors"][: len(done)],
            "scalar": ordered["anchors"][: len(done)],
            "here": here,
            "seconds": told["seconds"] / max(1, len(told["anchors"]) * item[4]),
        }
        for who in ("package", "here"):
            answer[f"{who} similarity"] = [
                [jaccard(a, _ranking(network, kind, data, text, len(a))) for a in anchors]
                for text, anchors in zip(done, answer[who], strict=True)
            ]
        return answer

    item = [kind, data, network.name if network else "", short, runs]
    (found,) = session.each(sys.modules[__name__], f"{kind}, {data}", [item], work)
    return found if short else None


def _network(session: Session, kind: str, data: str) -> Network:
    theirs = authors_network(data) if kind == "3 layers" else None
    return theirs or trained_network(data, kind, session.scale.epochs, Path(session.store))


def _ranking(network: Network | None, kind: str, data: str, text: str, length: int) -> list[str]:
    if network is not None:
        return ranked_words(network.vectorizer.build_analyzer()(text), network.weights(text), length)
    return top_words(classifier(data, kind), text, length) if kind != "forest" else []


def _package(model: Any, texts: list[str], runs: int, *, scalar: bool) -> dict[str, Any]:
    """The official package's anchors, from its own environment."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if isinstance(model, Network):
            at, idf = model.vectorizer.vocabulary_, model.vectorizer.idf_
            arrays = {f"weight{k}": w for k, (w, _) in enumerate(model.layers)}
            arrays |= {f"bias{k}": b for k, (_, b) in enumerate(model.layers)}
            words = np.array(sorted(at, key=at.__getitem__))
            np.savez(folder / "model.npz", words=words, idf=idf, layers=len(model.layers), **arrays)
        else:
            (folder / "model.pkl").write_bytes(pickle.dumps(model))
        job = {"texts": texts, "runs": runs, "seconds": SECONDS, "scalar": scalar}
        (folder / "job.json").write_text(json.dumps(job), encoding="utf-8")
        done = subprocess.run(  # noqa: S603  (our own script in an environment beside the source)
            [str(PEERS), str(WORKER), str(folder)], capture_output=True, text=True, check=True
        )
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def energy(distances: Any, n: int) -> float:
    """Energy distance of the first ``n`` anchors and the others, from the distances of all pairs."""
    first, second = distances[:n, :n].mean(), distances[n:, n:].mean()
    return float(2 * distances[:n, n:].mean() - first - second)


def permutation_share(package: list[Any], here: list[Any], seed: int = 0) -> float:
    """How often anchors mixed at random, document by document, are as far apart as the two programs'."""
    rng = np.random.default_rng(seed)
    total, mixed = 0.0, np.zeros(MIXED)
    for one, two in zip(package, here, strict=True):
        both = [set(a) for a in (*one, *two)]
        distances = np.array([[1 - jaccard(a, b) for b in both] for a in both])
        total += energy(distances, len(one))
        for k in range(MIXED):
            order = rng.permutation(len(both))
            mixed[k] += energy(distances[np.ix_(order, order)], len(one))
    return float((1 + (mixed >= total - 1e-12).sum()) / (1 + MIXED))
