"""The comparison with the peers: its judge against brute force, its figures, its limits."""

import itertools
import json
import time
from contextlib import suppress

import numpy as np
import pytest
from places import ROOT
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

TEXTS = ["good food and good staff", "bad food", "we didnt like the bad soup", "very good soup", "bad staff"]
LABELS = [1, 0, 0, 1, 0]
DOCUMENT = "good soup and we didnt like bad food but good staff"


@pytest.fixture(autouse=True)
def project_root(monkeypatch):
    """Benchmarks are run from the project's root."""
    monkeypatch.syspath_prepend(str(ROOT))


def judges(tmp_path, pipeline, documents):
    from benchmarks.peers.judge import Judges

    return Judges(tmp_path / "judged.json", pipeline, documents)


def brute_force(pipeline, text, spans):
    """The share of all maskings of whole words outside the spans that keep the label."""
    label = pipeline.predict([text])[0]
    words, at = text.split(" "), np.cumsum([0, *(len(w) + 1 for w in text.split(" "))])
    sure = {k for k, w in enumerate(words) for a, b in spans if a < at[k] + len(w) and at[k] < b}
    free = [k for k in range(len(words)) if k not in sure]
    samples = [
        " ".join("UNK" if k in free and not kept[free.index(k)] else w for k, w in enumerate(words))
        for kept in itertools.product([False, True], repeat=len(free))
    ]
    return float(np.mean(pipeline.predict(samples) == label))


@pytest.mark.parametrize("norm", [None, "l2"])
@pytest.mark.parametrize("head", [LogisticRegression(C=10), RandomForestClassifier(5, random_state=0)])
def test_the_judge_agrees_with_brute_force(tmp_path, norm, head):
    """Whatever the model and the anchor, the judge's precision is the share of all maskings."""
    pipeline = make_pipeline(TfidfVectorizer(norm=norm), head).fit(TEXTS, LABELS)
    found = judges(tmp_path, pipeline, [DOCUMENT])[0]
    good, soup, cut = (0, 4), (5, 9), (17, 20)  # the last is "did", which a peer cuts out of "didnt"
    for spans in ([], [good], [soup], [good, soup], [cut], [good, cut]):
        precision, how = found.precision(spans)
        assert how != "samples"
        assert precision == pytest.approx(brute_force(pipeline, DOCUMENT, spans), abs=1e-9)


def test_what_the_judge_said_is_remembered(tmp_path):
    """A second judge looks answers up that the first has written."""
    pipeline = make_pipeline(TfidfVectorizer(norm=None), LogisticRegression()).fit(TEXTS, LABELS)
    first = judges(tmp_path, pipeline, [DOCUMENT])
    said = first[0].precision([(0, 4)])
    first.save()
    file = tmp_path / "judged.json"
    written = json.loads(file.read_text(encoding="utf-8"))
    assert list(written["0"].values()) == [list(said)]
    written["0"] = {key: [0.123, "by hand"] for key in written["0"]}
    file.write_text(json.dumps(written), encoding="utf-8")
    assert judges(tmp_path, pipeline, [DOCUMENT])[0].precision([(0, 4)]) == (0.123, "by hand")


def test_words_of_no_influence_are_found(tmp_path):
    """A word that speaks against the label, or that the model does not read, is idle."""
    pipeline = make_pipeline(TfidfVectorizer(norm=None), LogisticRegression()).fit(TEXTS, LABELS)
    text = "good bad unheard a"
    pipeline[-1].intercept_[0] = 5.0
    judge = judges(tmp_path, pipeline, [text])[0]
    assert [judge.idle(span) for span in ((0, 4), (5, 8), (9, 16), (17, 18))] == [False, True, True, True]


def row(document, seed=0, spans=((0, 1),), **more):
    known = {"document": document, "seed": seed, "part": "main" if seed == 0 else "stable", "spans": spans}
    known |= {"cost": 1.0, "predict": 0.1, "asked": 3, "peak": 1.0, "error": None, "claimed": 0.99}
    return (
        known
        | {"true": 0.9, "baseline": 0.5, "length": 1, "best": 1, "proven": True, "idle": 0, "how": "x"}
        | more
    )


def test_figures_are_those_of_the_rows():
    """Costs are over answers, promises over claims, and similarity over seeds."""
    from benchmarks.peers.figures import against, figures

    rows = [
        row(0),
        row(1, cost=3.0, true=0.96, claimed=0.94),
        row(2, error="MemoryError: 5 GiB"),
        *(row(0, seed, spans=((0, 1),) if seed % 2 else ((2, 3),)) for seed in range(1, 5)),
    ]
    found = figures(rows, anchors=True, seeds=5, loaded=1.0)
    assert (found["documents"], found["answers"], found["failures"]) == (3, 2, {"MemoryError": 1})
    assert (found["cost_median"], found["cost_mean"]) == (pytest.approx(20), pytest.approx(20))
    assert found["below"] == {"share": 0.5, "of": 2}
    assert found["broken"] == {"share": 1.0, "of": 1}  # the second does not claim to reach the threshold
    assert found["shortest"] == {"share": 0.5, "of": 2}
    # Three of one and two of the other: of ten pairs, three and one are the same.
    assert found["jaccard"] == {"mean": pytest.approx(0.4), "of": 1}
    assert against([row(0, cost=0.5), row(2)], rows) == {
        "median": pytest.approx(2),
        "mean": pytest.approx(2),
        "of": 1,
    }


def test_an_explanation_ends_at_its_limit():
    """A tool that takes too long is stopped, though it catches every exception."""
    from benchmarks.peers.worker import limited

    def stubborn():
        while True:
            with suppress(Exception):
                time.sleep(0)

    answer, error = limited(0.05, stubborn)
    assert answer is None
    assert error.startswith("time limit")
    assert limited(5, lambda: 7) == (7, None)
    assert limited(5, lambda: int("x"))[1].startswith("ValueError")


def test_a_half_written_line_is_passed_over(tmp_path):
    """What an interrupted run left behind does not end the next one."""
    from benchmarks.peers.worker import read_rows

    file = tmp_path / "answers.jsonl"
    head, done, begun = {"stamp": "a"}, {"document": 0, "seed": 0, "cost": 1.0}, {"document": 1, "seed": 0}
    file.write_text("\n".join(map(json.dumps, (head, {"document": 0, "seed": 0}, done, begun))) + '\n{"docu')
    assert read_rows(file, "a") == ([done], [begun])
    assert read_rows(file, "another tool") == ([], [])
    assert read_rows(tmp_path / "none", "a") == ([], [])
