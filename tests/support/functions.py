"""Models that are plain functions, where worker processes find them: tests are not on the path, this is."""


def good(texts):
    """One word decides, so that every proposal is right."""
    return ["good" if "good" in text.split() else "bad" for text in texts]
