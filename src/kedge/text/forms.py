"""Whether a word may be what a model reads where the text has another spelling of it."""

import unicodedata

__all__ = ["is_form_of"]


def is_form_of(word: str, written: str) -> bool:
    """Whether a model may read ``written`` as ``word``: in another case, without accents, or as its stem.

    A stemmer cuts off the end of a word and may change the last letter that it leaves; what is not ASCII may
    be left out; and a preprocessor may write one digit for all. Anything else is another word.

    >>> is_form_of("cafe", "Café"), is_form_of("happi", "happy"), is_form_of("lie", "lying")
    (True, True, True)
    >>> is_form_of("00s", "90s"), is_form_of("bad", "brilliant"), is_form_of("be", "was")
    (True, False, False)
    """
    read, here = _folded(word), _folded(written)
    if not read:
        return word == written
    if read in {here, here.encode("ascii", "ignore").decode()}:
        return True
    if here.startswith(read) or (len(read) > 2 and here.startswith(read[:-1]) and len(read) <= len(here) + 1):
        return True
    if read.endswith("ie") and here == read[:-2] + "ying":
        return True
    return len(read) == len(here) and all(a == b or b.isdigit() for a, b in zip(read, here, strict=True))


def _folded(word: str) -> str:
    """The word without case and accents."""
    plain = unicodedata.normalize("NFKD", word.casefold())
    return "".join(c for c in plain if not unicodedata.combining(c))
