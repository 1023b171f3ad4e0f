"""What to do about a run that cannot go on, as the ends of sentences."""

from kedge.utils.sentences import Option, Sentence

__all__ = ["BEGIN_AGAIN", "GO_ON", "OUT_OR_AGAIN"]

BEGIN_AGAIN = Sentence("begin again with ", Option("overwrite", True), ".")
OUT_OR_AGAIN = Sentence("choose another ", Option("out"), ", or ", BEGIN_AGAIN)
GO_ON = Sentence("go on with ", Option("resume", True), ".")
