"""scikit-learn pipelines: words placed in the text, counts instead of text, and what is said otherwise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier, VotingClassifier
from sklearn.feature_extraction.text import (
    CountVectorizer,
    TfidfTransformer,
    TfidfVectorizer,
)
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import kedge
from kedge.data.demo import reviews
from kedge.errors import LabelError, ModelError, OptionError
from kedge.model.sklearn.answers import _score
from kedge.model.sklearn.locating import keeps_apart, locate_words
from kedge.model.sklearn.trees.forest import forest_chances
from kedge.text.document import Document

TEXTS, LABELS = reviews()


def fitted(vectorizer, classifier=None):
    if classifier is None:
        classifier = LogisticRegression(max_iter=1000)
    return make_pipeline(vectorizer, classifier).fit(TEXTS, LABELS)


@pytest.mark.parametrize(
    "vectorizer",
    [
        CountVectorizer(),
        TfidfVectorizer(),
        TfidfVectorizer(norm=None, sublinear_tf=True, stop_words="english"),
        TfidfVectorizer(norm="l1", use_idf=False, min_df=2, max_features=200),
        CountVectorizer(binary=True, strip_accents="unicode", lowercase=False),
        CountVectorizer(token_pattern=r"(?u)\b(\w\w+)\b", dtype=np.float32),
        CountVectorizer(tokenizer=str.split, token_pattern=None),
    ],
)
@pytest.mark.parametrize(
    "final", [LogisticRegression(max_iter=1000), MultinomialNB(), LinearSVC(), RandomForestClassifier(5)]
)
def test_counts_give_the_model_s_own_predictions(vectorizer, final):
    """from_counts on word counts equals predict on the text that has these words."""
    pipeline = fitted(vectorizer, final)
    model = kedge.as_model(pipeline)
    rng = np.random.default_rng(0)
    words = [w for w in ("good", "food", "bad", "was", "service", "slow") if model.reads(w)]
    counts = rng.integers(0, 4, size=(40, len(words)))
    texts = [" ".join(np.repeat(words, row)) for row in counts]
    assert model.from_counts(words)(counts).labels.tolist() == pipeline.predict(texts).tolist()
    assert model.predict(texts).labels.tolist() == pipeline.predict(texts).tolist()


def test_steps_between_vectoriser_and_classifier_are_passed_through():
    """CountVectorizer + TfidfTransformer is still a model of counts."""
    pipeline = make_pipeline(CountVectorizer(), TfidfTransformer(), LogisticRegression()).fit(TEXTS, LABELS)
    e = kedge.explain(pipeline, "good food, slow service")
    assert e.status == "exact"
    assert e.label == pipeline.predict(["good food, slow service"])[0]


@given(st.text(alphabet="aAÀéÉİßΣς \t.'ıñ0_", max_size=30))
def test_located_words_are_the_analyzer_s_words(text):
    """Words placed in the text are those the analyzer finds, in order, and stand where they are said to."""
    for vectorizer in (CountVectorizer(), CountVectorizer(strip_accents="unicode", token_pattern=r"\w+")):
        tokens = locate_words(vectorizer, text)
        if tokens is None:
            continue
        assert [t.word for t in tokens] == vectorizer.build_analyzer()(text)
        preprocess = vectorizer.build_preprocessor()
        for t in tokens:
            # "İ" in lower case is an i and a combining dot that the pattern may leave out.
            assert t.word.replace("ς", "σ") in preprocess(text[t.start : t.stop]).replace("ς", "σ")


@given(
    st.text(alphabet="aAÀéÉİßΣς \t.'ıñ0_\u0301\u200d-", max_size=30) | st.text(max_size=20),
    st.sampled_from(["UNK", "", "[MASK]", "don't", "\u0301", "Σ"]),
    st.randoms(use_true_random=False),
)
def test_words_known_to_keep_apart_stay_themselves_between_masks(text, mask, random):
    """Where a text is said to be safe, the words kept are found again whichever others are masked."""
    for vectorizer in (CountVectorizer(), CountVectorizer(strip_accents="unicode", token_pattern=r"\b\w+\b")):
        if not (keeps_apart(vectorizer, text) and keeps_apart(vectorizer, mask)):
            continue
        tokens = locate_words(vectorizer, text)
        here = [random.random() < 0.5 for _ in tokens]
        analyze = vectorizer.build_analyzer()
        masked = kedge.Masking(mask).writer(Document(text, tokens))(np.array([here], dtype=bool))[0]
        kept = [t.word for t, stays in zip(tokens, here, strict=True) if stays]
        beside = analyze(mask)
        assert [w for w in analyze(masked) if w not in beside] == [w for w in kept if w not in beside]


def test_lower_casing_that_lengthens_the_text_is_mapped_back():
    """'İ' becomes two characters in lower case; the spans still point at the caller's text."""
    text = "İİİ good"
    tokens = locate_words(CountVectorizer(), text)
    assert tokens[-1].word == "good"
    assert text[tokens[-1].start : tokens[-1].stop] == "good"


def test_preprocessing_that_moves_characters_takes_the_text_path_and_says_so():
    """A preprocessor that drops markup makes word places unknowable: masked texts, and a note."""

    def plain(text):
        return text.replace("<b>", "").lower()

    pipeline = fitted(CountVectorizer(preprocessor=plain))
    e = kedge.explain(pipeline, "<b>good food")
    assert any("cannot be located" in note for note in e.notes)
    assert any("Masking a word may change" in note for note in kedge.explain(pipeline, "good food").notes)


@pytest.mark.parametrize(
    "vectorizer",
    [
        TfidfVectorizer(analyzer=str.split),
        CountVectorizer(analyzer="char", ngram_range=(2, 4)),
        FeatureUnion([("words", CountVectorizer()), ("characters", CountVectorizer(analyzer="char"))]),
    ],
)
def test_vectorisers_that_are_not_read_are_asked_by_text(vectorizer):
    """An analyzer of the user's own, characters across words: asked, and a note says so."""
    pipeline = fitted(vectorizer)
    model = kedge.as_model(pipeline)
    assert (model.from_counts, model.opened) == (None, None)
    e = kedge.explain(pipeline, "Good food, very friendly staff")
    (note,) = e.notes
    assert note.startswith("The pipeline does not start with a vectoriser that kedge can read, so")
    assert "black box" in note
    assert e.status == "exact"


def test_words_outside_the_vocabulary_never_matter():
    """Unknown words are no units: they cannot be in the anchor and cost nothing."""
    pipeline = fitted(TfidfVectorizer(norm=None))
    e = kedge.explain(pipeline, "zyx good wvu qrs delicious tut friendly xyz")
    assert set(e.words) <= {"good", "delicious", "friendly"}
    assert len(e.tokens) == 8


def test_a_mask_the_vocabulary_knows_is_refused():
    """Masking with 'FOOD' would add the word food: refused, whatever its case."""
    pipeline = fitted(TfidfVectorizer())
    with pytest.raises(OptionError, match="The model has the word 'food' of the mask"):
        kedge.explain(pipeline, "good food", perturbation=kedge.Masking(mask="FOOD"))


def test_any_number_of_classes():
    """Three classes are explained like two, exactly."""
    pipeline = make_pipeline(CountVectorizer(), LogisticRegression())
    pipeline.fit(["red apple", "green pear", "blue plum"] * 3, ["apple", "pear", "plum"] * 3)
    e = kedge.explain(pipeline, "a blue plum on a green plate")
    assert (e.label, e.status) == ("plum", "exact")
    assert dict(e.probabilities).keys() == {"apple", "pear", "plum"}


def test_a_multilabel_pipeline_explains_the_label_asked_for():
    """outputs='multilabel' with label=; a label that does not hold is refused with the reason."""
    pipeline = make_pipeline(CountVectorizer(), OneVsRestClassifier(LogisticRegression(C=100)))
    texts = ["good food", "slow service", "good food slow service", "nothing else"] * 5
    pipeline.fit(texts, np.array([[1, 0], [0, 1], [1, 1], [0, 0]] * 5))
    e = kedge.explain(pipeline, "the food was good", label=0, outputs="multilabel")
    assert set(e.words) <= {"food", "good"}
    with pytest.raises(LabelError, match="does not hold for this text"):
        kedge.explain(pipeline, "the food was good", label=1, outputs="multilabel")
    with pytest.raises(LabelError, match="needs `label`"):
        kedge.explain(pipeline, "the food was good", outputs="multilabel")


def test_an_unfitted_pipeline_is_refused():
    """The message says to fit it."""
    with pytest.raises(ModelError, match="not fitted"):
        kedge.explain(make_pipeline(CountVectorizer(), LogisticRegression()), "good")


def test_a_bare_estimator_is_refused_with_the_remedy():
    """A classifier of vectors is not a model of text."""
    with pytest.raises(ModelError, match="Pipeline that starts with its vectoriser"):
        kedge.explain(LogisticRegression(), "good")


def test_a_grid_search_is_read_through_its_best_pipeline():
    """The pipeline inside is what predicts, so its inside counts."""
    grid = GridSearchCV(
        make_pipeline(CountVectorizer(), MultinomialNB()), {"multinomialnb__alpha": [0.5, 1]}, cv=2
    )
    grid.fit(TEXTS, LABELS)
    assert kedge.as_model(grid).from_counts is not None
    assert kedge.explain(grid, "good food") == kedge.explain(grid.best_estimator_, "good food")


def test_an_ensemble_of_pipelines_is_asked_as_it_stands():
    """Anything whose predict takes texts is a black box."""
    members = [("words", fitted(CountVectorizer())), ("nb", fitted(CountVectorizer(), MultinomialNB()))]
    vote = VotingClassifier(members).fit(TEXTS, LABELS)
    model = kedge.as_model(vote)
    assert (model.from_counts, model.additive) == (None, None)
    assert kedge.explain(vote, "good food").label == "positive"


@pytest.mark.parametrize("norm", [None, "l2"])
def test_a_logistic_score_is_the_model_s_own_to_the_last_bit(norm):
    """The product without the checks of the input is decision_function's; what fails them still fails."""
    texts, labels = reviews()
    pipeline = make_pipeline(TfidfVectorizer(norm=norm), LogisticRegression()).fit(texts, labels)
    rows, final = pipeline[0].transform(texts), pipeline[-1]
    assert np.array_equal(_score(final, rows), final.decision_function(rows))
    assert np.array_equal(_score(final, rows.toarray()), final.decision_function(rows.toarray()))
    rows.data[0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        _score(final, rows)


@pytest.mark.parametrize("kind", [RandomForestClassifier, ExtraTreesClassifier])
def test_a_forest_is_asked_tree_by_tree_and_answers_the_same(kind):
    """To the last bit what predict_proba gives, for sparse rows and for dense ones."""
    pipeline = fitted(TfidfVectorizer(), kind(n_estimators=20, random_state=0))
    rows = pipeline[0].transform(TEXTS[:50])
    expected = pipeline[-1].predict_proba(rows)
    assert (forest_chances(pipeline[-1], rows) == expected).all()
    assert (forest_chances(pipeline[-1], rows.toarray()) == expected).all()


@pytest.mark.parametrize("head", [DecisionTreeClassifier(), RandomForestClassifier(3), MultinomialNB()])
def test_a_classifier_that_knows_one_class_is_explained(head):
    """Whatever the words, there is one label."""
    pipeline = make_pipeline(CountVectorizer(), head).fit(["good food", "bad food"], [1, 1])
    e = kedge.explain(pipeline, "good food", allow_empty=True)
    assert (e.label, e.words, e.status) == (1, (), "exact")


@pytest.mark.parametrize("head", [DecisionTreeClassifier(), RandomForestClassifier(3, random_state=0)])
def test_trees_of_several_outputs_are_multi_label_models(head):
    """Said so in one sentence, and explained where the user says so."""
    texts, labels = ["good food", "bad food", "good", "bad"], [[1, 0], [0, 1], [1, 0], [0, 1]]
    pipeline = make_pipeline(CountVectorizer(), head).fit(texts, labels)
    with pytest.raises(kedge.KedgeError, match="as a multi-label model does"):
        kedge.explain(pipeline, "good food")
    assert kedge.explain(pipeline, "good food", outputs="multilabel", label=0).words == ("good",)
