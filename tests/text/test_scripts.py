"""Texts that are written without spaces."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kedge
from kedge import tokenize
from kedge.text import scripts
from kedge.text.document import Document

CHINESE = "这家餐厅的菜很好吃，但是服务太慢了！"
JAPANESE = "料理はとても美味しいけれど、時々サービスが遅かった。"
THAI = "อาหารอร่อยมากแต่บริการช้า"


@pytest.mark.parametrize(
    ("package", "text", "expected"),
    [
        ("jieba", CHINESE, ["这家", "餐厅", "的", "菜", "很", "好吃", "但是", "服务", "太慢", "了"]),
        (
            "janome",
            JAPANESE,
            ["料理", "は", "とても", "美味しい", "けれど", "時々", "サービス", "が", "遅かっ", "た"],
        ),
        ("pythainlp", THAI, ["อาหาร", "อร่อย", "มาก", "แต่", "บริการ", "ช้า"]),
        ("jieba", "买了iPhone很好用 really", ["买", "了", "iPhone", "很", "好", "用", "really"]),
    ],
)
def test_an_installed_segmenter_finds_the_words(package, text, expected):
    """Each with its place in the text, and the note says who split it."""
    pytest.importorskip(package)
    tokens = tokenize.words(text)
    assert [t.word for t in tokens] == expected
    assert all(text[t.start : t.stop] == t.word for t in tokens)
    assert scripts.splitting_note(text) == (f"Words written without spaces were split by {package}.",)


def test_fugashi_stands_in_for_janome(monkeypatch):
    """Whichever segmenter of a language is there."""
    pytest.importorskip("fugashi")
    monkeypatch.setitem(scripts._PACKAGES, "Japanese", ("fugashi",))
    scripts._segmenter.cache_clear()
    assert "サービス" in [t.word for t in tokenize.words(JAPANESE)]
    assert "fugashi" in scripts.splitting_note(JAPANESE)[0]
    scripts._segmenter.cache_clear()


@pytest.fixture
def bare(monkeypatch):
    """No segmenter is installed."""
    for package in ("jieba", "janome.tokenizer", "fugashi", "pythainlp.tokenize"):
        monkeypatch.setitem(sys.modules, package, None)
    scripts._segmenter.cache_clear()
    yield
    scripts._segmenter.cache_clear()


@pytest.mark.usefixtures("bare")
def test_without_a_segmenter_every_character_is_a_word():
    """With its marks; what to install is said in a note."""
    assert [t.word for t in tokenize.words("很好吃 ok")] == ["很", "好", "吃", "ok"]
    assert [t.word for t in tokenize.words("ช้า")] == ["ช้", "า"]
    e = kedge.explain(lambda texts: ["好" in t for t in texts], CHINESE)
    assert e.words == ("好",)
    assert any("every character is a word" in note and "pip install jieba" in note for note in e.notes)


def test_the_note_is_about_the_default_splitter_only():
    """Not where the user's tokenizer or the model's own words are used, nor for other scripts."""
    model = lambda texts: ["好吃" in t for t in texts]  # noqa: E731
    assert any("split by" in note for note in kedge.explain(model, CHINESE).notes)
    by_hand = kedge.explain(model, CHINESE, tokenizer=tokenize.chunks(1, tokenize.words))
    assert not any("split by" in note for note in by_hand.notes)
    assert scripts.splitting_note("Good food, نعم, хорошо, 좋은 음식") == ()


def test_words_that_spaces_separate_load_no_segmenter():
    """A text in another script costs nothing."""
    code = (
        "import sys, kedge; kedge.tokenize.words('good 좋은 food'); "
        "print([m for m in ('jieba', 'janome', 'pythainlp') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@given(st.text(st.sampled_from("这好吃のサช้าก a,.\u200d\ufe0f\U000e0100😀๑ー々"), max_size=30))
def test_any_mixture_gives_valid_spans(text):
    """In order, inside the text, and they spell the words; a mark is never a word."""
    document = Document(text, tokenize.words(text))
    assert all(text[t.start : t.stop] == t.word for t in document.tokens)
    assert all(t.word.strip("\ufe0f\U000e0100\u200d") for t in document.tokens)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("©\ufe0f good", ["good"]),
        ("so good\u203c\ufe0f", ["so", "good"]),
        ("*\ufe0f\u20e3 and 1\ufe0f\u20e3", ["and", "1\ufe0f\u20e3"]),
        ("I \u2764\ufe0f it \u263a\ufe0e", ["I", "\u2764\ufe0f", "it", "\u263a\ufe0e"]),
        (
            "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f wins",
            ["\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", "wins"],
        ),
    ],
)
def test_variation_selectors_are_no_words(text, expected):
    """They belong to the sign before them, and stay with it where that is a word."""
    assert [t.word for t in tokenize.words(text)] == expected
