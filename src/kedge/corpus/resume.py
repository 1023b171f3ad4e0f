"""Whether a run that is to go on is the run that was begun: the same options, texts and model."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from hashlib import blake2b
from math import isclose
from typing import TYPE_CHECKING, Any

import numpy as np

from kedge.corpus.items import Item
from kedge.corpus.readers import Source
from kedge.corpus.task import explain_item
from kedge.corpus.workers import DIED
from kedge.coverage import CorpusIndex
from kedge.errors import StorageError
from kedge.typing import Label

if TYPE_CHECKING:
    from kedge.explain import Explainer

__all__ = ["asked_for", "check_model", "options_of", "paired"]

Row = Mapping[str, Any]

# Options that change how a run goes, not what comes out of it.
_NO_MATTER = {"progress", "batch_size"}
# A network's last bits depend on how many texts it is asked about at a time; another model is further off.
_SAME_NUMBER = 1e-4


def options_of(explainer: "Explainer") -> dict[str, Any]:
    """The options of an explainer by name."""
    return {f.name: getattr(explainer.options, f.name) for f in fields(explainer.options)}


def asked_for(
    explainer: "Explainer", source: Source, limit: int | None, label: Label | None, *, full: bool
) -> dict[str, Any]:
    """What makes two runs the same run, as plain data."""
    options = {name: plain(v) for name, v in options_of(explainer).items() if name not in _NO_MATTER}
    return {
        "format": 1,
        "source": source.path.name,
        "text": source.text,
        "id": source.id,
        "limit": limit,
        "label": plain(label),
        "full": full,
        "model": explainer.model.name,
        **options,
    }


def plain(value: Any) -> Any:
    """A value as JSON that tells it from another one, the same in every process.

    >>> from kedge import Masking
    >>> plain(Masking(keep=0.4))["keep"], plain(["a", 1]), plain(str.split)
    (0.4, ['a', 1], 'str.split')
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    if isinstance(value, Mapping):
        return {str(name): plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if is_dataclass(value) and not isinstance(value, type):
        content = {f.name: plain(getattr(value, f.name)) for f in fields(value)}
        return {"is": type(value).__qualname__, **content}
    return _named(value)


def _named(value: Any) -> str:
    """A word for an object that is neither plain data nor made of it."""
    if isinstance(value, CorpusIndex):
        return value.fingerprint
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape} {_hash(value.tobytes())}"
    if hasattr(value, "__qualname__"):  # a function or a class
        return str(value.__qualname__)
    kind, shown = type(value).__qualname__, repr(value)
    # An address in memory is another one in every process; a large thing is told by its hash.
    return kind if " at 0x" in shown else f"{kind} {shown if len(shown) <= 200 else _hash(shown.encode())}"


def paired(rows: Iterable[Row], items: Iterator[Item], name: str) -> Iterator[tuple[Row, Item]]:
    """Each row with the document it was made from; another text there now is refused."""
    for row in rows:
        item = next(items, None)
        if item is None or item.digest != row["digest"]:
            raise StorageError(
                f"Row {row['row']} of {name} was made from another text than the input has there "
                "now; give the same input, or begin again with --overwrite."
            )
        yield row, item


def check_model(explainer: "Explainer", pairs: Iterable[tuple[Row, Item]]) -> None:
    """Do rows again: a model that was trained anew meanwhile would mix two results in one file."""
    for row, item in pairs:
        if str(row["error"]).startswith(DIED):
            continue  # what killed its worker would kill us
        again = json.loads(explain_item(explainer, item).to_line())
        for name in ("label", "words", "status", "error", "probability", "precision"):
            if not _alike(again[name], row[name]):
                raise StorageError(
                    f"Row {row['row']} comes out differently now ({name} {again[name]!r}, not "
                    f"{row[name]!r}), so this is not the model the run was begun with; begin again with "
                    "--overwrite."
                )


def _alike(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return isclose(one, other, abs_tol=_SAME_NUMBER)
    return one == other or str(one) == str(other)  # a Parquet column of mixed labels holds strings


def _hash(data: bytes) -> str:
    return blake2b(data, digest_size=16).hexdigest()
