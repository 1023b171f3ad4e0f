"""Nothing a document, a label, a model or a file says controls the terminal that shows it."""

import json
import unicodedata

import pytest
from command import run
from functions import HOSTILE, labelled

import kedge

TEXT = f"so good {HOSTILE} food"
MODEL = f"""
def model(texts):
    return [{HOSTILE!r} + ("yes" if "good" in text else "no") for text in texts]

def raises(texts):
    if any("bad" in text for text in texts):
        raise ValueError({HOSTILE!r})
    return model(texts)
"""


def obeyed(shown):
    """The characters that a terminal would not show but obey."""
    return {c for c in shown if unicodedata.category(c) in {"Cc", "Cs"} and c not in "\n\t"}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "hostile.py").write_text(MODEL, encoding="utf-8")
    rows = [{"text": TEXT, "id": HOSTILE}, {"text": "bad food"}]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (tmp_path / "texts.txt").write_text(f"{TEXT}\nbad food\n", encoding="utf-8")
    (tmp_path / "tool.jsonl").write_text(json.dumps([HOSTILE]) + "\n" + '["bad"]\n', encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    "command",
    [
        ["explain", TEXT, "--model", "hostile:model"],
        ["explain", TEXT, "--model", "hostile:model", "--json"],
        ["explain", "bad food", "--model", "hostile:raises"],
        ["explain", TEXT, "--model", "hostile:model", "--method", HOSTILE],
        ["flip", TEXT, "--model", "hostile:model"],
        ["flip", TEXT, "--model", "hostile:model", "--json"],
        ["corpus", "in.jsonl", "--text", "text", "--out", "out.jsonl", "--model", "hostile:model", "--rules"],
        ["corpus", "in.jsonl", "--text", "text", "--out", "out.jsonl", "--model", "hostile:raises"],
        ["corpus", "in.jsonl", "--text", HOSTILE, "--out", "out.jsonl"],
        ["evaluate", "texts.txt", "--model", "hostile:model", "--words", f"{HOSTILE}=tool.jsonl"],
        ["verify", "certificate.json"],
        ["verify", "certificate.json", "--json"],
        ["verify", "certificate.json", "--model", "hostile:model"],
    ],
    ids=lambda command: f"{command[0]} {len(command)}",
)
def test_the_command_line(folder, command):
    """What it prints, on either stream, has no control characters."""
    if command[0] == "verify":
        e = kedge.explain(labelled, TEXT, certificate=True)
        certificate = e.certificate() | {"model": HOSTILE, "text": TEXT + " changed"}
        (folder / "certificate.json").write_text(json.dumps(certificate), encoding="utf-8")
    options = ["--workers", "1"] if command[0] == "corpus" else []
    done = run(*command, *options, cwd=folder)
    assert done.stdout + done.stderr
    assert obeyed(done.stdout + done.stderr) == set()


def test_results_shown_in_python():
    """Whatever has a sentence for people, or JSON, keeps them from the terminal."""
    e = kedge.explain(labelled, TEXT)
    shown = [
        e,
        e.to_json(),
        kedge.flip(labelled, TEXT),
        kedge.flip(labelled, TEXT).to_json(),
        kedge.precision(labelled, TEXT, ["good"]),
        kedge.precision(labelled, TEXT, ["good"]).to_json(),
        kedge.compare(labelled, labelled, [TEXT, f"bad {HOSTILE}"]),
        kedge.stability(labelled, TEXT, seeds=range(2)),
        kedge.evaluate(labelled, [TEXT], {HOSTILE: lambda _: ["good"]}),
        kedge.Explainer(labelled).rules([TEXT] * 3),
    ]
    for one in shown:
        assert obeyed(str(one)) == set(), type(one)
    assert json.loads(e.to_json())["label"] == e.label
    assert kedge.Explanation.from_json(e.to_json()).text == TEXT
