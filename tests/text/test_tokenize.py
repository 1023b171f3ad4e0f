"""Splitting texts into units."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kedge import tokenize
from kedge.errors import OptionError, TextError
from kedge.text.document import Document


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Good, not great.", ["Good", "not", "great"]),
        ("don't won\u2019t rock'n'roll", ["don't", "won\u2019t", "rock'n'roll"]),
        ("well-made/cheap", ["well", "made", "cheap"]),
        ("great😀😀 👍🏽 👩‍👩‍👧 🇫🇷", ["great", "😀", "😀", "👍🏽", "👩‍👩‍👧", "🇫🇷"]),
        ("नमस्ते दुनिया।", ["नमस्ते", "दुनिया"]),
        ("مرحبا، كيف الحال؟", ["مرحبا", "كيف", "الحال"]),
        ("cafe\u0301 noir", ["cafe\u0301", "noir"]),
        ("Привет, мир", ["Привет", "мир"]),
        ("a\tb\nc\x00d", ["a", "b", "c", "d"]),
        ("'quoted' words", ["quoted", "words"]),
        ("3.5 stars, 10/10", ["3", "5", "stars", "10", "10"]),
    ],
)
def test_words_of_many_scripts(text, expected):
    """The default splitter finds the words of scripts with spaces, and each emoji."""
    tokens = tokenize.words(text)
    assert [t.word for t in tokens] == expected
    assert all(text[t.start : t.stop] == t.word for t in tokens)


@given(st.text(max_size=80))
def test_any_text_gives_valid_spans(text):
    """Whatever the text, spans are in order, inside it, and spell the words."""
    for split in (tokenize.words, tokenize.sentences, tokenize.chunks(3)):
        document = Document(text, split(text))
        assert all(text[t.start : t.stop] == t.word for t in document.tokens)


def test_sentences_and_chunks_are_units():
    """Whole sentences or runs of words can be the units."""
    text = "Good food. Slow service! Never\nagain"
    assert [t.word for t in tokenize.sentences(text)] == ["Good food.", "Slow service!", "Never\nagain"]
    assert [t.word for t in tokenize.chunks(3)(text)] == ["Good food. Slow", "service! Never\nagain"]
    with pytest.raises(OptionError, match="at least one word"):
        tokenize.chunks(0)


def test_callables_may_give_spans_tokens_or_strings():
    """(start, stop) pairs, tokens and strings that occur in the text are all understood."""
    text = "so good so"
    as_spans = tokenize.as_tokenizer(lambda _: [(0, 2), (3, 7)])
    assert [t.word for t in as_spans(text)] == ["so", "good"]
    as_strings = tokenize.as_tokenizer(str.split)
    assert [(t.start, t.stop) for t in as_strings(text)] == [(0, 2), (3, 7), (8, 10)]
    assert tokenize.as_tokenizer(tokenize.words)(text) == tokenize.words(text)


def test_a_word_left_out_by_the_tokenizer_is_not_mistaken_for_another():
    """'a' is found as a word of its own, not inside the 'cat' that the tokenizer dropped."""
    split = tokenize.as_tokenizer(lambda text: [w for w in text.split() if w != "cat"])
    assert [(t.start, t.stop) for t in split("cat a dog")] == [(4, 5), (6, 9)]


def test_a_spacy_pipeline_is_a_tokenizer():
    """spaCy tokens keep their character offsets."""
    spacy = pytest.importorskip("spacy", reason="needs spacy: pip install --group dev")
    tokens = tokenize.as_tokenizer(spacy.blank("en"))("The warm  beer didn't help.")
    assert [t.word for t in tokens] == ["The", "warm", "beer", "did", "n't", "help", "."]
    assert tokens[2].start == 10


def test_rubbish_from_a_tokenizer_is_refused():
    """What is not spans, tokens or strings of the text is refused, with what is wanted."""
    with pytest.raises(OptionError, match="must be a function"):
        tokenize.as_tokenizer(3)
    with pytest.raises(TextError, match="do not occur in the text"):
        tokenize.as_tokenizer(lambda _: ["stemmed"])("running")
    with pytest.raises(TextError, match="it returned one with 1"):
        tokenize.as_tokenizer(lambda _: [1, 2])("running")


@pytest.mark.transformers
def test_a_hugging_face_tokenizer_gives_whole_words():
    """Word pieces are joined to the words they came from, with their offsets."""
    import transformers
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    pieces = {"[UNK]": 0, "un": 1, "##believ": 2, "##able": 3, "good": 4, "!": 5}
    core = Tokenizer(models.WordPiece(pieces, unk_token="[UNK]"))
    core.normalizer = normalizers.BertNormalizer(lowercase=True)
    core.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=core, unk_token="[UNK]")
    text = "Unbelievable, good!"
    tokens = tokenize.as_tokenizer(tokenizer)(text)
    assert all(text[t.start : t.stop] == t.word for t in tokens)
    assert [t.word for t in tokens if t.word.isalpha()] == ["Unbelievable", "good"]
