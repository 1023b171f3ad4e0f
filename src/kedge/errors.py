"""Everything kedge refuses, as one tree.

::

    KedgeError
    ├── TextError          the text cannot be explained (empty, not a string, nothing the model reads)
    ├── OptionError        an option is unknown or out of range
    ├── LabelError         the requested label does not hold for the document
    ├── ModelError         the model is at fault
    │   ├── ModelRaised    it raised; the user's exception is the cause
    │   ├── OutputError    it returned something that cannot be read as labels
    │   └── Inconsistent   it gave different answers for the same text
    ├── CertificateError   a certificate cannot be made, or does not prove what it claims
    ├── DataError          a review set cannot be found, downloaded or read
    ├── StorageError       results cannot be kept or read back
    ├── WorkerError        workers cannot be started, reached or used
    │   └── WorkerDied     a worker died of its document
    ├── OutOfQueries       the next query would exceed ``max_queries``
    │   └── OutOfTime      the time limit was reached
    └── MissingDependency  an optional library is not installed

Each carries one sentence: what was given, what is allowed, what to do. Where many documents are explained
an error is one document's and ends nothing: there it is a value, a ``Failure``.
"""

from dataclasses import dataclass

from kedge.utils.messages import first_line
from kedge.utils.sentences import Part, Sentence

__all__ = [
    "CertificateError",
    "DataError",
    "Failure",
    "Inconsistent",
    "KedgeError",
    "LabelError",
    "MissingDependency",
    "ModelError",
    "ModelRaised",
    "OptionError",
    "OutOfQueries",
    "OutOfTime",
    "OutputError",
    "StorageError",
    "TextError",
    "WorkerDied",
    "WorkerError",
]


class KedgeError(Exception):
    """The root: ``except kedge.KedgeError`` catches every refusal.

    It is made of the parts of its sentence, strings and options; ``sentence`` keeps them apart, so that a
    front end can spell the options its own way.
    """

    def __init__(self, *parts: Part) -> None:
        self.sentence = Sentence(*parts)
        super().__init__(self.sentence)


class TextError(KedgeError, ValueError):
    """The text cannot be explained."""


class OptionError(KedgeError, ValueError):
    """An option is unknown or out of range.

    ``option`` and ``value`` say which option it is about and what was given: the first that the sentence
    mentions, unless they are given.
    """

    def __init__(self, *parts: Part, option: str | None = None, value: object = None) -> None:
        super().__init__(*parts)
        first = next(iter(self.sentence.options), None)
        if first is not None and option is None:
            option = first.name
            value = first.value if first.has_value and value is None else value
        self.option, self.value = option, value


class LabelError(KedgeError, ValueError):
    """The requested label does not hold for the document."""


class ModelError(KedgeError):
    """The model could not be converted or queried."""


class ModelRaised(ModelError):  # noqa: N818  (named for what happened, like the rest of the tree)
    """The model raised; its exception is this one's cause."""


class OutputError(ModelError, ValueError):
    """The model's answer cannot be read as labels."""


class Inconsistent(ModelError):  # noqa: N818
    """The model answered the same text differently."""


class CertificateError(KedgeError, ValueError):
    """A certificate cannot be made, or does not prove what it claims."""


class DataError(KedgeError, OSError):
    """A review set cannot be found, downloaded or read."""


class StorageError(KedgeError):
    """Results cannot be written, or what is there does not belong to this run."""


class WorkerError(KedgeError):
    """Workers cannot be started, reached or used."""


class WorkerDied(WorkerError):  # noqa: N818
    """A worker died of its document."""


class OutOfQueries(KedgeError):  # noqa: N818
    """The next query would exceed ``max_queries``."""


class OutOfTime(OutOfQueries):
    """The time limit was reached; a search that has found something by then answers with it."""


class MissingDependency(KedgeError, ImportError):  # noqa: N818
    """An optional library is needed and not installed."""


@dataclass(frozen=True)
class Failure:
    """Why a document has no explanation.

    Parameters
    ----------
    kind
        The name of the error's class.
    reason
        Its sentence.
    """

    kind: str
    reason: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.reason}"

    @classmethod
    def of(cls, error: BaseException) -> "Failure":
        """An error as a value.

        >>> Failure.of(TextError("The text is empty."))
        Failure(kind='TextError', reason='The text is empty.')
        """
        if isinstance(error, KedgeError):
            return cls(type(error).__name__, error.sentence)
        said = first_line(error) or "no details"
        return cls(type(error).__name__, f"{said} (unexpected: please report it)")
