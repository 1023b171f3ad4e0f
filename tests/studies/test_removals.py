"""How hard a removal a label survives that needs no word, and what it takes then."""

import json
from dataclasses import replace

import brute
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import default_rng
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import kedge
from kedge import Explanation
from kedge.data.demo import reviews
from kedge.errors import OptionError
from kedge.search import Goal
from kedge.search.keep_zero import shortest_at_keep_zero
from kedge.studies.removals import LEVELS

GOOD = ["good", "great", "nice", "fine", "best", "super", "lovely", "tasty", "fresh", "warm", "kind"]
GOOD += ["quick", "clean", "fair"]
EXCELLENT = f"excellent: {' '.join(GOOD)}, and a place"


def weights(**of):
    return kedge.WordWeights(of, intercept=-0.5)


def levels(e):
    return [(r.keep, r.words) for r in e.removals]


def check(e, predict, tokens):
    """Every level of an exact answer against brute force: baselines, then the shortest anchor."""
    held = [r for r in e.removals if not r.words]
    for r in e.removals:
        true = brute.precision(e.text, e.label, predict, (), tokens=tokens, keep=r.keep)
        assert r.baseline.low - 1e-9 <= true <= r.baseline.high + 1e-9
        assert (true >= e.threshold - 1e-12) == (not r.words)
    assert e.survives == (1 - held[-1].keep if held else None)
    carried = e.carried_by
    if carried is None:
        return
    assert carried is e.removals[-1]
    length, best, _ = brute.shortest(e.text, e.label, predict, tokens=tokens, keep=carried.keep)
    own = brute.precision(e.text, e.label, predict, carried.positions, tokens=tokens, keep=carried.keep)
    assert own >= e.threshold - 1e-12
    assert carried.interval.low - 1e-9 <= own <= carried.interval.high + 1e-9
    if carried.minimality == "shortest":
        assert len(carried.words) == length
        if carried.keep > 0:
            assert own == pytest.approx(best, abs=1e-9)


@given(st.lists(st.integers(-3, 6), min_size=1, max_size=5), st.integers(-4, 2), st.data())
@settings(max_examples=40, deadline=None)
def test_linear_models_agree_with_brute_force(slopes, bias, data):
    """Baselines, the level at which a word is needed, and the shortest anchor there."""
    model = kedge.WordWeights({f"w{k}": w / 4 for k, w in enumerate(slopes)}, intercept=bias / 4 + 0.1)
    words = data.draw(st.lists(st.sampled_from(range(len(slopes))), min_size=1, max_size=8))
    e = kedge.explain(model, " ".join(f"w{k}" for k in words))
    assert bool(e.removals) == (e.baseline.mean >= 0.95)
    assert all(r.status == "exact" for r in e.removals)
    check(e, model.predict, None)


def texts_and_labels(seed=0):
    rng = np.random.default_rng(seed)
    texts = [" ".join(rng.choice([*GOOD[:4], "bad", "poor", "the", "an"], 8)) for _ in range(80)]
    return texts, [int(sum(t.count(g) for g in GOOD[:4]) > 3) for t in texts]


@pytest.mark.parametrize(
    "steps",
    [
        (CountVectorizer(), DecisionTreeClassifier(max_depth=4, random_state=0)),
        (CountVectorizer(), MultinomialNB()),
        (CountVectorizer(binary=True), LogisticRegression()),
        (TfidfVectorizer(), LogisticRegression(C=30)),
        (CountVectorizer(), RandomForestClassifier(10, random_state=0)),
    ],
    ids=["tree", "bayes", "binary", "l2", "forest"],
)
def test_models_that_are_read_agree_with_brute_force(steps):
    """Trees, bent scores, normalised TF-IDF and forests on short texts show it without asking."""
    texts, labels = texts_and_labels()
    model = make_pipeline(*steps).fit(texts, labels)
    explainer = kedge.Explainer(model)
    seen = 0
    for text in ["good great nice fine good great", "good good great fine nice best", *texts[:8]]:
        e = explainer.explain(text)
        assert bool(e.removals) == (e.baseline.mean >= 0.95)
        check(e, model.predict, None)
        seen += len(e.removals) > 1
    assert seen


def test_samples_that_cost_arithmetic_only_are_free_too():
    """Normalised TF-IDF of a text too long to enumerate: proven at every level, without a question."""
    texts, labels = texts_and_labels()
    words = [f"{good}{k}" for k in range(6) for good in GOOD]
    model = make_pipeline(TfidfVectorizer(), LogisticRegression(C=30))
    model.fit([*texts, *words, *(f"bad{k}" for k in range(60))], [*labels, *[1] * len(words), *[0] * 60])
    asked = kedge.explain(model, " ".join([*words, "good", "great"]))
    assert (asked.needs_no_word, asked.queries) == (True, 1)
    assert len(asked.removals) > 1
    assert {r.status for r in asked.removals} <= {"exact", "certified"}
    counted = kedge.explain(model, asked.text, method="counted")
    assert (counted.needs_no_word, counted.queries, levels(counted)) == (True, 1, levels(asked))


def test_a_label_that_holds_without_words_holds_to_the_end():
    """All levels are there, none needs a word, and the sentence says whose label it is."""
    e = kedge.explain(kedge.WordWeights({"bad": -1.0, "good": 0.2}, intercept=2.0), "good food, bad wine")
    assert [r.keep for r in e.removals] == [0.5, *LEVELS]
    assert (e.carried_by, e.survives) == (None, 1.0)
    assert "the model predicts “1” for a text without words" in str(e)


def test_what_carries_a_label_is_said_and_shown():
    """In the terminal, on the page, in JSON and in a row; the one word that says little is not shown."""
    model = weights(excellent=4.0, **dict.fromkeys(GOOD, 0.8))
    e = kedge.explain(model, EXCELLENT)
    assert (e.needs_no_word, levels(e)[-1]) == (True, (0.1, ("excellent",)))
    said = str(e).split("\n")[0]
    assert said.startswith(
        "No word is needed: even with 75% of the words removed at random, the label holds in "
    )
    assert said.endswith(
        " of cases. With 90% of the words removed, “excellent” is enough to keep it (exact)."
    )
    assert str(e).split("\n")[2] == EXCELLENT.replace("excellent", "[excellent]")
    assert "\ncarried by excellent   with 90% of the words removed\n" in str(e)
    assert "one word" not in str(e)
    assert "held in place, it holds" not in e.to_html()
    page = e.to_html()
    assert '<span class="k-carried">excellent</span>' in page
    assert "<mark>" not in page
    assert "carry the label with 90% of the words removed" in page
    assert json.loads(e.to_json())["needs_no_word"] is True
    assert e.to_row()["carried_by"] == "excellent"
    assert e.to_row()["survives"] == 0.75
    back = Explanation.from_json(e.to_json())
    assert back == e
    assert back.carried_by == e.carried_by


def test_against_another_label_nothing_is_said_of_the_others():
    """A text without words may get a third label; between the two the explained one stays ahead."""

    def model(texts):
        return np.array([[0.3, 0.1, 0.6] if "good" not in t else [0.6, 0.2, 0.2] for t in texts])

    e = kedge.explain(model, "good food", against=1, keep="auto")
    assert e.needs_no_word
    assert "the model prefers “0” to “1” for a text without words" in str(e)
    assert "predicts “0”" not in str(e)


def test_a_word_that_is_needed_at_first_leaves_nothing_to_add():
    """The explanation itself is the answer."""
    e = kedge.explain(weights(good=2.0), "good food")
    assert (e.words, e.removals, e.survives) == (("good",), (), None)


def test_other_models_are_asked_only_where_that_is_wanted():
    """A function costs questions: a note says how to have it, and the option has it."""
    text = EXCELLENT
    model = weights(excellent=4.0, **dict.fromkeys(GOOD, 0.8))

    def ask(texts):
        return [model.predict_proba([t])[0] for t in texts]

    plain = kedge.explain(ask, text)
    assert (plain.needs_no_word, plain.removals) == (True, ())
    assert "`keep='auto'`" in plain.notes[-1]
    e = kedge.explain(ask, text, keep="auto")
    assert levels(e)[-1] == (0.1, ("excellent",))
    assert {e.removals[0].status, e.removals[-1].status} == {"certified"}
    assert not any("keep=" in note for note in e.notes)
    assert e.queries > plain.queries


def test_a_budget_ends_the_look():
    """max_queries holds for harder removals, too."""
    text = " ".join(f"w{k}" for k in range(40))
    for limit in (150, 300, 450, 600):
        asked = []

        def ask(texts, asked=asked):
            asked.extend(texts)
            return [int(len(t.split()) > 2) for t in texts]

        e = kedge.explain(ask, text, keep="auto", max_queries=limit)
        assert e.queries == len(asked) <= limit


def test_words_alone_are_found_for_any_model():
    """At keep 0 a set has the label by itself: single words, pairs, then whatever cannot be shortened."""
    for needed in (1, 2, 3):

        def ask(texts, needed=needed):
            return [int(len(t.split()) >= needed) for t in texts]

        last = kedge.explain(ask, " ".join(f"w{k}" for k in range(200)), keep="auto").removals[-1]
        assert (last.keep, len(last.words)) == (0.0, needed)
        assert last.minimality == ("shortest" if needed == 1 else "irreducible")
        few = kedge.Explainer(ask).read(" ".join(f"w{k}" for k in range(12)))
        kept, _, minimality = shortest_at_keep_zero(few, Goal(), default_rng())
        assert (len(kept), minimality) == (needed, "irreducible" if needed == 3 else "shortest")


def test_claims_about_harder_removals_hold():
    """Over many seeds, all claims of an answer together are wrong for no more than a share delta."""
    words = [f"w{k}" for k in range(24)]
    model = kedge.WordWeights({w: 0.4 + 0.05 * (k % 7) for k, w in enumerate(words)}, intercept=-2.2)
    text = " ".join(words)
    true = {keep: tail(model, text, (), keep) for keep in (0.5, *LEVELS)}
    wrong, runs = 0, 24

    def ask(texts):  # the method itself would be read
        return model.predict_proba(texts)

    for seed in range(runs):
        e = kedge.explain(ask, text, keep="auto", seed=seed)
        for r in e.removals:
            if r.status in {"exact", "certified"}:
                wrong += (tail(model, text, r.positions, r.keep) if r.words else true[r.keep]) < 0.95
    assert wrong <= 0.05 * runs


def tail(model, text, positions, keep):
    """The true precision, by the convolution of the model that is read."""
    if keep == 0:
        kept = " ".join(text.split()[k] for k in positions)
        return float(model.predict([kept])[0] == model.predict([text])[0]) if kept else float(-2.2 > 0)
    verdict = kedge.precision(model, text, list(positions), perturbation=kedge.Masking(keep=keep))
    return verdict.interval.mean


def test_keep_is_checked_and_short_for_a_masking():
    """A number is the masking's; 'auto' goes with any perturbation; nonsense is refused."""
    model, text = weights(good=2.0, nice=1.0), "good and nice food"
    short = kedge.explain(model, text, keep=0.25)
    long = kedge.explain(model, text, perturbation=kedge.Masking(keep=0.25))
    assert short == replace(long, seconds=short.seconds)
    for keep in (0, 1, "half", None, float("nan")):
        with pytest.raises(OptionError, match="`keep` must be 'auto' or lie strictly between 0 and 1"):
            kedge.explain(model, text, keep=keep)
    with pytest.raises(OptionError, match="give the object its own"):
        kedge.explain(model, text, keep=0.25, perturbation=kedge.Masking())


def test_one_answer_has_one_number_for_its_baseline():
    """Where samples cost arithmetic, the claim is proved again, and the estimate is that of the search."""
    texts, labels = reviews()
    forest = make_pipeline(TfidfVectorizer(), RandomForestClassifier(60, random_state=0)).fit(texts, labels)
    explain = kedge.Explainer(forest).explain
    alike = [text for text, label in zip(texts, labels, strict=True) if label == labels[0]]
    found = [explain(" ".join(alike[i : i + 5])) for i in range(4)]
    needless = [e for e in found if e.needs_no_word and e.sampled]
    assert needless
    for e in needless:
        assert e.removals[0].baseline.mean == pytest.approx(e.baseline.mean, abs=1e-12)
        assert e.removals[0].status == "certified"


def test_stored_removals_are_checked():
    """Words that are not in the text, and promises their interval breaks, are refused."""
    model = weights(excellent=4.0, **dict.fromkeys(GOOD, 0.8))
    e = kedge.explain(model, EXCELLENT)
    for name, value in (("words", ["wrong"]), ("interval", {"low": 0.1, "mean": 0.2, "high": 0.3})):
        data = json.loads(e.to_json())
        data["removals"][-1][name] = value
        with pytest.raises(OptionError, match="does not fit together"):
            Explanation.from_json(json.dumps(data))
    with pytest.raises(OptionError, match="what it says of needing no word"):
        Explanation.from_json(json.dumps({**json.loads(e.to_json()), "needs_no_word": False}))


def test_a_removal_is_exact_only_where_the_model_was_asked_again():
    """What rests on samples never asked whether the model repeats itself: its last step is certified."""
    text = " ".join(f"w{k}" for k in range(200))
    e = kedge.explain(lambda texts: [int("w" in t) for t in texts], text, keep="auto")
    assert e.status == "certified"
    assert (e.removals[-1].keep, e.removals[-1].words) == (0.0, ("w0",))
    assert {removal.status for removal in e.removals} == {"certified"}
