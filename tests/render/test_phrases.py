"""The sentences about an answer: true for every status, and the same wherever it is shown."""

import html
import json
from dataclasses import replace

import pytest
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import kedge
from kedge import Interval
from kedge.data.demo import VERY_GOOD, review_model, very_good
from kedge.render.phrases import baseline, headline, meaning, promise, unknown
from kedge.render.terminal import render

E = kedge.explain(VERY_GOOD, very_good(4))  # exact, two words
ONE = kedge.explain(kedge.rules.present("good"), "so good")


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({}, "Exact: no sampling error, and no shorter set of words reaches 0.95."),
        ({"words": ("very",)}, "Exact: no sampling error, and no anchor can be shorter."),
        (
            {"objective": "coverage"},
            "Exact: no sampling error, and no set of words that covers more documents reaches 0.95.",
        ),
        ({"status": "certified", "delta": 0.125}, "at least 0.95, with 87.5% confidence."),
        ({"status": "not_reached"}, "Not reached: no set of words was shown to reach 0.95"),
        (
            {"status": "estimated", "sampled": True},
            "Estimated: the samples suggest it, but nothing is proved",
        ),
        (
            {"status": "estimated", "interval": Interval(0.945, 0.95, 0.961)},
            "Estimated: nothing was sampled, but the bounds on the precision do not settle whether",
        ),
        (
            {"status": "estimated", "interval": Interval(0.951, 0.96, 0.961)},
            "Estimated: it reaches 0.95 without sampling error, but a shorter set of words may reach 0.95",
        ),
        (
            {"status": "estimated", "interval": Interval.exactly(0.96)},
            "Estimated: its precision is exact, but a shorter set of words may reach 0.95 too.",
        ),
    ],
)
def test_each_status_has_its_true_reason(changes, says):
    """An estimate names what is open: samples, the interval, or a shorter set of words."""
    assert says in promise(replace(E, **changes))


@pytest.mark.parametrize("method", ["exhaustive", "gradient"])
def test_nothing_sampled_is_not_blamed_on_samples(method):
    """A closed form's answer about 22 words never speaks of samples."""
    weights = {f"w{k}": 0.2 + 0.013 * k for k in range(22)}
    model = kedge.WordWeights(weights, intercept=-2.9)
    e = kedge.explain(model, " ".join(weights), method=method)
    assert (e.evaluator, e.sampled) == ("convolution", False)
    assert "samples" not in meaning(e)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        (
            {"words": ("very",), "method": "ranked"},
            "No word is needed: with none held in place, the label holds with probability 0.979 (exact).",
        ),
        (
            {"objective": "coverage"},
            "Exact: no sampling error, and no set of words that covers more documents reaches 0.95.",
        ),
        (
            {"status": "certified", "sampled": True, "baseline": Interval(0.94, 0.979, 0.99)},
            "Probably no word is needed: with none held in place, about 97.9% of samples keep the label.",
        ),
        (
            {"status": "certified", "sampled": True, "baseline": Interval(0.95, 1.0, 1.0)},
            "with none held in place, all samples keep the label (certified, 95% confidence).",
        ),
        (
            {"status": "certified", "baseline": Interval(0.94, 0.979, 0.99)},
            "Probably no word is needed: with none held in place, the label holds with probability about",
        ),
    ],
)
def test_no_word_is_needed(changes, says):
    """A baseline that reaches the threshold comes first, as a fact only where it is one; no contradiction."""
    e = replace(E, **{"baseline": Interval.exactly(0.979), **changes})
    assert says in promise(e)
    text = render(e, colour=False)
    if e.needs_no_word:  # it leads, nothing is marked, and it is said once
        assert text.count("No word is needed") == 1
        assert text.startswith("No word is needed")
        assert "[" not in text.split("\n")[2]
        assert headline(e) == "The label “1” needs no word."
        told = e.objective == "coverage"  # any word would do, so none is told unless it was asked for
        assert ("precision" in text, "\nwords " in text) == (told, told)
        assert ("Exact:" in promise(e)) == told
    for shown in (meaning(e), text):
        assert says in shown
        assert "no anchor can be shorter" not in shown
        assert "make the difference" not in shown


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({}, "0.680"),
        ({"baseline": Interval(0.6, 0.6796875, 0.7)}, "about 0.680"),
        ({"baseline": Interval.exactly(0.9612)}, "0.961"),
        ({"baseline": Interval.exactly(0.9612), "words": (), "positions": ()}, "0.961"),
    ],
)
def test_an_estimated_baseline_is_about_so_much(changes, says):
    """Text, page and gauge say "about" unless the baseline is known."""
    e = replace(E, **{"baseline": Interval.exactly(0.6796875), **changes})
    assert baseline(e) == says
    assert f"baseline   {says}   with" in render(e, colour=False)
    if e.needs_no_word:  # the one number that is shown large
        assert f'With no word held in place</h2>\n<p class="k-big">{says}</p>' in e.to_html()
    else:
        assert f"<b>{says}</b>" in e.to_html()
        assert f"{says} with no word held in place" in e.to_html()
    if "about" in says:
        assert "With no word held in place, it does so in about 68%." in meaning(e)


def test_a_wide_interval_is_laid_at_the_right_door():
    """Nothing known after too few questions is not what an approximation without a bound leaves open."""
    unknown = replace(E, status="not_reached", interval=Interval(0.0, 0.5, 1.0), sampled=True)
    assert "The model was queried too little" in meaning(unknown)
    approximate = replace(unknown, status="estimated", sampled=False)
    assert "Too little" not in meaning(approximate)
    assert "nothing was sampled, but" in meaning(approximate)


def test_numbers_agree_wherever_they_are_shown():
    """One share has the same digits in the text, the page and the sentence, and is not cut."""
    e = replace(
        ONE,
        baseline=Interval.exactly(0.6796875),
        interval=Interval.exactly(0.99961),
        trace=(),
        probabilities=((1, 0.99961), (0, 0.00039)),
    )
    text, page = render(e, colour=False), e.to_html()
    for shown in (text, page):
        assert "0.680" in shown
        assert "0.999" in shown
        assert "0.679" not in shown
        assert "1.000" not in shown
    assert "99.9% of cases" in meaning(e)
    assert "<span>0.001</span>" in page


def test_a_verdict_says_what_it_means():
    """print(kedge.precision(...)): the text with the chosen words marked, and yes, no, or open."""
    text = "The soup was cold, but the staff were friendly."
    shown = str(kedge.precision(review_model(), text, ["soup", "cold"]))
    assert shown.startswith("The [soup] was [cold], but the staff were friendly.\n\nlabel      ")
    assert "\nwords      soup cold\nprecision  0." in shown
    assert "\nNo: the precision 0." in shown
    assert shown.endswith(" is below the threshold 0.95 (exact).")
    good = lambda texts: [int("good" in t) for t in texts]  # noqa: E731
    yes = str(kedge.precision(good, "so good", ["good"]))
    assert "\nYes: the precision 1.000 reaches the threshold 0.95 (exact)." in yes
    long = " ".join(f"w{k}" for k in range(40)) + " good"
    assert "(certified, 95% confidence)" in str(kedge.precision(good, long, ["good"]))
    open_ = str(kedge.precision(good, long, ["good"], max_queries=20))
    assert "Undecided: the precision is about 1.000, and its interval contains the threshold 0.95." in open_
    assert "words      (nothing)" in str(kedge.precision(good, "so good", []))


def test_sets_as_good_as_the_anchor_are_named():
    """Where all sets of its length were compared; the same words at another place are no other set."""
    either = kedge.WordWeights({"fees": 1.0, "countries": 1.0}, intercept=-0.5)
    text = "which fees in what countries"
    e = kedge.explain(either, text, method="exhaustive")
    assert (e.words, str(e).split("\n")[-2].split("shorter. ")[1]) == (
        ("fees",),
        "Equally good: “countries”.",
    )
    lower = kedge.explain(either, "Fees in what Countries", method="exhaustive")
    assert (lower.words, "Equally good: “countries”." in str(lower)) == (("fees",), True)
    same = kedge.explain(kedge.rules.present("fees"), "fees and fees", method="exhaustive")
    assert "Equally good" not in str(same)
    many = kedge.WordWeights(dict.fromkeys(["aa", "bb", "cc", "dd", "ee"], 1.0), intercept=-0.5)
    shown = str(kedge.explain(many, "aa bb cc dd ee", method="exhaustive", threshold=0.99))
    assert shown.endswith("Equally good: “bb”; “cc”; “dd”; and 1 more.")


def test_words_outside_the_vocabulary_are_named():
    """Each once and as the text spells it, six of many; in the terminal and on the page, and kept as JSON."""
    model = kedge.WordWeights({"good": 1.0}, intercept=-0.5)
    e = kedge.explain(model, "Good pissd good Pissd xqzt pissd")
    assert tuple(e.unknown) == (1, 3, 4, 5)
    said = "Not in the model's vocabulary: “pissd”, “Pissd” and “xqzt”."
    assert unknown(e) == said
    assert said in str(e)
    assert said in html.unescape(e.to_html())
    assert kedge.Explanation.from_json(e.to_json()) == e
    earlier = {name: value for name, value in json.loads(e.to_json()).items() if name != "unknown"}
    again = kedge.Explanation.from_json(json.dumps(earlier))  # written before the field was there
    assert (again.unknown, replace(again, unknown=e.unknown)) == ((), e)
    many = kedge.explain(model, "good " + " ".join(f"w{k}" for k in range(9)))
    assert unknown(many).endswith("“w5” and 3 more.")


def test_nothing_is_said_of_words_where_no_vocabulary_is_known():
    """A rule, a function, characters, hashed words; words that are in the vocabulary as parts of n-grams."""
    assert unknown(E) == unknown(ONE) == ""
    texts, labels = ["good food", "bad food"] * 4, [1, 0] * 4
    heads = (
        HashingVectorizer(n_features=64),
        CountVectorizer(analyzer="char_wb", ngram_range=(2, 3)),
        CountVectorizer(ngram_range=(2, 2)),
    )
    for vectorizer in heads:
        model = make_pipeline(vectorizer, LogisticRegression()).fit(texts, labels)
        assert unknown(kedge.explain(model, "good food")) == ""
        assert unknown(kedge.explain(lambda texts, model=model: model.predict(texts), "good pissd")) == ""
