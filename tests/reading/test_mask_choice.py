"""The mask that fits a model."""

import pytest
from networks import LABELS, TEXTS, word_tokenizer
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import kedge
from kedge.errors import OptionError
from kedge.model.networks.tokenizers import mask_of as token_mask
from kedge.perturb import Masking
from kedge.reading.mask_choice import fit_mask, mask_of

UNK_REVIEWS = ["unk is good", *TEXTS]


def fitted(vectorizer, texts=TEXTS, labels=LABELS):
    return make_pipeline(vectorizer, LogisticRegression(C=10)).fit(texts, labels)


@pytest.mark.parametrize(
    ("model", "mask"),
    [
        (lambda: fitted(TfidfVectorizer()), "UNK"),
        (lambda: fitted(CountVectorizer(ngram_range=(1, 2))), "UNK"),
        (lambda: fitted(CountVectorizer(), UNK_REVIEWS, [1, *LABELS]), ""),
        (lambda: fitted(TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4))), ""),
        (lambda: fitted(TfidfVectorizer(analyzer="char", ngram_range=(2, 4))), ""),
        (lambda: fitted(HashingVectorizer(n_features=256)), ""),
        (lambda: kedge.rules.present("good"), "UNK"),
        (lambda: kedge.rules.present("unk"), ""),
        (lambda: kedge.WordWeights({"good": 1.0}), "UNK"),
        (lambda: kedge.WordWeights({"unk": 1.0}), ""),
        (lambda: lambda texts: [0] * len(texts), ""),
    ],
    ids=[
        "words", "pairs of words", "a vocabulary with unk", "characters within words", "characters",
        "hashed words", "a rule", "a rule about unk", "weights", "weights with unk", "a function",
    ],
)  # fmt: skip
def test_the_mask_is_no_word_of_the_model(model, mask):
    """UNK where a vocabulary is known not to have it, else nothing at all."""
    given = model()
    assert mask_of(kedge.as_model(given)) == mask
    text = "the food was good and the unk was great"
    assert kedge.explain(given, text, max_queries=300).perturbation == ("unk" if mask else "removal")


@pytest.mark.transformers
class TestTransformers:
    """A tokenizer has a token for what is not there."""

    @staticmethod
    def made(**special):
        """A tokenizer of words with some special tokens."""
        from tokenizers import Tokenizer, models, pre_tokenizers
        from transformers import PreTrainedTokenizerFast

        words = [*dict.fromkeys([*special.values(), "[UNK]", "a", "b", "good"])]
        inner = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="[UNK]"))
        inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
        return PreTrainedTokenizerFast(tokenizer_object=inner, **special)

    def test_the_mask_token_comes_first(self):
        """BERT's [MASK]."""
        assert token_mask(word_tokenizer()) == "[MASK]"

    def test_the_unknown_token_stands_in(self):
        """A tokenizer without a mask token, as T5's."""
        assert token_mask(self.made(unk_token="<unk>", eos_token="</s>", pad_token="<pad>")) == "<unk>"

    def test_the_end_of_a_text_is_no_mask(self):
        """GPT-2 calls what it does not know by the name of the end: words are removed."""
        assert not token_mask(self.made(unk_token="<|endoftext|>", eos_token="<|endoftext|>"))

    def test_a_token_that_is_not_read_as_itself_is_no_mask(self):
        """Where special tokens in a text are split like any word."""
        tokenizer = word_tokenizer()
        tokenizer.split_special_tokens = True
        assert not token_mask(tokenizer)

    def test_without_any_token_words_are_removed(self):
        """Some tokenizers have none."""
        assert not token_mask(self.made())


def test_what_the_user_chose_stays():
    """mask=, a Masking with a mask, and the name of the paper's perturbation."""
    function = lambda texts: [len(t) > 3 for t in texts]  # noqa: E731
    for options, name in [
        ({"mask": "[X]"}, "mask [X]"),
        ({"perturbation": Masking(mask="[X]", keep=0.4)}, "mask [X]"),
        ({"perturbation": "unk"}, "unk"),
        ({"mask": ""}, "removal"),
        ({"perturbation": Masking(keep=0.4)}, "removal"),
    ]:
        assert kedge.explain(function, "so very good", **options).perturbation == name
    model = kedge.as_model(function)
    assert fit_mask(Masking(keep=0.4), model) == Masking(mask="", keep=0.4)


def test_a_mask_of_the_vocabulary_is_refused_where_it_was_chosen():
    """UNK by name would add a word; by default it is not taken."""
    model = kedge.rules.present("unk")
    assert kedge.explain(model, "unk and more").words == ("unk",)
    with pytest.raises(OptionError, match="The model has the word 'unk' of the mask"):
        kedge.explain(model, "unk and more", perturbation="unk")


def test_the_masked_text_has_the_mask_that_fits():
    """Explainer.masked shows what the model is asked."""
    text = "the food, was good"
    assert kedge.Explainer(kedge.rules.present("good")).masked(text, [1]) == "the UNK, was good"
    assert kedge.Explainer(lambda texts: [0] * len(texts)).masked(text, [1]) == "the, was good"


class TestFewerWords:
    """A mask that removes gives short anchors where UNK gives long ones."""

    TEXTS = (
        "bad food and slow staff and bad wine and more of it",
        "the soup was good and the staff was great and so was all the wine they had",
    )

    @pytest.mark.parametrize(
        "vectorizer",
        [
            HashingVectorizer(n_features=64),
            TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4)),
        ],
        ids=["hashed", "characters"],
    )
    def test_a_model_that_reads_unk(self, vectorizer):
        """Trained with texts full of 'unk' on one side, so that UNK speaks for that side."""
        texts = [*TEXTS, *(f"{text} unk unk" for text, label in zip(TEXTS, LABELS, strict=True) if label)]
        labels = [*LABELS, *(1 for label in LABELS if label)]
        model = fitted(vectorizer, texts, labels)
        against = [text for text in self.TEXTS if model.predict([text])[0] == 0]
        assert against
        for text in against:
            masked, removed = kedge.explain(model, text, mask="UNK"), kedge.explain(model, text)
            assert len(removed.words) < len(masked.words)
            assert any("'UNK' itself pushes the model away from the label 0" in note for note in masked.notes)
            assert not any("itself speaks" in note for note in removed.notes)
