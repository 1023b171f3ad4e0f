"""Models that are plain functions, in a folder that worker processes have on their path."""

# A title, a cleared screen, and the same as one character of the upper half of Latin-1.
HOSTILE = "\x1b]0;title\x07\x1b[2J\x9b2J"


def good(texts):
    """One word decides, so that every proposal is right."""
    return ["good" if "good" in text.split() else "bad" for text in texts]


def labelled(texts):
    """Labels that would control a terminal."""
    return [HOSTILE + ("yes" if "good" in text else "no") for text in texts]


def labels_by(table):
    """A model of words a, b, c, ... whose label for every set of them is drawn in advance."""
    words = [chr(ord("a") + k) for k in range(len(table).bit_length() - 1)]

    def model(texts):
        at = [sum(1 << k for k, word in enumerate(words) if word in text.split()) for text in texts]
        return [bool(table[i]) for i in at]

    return model, " ".join(words)
