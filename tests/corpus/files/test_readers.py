"""Reading documents: every format, strange files, bad lines."""

import gzip
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kedge
from kedge.corpus import open_source
from kedge.errors import TextError

TEXTS = ["plain", 'with "quotes", commas\tand tabs', "two\nlines", "é😀\u2028\u0085", "", " "]
PARQUET = pytest.param("a.parquet", marks=pytest.mark.data)


def write(path, texts):
    """The same documents in the format that the name asks for."""
    name = path.name.removesuffix(".gz")
    if name.endswith(".parquet"):
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.table({"n": [f"d{k}" for k in range(len(texts))], "t": texts}), path)
        return path
    opened = gzip.open if path.name.endswith(".gz") else open
    with opened(path, "wt", encoding="utf-8", newline="") as file:
        if name.endswith("jsonl"):
            file.writelines(json.dumps({"n": f"d{k}", "t": t}) + "\n" for k, t in enumerate(texts))
        else:
            import csv

            writer = csv.writer(file, delimiter="\t" if name.endswith("tsv") else ",")
            writer.writerow(["n", "t"])
            writer.writerows([f"d{k}", t] for k, t in enumerate(texts))
    return path


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.jsonl", PARQUET, "a.csv.gz", "a.jsonl.gz"])
def test_every_format_gives_the_same_documents(tmp_path, name):
    """Texts and ids come back as they were written, whatever is in them."""
    source = open_source(write(tmp_path / name, TEXTS), "t", "n")
    items = list(source)
    assert [item.text for item in items] == TEXTS
    assert [item.id for item in items] == [f"d{k}" for k in range(len(TEXTS))]
    assert [item.row for item in items] == list(range(len(TEXTS)))
    assert all(item.problem is None for item in items)
    assert items[-1].position <= source.total
    assert [item.id for item in open_source(tmp_path / name, "t")] == list(range(len(TEXTS)))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=30), max_size=8))
def test_any_text_survives(tmp_path_factory, texts):
    """Whatever a CSV or JSONL writer can write is read back."""
    folder = tmp_path_factory.mktemp("any")
    for name in ("a.csv", "a.jsonl"):
        assert [item.text for item in open_source(write(folder / name, texts), "t")] == texts


def test_bad_lines_are_items_with_a_problem(tmp_path):
    """A broken line costs that line only."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"t": "one"}\n{"t": \n[1]\n{"x": 1}\n\n{"t": "\xff"}\n{"t": null}\n{"t": "last"}')
    items = list(open_source(path, "t"))
    assert [item.text for item in items] == ["one", None, None, None, None, None, "last"]
    assert [bool(item.problem) for item in items] == [False, True, True, True, True, False, False]
    path = tmp_path / "a.csv"
    path.write_bytes(b"\xef\xbb\xbft,u\none,1\ntwo\nthree,3,3\n\xff\xfe,4\n\nlast,5")
    items = list(open_source(path, "t"))
    assert [bool(item.problem) for item in items] == [False, True, True, True, False]
    assert items[-1].text == "last"


def test_separators_and_quotes(tmp_path):
    """Other separators, and files in which quotation marks mean nothing."""
    path = tmp_path / "a.csv"
    path.write_text('t|u\n"say|1\nplain|2\n')
    items = list(open_source(path, "t", "u", separator="|", quotes=False))
    assert [(item.text, item.id) for item in items] == [('"say', "1"), ("plain", "2")]


@pytest.mark.parametrize("end", ["", "\n", "\n2,good\n", "\n2,good\n\n"])
@pytest.mark.parametrize("text", ['"open', '"', '"a ""quoted"" word'])
def test_a_quotation_that_is_never_closed(tmp_path, text, end):
    """The rest of the file would be lost in one text: refused, with the line, after what came before it."""
    path = tmp_path / "a.csv"
    path.write_text(f'n,t\n0,"two\nlines"\n1,{text}{end}')
    read = []
    with pytest.raises(kedge.KedgeError, match=r"begins on line 4 of a\.csv is never closed"):
        read.extend(item.text for item in open_source(path, "t"))
    assert read == ["two\nlines"]
    assert len(list(open_source(path, "t", quotes=False))) >= 2
    path.write_text('"n,t\n0,good\n')
    with pytest.raises(kedge.KedgeError, match="begins on line 1"):
        open_source(path, "t")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "x,y\n1,2\n", "no column 't'; it has: 'x', 'y'"),
        ("a.csv", "", r"a\.csv is empty; it has no column 't'\.$"),
        ("a.csv", "t|x\ngood, cheap|2\n", r"it has: 't\|x' \(`separator='\|'` separates them\)\.$"),
        ("a.csv", '"x";"t"\n"1";"good"\n', r"it has: 'x;\"t\"' \(`separator=';'` separates them\)\.$"),
        ("a.tsv", "x,t\n1,good\n", r"it has: 'x,t' \(`separator=','` separates them\)\.$"),
        ("a.xlsx", "", "The format of a.xlsx is not known"),
        ("gone.xlsx", None, "There is no file"),
        ("a.csv", b"\xff\xfet\n1\n", "The first line of a.csv is not utf-8 text; give its `encoding`"),
        ("missing.csv", None, "no file"),
        pytest.param("a.parquet", "no table", "cannot be read as Parquet", marks=pytest.mark.data),
    ],
)
def test_refused_files(tmp_path, name, content, message):
    """One sentence says what is wrong with the file."""
    if content is not None:
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(kedge.KedgeError, match=message):
        open_source(tmp_path / name, "t")


def test_long_fields(tmp_path):
    """A document may be longer than what the csv module allows by default."""
    path = write(tmp_path / "a.csv", ["x " * 200_000])
    assert len(next(iter(open_source(path, "t"))).text) == 400_000


def test_files_without_a_header(tmp_path):
    """The first line is a document, columns are numbered, and a file that lacks a header gets the remedy."""
    path = tmp_path / "plain.csv"
    path.write_text("good food,1\nbad service,0\n", encoding="utf-8")
    assert [item.text for item in open_source(path, "1", header=False)] == ["good food", "bad service"]
    assert [item.id for item in open_source(path, "1", "2", header=False)] == ["1", "0"]
    with pytest.raises(TextError, match=r"it has: 'good food', '1' \(`header=False` if these are a document"):
        open_source(path, "text")
    with pytest.raises(TextError, match=r"no column '3'; it has: '1', '2'\.$"):
        open_source(path, "3", header=False)
    path.write_text("good food,1\nbad\n", encoding="utf-8")
    _, short = open_source(path, "1", header=False)
    assert short.problem == "The line has 1 fields where the first line has 2."
