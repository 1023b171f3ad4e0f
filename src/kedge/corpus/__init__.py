"""Whole corpora: many documents, more than one machine, nothing lost."""

from kedge.corpus.outcome import Outcome
from kedge.corpus.readers import Source, open_source
from kedge.corpus.rules import CorpusRule, RuleList, check_rules, pick_rules
from kedge.corpus.run import check_run, explain_file, explain_texts, result_rows
from kedge.corpus.summary import Summary

__all__ = [
    "CorpusRule",
    "Outcome",
    "RuleList",
    "Source",
    "Summary",
    "check_rules",
    "check_run",
    "explain_file",
    "explain_texts",
    "open_source",
    "pick_rules",
    "result_rows",
]
