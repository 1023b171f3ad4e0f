"""Models that are plain functions, in a folder that worker processes have on their path."""

# A title, a cleared screen, and the same as one character of the upper half of Latin-1.
HOSTILE = "\x1b]0;title\x07\x1b[2J\x9b2J"


def good(texts):
    """One word decides, so that every proposal is right."""
    return ["good" if "good" in text.split() else "bad" for text in texts]


def labelled(texts):
    """Labels that would control a terminal."""
    return [HOSTILE + ("yes" if "good" in text else "no") for text in texts]
