"""``kedge evaluate``: a table of tools, from files of words."""

import json

from command import run


def test_files_of_words_are_judged(tmp_path):
    """Lists, weighted pairs and objects, in the order of the texts; the table is that of the library."""
    (tmp_path / "texts.txt").write_text("The soup was cold.\nFriendly staff, delicious food.\n")
    (tmp_path / "pairs.jsonl").write_text('["soup", "cold"]\n[["friendly", 1.0], ["food", 0.2]]\n')
    (tmp_path / "weights.jsonl").write_text('{"cold": 1, "soup": -1}\n{"friendly": 2}\n')
    given = ("--words", "pairs=pairs.jsonl", "--words", "weights=weights.jsonl")
    done = run("evaluate", "texts.txt", *given, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = {row["tool"]: row for row in json.loads(done.stdout)}
    assert list(rows) == ["kedge", "pairs", "weights", "random"]
    assert all(row["texts"] == 2 for row in rows.values())
    shown = run("evaluate", "texts.txt", *given, cwd=tmp_path).stdout
    assert shown.startswith("tool")


def test_files_that_do_not_fit_are_refused(tmp_path):
    """No JSON, too few lines, no name: one sentence each."""
    (tmp_path / "texts.txt").write_text("The soup was cold.\nFriendly staff.\n")
    (tmp_path / "few.jsonl").write_text('["soup"]\n')
    for words, said in {
        "mine=texts.txt": "in each line",
        "mine=few.jsonl": "for each of the 2 texts",
        "few.jsonl": "NAME=FILE",
    }.items():
        done = run("evaluate", "texts.txt", "--words", words, cwd=tmp_path)
        assert done.returncode == 2
        assert said in done.stderr
