"""How the command line writes what the library says: options as they are typed, sentences on one line."""

import shlex

from kedge.utils.messages import visible
from kedge.utils.sentences import Option

__all__ = ["on_one_line", "typed"]

# Options that the command line has by the name that the library has.
TYPED = frozenset({
    "against", "allow_empty", "certificate", "delta", "encoding", "evaluator", "format", "full", "id", "keep",
    "label", "limit", "mask", "max_queries", "max_rules", "method", "min_precision", "objective", "out",
    "outputs", "overwrite", "promise", "resume", "retry_errors", "seed", "separator", "text", "threshold",
    "timeout", "to", "workers",
})  # fmt: skip
# Those that are typed to say no.
DENIED = frozenset({"header", "quotes"})


def typed(option: Option) -> str:
    """An option as it is typed; one that the command line does not have, as Python has it.

    >>> print(typed(Option("max_queries")), typed(Option("label", "so so")), typed(Option("limit", None)))
    --max-queries --label 'so so' no --limit
    >>> print(typed(Option("quotes", False)), typed(Option("classes")))
    --no-quotes `classes`
    """
    flag = option.name.replace("_", "-")
    if option.name in DENIED and option.value is False:
        return f"--no-{flag}"
    if option.name not in TYPED:
        return str(option)
    if not option.has_value or option.value is True:
        return f"--{flag}"
    if option.value is None or option.value is False:
        return f"no --{flag}"
    return f"--{flag} {shlex.quote(str(option.value))}"


def on_one_line(text: str) -> str:
    """A text on one line, unable to control the terminal."""
    return visible(" ".join(text.split()))
