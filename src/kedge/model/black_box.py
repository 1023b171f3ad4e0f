"""Black boxes: functions from texts to answers, and objects that predict."""

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from kedge.errors import KedgeError, ModelRaised, OutputError
from kedge.model.answers.naming import name_labels, numbered
from kedge.model.answers.outputs import Outputs, read_outputs
from kedge.model.model import Model, Predictions, python_label
from kedge.typing import Label

__all__ = ["callable_model", "estimator_model"]

# Methods whose columns are the classes of the object they belong to.
_BY_CLASS = frozenset({"predict_proba", "predict_log_proba", "decision_function"})


def callable_model(
    function: Callable[[list[str]], Any], outputs: Outputs = "auto", classes: Sequence[Label] | None = None
) -> Model:
    """A function from a list of texts to labels or numbers."""
    name = getattr(function, "__name__", type(function).__name__)
    if (
        outputs == "auto"
        and name in {"decision_function", "predict_log_proba"}
        and inspect.ismethod(function)
    ):
        outputs = "scores"  # as scikit-learn names them

    def predict(texts: Sequence[str]) -> Predictions:
        raw = _answer(function, list(texts))
        return read_outputs(raw, len(texts), outputs, _columns(function, raw) if classes is None else classes)

    return Model(predict, name=name)


def _answer(function: Callable[[Any], Any], texts: list[str]) -> Any:
    """What the function says; one that takes a single text is distinguished from one that fails."""
    try:
        return function(texts)
    except (AttributeError, TypeError, ValueError, KeyError) as error:
        if isinstance(error, KedgeError):
            raise
        if inspect.ismethod(function) and hasattr(function.__self__, "predict"):
            raise _raised(function.__self__, function.__name__, error) from error
        if not _takes_one(function, texts[0]):
            raise
        name = getattr(function, "__name__", type(function).__name__)
        shown = "function" if name == "<lambda>" else name
        raise ModelRaised(
            f"The model raised {type(error).__name__} on a list of texts, but answers for a single text; "
            f"pass lambda texts: [{shown}(text) for text in texts]."
        ) from error


def _takes_one(function: Callable[[Any], Any], text: str) -> bool:
    """Whether the function answers for a text by itself."""
    try:
        return function(text) is not None
    except Exception:  # noqa: BLE001  (whatever it is, the first error says more)
        return False


def _columns(function: Any, raw: Any) -> tuple[Label, ...] | None:
    """The classes of the object that a method belongs to, where they name the columns of its answer."""
    if not inspect.ismethod(function) or function.__name__ not in _BY_CLASS:
        return None
    classes = _classes(function.__self__)
    shape: tuple[int, ...] = getattr(raw, "shape", ())
    columns = 2 if len(shape) == 1 else shape[1] if len(shape) == 2 else 0
    return classes if classes is not None and len(classes) == columns else None


def _classes(estimator: Any) -> tuple[Label, ...] | None:
    """An object's ``classes_``, if it has one list of them."""
    classes = getattr(estimator, "classes_", None)
    if classes is None or not hasattr(classes, "__len__") or getattr(classes, "ndim", 1) != 1:
        return None
    found = tuple(python_label(label) for label in classes)
    return found if all(isinstance(label, (str, int, float)) for label in found) else None


def estimator_model(
    estimator: Any, outputs: Outputs = "auto", classes: Sequence[Label] | None = None
) -> Model:
    """An object with ``predict``, queried as it stands; its ``predict_proba`` is queried, too, if it has one.

    Labels are those of ``predict``, whatever the probabilities say. Probabilities are used where it is
    known which label each column means.
    """
    with_chances = outputs == "auto" and callable(getattr(estimator, "predict_proba", None))

    def ask(method: str, texts: list[str]) -> Any:
        try:
            return getattr(estimator, method)(texts)
        except KedgeError:
            raise
        except Exception as error:
            raise _raised(estimator, method, error) from error

    def predict(texts: Sequence[str]) -> Predictions:
        raw = ask("predict", list(texts))
        if not with_chances:
            return read_outputs(raw, len(texts), outputs, classes)
        answer = read_outputs(raw, len(texts))
        if answer.labels is None or answer.probabilities is not None:
            return read_outputs(raw, len(texts), outputs, classes)
        answer = _with_chances(estimator, answer, lambda: ask("predict_proba", list(texts)))
        return answer if classes is None else name_labels(answer, numbered(classes))

    return Model(predict, name=type(estimator).__name__)


def _raised(estimator: Any, method: str, error: Exception) -> ModelRaised:
    """What to say when a classifier fails on texts: as a rule it expects the rows of a vectoriser."""
    reason = str(error).strip().split("\n", maxsplit=1)[0].split(". ", maxsplit=1)[0].rstrip(".:")
    return ModelRaised(
        f"{type(estimator).__name__}.{method} raised {type(error).__name__} on a list of texts"
        f"{f' ({reason[:100]})' if reason else ''}; a classifier of numbers needs what makes them: pass the "
        "pair (vectorizer, classifier), a Pipeline that starts with its vectoriser, or a function from a "
        "list of texts to labels."
    )


def _with_chances(estimator: Any, answer: Predictions, chances: Callable[[], Any]) -> Predictions:
    """Labels with their probabilities, if these are probabilities of known labels."""
    try:
        found = read_outputs(chances(), len(answer), "probabilities", _classes(estimator))
    except OutputError:
        return answer
    known = set(found.classes or ())
    assert answer.labels is not None  # noqa: S101  (the caller has looked)
    if not all(label in known for label in answer.labels):
        return answer
    return Predictions(answer.labels, found.classes, found.probabilities)
