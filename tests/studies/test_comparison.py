"""apply, partial, compare, stability."""

from typing import ClassVar

import pytest

import kedge
from kedge.data.demo import review_model, reviews
from kedge.studies.repeats import Stability

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

    def test_in_the_words_of_a_tokenizer(self):
        """Texts are split as the tokenizer says, with a model or without."""
        texts = ["not-good food", "not good food"]
        assert kedge.apply(["not", "good"], texts, tokenizer=str.split).tolist() == [False, True]
        found = kedge.apply(["not", "good"], texts, model=GOOD, tokenizer=str.split)
        assert found.tolist() == [False, True]

    def test_refusals(self):
        """A string is no list of texts; what is no string is no text, and no word."""
        with pytest.raises(kedge.KedgeError, match="got one string"):
            kedge.apply(["good"], "good")
        with pytest.raises(kedge.KedgeError, match="got NoneType at place 1"):
            kedge.apply(["x"], ["y", None])
        with pytest.raises(kedge.KedgeError, match="anchor must be given as a list of strings"):
            kedge.apply(None, ["good"])


class TestPartial:
    def test_builds_up(self):
        """From the baseline to the anchor's precision, the strongest word first."""
        explainer = kedge.Explainer(kedge.rules.all_present(["very", "good"]))
        steps = explainer.partial("very very very good")
        e = explainer.explain("very very very good")
        assert [len(s.positions) for s in steps] == [0, 1, 2]
        assert steps[0].precision == pytest.approx(e.baseline.mean)
        assert steps[1].positions == (3,)  # good: very is there three times anyway
        assert steps[1].precision == pytest.approx(7 / 8)
        assert (steps[-1].positions, steps[-1].precision) == (e.positions, pytest.approx(e.precision))

    def test_sampled(self):
        """Where precision is sampled each step has an interval."""
        explainer = kedge.Explainer(lambda ts: ["good" in t for t in ts], method="beam")
        none, one = explainer.partial("some rather good food")
        assert none.interval.low <= 0.5 <= none.interval.high
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

    def test_no_reason_is_no_other_reason(self):
        """Where a model needs no word its anchor is no reason; the pair is marked and said to be left out."""
        always = kedge.as_model(lambda ts: [1] * len(ts))
        found = kedge.compare(always, kedge.rules.present("good"), ["so good"])
        assert [(p.needless, p.same_label) for p in found.same_label] == [(True, True)]
        assert found.other_reason == ()
        assert "1 of them need no word by one of the models" in str(found)

    def test_nothing_to_compare(self):
        """An empty comparison says so; failures come with their first reasons."""
        assert str(kedge.compare(GOOD, GOOD, [])) == "No text could be compared."
        said = str(kedge.compare(GOOD, GOOD, ["", "so good", " "]))
        assert "2 texts could not be explained" in said
        assert "row 0: TextError: The text is empty" in said

    def test_rules_of_nothing(self):
        """No documents, no rules, and no share of them."""
        explainer = kedge.Explainer(GOOD)
        assert "There are no documents" in str(explainer.rules([], workers=1))
        assert "There is no anchor in 1 document" in str(explainer.rules([""], workers=1))

    def test_other_names_of_the_classes_are_refused(self):
        """'positive' and 1 are never the same label: that is said, not counted as disagreement."""
        model, texts = review_model(), reviews()[0][:3]
        numbers = lambda ts: model.predict_proba(ts)  # noqa: E731, PLW0108
        with pytest.raises(kedge.KedgeError, match=r"no label in common .*'positive'; 0, 1\); let both name"):
            kedge.compare(model, numbers, texts)
        named = kedge.as_model(numbers, classes=list(model.classes_))
        assert kedge.compare(model, named, texts).agreement == 1.0
        words = lambda ts: ["good" if "good" in t else "bad" for t in ts]  # noqa: E731
        german = lambda ts: ["gut" if "good" in t else "schlecht" for t in ts]  # noqa: E731
        with pytest.raises(kedge.KedgeError, match="no label in common"):
            kedge.compare(words, german, ["so good", "so bad"])

    def test_plain_disagreement_is_no_refusal(self):
        """Models of the same labels that agree on no text are compared."""
        assert kedge.compare(GOOD, ~GOOD, ["so good"]).agreement == 0.0
        assert kedge.compare(GOOD, ~GOOD, ["so good", "so what"]).agreement == 0.0

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
        with pytest.raises(kedge.KedgeError, match="at least one of seeds"):
            kedge.stability(GOOD, "good", seeds=[])

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"threshold": 0.8}, "takes thresholds=, a list, not threshold=0.8"),
            ({"seed": 3}, "takes seeds=, a list, not seed=3"),
            ({"seeds": 3}, "`seeds` must be a list, got 3"),
            ({"thresholds": 0.9}, "`thresholds` must be a list, got 0.9"),
            ({"thresholds": []}, "at least one of thresholds"),
            ({"thresholds": [0.9, 2]}, "`threshold` must lie"),
            ({"seeds": [[1]]}, "`seed` must be"),
        ],
    )
    def test_what_would_be_ignored_is_refused(self, options, message):
        """Options of a single explanation are named with their plural."""
        with pytest.raises(kedge.KedgeError, match=message):
            kedge.stability(GOOD, "so good", **options)

    def test_repeated_thresholds(self):
        """A threshold or seed given twice counts once; thresholds in any order keep their explanations."""
        found = kedge.stability(GOOD, "so good", seeds=[0, 1, 0], thresholds=[0.9, 0.95, 0.9])
        assert {t: len(group) for t, group in found.by_threshold.items()} == {0.9: 2, 0.95: 2}
        mixed = Stability(tuple(found.explanations[k] for k in (0, 2, 1, 3)))
        assert mixed.by_threshold == found.by_threshold


def kinds(texts):
    """A multi-label model: is it about food, is it praise."""
    return [[int("food" in t), int("good" in t)] for t in texts]


class TestMultiLabel:
    OPTIONS: ClassVar = {"outputs": "multilabel", "classes": ["food", "praise"]}
    TEXTS = ("good food", "bad food", "good day")

    def test_stability(self):
        """The requested label, with every seed."""
        found = kedge.stability(kinds, "good food", label="praise", seeds=range(2), **self.OPTIONS)
        assert {(e.label, e.words) for e in found.explanations} == {("praise", ("good",))}

    def test_compare(self):
        """Both models about one label; texts for which it does not hold are said to have failed."""
        found = kedge.compare(kinds, kinds, self.TEXTS, label="food", **self.OPTIONS)
        assert [p.a.words for p in found.same_label] == [("food",), ("food",)]
        assert [row for row, _ in found.failed] == [2]

    def test_influence_and_flip(self):
        """Of the requested label: its words matter, and without them it is lost."""
        found = kedge.influence(kinds, "good food", label="praise", **self.OPTIONS)
        assert (found.label, found.values) == ("praise", (1.0, 0.0))
        flip = kedge.flip(kinds, "good food", label="food", **self.OPTIONS)
        assert (flip.label, flip.words) == ("food", ("food",))

    @pytest.mark.parametrize("workers", [1, 2])
    def test_corpus(self, workers):
        """One label for the whole corpus; where it does not hold the outcome says so."""
        # A function of its own: workers cannot import this module, so it must travel whole.
        explainer = kedge.Explainer(lambda texts: [["food" in t, "good" in t] for t in texts], **self.OPTIONS)
        outcomes = list(explainer.explain_corpus(self.TEXTS, label="praise", workers=workers))
        assert [o.explanation and o.explanation.words for o in outcomes] == [("good",), None, ("good",)]
        assert str(outcomes[1].error).startswith("LabelError: The label 'praise' does not hold")
        assert explainer.rules(self.TEXTS, label="praise", workers=1).rules[0].words == ("good",)
