"""One promise for a whole corpus."""

import json

import pytest
from functions import good

import kedge
from kedge.corpus import Promise, explain_file, open_source
from kedge.corpus.audit import Auditor, Proposal, Urn
from kedge.corpus.items import Item
from kedge.studies.checking import check_anchor

WORDS = ["soup", "cold", "slow", "fish", "wine", "rice", "bread", "table", "chair", "lamp", "door"]
TEXTS = [f"good {' '.join(WORDS[:10])} {k}" for k in range(40)]
EASY = Promise(share=0.8)


def three_words(texts):
    """Lost where three words are gone together: the anchor of any other word has precision 7/8."""
    return ["good" if {"soup", "cold", "slow"} & set(text.split()) else "bad" for text in texts]


def explainer(model=good):
    return kedge.Explainer(model, method="guided")


def write(folder, texts=TEXTS):
    path = folder / "in.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    return open_source(path, "text")


def rows(path):
    found = [json.loads(line) for line in path.read_text().splitlines()]
    return [{name: value for name, value in row.items() if name != "seconds"} for row in found]


def test_every_row_says_audited():
    """Proposals that all reach are audited, with the sentence of the audit in their notes."""
    outcomes = list(explainer().explain_corpus(TEXTS, workers=1, promise=EASY))
    assert {one.explanation.status for one in outcomes} == {"audited"}
    assert all(one.explanation.words == ("good",) for one in outcomes)
    assert "at least 80% of 40 anchors reach a precision of 0.95" in outcomes[0].explanation.notes[-1]
    e = outcomes[0].explanation
    assert kedge.Explanation.from_json(e.to_json()).status == "audited"
    assert "Audited" in e.to_html()


def test_files_workers_and_resuming(tmp_path):
    """Any number of workers gives the same rows; what is finished is not asked about again."""
    source = write(tmp_path)
    one = explain_file(explainer(), source, tmp_path / "one.jsonl", workers=1, promise=EASY)
    two = explain_file(explainer(), source, tmp_path / "two.jsonl", workers=2, promise=EASY, full=False)
    assert rows(tmp_path / "one.jsonl") == rows(tmp_path / "two.jsonl")
    assert one.audit == two.audit
    assert one.statuses == {"audited": 40}
    assert one.audit.proved
    assert one.audit.failed == 0
    assert one.to_dict()["audit"]["population"] == 40
    assert "audit      at least 80%" in str(one)
    again = explain_file(explainer(), source, tmp_path / "one.jsonl", workers=1, promise=EASY, resume=True)
    assert again.audit == one.audit


def test_an_interrupted_audit_goes_on(tmp_path, monkeypatch):
    """Checks that were made before the interruption are not made again, and the result is the same."""
    source = write(tmp_path)
    whole = explain_file(explainer(), source, tmp_path / "whole.jsonl", workers=1, promise=EASY)
    out = tmp_path / "out.jsonl"
    from kedge.corpus.files.audits import AuditFile

    plain, made = AuditFile._record, []

    def stop(self, proposal, check):
        plain(self, proposal, check)
        made.append(proposal.row)
        if len(made) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(AuditFile, "_record", stop)
    with pytest.raises(KeyboardInterrupt):
        explain_file(explainer(), source, out, workers=1, promise=EASY)
    assert not out.exists()
    resumed = explain_file(explainer(), source, out, workers=1, promise=EASY, resume=True)
    assert resumed.audit == whole.audit
    assert len(made) == len(set(made)) == whole.audit.drawn
    assert rows(out) == rows(tmp_path / "whole.jsonl")


def test_an_audit_that_fails_claims_nothing(tmp_path):
    """A share that so few documents cannot prove: the rows stay estimates and say so."""
    source = write(tmp_path, TEXTS[:12])
    promise = Promise(share=0.95, samples=10)  # too few for any proof
    summary = explain_file(explainer(), source, tmp_path / "out.jsonl", workers=1, promise=promise)
    assert not summary.audit.proved
    assert summary.statuses == {"estimated": 12}
    told = "not proved that at least 95% of 12 anchors reach a precision of 0.95 (confidence 0.95); no share"
    assert all(told in row["notes"][-1] for row in rows(tmp_path / "out.jsonl"))


def test_an_anchor_that_misses_seldom_passes():
    """At precision 7/8 a check at level 0.04 is passed by at most that share of anchors."""
    reader = kedge.Explainer(three_words)
    passed = 0
    for k in range(150):
        reading = reader.read(f"soup cold slow {' '.join(WORDS[3:])} {k}")
        passed += check_anchor(reading, (3,), 0.95, level=0.04, samples=2000, seed=0).proved
    assert passed <= 12  # of 6 expected at most; more than 12 has probability 0.005 at the bound


def four_words(texts):
    """Lost where four words are gone together: the anchor of any other word has precision 15/16."""
    return ["good" if {"soup", "cold", "slow", "fish"} & set(text.split()) else "bad" for text in texts]


def test_a_promise_at_the_border_is_seldom_claimed():
    """With one bad anchor more than the promise allows, an audit proves it with probability delta at most."""
    texts = [f"{' '.join(WORDS)} {k}" for k in range(40)]
    claimed = 0
    for seed in range(60):
        urn = Urn(seed)
        for row in range(
            40
        ):  # 9 of 40 rest on "wine", which misses; the others on "soup", without which it is lost
            urn.add(Proposal(row, str(row), "good", (4,) if row < 9 else (0,)))
        items = {row: Item(row, row, text) for row, text in enumerate(texts)}
        auditor = Auditor(kedge.Explainer(four_words, seed=seed), EASY, {"workers": 1})
        claimed += auditor.audit(urn, items, {}, lambda *_: None).proved
    assert claimed <= 8  # of 3 expected at most; more than 8 has probability 0.003 at the bound


def test_documents_with_proofs_of_their_own_are_left_alone(tmp_path):
    """Where every answer is exact there is nothing to audit."""
    source = write(tmp_path, ["good food", "cold soup"])
    out = tmp_path / "out.jsonl"
    summary = explain_file(kedge.Explainer(good), source, out, workers=1, promise="corpus")
    assert (summary.statuses, summary.audit.population) == ({"exact": 2}, 0)


@pytest.mark.parametrize(
    ("options", "promise", "message"),
    [
        ({"method": "beam"}, "corpus", "not 'beam'"),
        ({}, "everything", "`promise` must be 'document', 'corpus'"),
    ],
)
def test_refusals(options, promise, message):
    """What cannot be promised is refused at once."""
    with pytest.raises(kedge.errors.OptionError, match=message):
        kedge.Explainer(good, **options).explain_corpus(TEXTS, promise=promise)


def test_several_strategies():
    """Of a tuple the first that fits is taken; none at all is refused."""
    assert kedge.explain(good, "good food", method=("lazy", kedge.Guided(prove=False))).method == "lazy"
    with pytest.raises(kedge.errors.OptionError, match="at least one"):
        kedge.explain(good, "good food", method=())
