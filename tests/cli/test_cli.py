"""The command line: what it prints, what it refuses, and how it ends."""

import json
import os
import subprocess
import sys
from importlib.resources import files

import joblib
import jsonschema
import pytest
from command import outside, program, run_apart
from command import run as kedge

from kedge.data.demo import review_model

SCHEMA = json.loads((files("kedge") / "data" / "explanation.schema.json").read_text("utf-8"))


def test_demo_explains_three_reviews():
    """Among them the very/good example at multiplicities 4 and 5."""
    done = kedge("demo")
    out = done.stdout
    assert done.returncode == 0
    assert "[very] very very very [good]!" in out
    assert "Food is very very very very very [good]!" in out
    assert out.count("Exact:") >= 2


def test_demo_as_json_lines():
    """--json wherever something is printed."""
    lines = kedge("demo", "--json").stdout.splitlines()
    assert len(lines) == 3
    for line in lines:
        jsonschema.validate(json.loads(line), SCHEMA)


def test_flip_says_what_changes_the_label(tmp_path):
    """In words, as JSON and as a page; a label that the model does not have is refused in one sentence."""
    text = "The staff were friendly and the soup was very good."
    said = kedge("flip", text, "--html", str(tmp_path / "flip.html")).stdout
    assert "new label  negative" in said
    assert "[-friendly-]" in said
    assert "<del" in (tmp_path / "flip.html").read_text("utf-8")
    found = json.loads(kedge("flip", text, "--to", "negative", "--json").stdout)
    assert (found["new_label"], found["status"]) == ("negative", "exact")
    refused = kedge("flip", text, "--to", "Sports")
    assert refused.returncode == 2
    assert refused.stderr.startswith("kedge: The model has no label 'Sports'")


def test_explain_reads_an_argument_a_file_or_standard_input(tmp_path):
    """The same text gives the same JSON however it comes, and the JSON is valid."""
    text = "The food was not good at all"
    (tmp_path / "review.txt").write_text(text, "utf-8")
    runs = [
        kedge("explain", text, "--json"),
        kedge("explain", "--file", str(tmp_path / "review.txt"), "--json"),
        kedge("explain", "--json", stdin=text.encode()),
    ]
    assert {r.returncode for r in runs} == {0}
    assert len({r.stdout for r in runs}) == 1
    jsonschema.validate(json.loads(runs[0].stdout), SCHEMA)


def test_models_by_module_and_attribute(tmp_path):
    """module:attribute is found beside the user."""
    (tmp_path / "mine.py").write_text("def model(texts):\n    return ['good' in t for t in texts]\n")
    done = kedge("explain", "so good", "--model", "mine:model", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["words"] == ["good"]


@pytest.mark.safe
def test_safe_files_load_and_pickles_need_trust(tmp_path):
    """.skops loads; .joblib is refused with the reason, and loads with --trust."""
    from skops.io import dump

    dump(review_model(), tmp_path / "model.skops")
    joblib.dump(review_model(), tmp_path / "model.joblib")
    safe = kedge("explain", "good food", "--model", str(tmp_path / "model.skops"), "--json")
    refused = kedge("explain", "good food", "--model", str(tmp_path / "model.joblib"))
    trusted = kedge("explain", "good food", "--model", str(tmp_path / "model.joblib"), "--trust", "--json")
    assert refused.returncode == 2
    assert "runs whatever code is inside it" in refused.stderr
    assert safe.stdout == trusted.stdout
    assert json.loads(safe.stdout)["label"] == "positive"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["explain", ""], "empty"),
        (["explain", "good", "--threshold", "2"], "--threshold must lie in"),
        (["explain", "good", "--threshold", "x"], "not a valid float"),
        (["explain", "good", "--method", "magic"], "--method magic is not known; choose one of auto"),
        (["explain", "good", "--model", "nowhere"], "There is no model 'nowhere'"),
        (["explain", "good", "--model", "nowhere:thing"], "cannot be loaded"),
        (["explain", "good", "--model", "none.skops"], "There is no file none.skops"),
        (["explain", "good", "--file", "none.txt"], "not both"),
        (["explain", "--file", "none.txt"], "cannot be read"),
        (["explain", "good", "--outputs", "magic"], "multilabel"),
        (["explain", "good", "--bogus"], "--bogus"),
        (["explain", "good", "--treshold", "1"], "--threshold"),
        (["bogus"], "There is no command 'bogus'; there are demo, explain,"),
        (["explian", "good"], "did you mean explain?"),
        (["--bogus"], "See kedge --help"),
        (
            ["explain", "not", "good"],
            "extra argument (good); put a text of several words in quotes. See kedge",
        ),
        (["corpus"], "Missing argument 'IN...'. See kedge corpus --help."),
        (["corpus", "none", "--text", "t", "--out", "o.jsonl"], "There is no file none."),
        (["explain", "good food", "--mask", "food"], "choose another --mask."),
        (["explain", "good", "--max-queries", "0"], "--max-queries must be a whole number"),
        (
            ["explain", "good", "--method", "guided", "--evaluator", "exact"],
            "--evaluator exact is not used by --method guided; leave it",
        ),
    ],
)
def test_bad_input_is_a_sentence_and_exit_code_two(arguments, message):
    """One line on standard error, also where click finds the fault; nothing on standard output."""
    done = kedge(*arguments)
    said = done.stderr
    assert done.returncode == 2
    assert message in said
    assert said.startswith("kedge: ")
    assert said.count("\n") == 1
    assert done.stdout == ""


def test_nothing_typed_is_answered_by_the_help():
    """As ``kedge --help``, but on standard error."""
    done = kedge()
    assert done.returncode in {0, 2}  # as click has it
    assert "Commands:" in done.stderr + done.stdout


def test_sentences_speak_of_options_as_they_are_typed(tmp_path):
    """What Python calls outputs='scores' is --outputs scores here; what a model says is left as it is."""
    (tmp_path / "mine.py").write_text(
        "def numbers(texts):\n    return [0.5] * len(texts)\n"
        "def kinds(texts):\n    return [[1, int('good' in t)] for t in texts]\n"
        "def broken(texts):\n    raise ValueError('label=3 is \\x1b[2J no\\nlabel')\n"
    )

    def said(*arguments):
        done = kedge("explain", "good food", *arguments, cwd=tmp_path)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        return done.stderr

    assert "say --outputs probabilities (of the second" in said("--model", "mine:numbers")
    assert "needs --label; the labels" in said("--model", "mine:kinds", "--outputs", "multilabel")
    assert "--against negative explains why it is not" in said("--label", "negative")
    assert "label=3 is \u241b[2J no" in said("--model", "mine:broken")


def test_bytes_that_are_not_text_are_refused():
    """Latin-1 on standard input is named as what it is not."""
    done = kedge("explain", stdin="café".encode("latin-1"))
    assert done.returncode == 2
    assert "not UTF-8" in done.stderr


def test_a_model_that_raises_is_reported_in_one_sentence(tmp_path):
    """The user's exception is named on standard error."""
    (tmp_path / "broken.py").write_text("def model(texts):\n    raise RuntimeError('no disk')\n")
    done = kedge("explain", "good", "--model", "broken:model", cwd=tmp_path)
    assert done.returncode == 2
    assert "RuntimeError" in done.stderr
    assert "no disk" in done.stderr


def test_models_that_cannot_be_loaded(tmp_path):
    """A module that ends the program, an attribute that raises: one sentence each."""
    (tmp_path / "exits.py").write_text("import sys\nsys.exit(0)\n")
    (tmp_path / "holds.py").write_text(
        "class Holder:\n"
        "    @property\n"
        "    def model(self):\n"
        "        raise KeyError('weights')\n"
        "    @property\n"
        "    def ends(self):\n"
        "        raise SystemExit\n"
        "it = Holder()\n"
    )
    for name, says in [
        ("exits:f", "exits raised SystemExit: 0 on import."),
        ("holds:it.model", "The attribute model of holds:it.model raised KeyError: 'weights'."),
        ("holds:it.ends", "The attribute ends of holds:it.ends raised SystemExit."),
        ("holds:it.nothing", "has no attribute 'nothing'"),
    ]:
        done = kedge("explain", "good", "--model", name, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, ""), name
        assert says in done.stderr
        assert done.stderr.count("\n") == 1


@pytest.mark.posix
def test_a_name_that_no_file_can_have():
    """The system's own words say what is wrong with it."""
    done = kedge("explain", "good", "--model", "x" * 300 + ".pkl")
    assert done.returncode == 2
    assert "cannot be read: File name too long." in done.stderr


def test_help_names_every_command():
    """kedge --help lists what there is, each in a sentence that is not cut off; options list their values."""
    out = kedge("--help").stdout
    assert all(f"\n  {name} " in out for name in ("demo", "explain", "corpus", "serve", "reproduce"))
    assert "..." not in out.partition("Commands:")[2]
    out = " ".join(kedge("explain", "--help").stdout.split())
    assert "[auto|labels|probabilities|scores|multilabel]" in out
    assert "module:attribute, or a .skops, .joblib or .pkl file" in out


def test_a_page_that_is_written_is_said(tmp_path):
    """On standard error, so that standard output is the explanation's alone."""
    done = kedge("explain", "good food", "--html", "page.html", "--json", cwd=tmp_path)
    assert done.stderr == "written to page.html\n"
    assert json.loads(done.stdout)["words"] == ["good"]
    assert (tmp_path / "page.html").read_text("utf-8").startswith("<!doctype html>")


def test_importing_kedge_stays_light():
    """No scikit-learn, no scipy.stats, no matplotlib on import."""
    heavy = {"sklearn", "scipy.stats", "matplotlib", "pandas", "torch", "rich"}
    code = f"import sys, kedge; print(sorted({heavy} & sys.modules.keys()))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=outside(), check=True
    )
    assert done.stdout.strip() == "[]"


def test_the_program_is_the_same_in_a_process_of_its_own():
    """``python -m kedge`` prints what is printed in process, and its exit code reaches the shell."""
    for arguments in (["explain", "good food", "--json"], ["explain", "good", "--threshold", "2"]):
        assert run_apart(*arguments) == kedge(*arguments)


def test_interrupted_is_exit_code_130(tmp_path):
    """As a shell expects of Ctrl+C."""
    (tmp_path / "slow.py").write_text("def model(texts):\n    raise KeyboardInterrupt\n")
    done = kedge("explain", "good", "--model", "slow:model", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr.strip()) == (130, "", "kedge: interrupted")


@pytest.mark.posix
def test_a_reader_that_goes_away_ends_the_program_without_a_word():
    """As in ``kedge demo | head -1``."""
    gone, ours = os.pipe()
    os.close(gone)
    with os.fdopen(ours, "w") as pipe:
        done = subprocess.run(
            program("demo"), stdout=pipe, stderr=subprocess.PIPE, env=outside(), check=False, timeout=120
        )
    assert (done.returncode, done.stderr) == (1, b"")


@pytest.mark.posix
def test_a_full_disk_is_one_sentence():
    """As in ``kedge explain ... > /dev/full``."""
    with open("/dev/full", "w") as full:  # noqa: PTH123  (a device)
        done = subprocess.run(
            program("explain", "good food"),
            stdout=full,
            stderr=subprocess.PIPE,
            env=outside(),
            check=False,
            timeout=120,
        )
    assert done.returncode == 1
    assert done.stderr.startswith(b"kedge: Cannot read or write the output: No space left on device.\n")
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("content", ["{}", "[1]", '{"format": 2, "text": "good"}'])
def test_json_that_is_no_certificate_is_named_as_such(tmp_path, content):
    """An explanation, for one: the reason is not that some key is missing."""
    (tmp_path / "other.json").write_text(content, encoding="utf-8")
    done = kedge("verify", "other.json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("rejected: The file is not a certificate; kedge explain --certificate")


def test_shared_options(tmp_path):
    """A label of a multi-label model, the empty answer and the way of evaluating, in both commands."""
    (tmp_path / "kinds.py").write_text(
        "def model(texts):\n    return [[int('food' in t), int('good' in t)] for t in texts]\n"
    )
    (tmp_path / "in.jsonl").write_text('{"t": "good food"}\n{"t": "bad food"}\n')
    multi = ["--model", "kinds:model", "--outputs", "multilabel", "--label", "1"]
    done = kedge("explain", "good food", *multi, "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["words"] == ["good"], done.stderr
    files_ = ["in.jsonl", "--text", "t", "--out", "out.jsonl", "--workers", "1", "--quiet"]
    done = kedge("corpus", *files_, *multi, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [(row["label"], row["words"]) for row in rows] == [(1, ["good"]), (None, None)]
    done = kedge("corpus", *files_, *multi[:-1], "0", "--resume", cwd=tmp_path)
    assert "started with --label 1, not 0" in done.stderr
    easy = ["The food", "--model", "kinds:model", "--outputs", "multilabel", "--label", "7"]
    assert "no label 7" in kedge("explain", *easy, cwd=tmp_path).stderr
    text = "An excellent place"
    chosen = ["--threshold", "0.1", "--allow-empty", "--evaluator", "empirical", "--method", "beam"]
    found = json.loads(kedge("explain", text, *chosen, "--json").stdout)
    assert (found["words"], found["status"]) == ([], "estimated")
