"""The guided search: valid claims, short anchors, within the budget, on every kind of black box."""

import itertools
import tracemalloc
import zlib

import numpy as np
import pytest
from readings import reading_of

import kedge
from kedge.data.demo import review_model, reviews
from kedge.errors import OptionError
from kedge.reading.oracle import ASKED_AGAIN
from kedge.search import Goal
from kedge.search.guided.guided import Guided

WORDS = [f"w{i}" for i in range(30)]
TEXT = " ".join(WORDS)


def rule(function):
    """A black box that sees which of the words are there."""
    return lambda texts: [int(function(set(text.split()))) for text in texts]


def long_reviews(n):
    """Documents of some forty words: several reviews of one kind run together."""
    texts, labels = reviews()
    good = [t for t, y in zip(texts, labels, strict=True) if y == "positive"]
    bad = [t for t, y in zip(texts, labels, strict=True) if y == "negative"]
    return [" ".join([*good[3 * i : 3 * i + 3], bad[i]]) for i in range(n)]


INTERACTIONS = {
    "exclusive or": lambda s: ("w3" in s) == ("w17" in s),
    "three-way exclusive or": lambda s: len(s & {"w3", "w17", "w25"}) % 2 == 1,
    "not bad or good": lambda s: {"w4", "w5"} <= s or "w20" in s,
    "all of five": lambda s: {"w1", "w7", "w9", "w20", "w26"} <= s,
    "a majority, no word matters much": lambda s: len(s & set(WORDS)) >= 15,
    "parity of everything": lambda s: len(s & set(WORDS)) % 2 == 0,
    "never changes": lambda _: True,
    "ten tied words, any of them": lambda s: bool(s & set(WORDS[10:20])),
}


@pytest.mark.parametrize("name", INTERACTIONS)
def test_interactions_end_in_a_valid_anchor(name):
    """Models without influential single words get an anchor whose true precision reaches."""
    function = INTERACTIONS[name]
    e = kedge.explain(rule(function), TEXT)
    assert e.status == "certified"
    assert e.interval.low >= e.threshold
    rng = np.random.default_rng(0)
    kept = rng.random((4000, len(WORDS))) < 0.5
    kept[:, list(e.positions)] = True
    truth = np.mean([function({w for w, k in zip(WORDS, row, strict=True) if k}) for row in kept])
    assert truth >= e.threshold - 0.015


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("exclusive or", {"w3", "w17"}),
        ("not bad or good", {"w20"}),
        ("all of five", {"w1", "w7", "w9", "w20", "w26"}),
        ("never changes", {"w0"}),
    ],
)
def test_the_shortest_anchor_is_found(name, words):
    """Where the answer is known it is found, whatever the seed."""
    for seed in range(3):
        assert set(kedge.explain(rule(INTERACTIONS[name]), TEXT, seed=seed).words) == words


@pytest.mark.parametrize("probabilities", [True, False])
def test_a_black_box_gets_the_answer_that_reading_it_gives(probabilities):
    """Length and claims agree with the exact search; with probabilities, seeds agree with each other."""
    model = review_model()
    ask = model.predict_proba if probabilities else model.predict
    same, pairs = 0, []
    for text in long_reviews(12):
        exact = kedge.explain(model, text)
        if exact.baseline.mean >= exact.threshold - 0.005:  # any word will do, or nearly any
            continue
        anchors = []
        for seed in (0, 1):
            e = kedge.explain(lambda texts: ask(texts), text, seed=seed, tokenizer=spans(model, text))  # noqa: PLW0108
            assert e.status == "certified"
            assert exact_precision(model, text, e.positions) >= e.threshold
            same += len(e.positions) == len(exact.positions)
            anchors.append(set(e.positions))
        pairs += [len(a & b) / len(a | b) for a, b in itertools.combinations(anchors, 2)]
    assert len(pairs) >= 3
    assert same >= 2 * len(pairs) - 1
    # Labels leave words open whose precisions differ by a thousandth; probabilities leave nothing open.
    if probabilities:
        assert np.mean(pairs) >= 0.95


def spans(model, text):
    """The model's own words as spans, so that positions can be compared."""
    own = [(t.start, t.stop) for t in kedge.as_model(model).tokenize(text)]
    return lambda _: own


def exact_precision(model, text, positions):
    """The model's exact precision of an anchor."""
    from readings import reading_of

    from kedge.evaluators import Additive

    reading = reading_of(model, text)
    return Additive(reading)([reading.units.kept(kedge.Anchor(positions))]).mean[0]


@pytest.mark.parametrize("budget", [1, 2, 3, 7, 30, 90, 200])
def test_max_queries_is_respected_to_the_last_query(budget):
    """The model never sees a text more, and what is not proved is not claimed."""
    asked = []

    def model(texts):
        asked.extend(texts)
        return [int({"w1", "w7"} <= set(t.split())) for t in texts]

    e = kedge.explain(model, TEXT, max_queries=budget, method="guided")
    assert len(asked) == e.queries <= budget
    assert e.status in {"estimated", "not_reached"} | ({"certified"} if budget > 100 else set())
    assert 0 <= e.interval.low <= e.precision <= e.interval.high <= 1
    if e.status == "certified":
        assert {"w1", "w7"} <= set(e.words)


def test_each_distinct_text_is_asked_once():
    """But for the few first ones, asked again to see whether the model repeats itself."""
    asked = []

    def model(texts):
        asked.extend(texts)
        return [int("w1" in t.split()) for t in texts]

    e = kedge.explain(model, " ".join(WORDS[:12]), method="guided")
    assert e.status == "certified"
    assert len(asked) - len(set(asked)) <= 3


def test_few_distinct_texts_are_all_asked_and_the_answer_is_exact():
    """When sampling would ask more than there is, nothing is left to chance."""
    e = kedge.explain(rule(lambda s: {"w1", "w3"} <= s), " ".join(WORDS[:6]))
    assert (e.status, e.method) == ("exact", "lazy")
    assert e.queries <= 2**6 + 3 + ASKED_AGAIN
    assert kedge.explain(rule(lambda s: "w1" in s), TEXT).method == "guided"


def test_threshold_one_is_proved_by_asking_everything_or_not_at_all():
    """No number of samples proves certainty."""
    assert kedge.explain(rule(lambda s: "w1" in s), " ".join(WORDS[:9]), threshold=1.0).status == "certified"
    assert kedge.explain(rule(lambda s: "w1" in s), TEXT, threshold=1.0).status == "estimated"


def test_progress_is_reported():
    """The callback hears the number of queries after every batch."""
    heard = []
    e = kedge.explain(rule(lambda s: "w1" in s), TEXT, progress=heard.append)
    assert heard == sorted(heard)
    assert heard[-1] == e.queries
    assert len(heard) > 3


def test_an_empty_anchor_only_when_allowed():
    """A label that never changes needs no word, if the user allows that answer."""
    model = rule(lambda _: True)
    assert len(kedge.explain(model, TEXT).words) == 1
    e = kedge.explain(model, TEXT, allow_empty=True)
    assert (e.words, e.status, e.baseline.mean) == ((), "certified", 1.0)


def test_repeated_words_and_counts():
    """In count space units hold several occurrences, and some of them may be kept."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.pipeline import make_pipeline

    texts, labels = reviews()
    forest = make_pipeline(CountVectorizer(), RandomForestClassifier(10, random_state=0)).fit(texts, labels)
    text = long_reviews(1)[0]
    e = kedge.explain(forest, text, method="guided")
    assert e.status == "certified"
    assert e == kedge.explain(forest, text, method="guided")


def test_the_precision_to_search_with_is_not_for_guided():
    """A contradiction in the options is refused."""
    with pytest.raises(OptionError, match="guided"):
        kedge.explain(rule(lambda s: "w1" in s), TEXT, method="guided", evaluator="exact")


@pytest.mark.parametrize("length", [1_000, 5_000])
def test_memory_does_not_grow_with_samples_times_length(length):
    """A long document takes at most 300 MB (150 MB is the limit here, at a thousand words and more)."""
    text = " ".join(np.random.default_rng(0).choice(WORDS, length))
    tracemalloc.start()
    e = kedge.explain(
        lambda texts: [int(t.count("w1 ") > length // 200) for t in texts], text, max_queries=800
    )
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert e.queries <= 800
    assert peak < 150e6


def test_a_larger_budget_than_the_search_s_own_is_used():
    """Where the user allows more questions than the search would take by itself, a harder claim is proved."""

    def ask(texts):  # holds for 98% of texts, at random: nothing to learn, only to count
        return [int(text == TEXT or zlib.crc32(text.encode()) % 1000 < 980) for text in texts]

    search = Guided(budget=100, proof=60)  # no proof takes fewer than 67
    short, long = (
        search(reading_of(ask, TEXT, max_queries=allowed), Goal(), np.random.default_rng(0))
        for allowed in (None, 20_000)
    )
    assert short.status == "estimated"
    assert long.status == "certified"


def test_words_that_labels_hardly_tell_apart_do_not_change_with_the_seed():
    """Two strong words, each an anchor: a duel decides, or else the order of the text, never the noise."""
    weights = dict(zip(WORDS, np.random.default_rng(4).uniform(-0.3, 0.3, len(WORDS)), strict=True))
    weights |= {"w3": 1.9, "w9": 2.0}
    ask = rule(lambda s: sum(weights[word] for word in s & set(WORDS)) > 1.1)
    assert len({kedge.explain(ask, TEXT, seed=seed).words for seed in range(6)}) == 1


@pytest.mark.parametrize(("allowed", "status"), [(60, "estimated"), (150, "certified"), (200, "certified")])
def test_a_budget_is_planned_from_what_a_proof_needs(allowed, status):
    """Where a proof fits it is made; where it cannot fit that is said, and the estimate has its name."""
    e = kedge.explain(rule(lambda s: "w3" in s), TEXT, max_queries=allowed, allow_empty=False)
    assert e.status == status
    assert "w3" in e.words
    assert len(e.words) == 1 or status == "estimated"
    assert any("A proof takes at least" in note for note in e.notes) == (status == "estimated")
    assert e.precision == 1.0


@pytest.mark.parametrize("allowed", [25, 60, 90, 95, 96, 97, 98, 99, 100, 120, 150])
def test_clean_samples_are_never_called_not_reached(allowed):
    """Whatever the budget, "all samples keep the label" and "not reached" are not said in one breath."""
    for holds in (lambda _: True, lambda s: len(s) > 2, lambda s: "w3" in s):
        e = kedge.explain(rule(holds), TEXT, max_queries=allowed)
        assert (e.status == "not_reached") == (e.precision < e.threshold)
        assert e.queries <= allowed
        said = str(e)
        assert "Not reached" not in said or "all samples keep the label" not in said
        if allowed >= 100:  # a proof takes 75 and a look 20
            assert e.status == "certified"


def test_what_the_search_knows_is_shown_where_it_had_to_stop():
    """No word of 0.5 in [0, 1] beside samples that say more."""
    e = kedge.explain(rule(lambda s: {"w3", "w17", "w20"} <= s), TEXT, max_queries=90)
    assert e.status in {"not_reached", "estimated"}
    assert e.interval.width < 1
    lows = [step.interval.low for step in e.trace if step.positions == e.positions]
    assert e.precision >= max(lows, default=0.0)


def test_a_label_that_never_changes_takes_little_more_than_two_proofs():
    """After a glance, the samples that prove the baseline are half of those that prove a word."""
    e = kedge.explain(rule(lambda _: True), TEXT)
    assert (e.status, e.needs_no_word) == ("certified", True)
    assert e.queries <= 133
    empty = kedge.explain(rule(lambda _: True), TEXT, allow_empty=True)
    assert (empty.words, empty.status) == ((), "certified")
    assert empty.queries <= 83


def test_each_word_of_a_certified_anchor_is_needed():
    """It was left out, and the rest was seen or is estimated to miss; estimates are named."""
    e = kedge.explain(rule(lambda s: {"w3", "w17"} <= s or {"w5", "w6", "w9"} <= s), TEXT)
    assert e.status == "certified"
    assert e.minimality == "irreducible"
    shorter = {step.positions: step.interval for step in e.trace if len(step.positions) == len(e.words) - 1}
    for position in e.positions:
        assert shorter[tuple(p for p in e.positions if p != position)].mean < e.threshold


def test_no_samples_prove_certainty_and_the_note_says_so():
    """With a threshold of 1 more queries do not help; a lower threshold does."""
    text = " ".join(f"w{k}" for k in range(30))
    e = kedge.explain(lambda texts: [int("w3" in t.split()) for t in texts], text, threshold=1.0)
    assert e.status == "estimated"
    assert any("No samples prove" in note and "`threshold`" in note for note in e.notes)
    assert not any("max_queries" in note for note in e.notes)


def test_a_certified_answer_tells_the_best_estimate():
    """A clean proof leaves [0.95, 1]; the samples of the search say more."""
    weights = np.random.default_rng(3).normal(0, 1, 40)
    words = [f"w{k}" for k in range(40)]

    def ask(texts):
        there = np.array([[w in t.split() for w in words] for t in texts])
        odds = there @ weights
        chance = 1 / (1 + np.exp(-np.abs(weights).sum() / 8 - odds))
        return np.column_stack([1 - chance, chance])

    e = kedge.explain(ask, " ".join(words))
    assert e.status == "certified"
    judged = kedge.precision(ask, " ".join(words), e.positions, seed=1)
    assert e.interval.low <= e.precision < 1.0
    assert abs(e.precision - judged.precision) < 0.02
