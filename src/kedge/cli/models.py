"""Finding the model that ``--model`` names."""

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from kedge.data.demo import review_weights
from kedge.errors import MissingDependency, ModelError
from kedge.utils.messages import name_error

__all__ = ["EMBEDDED", "load_model"]

EMBEDDED = "reviews"
"""The name of the embedded model, the default."""

_RUNS_CODE = {".joblib", ".pkl", ".pickle"}


def load_model(name: str, *, trust: bool = False) -> Any:
    """A model by name: the embedded one, ``module:attribute``, or a file.

    ``.skops`` files load safely. Pickles run code when they are loaded, so they are refused unless
    the user trusts them.
    """
    if name == EMBEDDED:
        return review_weights()
    path = Path(name)
    suffix = path.suffix.lower()
    if suffix == ".skops" or suffix in _RUNS_CODE:
        try:
            there = path.is_file()
        except OSError as error:  # a name that no file can have
            raise ModelError(f"The file {_short(name)} cannot be read: {error.strerror}.") from error
        if not there:
            raise ModelError(f"There is no file {_short(name)}.")
        if suffix == ".skops":
            return _skops(path, trust=trust)
        if not trust:
            raise ModelError(
                f"Loading {path.name} runs whatever code is inside it, so it is refused; add --trust if you "
                "know where it comes from, or save the model with skops."
            )
        return _pickle(path)
    if ":" in name:
        return _attribute(name)
    raise ModelError(
        f"There is no model {_short(name)!r}; give {EMBEDDED!r} (the built-in one), module:attribute, or "
        "a file ending in .skops, .joblib or .pkl."
    )


def _attribute(name: str) -> Any:
    module_name, _, attribute = name.partition(":")
    if "" not in sys.path:
        sys.path.insert(0, "")  # a model beside the user, as `python -m` would find it
    try:
        value: Any = import_module(module_name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ModelError(f"{_short(name)} cannot be loaded: {error}.") from error
    except (Exception, SystemExit) as error:  # a script may end the program when it is imported
        raise ModelError(f"{module_name} raised {name_error(error)} on import.") from error
    for part in attribute.split("."):
        try:
            value = getattr(value, part)
        except AttributeError as error:
            raise ModelError(f"{_short(name)} cannot be loaded: {error}.") from error
        except (Exception, SystemExit) as error:
            raise ModelError(f"The attribute {part} of {_short(name)} raised {name_error(error)}.") from error
    return value


def _short(name: str) -> str:
    return name if len(name) <= 80 else f"{name[:40]}...{name[-20:]}"


def _pickle(path: Path) -> Any:
    import joblib

    try:
        return joblib.load(path)
    except (Exception, SystemExit) as error:
        raise ModelError(
            f"{path.name} cannot be loaded ({name_error(error)}); was it saved by another "
            "version of its libraries?"
        ) from error


def _skops(path: Path, *, trust: bool) -> Any:
    try:
        from skops import io
    except ImportError:
        raise MissingDependency("Reading .skops files needs skops: pip install 'kedge[safe]'.") from None
    try:
        unknown = io.get_untrusted_types(file=path)
        if trust or not unknown:
            return io.load(path, trusted=unknown)
    except Exception as error:
        raise ModelError(f"{path.name} cannot be loaded ({name_error(error)}).") from error
    raise ModelError(
        f"{path.name} contains types that are not known to be safe ({', '.join(unknown)}); add --trust if "
        "you know where it comes from."
    )
