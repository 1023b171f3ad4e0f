"""Words shaded by what they do: hue by sign, depth by size, values at hand, a switch for classes."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

import kedge
from kedge import WordWeights
from kedge.data.demo import review_model
from kedge.render.shading import Spoken, strongest, views
from kedge.render.terminal import render
from kedge.results.influence import Influence
from kedge.results.lazy import LazyInfluence

TEXT = "The service was slow, but the staff were friendly and the dessert was delicious."


@pytest.fixture(scope="module")
def e():
    return kedge.explain(review_model(), TEXT)


def test_an_influence_is_printed_as_a_table():
    """The strongest word first, the sign and the error shown, and how the numbers were found."""
    shown = str(kedge.influence(review_model(), TEXT)).splitlines()
    assert shown[0].split() == ["delicious", "+0.44"]
    assert "probability that the label “positive” holds (exact)." in shown[-1]
    long = " ".join(f"w{k}" for k in range(30)) + " good"
    sampled = str(kedge.influence(lambda texts: ["good" in t for t in texts], long)).splitlines()
    assert sampled[0].startswith("good  +1.00")
    assert "and 11 more words" in sampled
    assert "samples, ± one standard error" in sampled[-1]


def topics():
    rng = np.random.default_rng(0)
    words = {"sports": "goal team match", "politics": "vote law poll", "film": "star film plot"}
    texts = [(" ".join(rng.choice(w.split(), 5)), topic) for topic, w in words.items() for _ in range(8)]
    return make_pipeline(CountVectorizer(), MultinomialNB()).fit(*zip(*texts, strict=True))


def test_depth_follows_size_and_hue_the_sign(e):
    """The strongest word has the deepest shade; a word that is not read has none."""
    view = views(e)[0]
    values = np.array(e.influence.values)
    assert abs(view.shades[int(np.abs(values).argmax())]) == 1
    for shade, value in zip(view.shades, values, strict=True):
        assert shade == 0 or np.sign(shade) == np.sign(value)
    assert view.mark(0, int(values.argmax())).startswith(" s0p")
    assert view.mark(1, int(values.argmin())).startswith(" s1n")


def test_every_shaded_word_says_its_value(e):
    """On hover, in a legend, and in a table for those who do not see shades."""
    html = e.to_html()
    at = int(np.argmin(e.influence.values))
    assert f"probability that “{e.label}” holds: {e.influence.values[at]:+.2f}" in html
    assert 'class="k-legend k-l0"' in html
    assert "<h3>against " in html
    assert "style=" not in html


def test_several_classes_have_a_switch():
    """One choice for whether the label holds, one for each class; none for two classes beyond the label's."""
    e = kedge.explain(topics(), "goal team vote star poll match")
    html = e.to_html()
    assert html.count('type="radio"') == 4
    for topic in ("sports", "politics", "film"):
        assert f"score of “{topic}”" in html
    assert len({line for line in html.splitlines() if 'type="radio"' in line}) == 4


def test_terminals_shade_too(e):
    """Blue for, orange against, the anchor on top; the strongest words by name without colour."""
    shown = render(e, colour=True)
    assert "\x1b[30;48;5;" in shown
    assert "\x1b[1;30;42m" in shown
    assert "mfor\x1b[0m" in shown  # the names of the rows are the legend
    assert "magainst\x1b[0m" in shown
    plain = render(e, colour=False)
    assert "\x1b" not in plain
    assert "against   " in plain


def test_what_is_within_its_error_is_not_shaded():
    """A sampled value that may be zero is no shade; nothing known, no shades."""
    e = kedge.explain(WordWeights({"good": 1.0, "bad": -1.0}, intercept=0.1), "good bad")
    sampled = replace(e.influence, errors=(0.01, 0.9), exact=False, samples=50, classes=())
    assert isinstance(sampled, Influence)
    unsure = replace(e, measure=LazyInfluence.of(sampled))
    assert views(unsure)[0].shades[1] == 0
    assert "± 0.01" in views(unsure)[0].values[0]
    unknown = replace(e, measure=None)
    assert views(unknown) == []
    assert strongest(unknown) == Spoken((), (), "probability that the label holds")
    assert "k-shaded" not in unknown.to_html().split("</style>")[-1]


def test_too_few_samples_are_said_to_be_too_few():
    """A search that draws a handful of samples with nothing kept knows no influence; it says so."""
    p = {"slow": -3.0, "cold": -2.0, "nice": 1.0}

    def ask(texts):
        score = np.array([sum(p.get(w, 0.0) for w in t.split()) + 0.5 for t in texts])
        return np.stack([1 / (1 + np.exp(score)), 1 / (1 + np.exp(-score))], axis=1)

    e = kedge.explain(
        ask, "the service was slow and the soup was cold but the staff were nice", max_queries=100
    )
    assert (e.status, e.influence) == ("certified", None)
    said = (
        "There are too few samples to say what each word does; "
        "kedge.influence(model, text, samples=20_000) draws more of them."
    )
    assert said in str(e)
    assert said in e.to_html()


def test_what_does_not_show_in_the_label_shows_in_its_log_odds():
    """Words that are not seen to change whether the label holds are listed by what they add to its score."""
    e = kedge.explain(WordWeights({"good": 1.0, "bad": -1.0}, intercept=0.1), "good bad")
    vague = replace(e.influence, errors=(0.9, 0.9), exact=False, samples=50)
    vague = replace(vague, words=tuple(replace(w, error=0.9) for w in vague.words))
    told = strongest(replace(e, measure=LazyInfluence.of(vague)))
    assert (told.supporters, told.adversaries) == ((("good", "+1.00"),), (("bad", "-1.00"),))
    assert told.of == "log-odds of “1”"


def test_against_a_label_the_list_is_of_being_ahead():
    """The heading of the words names what they change: being ahead of the other label."""
    model = WordWeights({"good": 1.0, "bad": -1.0}, intercept=0.1, classes=["a", "b"])
    e = kedge.explain(model, "good bad good", against="a")
    assert strongest(e).of == "probability that the label is ahead of “a”"


def test_many_words_of_chance_are_not_shaded():
    """Of a hundred idle words some are two errors off zero; none is shaded, and a sentence says so."""
    text = " ".join(f"word{k}" for k in range(100))
    shaded = 0
    for seed in range(20):
        coin = np.random.default_rng(seed).integers(1, 2**31, size=100)

        def noisy(texts, coin=coin):
            return [int(sum(coin[int(w[4:])] for w in t.split()) % 101 < 92) for t in texts]

        e = kedge.explain(noisy, text, mask="", max_queries=400)
        assert e.influence is not None
        shaded += bool(views(e))
        if not views(e):
            assert "No single word stands out in the samples" in str(e)
            assert "No single word stands out in the samples" in e.to_html()
            assert e.adversaries == ()
    assert shaded <= 4


def test_long_labels_break_at_their_joints():
    """A label of many parts is broken between them, and stays text."""
    labels = ("card_not_working", "<b>_other")
    html = kedge.explain(WordWeights({"good": 1.0}, intercept=-0.5, classes=labels), "good food").to_html()
    assert "&lt;b&gt;_<wbr>other" in html
    assert "card_<wbr>not_<wbr>working" in html


def test_a_flat_probability_gives_way_to_the_log_odds():
    """Where no word changes whether the label holds, the log-odds come first."""
    e = kedge.explain(WordWeights({"good": 1.0, "fine": 0.5}, intercept=20.0), "good fine food")
    assert [view.name for view in views(e)] == ["log-odds of “1”"]
