"""What makes two runs the same run: options and a model as plain data that is the same in every process."""

import io
import pickle
import sys
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from hashlib import blake2b
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from kedge.corpus.user_code import is_the_users
from kedge.text.index import CorpusIndex

if TYPE_CHECKING:
    from kedge.explainer import Explainer

__all__ = ["model_digest", "options_of", "plain"]

# Options that change how a run goes, not what comes out of it.
_NO_MATTER = {"progress", "batch_size"}
# What objects of scikit-learn remember of where other objects lie in memory.
_ADDRESSES = {"_stop_words_id"}


def options_of(explainer: "Explainer") -> dict[str, Any]:
    """The options of an explainer that change what comes out, as plain data."""
    given = explainer.options.given
    return {name: plain(value) for name, value in given.items() if name not in _NO_MATTER}


def plain(value: Any) -> Any:
    """A value as JSON that identifies it, the same in every process.

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
    # Addresses differ from process to process; a large thing is identified by its hash.
    return kind if " at 0x" in shown else f"{kind} {shown if len(shown) <= 200 else _hash(shown.encode())}"


def model_digest(model: Any) -> str | None:
    """A hash of a model: its weights, and the code of what the user has written; None if it has none.

    It is the same for the same model in another process, whatever the order of sets there, and another one
    for a model that was trained again or whose code was changed.
    """
    for memory in (False, True):  # without a memory equal strings are equal; with one, cycles end
        try:
            return _Content(memory).digest(model)
        except RecursionError:
            continue
        except Exception:  # noqa: BLE001  (a model that cannot be pickled is known by its answers only)
            return None
    return None


class _Content(pickle.Pickler):
    """Pickles for the sake of a hash: it is never read back, so it may leave things out."""

    def __init__(self, memory: bool) -> None:
        self._file = io.BytesIO()
        self._memory = memory
        self._state = blake2b(digest_size=16)
        super().__init__(self._file, protocol=5, buffer_callback=self._add)
        self.fast = not memory
        self._open: set[int] = set()

    def digest(self, value: Any) -> str:
        self.dump(value)
        self._state.update(self._file.getbuffer())
        return self._state.hexdigest()

    def _add(self, buffer: pickle.PickleBuffer) -> None:
        with buffer.raw() as raw:
            self._state.update(raw)

    def _inner(self, value: Any) -> str:
        return _Content(self._memory).digest(value)

    def persistent_id(self, value: Any) -> Any:
        """What stands for a value that must not be pickled as it is; None for all others."""
        stands_for: Any = None
        if isinstance(value, (set, frozenset)):
            stands_for = ("set", *sorted(map(self._inner, value)))
        elif isinstance(value, MethodType):
            stands_for = ("method", self._inner(value.__self__), value.__func__)
        elif isinstance(value, FunctionType):
            stands_for = self._function(value)
        elif isinstance(value, ModuleType):
            stands_for = ("module", value.__name__)
        elif isinstance(value, type) and is_the_users(value.__module__):
            stands_for = self._class(value)
        elif (torch := sys.modules.get("torch")) is not None and isinstance(value, torch.Tensor):
            array = value.detach().cpu().contiguous()
            content = array.view(torch.uint8) if array.ndim else array
            stands_for = ("tensor", str(array.dtype), tuple(array.shape), content.numpy().tobytes())
        return stands_for

    def reducer_override(self, value: Any) -> Any:
        """How an object is pickled that holds an address in memory; all others as always."""
        state = getattr(value, "__dict__", None)
        if not isinstance(state, dict) or _ADDRESSES.isdisjoint(state) or isinstance(value, type):
            return NotImplemented
        return object.__new__, (type(value),), {k: v for k, v in state.items() if k not in _ADDRESSES}

    def _class(self, value: type) -> Any:
        methods = [f for _, f in sorted(vars(value).items()) if isinstance(f, FunctionType)]
        return ("class", value.__qualname__, *(self._function(f) for f in methods))

    def _function(self, value: FunctionType) -> Any:
        local = "<" in value.__qualname__  # a lambda, or made by a function: the name is not enough
        users = is_the_users(value.__module__)
        if id(value) in self._open or not (local or users):
            return ("function", value.__module__, value.__qualname__)
        self._open.add(id(value))
        try:
            code = value.__code__
            names = sorted(_names(code)) if users else ()
            used = [value.__globals__[n] for n in names if n in value.__globals__]
            cells = [cell.cell_contents for cell in value.__closure__ or ()]
            inside = _Content(self._memory)
            inside._open = self._open
            parts = (_code(code), value.__defaults__, value.__kwdefaults__, cells, used)
            return ("code", value.__qualname__, inside.digest(parts))
        finally:
            self._open.discard(id(value))


def _code(code: CodeType) -> Any:
    """What a function does, without where it stands."""
    constants = [_code(c) if isinstance(c, CodeType) else c for c in code.co_consts]
    return (code.co_code, constants, code.co_names, code.co_varnames, code.co_freevars)


def _names(code: CodeType) -> set[str]:
    """The global names that a function mentions, in functions inside it too."""
    inner = [_names(c) for c in code.co_consts if isinstance(c, CodeType)]
    return set(code.co_names).union(*inner)


def _hash(data: bytes) -> str:
    return blake2b(data, digest_size=16).hexdigest()
