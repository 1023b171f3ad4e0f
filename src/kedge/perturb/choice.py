"""A perturbation from what the user said of it: a name, an object, or short forms."""

from dataclasses import replace

from kedge.errors import OptionError
from kedge.perturb.masking import UNKNOWN, Masking
from kedge.perturb.perturbation import Perturbation
from kedge.utils.sentences import Option

__all__ = ["as_perturbation"]


def as_perturbation(
    given: "str | Perturbation", mask: str | None = None, keep: float | None = None
) -> Perturbation:
    """A perturbation by name, or the object that was given; ``mask`` and ``keep`` are short for a masking.

    >>> as_perturbation("unk", keep=0.1)
    Masking(mask='UNK', keep=0.1, form='coins', protect=())
    """
    if mask is not None and not (isinstance(given, str) and given == "auto"):
        raise OptionError(
            Option("mask"),
            " and ",
            Option("perturbation"),
            " both say what stands for a removed word; give one of them.",
            value=mask,
        )
    if isinstance(given, str):
        if given not in {"auto", "unk"}:
            raise OptionError(
                Option("perturbation", given),
                " is not known; choose 'auto', 'unk' or an object such as kedge.Masking().",
            )
        masking = Masking(mask=UNKNOWN if given == "unk" else mask)
        return masking if keep is None else replace(masking, keep=keep)
    if not all(hasattr(given, name) for name in ("draw", "writer", "keep")):
        raise OptionError(
            Option("perturbation"),
            f" must be 'auto', 'unk' or a perturbation such as kedge.Masking(), got {type(given).__name__}.",
        )
    if keep is not None:
        raise OptionError(
            Option("keep"),
            " and ",
            Option("perturbation"),
            f" both say how many words stay; give the object its own, as in kedge.Masking(keep={keep:g}).",
            value=keep,
        )
    return given
