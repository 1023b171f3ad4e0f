"""An explanation in a terminal: what is shown of long texts, of labels that need no word, of values."""

from dataclasses import replace

import kedge
from kedge import WordWeights
from kedge.render.shading import views
from kedge.results.lazy import LazyInfluence

WORDS = [f"filler{k}" for k in range(400)]


def test_a_long_text_is_cut_between_words():
    """The surroundings of the anchor are whole words of the text, with one blank around each gap."""
    text = " ".join([*WORDS[:200], "awful", *WORDS[200:]])
    e = kedge.explain(WordWeights({"awful": 3.0}, intercept=-1.0), text)
    shown = str(e).split("\n")[0]
    assert shown.startswith("... filler")
    assert " [awful] filler200 " in shown
    assert shown.endswith(" ...")
    assert set(shown.replace("[awful]", "awful").strip(". ").split()) <= set(text.split())


def test_a_long_text_without_marks_shows_its_beginning():
    """Nothing to show the surroundings of: the first words, as many as a short text has."""
    text = " ".join(["good", *WORDS])
    e = kedge.explain(WordWeights({"good": 1.0}, intercept=20.0), text)
    assert (e.needs_no_word, e.carried_by) == (True, None)
    shown = str(e).split("\n")[2]
    assert shown.endswith(" ...")
    assert text.startswith(shown.removesuffix(" ..."))
    assert len(shown) > 1000


def test_the_end_of_a_file_is_no_line_of_its_own():
    """A text that ends with a line break is followed by one empty line, like any other."""
    model = WordWeights({"good": 3.0}, intercept=-1.0)
    assert str(kedge.explain(model, "so good\n")).startswith("so [good]\n\nlabel ")
    assert str(kedge.precision(model, "so good\n", ["good"])).startswith("so [good]\n\nlabel ")


def test_where_no_word_changes_the_label_the_log_odds_speak():
    """The words that a sure label is made of, for and against, named as log-odds in text and page."""
    weights = {"good": 1.5, "fine": 0.5, "bad": -1.0}
    e = kedge.explain(WordWeights(weights, intercept=20.0), "good fine bad food")
    text = str(e)
    assert "\nfor        good +1.50, fine +0.50\nagainst    bad -1.00\n" in text
    assert "(effect on the log-odds of “1”)" in text
    assert "effect of each on the log-odds of “1”" in e.to_html()
    ahead = kedge.explain(WordWeights(weights, intercept=20.0), "good fine bad food", against=0)
    assert "\nfor " not in str(ahead)  # of the chance to stay ahead there is nothing to tell


def test_an_error_too_small_to_see_is_not_shown():
    """No value is followed by ± 0.00; an error that two digits show is written."""
    e = kedge.explain(WordWeights({"good": 1.0, "bad": -1.0}, intercept=0.1), "good bad")
    assert e.influence is not None
    words = tuple(replace(w, error=error) for w, error in zip(e.influence.words, (0.004, 0.006), strict=True))
    sampled = replace(e.influence, words=words, errors=(0.004, 0.006), exact=False, samples=5000)
    unsure = replace(e, measure=LazyInfluence.of(sampled))
    assert "\nfor        good +0.50\nagainst    bad -0.50 ± 0.01\n" in str(unsure)
    assert [" ± " in value for value in views(unsure)[0].values] == [False, True]
