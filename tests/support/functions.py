"""Models that are plain functions, where worker processes find them: this folder is on the path, tests are not."""


def good(texts):
    """One word decides, so that every proposal is right."""
    return ["good" if "good" in text.split() else "bad" for text in texts]
