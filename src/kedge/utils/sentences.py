"""Sentences that know which of their words are options, so that each front end can spell these its own way.

In Python an option is ``method='auto'``, on the command line ``--method auto``. A sentence keeps a mention of
one as a value; nothing reads it out of the text again.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Self

__all__ = ["Option", "Part", "Sentence", "spelled"]


class _Unsaid:
    """No value: None is one that options have."""

    def __repr__(self) -> str:
        return "UNSAID"

    def __reduce__(self) -> str:
        return "UNSAID"  # the same object after pickling


UNSAID = _Unsaid()


@dataclass(frozen=True)
class Option:
    """An option as a sentence mentions it; as a string it is what Python takes.

    Parameters
    ----------
    name
        Its name in the library.
    value
        The value mentioned with it, if there is one.

    >>> print(Option("max_queries"), Option("method", "auto"))
    `max_queries` `method='auto'`
    """

    name: str
    value: Any = UNSAID

    @property
    def has_value(self) -> bool:
        """Whether a value is mentioned with it."""
        return self.value is not UNSAID

    def __str__(self) -> str:
        return f"`{self.name}={self.value!r}`" if self.has_value else f"`{self.name}`"


Part = str | Option
"""What a sentence is made of."""


class Sentence(str):  # noqa: SLOT000  (its parts are kept where pickle finds them)
    """A string that keeps the parts it was made of.

    Made of strings, options and other sentences. It reads as Python's users need it; ``spelled`` is how
    another front end shows it.

    >>> said = Sentence("raise ", Option("max_queries"), " or use ", Option("method", "auto"), ".")
    >>> said
    "raise `max_queries` or use `method='auto'`."
    >>> Sentence("No proof; ", said).options
    (Option(name='max_queries', value=UNSAID), Option(name='method', value='auto'))
    """

    parts: tuple[Part, ...]

    def __new__(cls, *parts: Part) -> Self:
        """Join the parts."""
        flat = tuple(_flat(parts))
        made = super().__new__(cls, "".join(map(str, flat)))
        made.parts = flat
        return made

    @property
    def options(self) -> tuple[Option, ...]:
        """The options it mentions, in order."""
        return tuple(part for part in self.parts if isinstance(part, Option))


def spelled(sentence: str, spell: Callable[[Option], str]) -> str:
    """A sentence with its options as ``spell`` writes them; a plain string mentions none.

    >>> spelled(Sentence("Raise ", Option("max_queries"), "."), lambda option: option.name.upper())
    'Raise MAX_QUERIES.'
    """
    if not isinstance(sentence, Sentence):
        return sentence
    return "".join(spell(part) if isinstance(part, Option) else part for part in sentence.parts)


def _flat(parts: Iterable[Part]) -> Iterable[Part]:
    for part in parts:
        if isinstance(part, Sentence):
            yield from part.parts
        else:
            yield part
