"""apply, partial, compare, stability."""

import pytest

import kedge
from kedge.demo import review_model, reviews

GOOD = kedge.rules.any_of(["not", "bad"], ["good"])


class TestApply:
    def test_words_with_multiplicity(self):
        """A text satisfies an anchor when it has each word as often."""
        texts = ["very very good", "very good", "GOOD very Very", "goodness", ""]
        assert kedge.apply(["very", "very", "good"], texts).tolist() == [True, False, True, False, False]
        assert kedge.apply([], texts).all()

    def test_in_the_words_of_the_model(self):
        """An explanation applies to other texts as its model reads them."""
        e = kedge.explain(review_model(), "An excellent place")
        assert e.words == ("excellent",)
        texts = ["EXCELLENT!", "excellently", "excel lent"]
        assert kedge.apply(e, texts, model=review_model()).tolist() == [True, False, False]

    def test_refusals(self):
        """A string is not a list of words, nor of texts."""
        with pytest.raises(kedge.KedgeError, match="list of words"):
            kedge.apply("good", ["good"])
        with pytest.raises(kedge.KedgeError, match="list of words"):
            kedge.apply(["good"], "good")


class TestPartial:
    def test_builds_up(self):
        """From the baseline to the anchor's precision, the strongest word first."""
        explainer = kedge.Explainer(kedge.rules.all_present(["very", "good"]))
        steps = explainer.partial("very very very good")
        e = explainer.explain("very very very good")
        assert [len(s.positions) for s in steps] == [0, 1, 2]
        assert steps[0].precision == pytest.approx(e.baseline)
        assert steps[1].positions == (3,)  # good: very is there three times anyway
        assert steps[1].precision == pytest.approx(7 / 8)
        assert (steps[-1].positions, steps[-1].precision) == (e.positions, pytest.approx(e.precision))

    def test_sampled(self):
        """Where precision is sampled each step has an interval."""
        explainer = kedge.Explainer(lambda ts: ["good" in t for t in ts], method="beam")
        none, one = explainer.partial("some rather good food")
        assert none.low <= 0.5 <= none.high
        assert one.precision == 1.0


class TestCompare:
    def test_same_label_other_reason(self):
        """Texts are listed by how little the reasons have in common; other labels apart."""
        a = kedge.rules.any_of(["good"], ["nice"])
        b = kedge.rules.any_of(["cheap"], ["nice", "place"])
        found = kedge.compare(a, b, ["nice place", "good and cheap", "nice", ""])
        assert [(p.row, p.jaccard) for p in found.same_label] == [(1, 0.0), (0, 0.5)]
        assert [p.row for p in found.other_label] == [2]
        assert [row for row, _ in found.failed] == [3]
        assert found.agreement == pytest.approx(2 / 3)
        assert found.jaccard == 0.25
        assert found.other_reason[0].to_row()["anchor_b"] == "cheap"
        assert "'good' / 'cheap'" in str(found)

    def test_a_model_with_itself(self):
        """A model agrees with itself."""
        found = kedge.compare(review_model(), review_model(), reviews()[0][:10])
        assert (found.agreement, found.jaccard, found.other_reason) == (1.0, 1.0, ())


class TestStability:
    def test_exact_answers_do_not_depend_on_the_seed(self):
        """An exact explanation is the same for every seed; longer for a higher threshold."""
        model = kedge.rules.all_present(["very", "good"])
        found = kedge.stability(model, "very very very good", seeds=range(4), thresholds=[0.8, 0.95])
        assert found.over_seeds == {0.8: 1.0, 0.95: 1.0}
        assert [list(c) for c in found.anchors.values()] == [[("good",)], [("very", "good")]]
        assert found.over_thresholds == 0.5
        assert "in 4 of 4 seeds" in str(found)
        assert len(found.explanations) == 8

    def test_refusals(self):
        """There must be something to compare."""
        with pytest.raises(kedge.KedgeError, match="at least one seed"):
            kedge.stability(GOOD, "good", seeds=[])
