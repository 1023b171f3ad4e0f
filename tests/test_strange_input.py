"""Strange but valid input works."""

import numpy as np
import pytest

import kedge
from kedge.data.demo import review_model

GOOD = kedge.rules.present("good")


def black_box(texts):
    return GOOD.predict(texts)


@pytest.mark.parametrize(
    ("text", "positions"),
    [
        ("good", (0,)),
        ("good good good good", (0,)),
        ("😀 good 😀", (1,)),
        ("شكرا good جدا", (1,)),
        ("cafe\u0301 good", (1,)),
        ("a\x00\x01 good \x7f", (1,)),
        ("line\r\none\tgood\n\n", (2,)),
        (np.str_("so good"), (1,)),
        ("UNK good UNK", (1,)),
        ("<script>good</script>", (1,)),
        ("good " * 8 + "\ud800", None),
        ("\ufeffgood\u200b day", (0,)),
    ],
)
@pytest.mark.parametrize("model", [GOOD, black_box], ids=["read", "asked"])
def test_strange_texts_are_explained(text, positions, model):
    """One word, repetitions, emoji, other scripts, control characters, the mask itself."""
    e = kedge.explain(model, text)
    assert e.label == 1
    assert set(e.words) == {"good"}
    assert e.status in {"exact", "certified"}
    if positions is not None:
        assert e.positions == positions
    assert type(e.text) is str


@pytest.mark.slow
def test_a_hundred_thousand_words_read():
    """A model that can be read explains a book in bounded memory."""
    text = "word " * 99_999 + "good"
    e = kedge.explain(GOOD, text)
    assert (e.words, e.status) == (("good",), "exact")


@pytest.mark.slow
def test_a_hundred_thousand_words_asked_within_the_budget():
    """A black box gets an answer or not_reached within max_queries."""
    text = "word " * 99_999 + "good"
    e = kedge.explain(lambda texts: ["good" in text for text in texts], text, max_queries=50)
    assert e.queries <= 50
    assert e.status in {"certified", "estimated", "not_reached"}


def test_labels_of_every_kind_are_explained():
    """Strings, integers, booleans and numpy scalars come back as plain Python values."""
    for yes, no in [
        ("spam", "ham"),
        (7, 3),
        (True, False),
        (np.int8(1), np.int8(0)),
        (np.str_("a"), np.str_("b")),
    ]:
        e = kedge.explain(lambda texts, y=yes, n=no: [y if "good" in t else n for t in texts], "so good")
        assert e.label == yes
        assert type(e.label) in {str, int, bool}
        assert kedge.Explanation.from_json(e.to_json()) == e


def test_one_explainer_serves_many_threads():
    """No state between texts: threads get the answers that one after the other would."""
    from concurrent.futures import ThreadPoolExecutor

    explainer = kedge.Explainer(review_model(), method="beam")
    texts = ["good food", "slow service and cold soup", "friendly staff, delicious dessert"] * 4
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(explainer.explain, texts))
    assert together == [explainer.explain(t) for t in texts]


def test_no_global_randomness_is_read_or_written():
    """numpy's global state neither changes nor matters."""
    np.random.seed(1)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    first = kedge.explain(black_box, "a good " + "day " * 14, method="beam")
    assert (np.random.get_state()[1] == before).all()  # noqa: NPY002
    np.random.seed(2)  # noqa: NPY002
    assert kedge.explain(black_box, "a good " + "day " * 14, method="beam") == first
