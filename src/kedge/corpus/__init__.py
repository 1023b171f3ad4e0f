"""Whole corpora: many documents, more than one machine, nothing lost."""

from kedge.corpus.files.readers import Source, open_source
from kedge.corpus.files.results import result_rows
from kedge.corpus.frames import explain_frame
from kedge.corpus.outcome import Outcome
from kedge.corpus.promise import Audit, Promise, Promised
from kedge.corpus.rules import CorpusRule, RuleList, check_rules, pick_rules
from kedge.corpus.run import check_run, explain_file, explain_texts
from kedge.corpus.summary import Summary

__all__ = [
    "Audit",
    "CorpusRule",
    "Outcome",
    "Promise",
    "Promised",
    "RuleList",
    "Source",
    "Summary",
    "check_rules",
    "check_run",
    "explain_file",
    "explain_frame",
    "explain_texts",
    "open_source",
    "pick_rules",
    "result_rows",
]
