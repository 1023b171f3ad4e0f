"""Rules for a whole model."""

import json
import math
from itertools import combinations

import pytest
from command import run
from hypothesis import given, settings
from hypothesis import strategies as st

import kedge
from kedge.corpus import pick_rules
from kedge.data.demo import review_model, reviews
from kedge.render.html import stylesheet
from kedge.text.index import CorpusIndex

WORDS = "abcdef"
DOCUMENT = st.tuples(st.sets(st.sampled_from(WORDS), min_size=1, max_size=4), st.sampled_from(["x", "y"]))


def result(documents, chosen):
    """Rows of a result in which each document's anchor is some of its words."""
    return [
        {"row": k, "label": label, "words": sorted(words)[: c + 1], "status": "exact", "error": None}
        for k, ((words, label), c) in enumerate(zip(documents, chosen, strict=True))
    ]


def covered(rules, documents):
    return {
        k for k, (words, label) in enumerate(documents) for w, la in rules if set(w) <= words and la == label
    }


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(DOCUMENT, st.integers(0, 2)), min_size=1, max_size=14), st.integers(1, 3))
def test_greedy_is_nearly_the_best(pairs, length):
    """With precision left out of account the list covers at least 1 - 1/e of what the best one does."""
    documents, chosen = [d for d, _ in pairs], [c for _, c in pairs]
    index = CorpusIndex.build([" ".join(sorted(words)) for words, _ in documents], str.split)
    rows = result(documents, chosen)
    found = pick_rules(rows, index, max_rules=length, min_precision=0.0)
    candidates = {(tuple(sorted(r["words"])), r["label"]) for r in rows}
    picked = [(r.words, r.label) for r in found.rules]
    assert set(picked) <= candidates
    best = max(
        len(covered(rules, documents))
        for n in range(min(length, len(candidates)) + 1)
        for rules in combinations(sorted(candidates), n)
    )
    assert sum(r.adds for r in found.rules) == len(covered(picked, documents))
    assert len(covered(picked, documents)) >= (1 - 1 / math.e) * best
    for rule in found.rules:
        inside = [label for words, label in documents if set(rule.words) <= words]
        assert rule.covered == len(inside)
        assert rule.precision == pytest.approx(inside.count(rule.label) / len(inside))
    assert found.coverage == pytest.approx(
        sum(any(set(w) <= words for w, _ in picked) for words, _ in documents) / len(documents)
    )


def test_imprecise_rules_are_left_out():
    """A word that is in documents of both labels makes no rule, unless it is allowed to."""
    index = CorpusIndex.build(["a b", "a c", "a d"], str.split)
    rows = [
        {"row": k, "label": label, "words": ["a"], "status": "exact", "error": None}
        for k, label in enumerate(["x", "x", "y"])
    ]
    assert pick_rules(rows, index, min_precision=0.9).rules == ()
    (rule,) = pick_rules(rows, index, min_precision=0.6).rules
    assert (rule.words, rule.label, rule.covered, rule.adds, rule.explains) == (("a",), "x", 3, 2, 2)
    with pytest.raises(kedge.KedgeError, match="max_rules"):
        pick_rules(rows, index, max_rules=0)
    with pytest.raises(kedge.KedgeError, match="a row 1"):
        pick_rules(rows, CorpusIndex.build(["a"], str.split))


def test_documents_that_need_no_word_make_no_rules():
    """Where the label stays with no word kept, the anchor is a word like any other; its label counts."""
    index = CorpusIndex.build(["a b", "a c", "d"], str.split)
    rows = [
        {"row": k, "label": "x", "words": [word], "status": "exact", "error": None, "needs_no_word": none}
        for k, (word, none) in enumerate([("b", True), ("a", False), ("d", None)])
    ]
    found = pick_rules(rows, index)
    assert [(r.words, r.covered, r.adds) for r in found.rules] == [(("a",), 2, 2), (("d",), 1, 1)]
    assert (found.needless, found.candidates) == (1, 2)
    assert "1 document needs no word to keep its label" in str(found)
    none = pick_rules(rows[:1], index)
    assert str(none).startswith("There is no anchor in 3 documents to make a rule from.\n1 document needs")


def test_a_model_in_a_few_rules():
    """On the embedded reviews twenty rules speak about half of them, nearly always rightly."""
    explainer = kedge.Explainer(review_model())
    rules = explainer.rules(reviews()[0], workers=1)
    few = explainer.rules(reviews()[0], workers=1, max_rules=2, min_precision=1.0)
    assert len(few.rules) == 2
    assert all(rule.precision == 1 for rule in few.rules)
    assert len(rules.rules) == 20
    assert rules.coverage > 0.5
    assert rules.fidelity > 0.95
    assert ("great",) in [r.words for r in rules.rules]
    assert "20 rules" in str(rules)


def test_the_page_is_escaped():
    """Words and labels from anywhere show as themselves."""
    bad = "<script>alert(1)</script>"
    index = CorpusIndex.build([bad], lambda text: [text])
    rows = [{"row": 0, "label": bad, "words": [bad], "status": "exact", "error": None}]
    page = pick_rules(rows, index).to_html(bad, bad)
    assert bad not in page
    assert (
        page.count("&lt;script&gt;alert(1)&lt;/script&gt;") == 2 + 3 * 2
    )  # two cells; title, label, heading


def test_the_page_is_one_of_the_family():
    """Its look, its mark and its columns explained; a word that UTF-8 cannot write does no harm."""
    index = CorpusIndex.build(["\ud800 good"], str.split)
    rows = [{"row": 0, "label": 1, "words": ["\ud800", "good"], "status": "exact", "error": None}]
    rules = pick_rules(rows, index)
    page = rules.to_html()
    assert page.encode()
    assert stylesheet("kedge.css", "shades.css", "report.css") in page
    assert 'class="k-name"' in page
    assert "<h1>Rules of a model</h1>" in page
    for name in ("coverage", "precision", "adds", "explains"):
        assert f"<dt>{name.capitalize()}</dt><dd>" in page
    assert "1 rule (of 1 different anchor) covers 100.0% of 1 document" in str(rules)


def test_an_index_of_the_same_texts_is_not_built_again(tmp_path, monkeypatch):
    """Rules count in the index at hand where it is of their documents, and else make one."""
    texts = reviews()[0][:12]
    rows = "".join(json.dumps({"text": text}) + "\n" for text in texts)
    (tmp_path / "in.jsonl").write_text(rows, encoding="utf-8")
    built = []
    plain = CorpusIndex.build.__func__
    monkeypatch.setattr(
        CorpusIndex, "build", classmethod(lambda cls, *given: built.append(1) or plain(cls, *given))
    )
    command = ["corpus", "in.jsonl", "--text", "text", "--index", "index", "--rules", "--workers", 1]
    shown = []
    for number, (options, times) in enumerate([([], 1), ([], 0), (["--limit", 11], 1)]):
        done = run(*command, "--out", f"{number}.jsonl", *options, cwd=tmp_path)
        assert (done.returncode, done.stderr, len(built)) == (0, "", times)
        shown.append((tmp_path / f"{number}.rules.html").read_text(encoding="utf-8"))
        built.clear()
    assert shown[0] == shown[1] != shown[2]
