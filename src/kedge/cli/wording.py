"""Sentences of the library in the words of the command line: `method='auto'` is ``--method auto`` here.

A sentence marks what is typed with backticks, so that nothing else is translated.
"""

import re
import shlex

from kedge.errors import KedgeError, OptionError

__all__ = ["on_one_line", "translate", "translate_error"]

# Options that the command line has by the name that the library has.
_TYPED = frozenset({
    "against", "allow_empty", "delta", "encoding", "evaluator", "format", "full", "id", "keep", "label",
    "limit",
    "mask", "max_queries", "max_rules", "method", "min_precision", "objective", "outputs", "overwrite",
    "resume", "retry_errors", "seed", "separator", "text", "threshold", "timeout", "to", "workers",
})  # fmt: skip
_MARKED = re.compile(r"`(?:(\w+)(?:=([^`]*))?)`")


def translate(sentence: str) -> str:
    """A sentence with options as they are typed.

    >>> translate("A multi-label model needs `label=`; raise `max_queries` or use `method='auto'`.")
    'A multi-label model needs --label; raise --max-queries or use --method auto.'
    >>> translate("The earlier run was begun with `limit=None`, not 3, and `classes=`.")
    'The earlier run was begun with no --limit, not 3, and `classes=`.'
    """
    return _MARKED.sub(lambda found: _typed(found[1], found[2]) or found[0], sentence)


def translate_error(error: KedgeError) -> str:
    """The sentence of an error, on one line; one about an option begins with that option."""
    sentence = translate(str(error))
    if isinstance(error, OptionError) and error.option is not None:
        option = _typed(error.option, None)
        if option is not None and sentence.startswith(f"{error.option} "):
            sentence = option + sentence.removeprefix(error.option)
    return on_one_line(sentence)


def on_one_line(text: str) -> str:
    """A text on one line, unable to control the terminal."""
    from kedge.utils.messages import visible

    return visible(" ".join(text.split()))


def _typed(name: str, value: str | None) -> str | None:
    """An option as it is typed; None for one that the command line does not have."""
    if name in {"header", "quotes"} and value == "False":
        return f"--no-{name}"
    if name not in _TYPED:
        return None
    option = "--" + name.replace("_", "-")
    if not value or value == "True":
        return option
    if value in {"False", "None"}:
        return f"no {option}"
    return f"{option} {shlex.quote(value.strip(chr(39) + chr(34)))}"
