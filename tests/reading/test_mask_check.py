"""What a model says about the mask, before anything is asked about the words."""

import json

import pytest

import kedge
from kedge.errors import ModelRaised
from kedge.utils.numerics import logistic

TEXT = "the food was good, and the staff was friendly to all of us!"


def scoring(weights, level=0.0):
    """A model with probabilities that looks for words as they are written, the mask included."""

    def model(texts):
        scores = [
            level + sum(w for word, w in weights.items() for t in text.split() if t == word) for text in texts
        ]
        chances = logistic(scores)
        return [[1 - p, p] for p in chances]

    return model


def notes_of(model, text=TEXT, **options):
    return [note for note in kedge.explain(model, text, **options).notes if "mask" in note]


@pytest.mark.parametrize(("weight", "side"), [(2.0, "towards"), (-0.4, "away from")])
def test_a_mask_that_speaks_is_a_note_with_the_numbers(weight, side):
    """For the label or against it, with what the model says and what to do."""
    model = scoring({"good,": 3.0, "[X]": weight}, level=-1.0)
    (note,) = notes_of(model, mask="[X]")
    throughout = " ".join(["[X]"] * 10)
    masked, removed = model([throughout])[0][1], model([""])[0][1]
    assert note.startswith(f"The mask '[X]' itself pushes the model {side} the label 1")
    assert f"every word removed its probability is {removed:.3f}" in note
    assert "`mask=''` removes them instead" in note
    assert abs(masked - removed) > 0.1


def test_a_model_of_labels_says_whether_the_label_holds():
    """Without probabilities a note follows where the answer changes."""
    model = lambda texts: ["good" in t or "[X]" in t for t in texts]  # noqa: E731
    (note,) = notes_of(model, mask="[X]")
    assert (
        "towards the label True: with every word masked it holds, with every word removed it does not hold"
        in note
    )


@pytest.mark.parametrize("mask", ["", "[X]", "UNK"])
def test_a_mask_that_says_nothing_is_no_note(mask):
    """A strong prior of the model is not the mask's doing."""
    assert notes_of(scoring({"good,": 9.0}, level=-4.0), mask=mask) == []


@pytest.mark.parametrize("weight", [2.0, -0.4])
def test_a_model_s_own_mask_that_speaks_gives_way_to_removal(weight):
    """A tokenizer's mask is taken where it is silent; else words are removed, and a note says why."""

    def own(weights):
        return kedge.Model(kedge.as_model(scoring(weights, level=-1.0)).predict, "a model", mask="[X]")

    silent = own({"good,": 3.0})
    assert kedge.explain(silent, TEXT).perturbation == "mask [X]"
    model = own({"good,": 3.0, "[X]": weight})
    removed, asked_for = kedge.explain(model, TEXT), kedge.explain(model, TEXT, mask="[X]")
    assert (removed.perturbation, asked_for.perturbation) == ("removal", "mask [X]")
    (note,) = (note for note in removed.notes if "itself pushes the model" in note)
    assert note.endswith("So words are removed instead; `mask='[X]'` uses it anyway.")
    assert removed.words == kedge.explain(model, TEXT, mask="").words
    assert kedge.Explainer(model).masked("a good, b", [0, 2]) == "good,"
    assert kedge.Explainer(silent).masked("a good, b", [0, 2]) == "[X] good, [X]"


def test_the_note_is_in_every_rendering():
    """Terminal, page, JSON."""
    e = kedge.explain(scoring({"good,": 5.0, "[X]": 1.0}, level=-1.0), TEXT, mask="[X]")
    for shown in (str(e), json.dumps(e.to_dict())):
        assert "itself pushes the model towards the label" in shown
    assert "itself pushes the model towards the label" in e.to_html()


def test_the_questions_are_counted_and_asked_once():
    """Removal takes one question, another mask three; none is asked a second time but to check."""
    for mask, texts in [("", [",!"]), ("[X]", ["[X]", ",!"])]:
        asked = []

        def model(batch, asked=asked):
            asked.extend(batch)
            return ["good" in t for t in batch]

        e = kedge.explain(model, "so good, and more!", mask=mask, method="beam")
        assert e.queries == len(asked)
        assert all(text in asked[:4] for text in texts)


def test_a_readable_model_is_not_asked():
    """Its vocabulary says what the mask is: nothing is spent."""
    model = kedge.rules.all_present(["good", "staff"])
    assert kedge.explain(model, TEXT).queries == 1


def test_with_few_questions_the_words_come_first():
    """A budget of a dozen is not spent on the mask."""
    asked = []

    def model(texts):
        asked.extend(texts)
        return ["good" in t for t in texts]

    kedge.explain(model, TEXT, mask="[X]", max_queries=12)
    assert "[X]" not in asked


def mean_length(texts):
    """A function that cannot answer for a text without words."""
    return [sum(map(len, t.split())) / len(t.split()) > 3 for t in texts]


def test_a_model_without_an_answer_for_nothing_gets_unk():
    """By default words are then replaced, and a note says why."""
    e = kedge.explain(mean_length, "lengthy words prevail here")
    assert e.perturbation == "unk"
    assert any("ZeroDivisionError" in note and "replaced by UNK" in note for note in e.notes)


def test_a_chosen_removal_is_not_changed():
    """The sentence says which text the model failed on, and what to say instead."""
    with pytest.raises(ModelRaised, match=r"ZeroDivisionError on ''.*`mask='UNK'`"):
        kedge.explain(mean_length, "lengthy words prevail here", mask="")


def test_protected_words_stay_in_all_three():
    """What is never removed is not held against the mask."""
    model = scoring({"good": 5.0, "staff": 4.0}, level=-2.0)
    masking = kedge.Masking(mask="[X]", protect=("staff",))
    assert notes_of(model, "good staff and more of them here now", perturbation=masking) == []
