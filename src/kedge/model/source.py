"""The user's model and what it was converted to, shared by all explainers that explain it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from kedge.model.answers.outputs import Outputs
from kedge.model.convert import as_model
from kedge.model.model import Model
from kedge.typing import Label

__all__ = ["Converted", "Source"]


@dataclass(frozen=True)
class Converted:
    """A model as it was converted.

    ``checked`` is the one thing that is added later: that what was read of the model agrees with its own
    predictions (`kedge.reading.verification`).
    """

    model: Model
    checked: list[bool] = field(default_factory=list, compare=False, repr=False)


class Source:
    """A model as the user gave it; converted once, and again when it is no longer made of the same parts.

    Safe to share between threads: a conversion is a value, and a thread that holds one can go on using it.
    """

    def __init__(self, given: Any, outputs: Outputs = "auto", classes: Sequence[Label] | None = None) -> None:
        self.given, self._outputs, self._classes = given, outputs, classes
        self._converted = self._convert()

    def _convert(self) -> Converted:
        return Converted(as_model(self.given, outputs=self._outputs, classes=self._classes))

    def current(self) -> Converted:
        """The conversion of the model as it is now."""
        converted = self._converted
        if not converted.model.is_current:
            converted = self._converted = self._convert()
        return converted
