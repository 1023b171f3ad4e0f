"""Everything kedge refuses, as one tree.

::

    KedgeError
    ├── TextError          the text cannot be explained (empty, not a string, nothing the model reads)
    ├── OptionError        an option is unknown or out of range
    ├── LabelError         the label asked about does not hold for the document
    ├── ModelError         the model's side of the conversation
    │   ├── ModelRaised    it raised; the user's exception is the cause
    │   ├── OutputError    it returned something that cannot be read as labels
    │   └── Inconsistent   it gave different answers for the same text
    ├── DataError          a review set cannot be found, downloaded or read
    ├── StorageError       results cannot be kept or read back
    ├── OutOfQueries       the next question would exceed ``max_queries``
    └── MissingDependency  an optional library is not installed

Each carries one sentence: what was got, what is allowed, what to do.
"""

__all__ = [
    "DataError",
    "Inconsistent",
    "KedgeError",
    "LabelError",
    "MissingDependency",
    "ModelError",
    "ModelRaised",
    "OptionError",
    "OutOfQueries",
    "OutputError",
    "StorageError",
    "TextError",
]


class KedgeError(Exception):
    """The root: ``except kedge.KedgeError`` catches every refusal."""


class TextError(KedgeError, ValueError):
    """The text cannot be explained."""


class OptionError(KedgeError, ValueError):
    """An option is unknown or out of range."""


class LabelError(KedgeError, ValueError):
    """The label asked about does not hold for the document."""


class ModelError(KedgeError):
    """The model could not be understood or asked."""


class ModelRaised(ModelError):  # noqa: N818  (named for what happened, like the rest of the tree)
    """The model raised; its exception is this one's cause."""


class OutputError(ModelError, ValueError):
    """The model's answer cannot be read as labels."""


class Inconsistent(ModelError):  # noqa: N818
    """The model answered the same text differently."""


class DataError(KedgeError, OSError):
    """A review set cannot be found, downloaded or read."""


class StorageError(KedgeError):
    """Results cannot be written, or what is there does not belong to this run."""


class OutOfQueries(KedgeError):  # noqa: N818
    """The next question would exceed ``max_queries``."""


class MissingDependency(KedgeError, ImportError):  # noqa: N818
    """An optional library is needed and not installed."""
