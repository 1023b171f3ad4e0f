"""Remedies for a run that cannot continue, as the ends of sentences."""

from kedge.utils.sentences import Option, Sentence

__all__ = ["CONTINUE", "OTHER_OUT", "START_OVER"]

START_OVER = Sentence("start over with ", Option("overwrite", True), ".")
OTHER_OUT = Sentence("choose another ", Option("out"), ", or ", START_OVER)
CONTINUE = Sentence("continue with ", Option("resume", True), ".")
