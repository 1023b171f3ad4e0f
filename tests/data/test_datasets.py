"""The review sets: where they are looked for, what is checked, what is said when they are missing."""

import gzip
import hashlib
import io
import sys
import tarfile
import threading
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import made
import pytest
from places import REVIEWS

import kedge
from kedge import datasets
from kedge.errors import DataError, MissingDependency, OptionError


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty $KEDGE_DATA and an empty cache."""
    monkeypatch.setenv("KEDGE_DATA", str(tmp_path / "own"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "own").mkdir()
    return tmp_path / "own"


@pytest.mark.reviews
@pytest.mark.parametrize(
    ("name", "rows", "positive"), [("restaurants", 1000, 500), ("yelp", 1000, 500), ("imdb", 10_000, 5028)]
)
def test_the_review_sets_have_their_rows(name, rows, positive, monkeypatch):
    """Rows and class balance are those of the published files."""
    monkeypatch.setenv("KEDGE_DATA", REVIEWS)
    data = kedge.datasets.load(name)
    assert (len(data), sum(data.labels)) == (rows, positive)
    assert set(data.labels) == {0, 1}
    assert all(text.strip() for text in data.texts)


@pytest.mark.usefixtures("made_reviews")
@pytest.mark.parametrize("name", ["restaurants", "yelp", "imdb"])
def test_every_format_gives_texts_and_labels(name):
    """Tabs without quotes, bars with quotes, gzip: the same kind of data comes out of each."""
    data = kedge.datasets.load(name)
    rows = made.ROWS[name] + (len(made.PHRASES) if name == "yelp" else 0)
    assert (data.name, data.source, len(data)) == (name, datasets.FILES[name][0].name, rows)
    assert data.labels.count(0) == made.ROWS[name] // 2
    assert set(data.labels) == {0, 1}
    assert all(text.strip() and "\n" not in text for text in data.texts)


@pytest.mark.data
@pytest.mark.usefixtures("made_reviews")
def test_a_download_is_kept(folder, monkeypatch):
    """It is fetched once, checked, and found in the user's cache from then on."""
    file = datasets.FILES["restaurants"][0]
    source = folder.parent / "published"
    source.mkdir()
    made.write_review_sets(source)
    asked = []

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, *_):
            asked.append(self.path)

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=source)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        there = replace(file, url=f"http://127.0.0.1:{server.server_port}/{file.name}")
        monkeypatch.setitem(datasets.FILES, "restaurants", (there,))
        first, again = datasets.load("restaurants"), datasets.load("restaurants")
        server.shutdown()
    assert asked == [f"/{file.name}"]
    assert first == again
    assert len(first) == made.ROWS["restaurants"]


@pytest.mark.network
@pytest.mark.data
def test_what_is_downloaded_is_the_published_file(folder):
    """The smallest set, from the paper's own repository, into an empty cache."""
    data = kedge.datasets.load("restaurants")
    assert (len(data), sum(data.labels)) == (1000, 500)
    assert not list(folder.iterdir())  # $KEDGE_DATA is the user's own


def test_an_unknown_name_is_refused():
    """The names there are, are said."""
    with pytest.raises(OptionError, match="restaurants, yelp, imdb"):
        datasets.load("books")


def test_another_file_under_the_name_is_refused(folder):
    """A file whose hash is wrong is no stand-in."""
    (folder / "restaurants.tsv").write_text("Review\tLiked\nfine\t1\n", encoding="utf-8")
    with pytest.raises(DataError, match="not the file it should be"):
        datasets.load("restaurants")


def test_without_a_way_to_download_it_says_which_file_to_put_where(folder, monkeypatch):
    """The message names the file and the folders."""
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(MissingDependency) as refused:
        datasets.load("yelp")
    assert "yelp.csv" in str(refused.value)
    assert str(folder) in str(refused.value)


@pytest.mark.data
def test_a_failed_download_says_which_file_to_put_where(folder, monkeypatch):
    """A download that cannot succeed is one clear sentence, and leaves nothing behind."""
    (file,) = datasets.FILES["yelp"]
    lost = datasets.File(file.name, file.digest, file.read, "http://127.0.0.1:9/yelp.csv")
    monkeypatch.setitem(datasets.FILES, "yelp", (lost,))
    with pytest.raises(DataError, match=r"put yelp\.csv into"):
        datasets.load("yelp")
    assert not list(folder.iterdir())


def test_the_users_own_imdb_table_is_read(folder):
    """The Kaggle file has no fixed hash; its sentiment becomes 1 and 0, quotes and breaks survive."""
    text = 'review,sentiment\n"He said ""fine"", then\u0085left.",positive\nBad.,negative\n'
    (folder / "IMDB Dataset.csv").write_text(text, encoding="utf-8")
    data = datasets.load("imdb")
    assert data.texts == ('He said "fine", then\u0085left.', "Bad.")
    assert data.labels == (1, 0)


def test_the_archive_is_read_in_an_order_that_mixes_labels(folder, monkeypatch):
    """Labels come from the folders, unlabelled reviews are left out, and every review appears once."""
    path = folder / "aclImdb_v1.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for label in ("pos", "neg", "unsup"):
            for k in range(20):
                body = f"{label} {k}".encode()
                member = tarfile.TarInfo(f"aclImdb/train/{label}/{k}_7.txt")
                member.size = len(body)
                archive.addfile(member, io.BytesIO(body))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    *others, file = datasets.FILES["imdb"]
    known = datasets.File(file.name, digest, file.read, file.url)
    monkeypatch.setitem(datasets.FILES, "imdb", (*others, known))
    data = datasets.load("imdb")
    assert sorted(data.texts) == sorted(f"{label} {k}" for label in ("pos", "neg") for k in range(20))
    assert all(
        (label == 1) == text.startswith("pos") for text, label in zip(data.texts, data.labels, strict=True)
    )
    assert 0 < sum(data.labels[:10]) < 10


def test_a_broken_table_is_refused(folder):
    """Columns that are not there are named in one sentence."""
    (folder / "IMDB Dataset.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(DataError, match="cannot be read"):
        datasets.load("imdb")


def test_a_cut_archive_is_refused(folder, monkeypatch):
    """A gzip file that is no archive is an error of the data, not a traceback."""
    path = folder / "aclImdb_v1.tar.gz"
    path.write_bytes(gzip.compress(b"not a tar"))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    *others, file = datasets.FILES["imdb"]
    monkeypatch.setitem(datasets.FILES, "imdb", (*others, datasets.File(file.name, digest, file.read)))
    with pytest.raises(DataError, match="cannot be read"):
        datasets.load("imdb")
