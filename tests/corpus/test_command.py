"""``kedge corpus`` as a user runs it."""

import json

import pytest
from command import run, run_apart

from kedge.data.demo import reviews


def corpus(folder, *arguments):
    """Run the command with one worker, in this process."""
    return run("corpus", "--workers", "1", *arguments, cwd=folder)


@pytest.fixture
def folder(tmp_path):
    rows = [{"text": t, "name": f"r{k}"} for k, t in enumerate(reviews()[0][:30])]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return tmp_path


def test_everything_at_once(folder):
    """Ids, coverage, rules and the page of one run; the summary as text."""
    options = ["--id", "name", "--out", "out.jsonl", "--index", "index", "--rules", "--min-precision", "0.5"]
    done = corpus(folder, "in.jsonl", "--text", "text", *options)
    assert (done.returncode, done.stderr) == (0, "")
    assert "documents  30" in done.stdout
    assert " (of " in done.stdout
    assert "adds: documents with the label" in done.stdout
    rows = [json.loads(line) for line in (folder / "out.jsonl").read_text().splitlines()]
    assert [row["id"] for row in rows] == [f"r{k}" for k in range(30)]
    assert all(row["coverage"] >= 1 / 30 for row in rows)
    title = "Rules of WordWeights on in.jsonl"
    assert f"<h1>{title}</h1>" in (folder / "out.rules.html").read_text()
    assert "need no word to keep their label" in done.stdout
    assert (folder / "index" / "index.json").exists()
    widest = ["--out", "wide.jsonl", "--index", "index", "--objective", "coverage", "--json", "--limit", "10"]
    done = corpus(folder, "in.jsonl", "--text", "text", *widest)
    summary = json.loads(done.stdout)
    assert summary["documents"] == 10
    assert summary["mean_coverage"] >= sum(row["coverage"] for row in rows[:10]) / 10


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["in.jsonl", "--text", "text", "--out", "out.csv"], "must end in"),
        (["none.csv", "--text", "text", "--out", "out.jsonl"], "no file"),
        (["in.jsonl", "--text", "text", "--out", "out.jsonl", "--objective", "coverage"], "--index"),
        (["in.jsonl", "--text", "text", "--out", "out.jsonl", "--threshold", "2"], "threshold"),
        (["in.jsonl", "--text", "text", "--out", "none/out.jsonl"], "cannot be written: No such file"),
        (
            ["in.jsonl", "--text", "text", "--out", "out.jsonl", "--rules", "--max-rules", "0"],
            "--max-rules must",
        ),
        (["in.jsonl", "--text", "text", "--out", "out.jsonl", "--min-precision", "5"], "--min-precision"),
        (["in.jsonl", "--text", "text", "--out", "out.jsonl", "--workers", "0"], "other than 0"),
        (["in.jsonl", "--out", "out.jsonl"], "Missing option"),
    ],
)
def test_bad_input_is_one_sentence(folder, arguments, message):
    """Exit code 2, one sentence on standard error, and no file."""
    done = corpus(folder, *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert "safe" not in done.stderr  # no row was written
    assert not list(folder.glob("out*"))


def test_a_column_that_is_always_missing(folder):
    """With a key that no line has, every row says so."""
    done = corpus(folder, "in.jsonl", "--text", "review", "--out", "out.jsonl", "--json")
    summary = json.loads(done.stdout)
    assert summary["errors"] == {"TextError": 30}
    assert summary["reasons"] == {"TextError": "The line has no key 'review'; it has: 'text', 'name'."}
    assert done.returncode == 1
    first = json.loads((folder / "out.jsonl").read_text().splitlines()[0])
    assert first["error_kind"] == "TextError"
    assert first["error"] == "The line has no key 'review'; it has: 'text', 'name'."


MODELS = """
def raises(texts):
    raise ValueError('out of\\x1b[2J order')

def picky(texts):
    if any('the' in text.lower() for text in texts):
        raise ValueError('no articles')
    return ['good' in text for text in texts]

def numbers(texts):
    return [len(text) / 3 for text in texts]

def strings(texts):
    return ['good' if 'good' in text else 'bad' for text in texts]

def several(texts):
    return [[1, int('good' in text)] for text in texts]
"""


@pytest.mark.parametrize(
    ("runs", "workers"),
    [(run, 1), (run_apart, 2)],  # workers look for the user's modules where their own program began
)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--model", "mm:raises"], "The model raised ValueError on 1 text"),
        (["--model", "mm:numbers"], "can be read in several ways"),
        (["--model", "mm:strings", "--method", "ranked"], "needs a model whose score is linear"),
        (["--model", "mm:several", "--outputs", "multilabel"], "A multi-label model needs"),
        (["--model", "mm:raises", "--limit", "2"], "The model raised ValueError"),
    ],
)
def test_a_run_in_which_nothing_can_be_explained_is_refused(folder, arguments, message, runs, workers):
    """A reason that is the options' or the model's is one sentence and exit code 2, and no file."""
    (folder / "mm.py").write_text(MODELS)
    where = ["in.jsonl", "--text", "text", "--out", "out.jsonl", "--workers", workers]
    done = runs("corpus", *where, *arguments, cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert not list(folder.glob("out*"))


def test_documents_that_fail_are_rows(folder):
    """A model that raises on some texts only, the first ones among them, ends nothing."""
    (folder / "mm.py").write_text(MODELS)
    texts = ["", "the end", "", "The good one", "so good", "the rest"]
    (folder / "few.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    done = corpus(folder, "few.jsonl", "--text", "text", "--out", "out.jsonl", "--model", "mm:picky")
    assert (done.returncode, done.stderr) == (0, "")
    rows = [json.loads(line) for line in (folder / "out.jsonl").read_text().splitlines()]
    kinds = ["TextError", "ModelRaised", "TextError", "ModelRaised", None, "ModelRaised"]
    assert [row["error_kind"] for row in rows] == kinds


def test_no_document_explained_for_several_reasons(folder):
    """Exit code 1, and the first reason of each kind; no averages of nothing."""
    (folder / "mm.py").write_text(MODELS)
    (folder / "few.jsonl").write_text('{"text": ""}\n{"text": "any"}\n')
    done = corpus(folder, "few.jsonl", "--text", "text", "--out", "out.jsonl", "--model", "mm:raises")
    assert (done.returncode, done.stderr) == (1, "")
    assert "No document could be explained." in done.stdout
    assert "ModelRaised 1, the first: " in done.stdout
    assert "out of [2J order" in done.stdout
    assert "mean" not in done.stdout
    assert "ms each" not in done.stdout
