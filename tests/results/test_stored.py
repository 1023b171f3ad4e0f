"""Stored explanations: whatever is put in place of whatever part, the answer is a refusal or whole."""

import json
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import kedge
from kedge.data.demo import review_model
from kedge.errors import OptionError, TextError

TEXT = "The brilliant service was slow, but the 2nd soup was brilliant; slow, slow!"


@cache
def _written():
    """Explanations of every kind: read, asked, enumerated, and one that needs no word."""
    model = review_model()
    return (
        kedge.explain(model, TEXT).to_json(times=True),
        kedge.explain(model.predict, TEXT, seed=1).to_json(),
        kedge.explain(kedge.rules.present("slow"), "so slow", method="exhaustive").to_json(),
        kedge.explain(lambda texts: [int("bad" not in t) for t in texts], "so slow it was").to_json(),
    )


def refused(data):
    with pytest.raises(OptionError) as refusal:
        kedge.Explanation.from_json(json.dumps(data))
    said = str(refusal.value)
    assert said.endswith(".")
    assert len(said) < 300
    return said


def _place(data, word):
    """The anchor moved to a word of the text."""
    at = next(k for k, (a, b) in enumerate(data["tokens"]) if data["text"][a:b] == word)
    data.update(positions=[at], spans=[data["tokens"][at]], words=[word], examples=[])


class TestForgeries:
    """Reports that each look like one, and say what is not so."""

    @pytest.mark.parametrize("word", ["bad", "brutal", "b", "br", "bril", "BRILLIANT", "brilliants"])
    def test_the_anchor_has_the_words_of_the_text(self, word):
        """Upper case and stems are the word; another one with the same initial is not."""
        data = json.loads(_written()[0])
        _place(data, "brilliant")
        data["words"] = [word]
        if word in {"bad", "brutal"}:
            assert f"the text has 'brilliant' where the anchor has '{word}'" in refused(data)
        else:
            assert kedge.Explanation.from_json(json.dumps(data)).words == (word,)

    @pytest.mark.parametrize(
        ("change", "says"),
        [
            (lambda d: d.update(sampled=True), "it says exact, but it was sampled"),
            (lambda d: d.update(status="estimated"), "nothing shorter will do, but its status is estimated"),
            (lambda d: d["influence"]["words"][0].update(word="evil"), "influence has the word 'evil'"),
            (lambda d: d["influence"]["values"].__setitem__(0, 7), "influence.values[0] is 7"),
            (lambda d: d["influence"]["errors"].__setitem__(0, -1), "influence.errors[0] is -1"),
            (lambda d: d.update(examples=[{"removed": d["positions"], "holds": True}]), "removes a word"),
            (lambda d: d.update(ties={"reaching": 1, "shortest": 1, "best": [[99]]}), "text's tokens"),
            (lambda d: d["interval"].update(mean=10**400), "interval.mean is 1000"),
            (lambda d: d.update(text="", tokens=[]), "text has 0 characters"),
            (lambda d: d.update(needs_no_word=True), "needing no word"),
        ],
    )
    def test_what_contradicts_itself_is_refused(self, change, says):
        """A claim that another part of the explanation breaks, and numbers that cannot be."""
        data = json.loads(_written()[0])
        change(data)
        assert says in refused(data)

    @pytest.mark.parametrize("number", ["1e999", "-1e999", "Infinity", "NaN", "9" * 5000])
    def test_numbers_that_are_none_are_refused(self, number):
        """What overflows to infinity would be written as something that is no JSON."""
        data = json.loads(_written()[0])
        label = json.dumps(data["label"])
        text = _written()[0].replace(f'"label": {label}', f'"label": {number}', 1)
        with pytest.raises(OptionError, match="This is not JSON that can be read"):
            kedge.Explanation.from_json(text)


def _draw_part(data, at):
    """A random part of nested data, with what holds it."""
    parent, key = {"": at}, ""
    while isinstance(parent[key], (dict, list)) and parent[key] and (not key or data.draw(st.booleans())):
        parent = parent[key]
        key = data.draw(st.sampled_from(sorted(parent) if isinstance(parent, dict) else range(len(parent))))
    return parent, key


JUNK = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(10**300, 10**320)
    | st.floats()
    | st.text(max_size=5)
    | st.lists(st.integers(-3, 40), max_size=3)
    | st.dictionaries(st.text(max_size=3), st.integers(), max_size=2)
)


@given(st.data())
@settings(max_examples=250, deadline=None)
def test_any_change_is_refused_or_makes_another_whole_explanation(data):
    """One sentence for each refusal; what is accepted can be shown, written and read again."""
    changed = json.loads(data.draw(st.sampled_from(_written())))
    for _ in range(data.draw(st.integers(1, 3))):
        parent, key = _draw_part(data, changed)
        if data.draw(st.integers(0, 3)):
            parent[key] = data.draw(JUNK)
        elif isinstance(parent, list) and parent:
            parent.append(parent[0])
        elif key:
            del parent[key]
    try:
        e = kedge.Explanation.from_json(json.dumps(changed))
    except OptionError as refusal:
        assert str(refusal).endswith(".")  # noqa: PT017  (it need not be refused)
        return
    assert str(e)
    assert e.to_html()
    assert e.to_row()
    assert kedge.Explanation.from_json(e.to_json()) == e
    places = [slice(*span) for span in e.spans]
    assert all(e.text[place] for place in places)


@pytest.mark.parametrize(
    "preprocessor",
    [
        lambda text: text.lower().translate(str.maketrans("абвгдежз", "abvgdejz")),
        lambda text: text.replace("e", "x"),
        lambda text: "".join("0" if c.isdigit() else c for c in text),
    ],
)
def test_what_a_preprocessor_makes_of_words_comes_back(preprocessor):
    """Words in other letters are named as the text has them, so that every explanation can be read back."""
    texts = ["где 12 good", "bad деве 7", "good где", "bad 3 деве"]
    vectorizer = CountVectorizer(preprocessor=preprocessor, token_pattern=r"\w+")
    pipeline = make_pipeline(vectorizer, LogisticRegression()).fit(texts, [1, 0, 1, 0])
    e = kedge.explain(pipeline, "где 12 деве good")
    assert kedge.Explanation.from_json(e.to_json()) == e


def test_tokens_that_are_not_in_the_text_are_refused():
    """A tokenizer of the user's own names the words of the text, not others."""
    model = kedge.rules.present("good")
    with pytest.raises(TextError, match="The tokenizer gave 'evil' where the text has 'good'"):
        kedge.explain(model, "so good", tokenizer=lambda _: [kedge.Token("evil", 3, 7)])
