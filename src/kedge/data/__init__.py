"""The embedded corpus and model, and the paper's review sets."""
