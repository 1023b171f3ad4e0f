"""Making certificates, and comparing them with the model."""

import json
import re
from hashlib import shake_256

import numpy as np
import pytest
from certified import LONG, MODELS, SHORT, fitted, issued, parity, resealed
from command import run as kedge_command
from places import ROOT
from readings import reading_of

import kedge
from kedge.certificates import checker, proofs
from kedge.certificates.issue import issue_certificate
from kedge.certificates.proofs import tree_proof
from kedge.data.demo import review_model
from kedge.errors import CertificateError
from kedge.evaluators import Additive, Empirical
from kedge.model.scores.leaves import LeafBoxes
from kedge.reading.fresh import FreshSamples
from kedge.results.interval import Interval
from kedge.search import Goal
from kedge.search.strategy import Found


@pytest.mark.parametrize("keep", [0.5, 0.3])
@pytest.mark.parametrize("model", [parity, kedge.rules.all_present(["slow", "was"])])
def test_the_checker_draws_the_samples_of_the_search(model, keep):
    """The same counts, by another program."""
    e = kedge.explain(model, LONG, certificate=True, perturbation=kedge.Masking(keep=keep), seed=3)
    case = checker.Case(e.certificate())
    reading = reading_of(model, LONG, keep=keep)
    rows = FreshSamples.of(reading, reading.units.kept(kedge.Anchor(e.positions)), 3).rows(0, 50)
    assert list(checker.samples(case, 50)) == rows.tolist()


def test_a_certificate_is_made_only_when_it_is_asked_for():
    """Without being asked there is none, and one sentence says how to get it."""
    e = kedge.explain(review_model(), SHORT)
    with pytest.raises(CertificateError, match="ask for one with `certificate=True`"):
        e.certificate()
    assert "evidence" not in e.to_dict(times=True)


def test_the_explanation_is_the_same_with_a_certificate():
    """But for the questions that it may cost; and the JSON form does not have it."""
    for model in (review_model(), parity):
        plain, certified = (kedge.explain(model, LONG, certificate=c) for c in (False, True))
        assert plain.words == certified.words
        assert plain.interval == certified.interval
        assert kedge.Explanation.from_json(certified.to_json()).words == plain.words


def test_the_answers_of_the_search_are_not_asked_for_again():
    """The samples of its proof are the first ones of the certificate's."""
    plain, certified = (kedge.explain(parity, LONG, certificate=c) for c in (False, True))
    assert certified.queries <= plain.queries + certified.certificate()["proof"]["count"] // 4


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"method": "beam"}, "promises nothing"),
        ({"max_queries": 12}, "promises nothing"),
        ({"perturbation": "neighbours"}, "cannot be drawn again"),
    ],
)
def test_what_promises_nothing_has_no_certificate(options, why):
    """The explanation is there all the same; asking it for a certificate says why there is none."""
    if options.get("perturbation") == "neighbours":
        vectors = {"cold": [1.0, 0.0], "cool": [1.0, 0.1], "slow": [0.0, 1.0], "lazy": [0.1, 1.0]}
        options = {"perturbation": kedge.Neighbours(vectors)}
    e = kedge.explain(parity, LONG, certificate=True, **options)
    with pytest.raises(CertificateError, match=why):
        e.certificate()


def test_certificates_name_text_model_versions_and_date():
    """The text by its SHA-256, the model by a digest of its content."""
    certificate = issued("linear")
    assert len(certificate["text_sha256"]) == 64
    assert (
        certificate["model"]["digest"]
        == kedge.explain(review_model(), SHORT, certificate=True).certificate()["model"]["digest"]
    )
    assert set(certificate["versions"]) >= {"kedge", "python", "numpy", "scikit-learn"}
    assert certificate["made"].startswith("20")


@pytest.mark.parametrize("name", MODELS)
def test_a_certificate_agrees_with_its_model(name):
    """Weights are read again, answers asked for again."""
    assert "The model agrees" in kedge.verify(issued(name), MODELS[name][0]())


@pytest.mark.parametrize("name", ["linear", "additive", "tree", "forest", "counted"])
def test_another_model_is_told_apart(name):
    """One that was trained on fewer reviews."""
    from kedge.data.demo import reviews

    texts, labels = reviews()
    model = MODELS[name][0]()
    other = json.loads(json.dumps(issued(name)))
    from sklearn.base import clone

    fewer = clone(model).fit(texts[::3], labels[::3])
    with pytest.raises(CertificateError):
        kedge.verify(other, fewer)


def test_part_of_the_answers_may_be_asked_for_again():
    """As many as the verifier likes, drawn by its own chance."""
    asked = []

    def counting(texts):
        asked.extend(texts)
        return parity(texts)

    said = kedge.verify(issued("black box"), counting, ask=20)
    assert "queried again on 20 of" in said
    assert len(asked) < 35


def test_a_forged_log_is_found_by_asking_again():
    """Answers that were never given pass the checker, which has no model; not the model."""
    certificate = issued("black box")
    anchor = certificate["anchor"]
    anchor["positions"] = [0]
    anchor["words"] = ["The"]
    forged = resealed(certificate)
    assert checker.check(forged)
    with pytest.raises(CertificateError, match="gives another answer"):
        kedge.verify(forged, parity)


def test_a_text_split_by_the_users_own_tokenizer_is_read_again():
    """The certificate has the places of the words, here with the marks that follow them."""
    e = kedge.explain(parity, "so slow, this waiter, and so cold!", tokenizer=str.split, certificate=True)
    assert "cold!" in e.words
    assert "The model agrees" in kedge.verify(e.certificate(), parity)


def test_multilabel_models_are_told_the_label():
    """It stands in the certificate."""

    def model(texts):
        return np.array([[int("slow" in t), int("cold" in t)] for t in texts])

    options = {"outputs": "multilabel", "classes": ["slow", "cold"]}
    e = kedge.explain(model, "so slow and so cold", label="cold", certificate=True, **options)
    assert "The model agrees" in kedge.verify(e.certificate(), model, **options)
    with pytest.raises(CertificateError, match="cold"):
        kedge.verify(e.certificate(), model, outputs="multilabel", classes=["slow", "warm"])


def test_what_the_checker_cannot_show_is_not_claimed(monkeypatch):
    """With too many shorter anchors to look at, the certificate speaks of the anchor alone."""
    monkeypatch.setattr(checker, "_SHORTER", 0)
    e = kedge.explain(review_model(), LONG, certificate=True)
    certificate = e.certificate()
    assert (e.minimality, certificate["shortest"]) == ("shortest", False)
    assert "no shorter" not in checker.check(certificate)


def test_a_wrong_answer_has_no_certificate():
    """Whatever a search may promise: the checker adds it up again."""
    reading = reading_of(review_model(), LONG)
    evaluator = Additive(reading)
    assert evaluator.refine((0,)).high < 0.95
    found = Found((0,), Interval.exactly(1.0), "exact", evaluator)
    with pytest.raises(CertificateError, match="the checker cannot confirm the claim"):
        issue_certificate(reading, found, Goal(), {}, shortest=True)


class TestProofs:
    def test_leaves_that_no_sample_reaches_are_left_out(self):
        """A word that occurs once is never there twice; the boxes are a partition all the same."""
        low, high = np.array([[-np.inf], [0.5], [1.5]]), np.array([[0.5], [1.5], [np.inf]])
        proof = tree_proof(LeafBoxes(low, high, np.array([False, True, True])), np.array([1]))
        assert proof["leaves"] == [{"box": [[0, 0, 0]], "holds": False}, {"box": [[0, 1, 1]], "holds": True}]

    def test_a_table_may_be_too_large(self, monkeypatch):
        """Then there is no certificate."""
        monkeypatch.setattr(proofs, "_ENTRIES", 16)
        e = kedge.explain(parity, "so slow, this waiter, so cold", certificate=True)
        with pytest.raises(CertificateError, match="A table of 64 samples is too large for a certificate"):
            e.certificate()

    def test_few_samples_are_all_told(self):
        """Beside an anchor that leaves two words free there are four samples, fewer than bets would need."""
        reading = reading_of(parity, "so slow this waiter was cold")
        found = Found((1, 2, 3, 5), Interval.exactly(1.0), "certified", Empirical(reading, None))
        proof = proofs.proof_of(reading, found, Goal())
        assert proof == {"kind": "table", "given": [0, 1, 1, 1, 0, 1], "answers": "f0"}

    def test_more_samples_than_a_certificate_holds(self, monkeypatch):
        """Plain bets on answers that all hold take 67 samples at these levels."""
        reading = reading_of(parity, LONG)
        cold = reading.units.kept(kedge.Anchor((LONG.split().index("cold,"),)))
        found = Found(cold, Interval.exactly(1.0), "certified", Empirical(reading, None))
        assert proofs.proof_of(reading, found, Goal())["count"] == 67
        monkeypatch.setattr(proofs, "_SAMPLES", 66)
        with pytest.raises(CertificateError, match="66 samples and plain bets do not prove it"):
            proofs.proof_of(reading, found, Goal())

    def test_samples_that_nobody_can_draw_again_prove_nothing(self):
        """Words that stand for others are left to chance."""
        neighbours = kedge.Neighbours({"cold": [1.0, 0.0], "cool": [1.0, 0.1]})
        reading = reading_of(parity, "so slow this waiter was cold", perturbation=neighbours)
        found = Found((5,), Interval.exactly(1.0), "certified", Empirical(reading, None))
        with pytest.raises(CertificateError, match="cannot be drawn again by others"):
            proofs.proof_of(reading, found, Goal())


def test_the_empty_anchor_has_a_certificate():
    """Where it was allowed, that no word is needed is proved like anything else."""
    e = kedge.explain(fitted("forest"), "good good food", allow_empty=True, threshold=0.4, certificate=True)
    assert e.words == ()
    assert checker.check(e.certificate()).startswith("[] keeps")


def test_what_was_not_looked_at_is_not_claimed():
    """Of one word nothing is said to be shorter, of two that no set is but perhaps the empty one."""
    one = kedge.explain(kedge.WordWeights({"good": 1.0}, intercept=5.0), "good food", certificate=True)
    assert one.needs_no_word
    assert "shorter" not in checker.check(one.certificate())
    two = kedge.explain(kedge.rules.all_present(["very", "good"]), "very good", certificate=True)
    assert checker.check(two.certificate()).endswith("and no shorter set of one word or more does.")
    rule = kedge.rules.all_present(["very", "good"])
    free = kedge.explain(rule, "very good", certificate=True, allow_empty=True)
    assert checker.check(free.certificate()).endswith("and no shorter set of words does.")


class TestCommand:
    def test_a_certificate_is_written_and_verified(self, tmp_path):
        """``explain --certificate``, then ``verify`` with and without the model."""
        done = kedge_command("explain", SHORT, "--certificate", "c.json", cwd=tmp_path)
        assert done.returncode == 0
        assert "written to c.json" in done.stderr
        alone = kedge_command("verify", "c.json", cwd=tmp_path)
        against = kedge_command("verify", "c.json", "--model", "reviews", "--json", cwd=tmp_path)
        assert (alone.returncode, against.returncode) == (0, 0)
        assert alone.stdout.startswith("accepted: ")
        assert json.loads(against.stdout)["accepted"] is True

    def test_an_answer_without_a_certificate_is_shown_all_the_same(self, tmp_path):
        """Then one sentence says why there is none, and no file is written."""
        done = kedge_command("explain", SHORT, "--method", "beam", "--certificate", "c.json", cwd=tmp_path)
        assert done.returncode == 2
        assert "found by   beam" in done.stdout
        assert "promises nothing" in done.stderr
        assert not (tmp_path / "c.json").exists()

    def test_a_rejection_is_one_sentence_and_exit_code_1(self, tmp_path):
        """Also for a file that is no certificate."""
        forged = {**issued("linear"), "made": "yesterday"}
        (tmp_path / "c.json").write_text(json.dumps(forged), encoding="utf-8")
        (tmp_path / "d.json").write_text("[1, 2]", encoding="utf-8")
        for name in ("c.json", "d.json"):
            done = kedge_command("verify", name, cwd=tmp_path)
            assert done.returncode == 1
            assert done.stdout.startswith("rejected: The ")
            assert not done.stderr

    @pytest.mark.parametrize("name", ["nowhere.json", "e.json"])
    def test_a_file_that_cannot_be_read_is_an_error(self, tmp_path, name):
        """Exit code 2, as everywhere."""
        (tmp_path / "e.json").write_text("{", encoding="utf-8")
        done = kedge_command("verify", name, cwd=tmp_path)
        assert done.returncode == 2
        assert done.stderr.startswith(f"kedge: {name} ")


def test_the_worked_example_is_what_is_made():
    """docs/certificates.md has a certificate that is accepted, and equal to a new one but for its date."""
    page = (ROOT / "docs" / "certificates.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```json\n(.*?)```", page, flags=re.DOTALL)
    shown = json.loads(block)
    assert checker.check(shown) == "[good] keeps the label 1 in at least 0.95 of samples."
    weights = kedge.WordWeights({"good": 3.0, "bad": -2.0}, intercept=-0.5)
    made = kedge.explain(weights, shown["text"], certificate=True).certificate()
    passing = {"made", "versions", "model", "seal"}
    assert {k: v for k, v in made.items() if k not in passing} == {
        k: v for k, v in shown.items() if k not in passing
    }
    key = f"kedge samples 1\n{shown['text_sha256']}\n0\n0\n".encode()
    (byte,) = re.findall(r"sample 0 is the byte `(..)`", page)
    assert shake_256(key + bytes(8)).hexdigest(1) == byte
    stays = next(iter(checker.samples(checker.Case(shown), 1)))[1]
    assert stays == int(byte, 16) >> 7
    assert f"highest bit is {stays}," in page
