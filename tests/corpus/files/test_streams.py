"""Where documents come from: several files, patterns, standard input; packings, encodings, nesting."""

import bz2
import gzip
import json
import lzma

import pytest
from command import run

import kedge
from kedge.corpus import open_source, result_rows

TEXTS = ["good café", "no good", "“so” good"]


def lines(texts, key="t"):
    return "".join(json.dumps({key: text}, ensure_ascii=False) + "\n" for text in texts)


@pytest.mark.parametrize("ending", ["gz", "bz2", "xz", pytest.param("zst", marks=pytest.mark.data)])
def test_packed_files(tmp_path, ending):
    """Each is unpacked on the way, and its position is one in the packed file."""
    content = lines(TEXTS * 500).encode()
    if ending == "zst":
        import pyarrow as pa

        with pa.output_stream(str(tmp_path / "a.jsonl.zst"), compression="zstd") as file:
            file.write(content)
    else:
        pack = {"gz": gzip, "bz2": bz2, "xz": lzma}[ending].compress
        (tmp_path / f"a.jsonl.{ending}").write_bytes(pack(content))
    source = open_source(tmp_path / f"a.jsonl.{ending}", "t")
    items = list(source)
    assert [item.text for item in items] == TEXTS * 500
    assert 0 < items[-1].position <= source.total == (tmp_path / f"a.jsonl.{ending}").stat().st_size


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-8"])
@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
def test_encodings(tmp_path, name, encoding):
    """Texts are read in the encoding that was said."""
    content = lines(TEXTS) if name.endswith("jsonl") else "t\n" + "".join(f"{text}\n" for text in TEXTS)
    (tmp_path / name).write_bytes(content.encode(encoding))
    assert [item.text for item in open_source(tmp_path / name, "t", encoding=encoding)] == TEXTS


def test_a_text_in_another_encoding_spoils_its_own_row(tmp_path):
    """Bytes that are not of the encoding are that row's problem; an encoding nobody knows is refused."""
    (tmp_path / "a.csv").write_bytes("t\ngood\ncafé\nbad\n".encode("cp1252"))
    items = list(open_source(tmp_path / "a.csv", "t"))
    assert [item.problem for item in items] == [None, "The text is not UTF-8.", None]
    for unknown in ("klingon", "rot13"):
        with pytest.raises(kedge.KedgeError, match="is not known; give it by its Python name"):
            open_source(tmp_path / "a.csv", "t", encoding=unknown)


@pytest.fixture
def shards(tmp_path):
    for k in range(3):
        (tmp_path / f"part-{k}.jsonl").write_text(lines([f"good {k}", f"bad {k}"]), encoding="utf-8")
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / "notes.txt").write_text("not documents", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    "given",
    [
        lambda folder: folder,
        lambda folder: folder / "part-*.jsonl",
        lambda folder: str(folder / "part-?.jsonl"),
        lambda folder: [folder / f"part-{k}.jsonl" for k in range(3)],
        lambda folder: [folder / "part-0.jsonl", str(folder / "part-[12].jsonl")],
    ],
)
def test_several_files_are_one_source(shards, given):
    """A folder, a pattern, or some of each: rows are numbered through, ids name the file."""
    source = open_source(given(shards), "t")
    items = list(source)
    assert [item.text for item in items] == ["good 0", "bad 0", "good 1", "bad 1", "good 2", "bad 2"]
    assert [item.row for item in items] == list(range(6))
    assert [item.id for item in items][2:4] == ["part-1.jsonl:0", "part-1.jsonl:1"]
    assert items[-1].position == source.total
    assert source.name == "part-0.jsonl and 2 more"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (lambda folder: folder / "other-*.jsonl", "No file matches"),
        (lambda folder: [folder, folder / "part-1.jsonl"], r"part-1\.jsonl is given twice"),
        (lambda folder: [folder, "-"], "Say what standard input holds"),
        (lambda _: [], "No file was given"),
        (lambda folder: folder / "notes.txt", "The format of notes.txt is not known"),
        (lambda folder: folder / "gone.jsonl", "There is no file"),
    ],
)
def test_files_that_cannot_be_meant(shards, given, message):
    """One sentence says why."""
    with pytest.raises(kedge.KedgeError, match=message):
        open_source(given(shards), "t")


def test_standard_input(tmp_path):
    """Documents come through a pipe, as the format that was said; without one there is a remedy."""
    command = ["corpus", "-", "--text", "t", "--out", "out.jsonl", "--workers", 1, "--quiet"]
    content = lines(["good food", "bad food"]).encode()
    refused = run(*command, stdin=content, cwd=tmp_path)
    assert (refused.returncode, "--format" in refused.stderr) == (2, True)
    done = run(*command, "--format", "jsonl", stdin=content, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert [row["row"] for row in result_rows(tmp_path / "out.jsonl")] == [0, 1]


@pytest.mark.parametrize("name", ["a.jsonl", pytest.param("a.parquet", marks=pytest.mark.data)])
def test_nested_fields(tmp_path, name):
    """``review.body`` is a field of a field; where it is missing the row says so."""
    rows = [
        {"review": {"body": "good", "name": "x"}},
        {"review": None},
        {"review": {"body": "bad", "name": "y"}},
    ]
    if name.endswith("jsonl"):
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    else:
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.Table.from_pylist(rows), tmp_path / name)
    items = list(open_source(tmp_path / name, "review.body", "review.name"))
    assert [items[0].text, items[2].text] == ["good", "bad"]
    assert [items[0].id, items[2].id] == ["x", "y"]
    assert items[1].problem is not None or items[1].text is None
