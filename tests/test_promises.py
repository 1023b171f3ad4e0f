"""Cases in which a claim of exactness was once false, or nearly: each stays mended."""

from enum import Enum

import brute
import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import LinearSVC
from truth import Judge, broken

import kedge
from kedge.perturb import Masking
from kedge.text.document import Document


def weighted(vectorizer, weights, bias=0.0):
    """A real pipeline with the weights given by word."""
    words = " ".join(weights)
    pipeline = make_pipeline(vectorizer, LinearSVC()).fit([words, words.split()[0]], [1, 0])
    for word, weight in weights.items():
        pipeline[-1].coef_[0, pipeline[0].vocabulary_[word]] = weight
    pipeline[-1].intercept_[:] = bias
    return pipeline


def truth(pipeline, e):
    """The precision of an explanation by asking about every masked text, in the explanation's units."""
    tokens = [kedge.Token(e.text[a:b], a, b) for a, b in e.tokens]
    return brute.precision(e.text, e.label, pipeline.predict, e.positions, tokens=tokens)


def test_a_mask_never_joins_the_word_beside_it():
    """A quote or an apostrophe beside the mask is kept apart from it."""
    rule = kedge.rules.present("good")
    explainer = kedge.Explainer(rule)
    explainer.explain("good food")
    e = explainer.explain("★'good' food")
    assert e.interval.low <= truth(rule, e) <= e.interval.high
    text = "it's'good"
    document = Document(text, [kedge.Token("it's", 0, 4), kedge.Token("good", 5, 9)])
    assert Masking().writer(document)(np.array([[False, True]])) == ["UNK 'good"]


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"(?u)\b\w+(?:'\w+)?\b", "rock'n'roll sad"),
        (r"(?u)\b(\w+?)(?:s|ed|ing)?\b", "walks talks bad good"),
        (r"\w+ \w+", "very good so nice"),
    ],
)
def test_words_that_depend_on_their_neighbours_are_asked_by_text(pattern, text):
    """Where masking changes the other words, counts do not stand for texts, on any document."""
    texts = ["roll sad", text, "sad bad so nice", "good walk talk roll"]
    pipeline = make_pipeline(CountVectorizer(token_pattern=pattern), LogisticRegression(C=100))
    pipeline.fit(texts, [1, 1, 0, 0])
    explainer = kedge.Explainer(pipeline, threshold=0.7)
    explainer.explain("good walk talk roll")
    e = explainer.explain(text)
    assert e.interval.low - 1e-12 <= truth(pipeline, e) <= e.interval.high + 1e-12


def test_a_tokenizer_that_drops_repetitions_is_asked_by_text():
    """Its words are no counts."""
    vectorizer = CountVectorizer(tokenizer=lambda s: list(dict.fromkeys(s.split())), token_pattern=None)
    pipeline = make_pipeline(vectorizer, LogisticRegression()).fit(["good nice", "bad"], [1, 0])
    explainer = kedge.Explainer(pipeline)
    explainer.explain("good nice")
    e = explainer.explain("good bad bad nice good")
    assert e.interval.low - 1e-12 <= truth(pipeline, e) <= e.interval.high + 1e-12


def test_truth_values_are_not_counts():
    """dtype=bool makes presence of counts: three times good is good once."""
    pipeline = make_pipeline(CountVectorizer(dtype=bool), LogisticRegression(C=10))
    pipeline.fit(["good nice", "bad poor", "good", "bad"], [1, 0, 1, 0])
    explainer = kedge.Explainer(pipeline)
    explainer.explain("good nice")
    e = explainer.explain("good good good bad nice")
    assert e.interval.low - 1e-12 <= truth(pipeline, e) <= e.interval.high + 1e-12


def test_a_refitted_pipeline_is_understood_anew():
    """The explainer sees the new vocabulary, weights and classes."""
    pipeline = make_pipeline(TfidfVectorizer(norm=None), LinearSVC()).fit(["good nice", "bad poor"], [1, 0])
    explainer = kedge.Explainer(pipeline)
    explainer.explain("good nice")
    pipeline.fit(["zzz good", "aaa bad", "good film", "bad plot"], ["yes", "no", "yes", "no"])
    assert explainer.explain("good film bad aaa zzz") == kedge.explain(pipeline, "good film bad aaa zzz")


def test_labels_are_those_of_predict_to_the_last_bit():
    """Where probabilities tie, the score decides, as in predict."""
    boosted = make_pipeline(CountVectorizer(), GradientBoostingClassifier())
    boosted.fit(["good"] * 5 + ["bad"] * 5 + ["film"] * 4, [1] * 5 + [0] * 5 + [1, 1, 0, 0])
    assert kedge.explain(boosted, "film plot").label == boosted.predict(["film plot"])[0]
    logistic = make_pipeline(CountVectorizer(), LogisticRegression()).fit(
        ["aa bb cc", "aa", "bb", "cc"], [1, 1, 0, 0]
    )
    logistic[-1].coef_ = np.array([[0.1, 0.2, -0.3]])
    logistic[-1].intercept_ = np.zeros(1)
    assert kedge.explain(logistic, "aa bb cc").label == logistic.predict(["aa bb cc"])[0]


@pytest.mark.parametrize("keep", [0.05, 0.1, 0.37, 0.5])
def test_certain_is_certain_whatever_rounding_says(keep):
    """One word that decides alone is the whole anchor at threshold one."""
    model = weighted(CountVectorizer(binary=True), {"aa": 1.0, "bb": 0.0, "cc": 0.0}, -0.5)
    text = "aa " * 2 + "bb " * 8 + "cc " * 8
    e = kedge.explain(model, text, threshold=1.0, perturbation=kedge.Masking(keep=keep))
    assert (e.words, e.interval) == (("aa",), (1.0, 1.0, 1.0))


def test_almost_certain_is_not_certain():
    """1 - 2^-60 is below one."""
    rule = kedge.rules.all_present(["very", "good"])
    text = "very " * 60 + "good"
    assert kedge.explain(rule, text, threshold=1.0).words == ("very", "good")
    assert kedge.precision(rule, text, ["good"], threshold=1.0).reaches is False
    model = weighted(CountVectorizer(binary=True), {"very": 1.0, "good": 1.0}, -1.5)
    assert set(kedge.explain(model, text, threshold=1.0).words) == {"very", "good"}
    assert kedge.precision(model, text, ["good"], threshold=1.0).reaches is not True


def test_a_word_a_thousand_times():
    """Binomial coefficients do not overflow."""
    forest = make_pipeline(CountVectorizer(), RandomForestClassifier(5, random_state=0))
    forest.fit(["very good", "very very good", "bad", "bad bad"], [1, 1, 0, 0])
    e = kedge.explain(forest, "very " * 1100 + "good")
    assert 0 <= e.interval.low <= e.precision <= e.interval.high <= 1


def test_branches_prove_that_nothing_is_not_enough():
    """With allow_empty, an empty anchor that may reach the threshold is a doubt."""
    weights = {"aa": 0.1, "bb": 0.2, "cc": -0.3, "dd": 0.2, "ee": 0.0}
    model = weighted(CountVectorizer(binary=True), weights)
    e = kedge.explain(model, "aa bb cc dd", method="branch", allow_empty=True, threshold=0.625)
    assert e.words == () or e.status != "exact"


def test_coverage_certifies_nothing_below_the_threshold():
    """A wide interval stays an estimate."""
    corpus = ["good nice film", "good", "bad poor film", "bad plot", "film plot nice"]
    pipeline = make_pipeline(CountVectorizer(), LogisticRegression()).fit(corpus, [1, 1, 0, 0, 1])
    e = kedge.explain(
        pipeline,
        "good nice film plot bad good",
        evaluator="gaussian",
        objective="coverage",
        corpus=corpus,
        threshold=0.8,
    )
    assert e.status not in {"exact", "certified"} or e.interval.low >= 0.8


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_words_that_a_class_has_never_seen():
    """Naive Bayes without smoothing has infinite weights: the model itself is asked."""
    texts = ["good nice film", "good plot", "bad poor film", "bad plot"]
    pipeline = make_pipeline(CountVectorizer(), MultinomialNB(alpha=0, force_alpha=True))
    pipeline.fit(texts, [1, 1, 0, 0])
    e = kedge.explain(pipeline, "good film plot")
    assert e.interval.low - 1e-9 <= truth(pipeline, e) <= e.interval.high + 1e-9


def test_one_character_that_becomes_two_words():
    """'½' spelled out cannot be masked apart: the text path is taken."""
    pipeline = make_pipeline(CountVectorizer(strip_accents="unicode"), LogisticRegression())
    pipeline.fit(["good nice 10", "bad 51"], [1, 0])
    assert kedge.explain(pipeline, "good 5½10 nice").label in {0, 1}


def test_float_classes_are_labels():
    """1.0 and -1.0 are labels where the pipeline says so."""
    pipeline = make_pipeline(CountVectorizer(), LinearSVC()).fit(["good", "bad"], [1.0, -1.0])
    assert kedge.explain(pipeline, "good food").label == 1.0


def test_a_precision_of_one_is_not_sampled_for_ever():
    """Normalised TF-IDF on a long document at threshold one ends at once, with certainty."""
    words = [f"w{k}" for k in range(80)]
    pipeline = make_pipeline(TfidfVectorizer(), LogisticRegression())
    pipeline.fit([" ".join(words[:40]), " ".join(words[40:])], [1, 0])
    e = kedge.explain(pipeline, " ".join(words[:45]), threshold=1.0)
    assert e.status in {"certified", "exact"}
    assert e.interval.low == 1.0
    assert not e.sampled


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_weights_beyond_the_range_of_squares_are_asked_about(scale):
    """No division by a variance that has vanished or overflowed."""
    words = {f"w{k}": scale * (1.0 if k % 2 else -0.5) for k in range(20)}
    model = weighted(CountVectorizer(), words)
    e = kedge.explain(model, " ".join(words))
    assert 0 <= e.interval.low <= e.precision <= e.interval.high <= 1


def test_a_pattern_that_looks_around_is_asked_by_text():
    """Whether a word is one may depend on words far off: counts cannot tell."""
    pattern = r"\b(?!please)\w+\b(?=.*please)|please"
    vectorizer = CountVectorizer(token_pattern=pattern, lowercase=False)
    pipeline = weighted(vectorizer, {"w0": 1.19, "w2": 1.11, "please": 0.1}, bias=-1.81)
    e = kedge.explain(pipeline, "w0 z1 w2 z3 please")
    assert e.notes
    assert truth(pipeline, e) >= e.threshold


def test_a_tokenizer_that_looks_ahead_is_found_out():
    """Words count only before a certain one: the trial of masks sees it."""

    def before(text):
        words = text.split()
        return words[: words.index("stop")] if "stop" in words else words[:2]

    vectorizer = CountVectorizer(tokenizer=before, token_pattern=None)
    texts = ["good food here stop it", "bad food here stop it", "here it", "good"]
    pipeline = make_pipeline(vectorizer, LogisticRegression()).fit(texts, [1, 0, 0, 1])
    e = kedge.explain(pipeline, "here food good here good food stop it")
    tokens = [kedge.Token(e.text[a:b], a, b) for a, b in e.tokens]
    true = brute.precision(e.text, e.label, pipeline.predict, e.positions, tokens=tokens)
    assert e.interval.low - 1e-9 <= true <= e.interval.high + 1e-9


def test_a_regressor_is_refused():
    """Numbers are no labels: every text would have one of its own."""
    texts = ["good food", "bad food"]
    pipeline = make_pipeline(TfidfVectorizer(), Ridge()).fit(texts, [0.7, -0.2])
    with pytest.raises(kedge.KedgeError, match="Ridge is a regressor"):
        kedge.explain(pipeline, "good food")
    assert kedge.explain(pipeline, "good food", outputs="scores").words == ("good",)


def test_the_gaussian_approximation_is_taken_at_its_word():
    """Its bound is wide; the anchor is the one that the approximation says reaches the threshold."""
    text = " ".join(["good", *(f"w{k}" for k in range(20))])
    weights = {"good": 3.0} | {f"w{k}": 0.1 * (-1) ** k for k in range(20)}
    e = kedge.explain(kedge.WordWeights(weights, -1.0), text, evaluator="gaussian")
    assert e.words == ("good",)


def test_texts_of_other_string_types_are_their_characters():
    """A member of a string enumeration, a numpy string."""

    class Review(str, Enum):  # noqa: UP042  (whose str() is its name)
        GOOD = "good food"

    model = kedge.rules.present("good")
    for text in (Review.GOOD, np.str_("good food")):
        e = kedge.explain(model, text)
        assert (type(e.text), e.text) == (str, "good food")


def test_countless_texts_are_refused_in_one_sentence():
    """However long the text."""
    with pytest.raises(kedge.KedgeError, match="would take countless queries"):
        kedge.explain(lambda texts: [1] * len(texts), "a " * 15_000, evaluator="exact")


def unshouted(text):
    return text.lower() if text.isupper() else text


def cut(text):
    return text.lower()[:30]


def only_before_stop(text):
    words = text.split()
    return words[: words.index("stop")] if "stop" in words else words[:2]


@pytest.mark.parametrize(
    ("code", "text", "weights", "bias"),
    [
        (
            {"preprocessor": unshouted, "lowercase": False},
            "we ate the pie GOOD",
            {"good": 2.0, "GOOD": 1.0},
            0.0,
        ),
        ({"preprocessor": cut}, "good pies we ate here were so good", {"good": 1.0, "here": -1.5}, -0.1),
        ({"tokenizer": only_before_stop, "token_pattern": None}, "here food good stop", {"good": 2.0}, -1.0),
        ({"strip_accents": cut}, "good pies we ate here were so good", {"good": 1.0, "here": -1.5}, -0.1),
    ],
)
def test_code_of_the_users_own_is_never_read_through_counts(code, text, weights, bias):
    """A preprocessor may look at the whole text: only answers to masked texts say what it does."""
    vectorizer = CountVectorizer(**code).set_params(vocabulary=sorted({*weights, "we"}))
    pipeline = make_pipeline(vectorizer, LinearSVC()).fit(["we good here", "GOOD"], [1, 0])
    pipeline[-1].coef_[:] = [[weights.get(word, 0.3) for word in sorted(vectorizer.vocabulary)]]
    pipeline[-1].intercept_[:] = bias
    explainer = kedge.Explainer(pipeline, threshold=0.9)
    e = explainer.explain(text)
    assert e.queries > 1
    tokens = [kedge.Token(e.text[a:b], a, b) for a, b in e.tokens]
    shortest, best, _ = brute.shortest(text, e.label, pipeline.predict, tokens=tokens, threshold=0.9)
    assert e.interval.low - 1e-12 <= truth(pipeline, e) <= e.interval.high + 1e-12
    if e.status == "exact":
        assert (len(e.words), e.precision) == (shortest, pytest.approx(best))


@pytest.mark.parametrize(
    "vectorizer",
    [
        CountVectorizer(token_pattern=r"(?u)\b\w+(?:'\w+)?\b"),
        CountVectorizer(token_pattern=r"[a-z]+"),
        CountVectorizer(tokenizer=str.split, token_pattern=None),
        CountVectorizer(strip_accents="unicode"),
    ],
)
def test_own_steps_are_read_through_counts(vectorizer):
    """A pattern that needs no blank, ``str.split``, accents: what every mask does is known."""
    texts = ["good caf\u00e9 here", "bad food so", "good soup", "bad caf\u00e9"]
    pipeline = make_pipeline(vectorizer, LogisticRegression()).fit(texts, [1, 0, 1, 0])
    e = kedge.explain(pipeline, "Good caf\u00e9, here; \u03a3o-so soup")
    assert (e.method, e.status) == ("ranked", "exact")
    assert e.interval.low - 1e-12 <= truth(pipeline, e) <= e.interval.high + 1e-12


def test_a_perturbation_of_the_users_own_is_asked_by_text():
    """A subclass may write anything in place of a word."""

    class Loud(Masking):
        def writer(self, document, rng=None):
            plain = super().writer(document, rng)
            return lambda kept: [text + " bad" for text in plain(kept)]

    pipeline = weighted(CountVectorizer(), {"good": 1.0, "nice": 1.0, "bad": -1.5})
    e = kedge.explain(pipeline, "good nice food", perturbation=Loud(mask="UNK"), threshold=0.9)
    assert set(e.words) == {"good", "nice"}


def test_a_pipeline_that_raises_on_masked_texts_says_so():
    """The first comparison with the model's own answers is a call of the model like any other."""
    texts = ["good food", "bad food"]
    pipeline = make_pipeline(CountVectorizer(preprocessor=_picky), LogisticRegression()).fit(texts, [1, 0])
    with pytest.raises(kedge.KedgeError, match="raised ValueError"):
        kedge.explain(pipeline, "good food")


def _picky(text):
    if "UNK" in text:
        raise ValueError("no such word")
    return text


def _hashed(ngram_range):
    """Pairs of words on four columns, where grams cancel each other, and a head to put numbers into."""
    texts = ["good film so bad", "bad plot the film", "the good plot so", "so bad film good", "plot", "film"]
    vectorizer = HashingVectorizer(n_features=4, ngram_range=ngram_range, norm=None)
    return make_pipeline(vectorizer, LinearSVC()).fit(texts, [0, 1, 2, 0, 1, 2])


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("column", range(4))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_grams_that_cancel_each_other_leave_a_zero_behind(number, column):
    """Zero times infinity is no number: counts, which have no such zero, do not stand for the texts."""
    pipeline = _hashed((1, 2))
    pipeline[-1].coef_[0, column] = number
    for text in ("good film so bad plot", "the plot good bad film so"):
        e = kedge.explain(pipeline, text)
        judge = Judge(pipeline.predict, e)
        assert broken(e, judge) == []


def test_a_text_too_short_for_a_hashed_pair():
    """A hasher takes no empty list; a text of one word has no pair of words."""
    with pytest.raises(kedge.errors.TextError, match="does not depend on"):
        kedge.explain(_hashed((2, 2)), "good")


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("ngram_range", [(1, 1), (1, 2)])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_infinite_weights_of_words_that_are_not_in_the_text(number, ngram_range):
    """They make no number of any dense row; whether rows are dense is seen at every explanation."""
    texts = ["good film", "bad plot", "so good", "so bad", "the good plot", "the bad film"]
    vectorizer = CountVectorizer(ngram_range=ngram_range)
    dense = FunctionTransformer(lambda x: x.toarray(), accept_sparse=True)
    pipeline = make_pipeline(vectorizer, dense, LinearSVC()).fit(texts, [1, 0, 1, 0, 1, 0])
    explainer = kedge.Explainer(pipeline, threshold=1.0)
    before = explainer.explain("good plot so")
    assert broken(before, Judge(pipeline.predict, before)) == []
    pipeline[-1].coef_[0, vectorizer.vocabulary_["film"]] = number
    e = explainer.explain("good plot so")
    assert broken(e, Judge(pipeline.predict, e)) == []


def test_a_baseline_that_ties_decide_is_that_of_the_model():
    """Without an intercept a text of which nothing is left scores zero, which is one of the labels."""
    texts = ["food food place", "place nice", "food nice nice", "bad place", "bad food", "nice place place"]
    pipeline = make_pipeline(TfidfVectorizer(), LinearSVC(penalty="l1", dual=False, fit_intercept=False))
    for labels in ([0, 1, 1, 0, 0, 1], [1, 0, 0, 1, 1, 0], [0, 0, 1, 1, 0, 1]):
        pipeline.fit(texts, labels)
        for text in ("food place food", "nice food", "bad place nice"):
            e = kedge.explain(pipeline, text)
            assert broken(e, Judge(pipeline.predict, e)) == []


def test_more_than_sixty_four_words():
    """Of all words of a text, and of none: no machine word has a bit for each of these."""
    words = [f"w{k}" for k in range(90)]

    def has_first(texts):
        return [int("w0" in text.split()) for text in texts]

    text = " ".join(words)
    assert kedge.precision(has_first, text, range(90)).interval.low == 1.0
    assert kedge.precision(has_first, text, [0]).reaches
    assert kedge.explain(has_first, text).words == ("w0",)


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int64, np.float32])
def test_presence_in_any_type_of_numbers(dtype):
    """binary=True with numbers that hold no more than presence: read, and right."""
    vectorizer = CountVectorizer(binary=True, dtype=dtype)
    pipeline = make_pipeline(vectorizer, LogisticRegression())
    pipeline.fit(["good film good", "bad film", "so good", "so bad bad"], [1, 0, 1, 0])
    e = kedge.explain(pipeline, "good good bad film so good")
    assert e.status == "exact"
    assert broken(e, Judge(pipeline.predict, e)) == []
