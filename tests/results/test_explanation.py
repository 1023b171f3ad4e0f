"""The result: frozen, comparable, readable as JSON, a row, a text."""

import json
import pickle
from dataclasses import FrozenInstanceError
from importlib.resources import files

import jsonschema
import pytest

import kedge
from kedge.data.demo import review_model
from kedge.errors import OptionError
from kedge.render.terminal import render

SCHEMA = json.loads((files("kedge") / "data" / "explanation.schema.json").read_text("utf-8"))
TEXT = "The soup was cold, the staff were friendly and the dessert was delicious."


@pytest.fixture(scope="module")
def explanations():
    """One of each kind: exact by counts, exact by text, sampled, out of budget, without a word."""
    spam = kedge.rules.present("good")
    return [
        kedge.explain(review_model(), TEXT),
        kedge.explain(spam.predict, "a good day"),
        kedge.explain(review_model(), TEXT, method="beam"),
        kedge.explain(spam.predict, "a good " + "day " * 20, max_queries=3),
        kedge.explain((~spam).predict, "so fine", allow_empty=True),
    ]


def test_the_json_round_trip_is_lossless(explanations):
    """from_json(to_json(e)) == e, with or without times."""
    for e in explanations:
        assert kedge.Explanation.from_json(e.to_json()) == e
        again = kedge.Explanation.from_json(e.to_json(times=True, indent=2))
        assert (again, again.seconds) == (e, e.seconds)


def test_json_validates_against_the_shipped_schema(explanations):
    """Every kind of explanation is valid; a broken one is not."""
    for e in explanations:
        jsonschema.validate(json.loads(e.to_json(times=True)), SCHEMA)
    broken = {**explanations[0].to_dict(), "status": "sure"}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(json.loads(json.dumps(broken)), SCHEMA)


@pytest.mark.parametrize("method", ["auto", "exhaustive", "beam"])
def test_the_same_seed_gives_the_same_json(method):
    """Byte for byte, run after run, whatever else the program draws."""
    runs = {
        kedge.explain(lambda t: review_model().predict(t), TEXT[:45], method=method, seed=7).to_json()
        for _ in range(3)
    }
    assert len(runs) == 1


def test_spans_point_at_the_words_in_the_caller_s_text(explanations):
    """text[start:stop] is the word, up to the model's own lower case."""
    for e in explanations:
        assert tuple(e.text[a:b].lower() for a, b in e.spans) == tuple(w.lower() for w in e.words)


def test_an_explanation_cannot_be_changed(explanations):
    """Frozen data."""
    with pytest.raises(FrozenInstanceError):
        explanations[0].label = "other"


def test_the_order_of_keys_does_not_matter(explanations):
    """Tools that sort keys do no harm."""
    for e in explanations:
        shuffled = json.dumps(json.loads(e.to_json()), sort_keys=True)
        assert kedge.Explanation.from_json(shuffled) == e


@pytest.mark.parametrize(
    "text",
    ["", "no json", "[]", "{}", '{"format": 99}', '{"format": 1}', None, '{"format": 1, "trace": [1]}'],
)
def test_other_json_is_refused(text):
    """One sentence instead of a KeyError."""
    with pytest.raises(OptionError):
        kedge.Explanation.from_json(text)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        (
            {"interval": {"low": 0.9, "mean": 1e308, "high": 1.0}},
            r"interval.mean is 1e\+308",
        ),
        ({"interval": {"low": 1.0, "mean": 0.96, "high": 1.0}}, "not between its ends"),
        ({"interval": {"low": 0.1, "mean": 0.96, "high": 1.0}}, "may be below the threshold"),
        ({"positions": [9999]}, "not one of the text's tokens"),
        ({"words": ["evil"]}, "where the anchor has 'evil'"),
        ({"words": []}, "not one position for each word"),
        ({"tokens": [[5, 2]]}, "not in order"),
        ({"status": "sure"}, "status is none of exact"),
        ({"seed": True}, "seed is no integer"),
        ({"notes": [3]}, r"notes\[0\] is no string"),
        ({"more": 1}, "'more' is not known"),
        (
            {"trace": [{"positions": [99], "interval": {"low": 0, "mean": 0, "high": 0}}]},
            "not one of the text",
        ),
    ],
)
def test_forged_or_broken_parts_are_refused(explanations, changes, says):
    """A report that does not fit its own text, or itself, is one sentence."""
    data = {**explanations[1].to_dict(), **changes}
    with pytest.raises(OptionError, match=says):
        kedge.Explanation.from_json(json.dumps(data))


def test_any_part_left_out_is_refused(explanations):
    """Every field is needed but the time, the objective and the unknown words, which came later."""
    data = explanations[0].to_dict()
    for name in set(data) - {"objective", "unknown"}:
        with pytest.raises(OptionError):
            kedge.Explanation.from_json(json.dumps({k: v for k, v in data.items() if k != name}))
    with pytest.raises(OptionError, match="not JSON"):
        kedge.Explanation.from_json("[" * 100_000)
    with pytest.raises(OptionError, match="NaN is no number"):
        kedge.Explanation.from_json(explanations[0].to_json().replace('"delta": 0.05', '"delta": NaN'))


@pytest.mark.data
def test_rows_make_a_data_frame(explanations):
    """One flat row per explanation."""
    import pandas as pd

    frame = pd.DataFrame([e.to_row() for e in explanations])
    assert len(frame) == len(explanations)
    assert frame["status"].tolist() == [e.status for e in explanations]


def test_explanations_and_explainers_travel(explanations):
    """Both survive pickling, and the explainer that comes back gives the same answer."""
    assert pickle.loads(pickle.dumps(explanations[0])) == explanations[0]
    explainer = kedge.Explainer(review_model(), threshold=0.9)
    assert pickle.loads(pickle.dumps(explainer)).explain(TEXT) == explainer.explain(TEXT)


def test_brackets_without_a_terminal_and_colour_on_one(explanations):
    """The anchor is marked either way, and the label, precision and promise are there."""
    e = explanations[1]
    plain, coloured = render(e, colour=False), render(e, colour=True)
    assert plain.startswith("a [good] day")
    assert "\x1b[" not in plain
    assert "\x1b[1;30;42mgood\x1b[0m" in coloured
    for part in ("label      1", "precision  1.000", "no sampling error, and no anchor can be shorter"):
        assert part in plain


def test_a_document_cannot_steer_the_terminal():
    """Escape sequences in the text are shown, not obeyed."""
    e = kedge.explain(lambda texts: ["good" in t for t in texts], "a \x1b[31mgood\x07 day")
    assert "\x1b" not in render(e, colour=False)
    assert "\x07" not in render(e, colour=False)


def test_long_texts_are_shortened_around_the_anchor():
    """A page of text shows as the surroundings of its anchor."""
    rule = kedge.rules.present("good")
    shown = render(kedge.explain(rule, "word " * 1000 + "good " + "word " * 1000), colour=False)
    assert "[good]" in shown
    assert len(shown) < 1500


def test_a_precision_below_the_threshold_never_reads_as_reaching_it():
    """0.9499 is shown as 0.949, not 0.950."""
    e = kedge.Explanation(
        text="x", label=1, words=("x",), positions=(0,), spans=((0, 1),),
        interval=kedge.Interval.exactly(0.9499), status="not_reached", threshold=0.95, delta=0.05, method="m",
        evaluator="samples", sampled=True, minimality="open",
        model="m", perturbation="unk", queries=1, baseline=None, seed=0,
    )  # fmt: skip
    assert "precision  0.949 " in render(e, colour=False)


def test_an_explainer_shows_its_model_and_what_was_changed():
    """The repr names the model and the options that are not the defaults."""
    shown = repr(kedge.Explainer(kedge.rules.present("good"), threshold=0.9, ties="last"))
    assert shown.startswith("Explainer(")
    assert "threshold=0.9, ties='last'" in shown
    assert "seed" not in shown
