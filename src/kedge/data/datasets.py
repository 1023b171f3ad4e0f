"""The three review sets of the paper: Restaurants, Yelp and IMDB, as texts and labels.

A file is looked for in ``$KEDGE_DATA``, then in the user's cache, and else downloaded there and checked
against its sha256. What is missing is said with the name of the file and where to put it; nothing
stands in for it.
"""

import csv
import gzip
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from kedge.errors import DataError, MissingDependency, OptionError

__all__ = ["NAMES", "Dataset", "load"]

_PAPER = "https://raw.githubusercontent.com/gianluigilopardo/anchors_text_theory/cbec7ed/dataset/"
# The paper reads the first 10,000 rows of the 50,000; so does every source here.
_ROWS = 10_000
# Stanford's archive is sorted by label. Steps of a prime that does not divide 50,000 visit every review
# once, in an order that mixes the labels.
_STEP = 7_919


@dataclass(frozen=True)
class Dataset:
    """Texts and their labels: 1 for a positive review, 0 for a negative one."""

    name: str
    texts: tuple[str, ...]
    labels: tuple[int, ...]
    source: str
    """Name of the file it was read from."""

    def __len__(self) -> int:
        return len(self.texts)


@dataclass(frozen=True)
class File:
    """A file that holds a data set: its name, its hash where only this one file will do, its reader."""

    name: str
    digest: str | None
    read: Callable[[Path], Iterator[tuple[str, int]]]
    url: str | None = None


def _table(
    separator: str, text: str, label: str, *, quoted: bool
) -> Callable[[Path], Iterator[tuple[str, int]]]:
    def read(path: Path) -> Iterator[tuple[str, int]]:
        opened = gzip.open if path.suffix == ".gz" else open
        with opened(path, "rt", encoding="utf-8", newline="") as lines:
            rows = (
                csv.DictReader(lines, delimiter=separator)
                if quoted
                else csv.DictReader(lines, delimiter=separator, quoting=csv.QUOTE_NONE)
            )
            for row in rows:
                yield row[text], int(row[label] in {"1", "positive"})

    return read


def _archive(path: Path) -> Iterator[tuple[str, int]]:
    """Labelled reviews of Stanford's archive, in a fixed shuffled order (it is sorted by label)."""
    import tarfile

    reviews: dict[str, tuple[str, int]] = {}
    try:
        with tarfile.open(path, "r:gz") as archive:
            for member in archive:
                parts = member.name.split("/")
                if len(parts) == 4 and parts[2] in {"pos", "neg"} and (file := archive.extractfile(member)):
                    reviews[member.name] = (file.read().decode("utf-8"), int(parts[2] == "pos"))
    except tarfile.TarError as error:
        raise ValueError(str(error)) from error
    names = sorted(reviews)
    for k in range(len(names)):
        yield reviews[names[k * _STEP % len(names)]]


_IMDB = _table(",", "review", "sentiment", quoted=True)

FILES: dict[str, tuple[File, ...]] = {
    "restaurants": (
        File(
            "restaurants.tsv",
            "2b432f36bc7c7ed77312187a9afd6531dfa3d16be48b9738131dd5141195b469",
            _table("\t", "Review", "Liked", quoted=False),
            _PAPER + "restaurants.tsv",
        ),
    ),
    "yelp": (
        File(
            "yelp.csv",
            "89e574157fe9f19a34ea6a6d7d61b6d13a2c919b135c63c7ecda36c0c333cd27",
            _table("|", "text", "stars", quoted=True),
            _PAPER + "positive_negative_reviews_yelp.csv",
        ),
    ),
    "imdb": (
        File("imdb10k.csv.gz", "e4bcfafb5218fbd729f8433be9a048d8e29789b17a8acb9b0fb6efe15507362d", _IMDB),
        File("IMDB Dataset.csv", None, _IMDB),  # the 50,000 rows that the paper's code reads, from Kaggle
        File(
            "aclImdb_v1.tar.gz",
            "c40f74a18d3b61f90feba1e17730e0d38e8b97c05fde7008942e91923d1658fe",
            _archive,
            "https://ai.stanford.edu/~amaas/data/sentiment/aclImdb_v1.tar.gz",
        ),
    ),
}
NAMES = tuple(FILES)


def load(name: str) -> Dataset:
    """Load a review set by name: ``"restaurants"``, ``"yelp"`` or ``"imdb"``.

    Parameters
    ----------
    name
        Restaurants: 1,000 short reviews. Yelp: 1,000 longer ones. IMDB: the first 10,000 rows of the
        50,000, as in the paper (from Stanford's archive, whose order differs: 10,000 of them).
    """
    if name not in FILES:
        raise OptionError(f"There is no data set {name!r}; there are {', '.join(NAMES)}.")
    path, file = _find(name) or _download(name)
    if file.digest is not None and (found := _digest(path)) != file.digest:
        raise DataError(
            f"{path.name} is not the file it should be: its sha256 starts with {found[:12]}, expected is "
            f"{file.digest[:12]}; remove it, or put the right one in its place."
        )
    try:
        rows = [row for row, _ in zip(file.read(path), range(_ROWS), strict=False)]
    except (KeyError, TypeError, ValueError, EOFError, OSError) as error:
        raise DataError(f"{path.name} cannot be read as the {name} reviews ({error}).") from error
    return Dataset(name, tuple(text for text, _ in rows), tuple(label for _, label in rows), path.name)


def folders() -> list[Path]:
    """Where files are looked for, in this order; the last is where downloads go."""
    own = os.environ.get("KEDGE_DATA")
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    cache = (Path(base) if base else Path.home() / ".cache") / "kedge" / "data"
    return [*([Path(own).expanduser()] if own else []), cache]


def _find(name: str) -> tuple[Path, File] | None:
    for folder in folders():
        for file in FILES[name]:
            # The paper's repository has another name for the Yelp file.
            for known in (file.name, file.url.rsplit("/", 1)[-1] if file.url else file.name):
                if (folder / known).is_file():
                    return folder / known, file
    return None


def _download(name: str) -> tuple[Path, File]:
    file = next(f for f in FILES[name] if f.url is not None)
    known = " or ".join(f.name for f in FILES[name])
    places = " or ".join(str(folder) for folder in folders())
    manual = f"put {known} into {places}, or set KEDGE_DATA to the folder that has it"
    try:
        import pooch
    except ImportError:
        raise MissingDependency(
            f"The {name} reviews are not here and downloading them needs pooch: pip install 'kedge[data]'; "
            "or "
            f"{manual}."
        ) from None
    folder = folders()[-1]
    try:
        pooch.retrieve(file.url, known_hash=f"sha256:{file.digest}", fname=file.name, path=folder)
    except Exception as error:  # every transport has errors of its own
        raise DataError(f"The {name} reviews could not be downloaded from {file.url}: {manual}.") from error
    return folder / file.name, file


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        found = sha256()
        while piece := file.read(1 << 20):
            found.update(piece)
    return found.hexdigest()
