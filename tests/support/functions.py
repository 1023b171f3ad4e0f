"""Models that are plain functions, in a folder that worker processes have on their path."""


def good(texts):
    """One word decides, so that every proposal is right."""
    return ["good" if "good" in text.split() else "bad" for text in texts]
