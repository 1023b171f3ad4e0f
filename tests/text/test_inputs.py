"""A bare string is read the same way everywhere: its words where words are asked for, never its letters."""

import pytest

import kedge
from kedge.errors import OptionError, TextError

GOOD = kedge.rules.any_of(["good"], ["nice", "place"])
TEXTS = ["good food", "nice place", "a nice good day"]


@pytest.mark.parametrize(
    "call",
    [
        lambda words: kedge.Explainer(GOOD).index(TEXTS).coverage(words),
        lambda words: kedge.Explainer(GOOD).index(TEXTS).count(words),
        lambda words: kedge.Explainer(GOOD).index(TEXTS).documents(words).tolist(),
        lambda words: kedge.apply(words, TEXTS).tolist(),
        lambda words: str(kedge.rules.all_present(words)),
        lambda words: kedge.Masking(protect=words),
    ],
)
def test_words(call):
    """A string is its words; anything but words is refused in one sentence."""
    assert call("nice place") == call(["nice", "place"])
    assert call("nice") == call(["nice"]) != call(["place", "nice"])
    for wrong in (3, None, [3], ["nice", None], b"nice"):
        with pytest.raises(OptionError, match="list of strings, or as one string") as caught:
            call(wrong)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "call",
    [
        lambda texts: kedge.Explainer(GOOD).index(texts),
        lambda texts: kedge.Explainer(GOOD).rules(texts, workers=1),
        lambda texts: kedge.Explainer(GOOD).explain_corpus(texts),
        lambda texts: kedge.CorpusIndex.build(texts, str.split),
        lambda texts: kedge.compare(GOOD, GOOD, texts),
        lambda texts: kedge.apply(["good"], texts),
        kedge.Neighbours.from_texts,
        GOOD.predict,
    ],
)
@pytest.mark.data
def test_texts(call):
    """One string, bytes, a table or no list at all is refused where texts are asked for."""
    import pandas as pd

    table = {"text": TEXTS, "stars": [5, 4, 3]}
    for wrong in ("good food", b"good", None, 3, table, pd.DataFrame(table)):
        with pytest.raises(TextError, match="Texts must be given as a list of texts"):
            call(wrong)


@pytest.mark.data
def test_one_column_of_a_table():
    """A table is refused with what to pass instead, and that works."""
    import pandas as pd

    explainer, table = kedge.Explainer(GOOD), pd.DataFrame({"text": TEXTS})
    with pytest.raises(TextError, match=r"got DataFrame; pass one column, df\['text'\]"):
        explainer.explain_corpus(table)
    with pytest.raises(TextError, match="got dict; pass its values"):
        explainer.explain_corpus({"text": TEXTS})
    assert [o.error for o in explainer.explain_corpus(table["text"], workers=1)] == [None] * 3


def test_words_to_judge():
    """A number where words are asked for is refused, a string is its words."""
    assert kedge.precision(GOOD, "nice place", "nice place").precision == 1.0
    with pytest.raises(OptionError, match="got int"):
        kedge.precision(GOOD, "nice place", 3)
