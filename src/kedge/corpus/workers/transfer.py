"""An explainer is sent to its workers: once per worker, not once per document.

On this machine it goes through a file. Large arrays of the model lie in it as they are, and workers map
them instead of reading them: however many workers there are, the machine holds them once. To other
machines it goes as bytes. What travels is the user's own model; each worker converts it for itself.
"""

import mmap
import pickle
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from shutil import rmtree
from typing import IO, TYPE_CHECKING, Any

from kedge.errors import ModelError, StorageError

if TYPE_CHECKING:
    from kedge.explainer import Explainer

__all__ = ["PackedExplainer", "StoredExplainer", "already_unpacked", "pack", "pickled", "stored", "unpack"]

# Arrays begin at multiples of this many bytes, as numpy's own allocations do at least.
_ALIGNED = 64
# The explainers this process has unpacked, by name. One run needs one; a few are kept for callers
# that alternate between models.
_UNPACKED: dict[str, "Explainer"] = {}
_KEPT = 4


@dataclass(frozen=True)
class PackedExplainer:
    """An explainer as bytes.

    Parameters
    ----------
    name
        A hash of its content, under which a worker remembers what it has unpacked.
    data
        The content.
    """

    name: str
    data: bytes = field(repr=False)


@dataclass(frozen=True)
class StoredExplainer:
    """An explainer in a folder of this machine.

    Parameters
    ----------
    folder
        Where it lies: ``explainer.pickle``, and the content of its large arrays in ``arrays``.
    places
        Where in ``arrays`` each of them begins and ends.
    """

    folder: Path
    places: tuple[tuple[int, int], ...] = ()

    def load(self) -> "Explainer":
        """Unpack it; pages of the arrays are shared with other processes until one writes to them."""
        content = (self.folder / "explainer.pickle").read_bytes()
        mapped = memoryview(bytearray())
        if any(end for _, end in self.places):  # an empty file cannot be mapped
            with (self.folder / "arrays").open("rb") as file:
                mapped = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY))
        buffers = [mapped[begin:end] for begin, end in self.places]
        explainer: Explainer = pickle.loads(content, buffers=buffers)  # noqa: S301  (our own, made a moment ago)
        return explainer

    def discard(self) -> None:
        """Remove the folder."""
        rmtree(self.folder, ignore_errors=True)


@contextmanager
def stored(explainer: "Explainer") -> Iterator[StoredExplainer]:
    """Put an explainer into a temporary folder, for as long as the run lasts."""
    try:
        folder = Path(tempfile.mkdtemp(prefix="kedge-"))
    except OSError as error:
        raise _no_room(tempfile.gettempdir(), error) from error
    try:
        try:
            places = _write(explainer, folder)
        except OSError as error:
            raise _no_room(folder.parent, error) from error
        yield StoredExplainer(folder, places)
    finally:
        rmtree(folder, ignore_errors=True)


def pack(explainer: "Explainer") -> PackedExplainer:
    """An explainer as bytes, functions defined in a notebook included."""
    import cloudpickle

    try:
        data: bytes = cloudpickle.dumps(explainer)
    except Exception as error:
        raise _not_packable(error) from error
    return PackedExplainer(blake2b(data, digest_size=16).hexdigest(), data)


def unpack(packed: PackedExplainer) -> "Explainer":
    """The explainer, unpacked when this process sees it for the first time."""
    if packed.name not in _UNPACKED:
        while len(_UNPACKED) >= _KEPT:
            del _UNPACKED[next(iter(_UNPACKED))]
        _UNPACKED[packed.name] = pickle.loads(packed.data)  # noqa: S301  (our own, made a moment ago)
    return _UNPACKED[packed.name]


def already_unpacked(name: str) -> "Explainer | None":
    """The explainer of this name, if this process has unpacked it."""
    return _UNPACKED.get(name)


def pickled(value: Any) -> bytes:
    """A value as bytes; what is defined in a notebook travels too."""
    try:
        return pickle.dumps(value, protocol=5)
    except Exception:  # noqa: BLE001  (pickle raises whatever objects raise)
        import cloudpickle

        data: bytes = cloudpickle.dumps(value, protocol=5)
        return data


def _write(explainer: "Explainer", folder: Path) -> tuple[tuple[int, int], ...]:
    import cloudpickle

    places: list[tuple[int, int]] = []
    with (folder / "arrays").open("wb") as arrays, (folder / "explainer.pickle").open("wb") as content:

        def set_apart(buffer: pickle.PickleBuffer) -> None:
            with buffer.raw() as raw:
                places.append(_append(arrays, raw))

        try:
            cloudpickle.dump(explainer, content, protocol=5, buffer_callback=set_apart)
        except OSError:
            raise
        except Exception as error:
            raise _not_packable(error) from error
    return tuple(places)


def _append(file: IO[bytes], content: memoryview) -> tuple[int, int]:
    at = file.tell()
    begin = -(-at // _ALIGNED) * _ALIGNED
    file.write(bytes(begin - at))
    file.write(content)
    return begin, begin + content.nbytes


def _not_packable(error: BaseException) -> ModelError:
    return ModelError(
        f"The model cannot be sent to other processes ({type(error).__name__}: {error}); use one worker, "
        "or make the model picklable."
    )


def _no_room(folder: Any, error: OSError) -> StorageError:
    return StorageError(
        f"The model cannot be put into the temporary folder {folder} for the workers: {error.strerror}. Make "
        "room there, or name another folder in $TMPDIR."
    )
