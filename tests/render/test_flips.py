"""What flips a label, in a terminal."""

from dataclasses import replace

import kedge
from kedge.render.flips import flip_promise, render_flip
from kedge.render.words import listed


def test_a_long_text_is_shown_around_the_words_that_go():
    """Cut at words, with nothing of the beginning or the end that is far from them."""
    text = "unremarkable " * 150 + "awful " + "extraordinary " * 150
    shown = render_flip(kedge.flip(kedge.rules.present("awful"), text), colour=False).split("\n")[0]
    assert shown == (
        "... unremarkable unremarkable unremarkable unremarkable [-awful-] "
        "extraordinary extraordinary extraordinary extraordinary ..."
    )


def test_one_of_several_occurrences_is_told_from_all():
    """To say "without cold" would mean that every "cold" goes."""
    model = kedge.WordWeights({"cold": 1.0, "nice": -1.5}, intercept=0.0)
    f = kedge.flip(model, "Cold soup, cold tea, nice place")
    assert f.words == ("cold",)
    assert "Without “cold” (1 of 2), the label is “0”." in render_flip(f, colour=False)
    assert "Without “cold” (1 of 2), the label is “0”." in f.to_html()
    assert listed(["Cold", "cold"], among=["Cold", "soup", "cold"]) == "“Cold” and “cold”"


def test_how_sure_a_flip_is():
    """Proven, confirmed by the model, cut short, or not found."""
    found = kedge.flip(kedge.rules.any_of(["not", "bad"], ["good"]), "not bad, rather good")
    assert flip_promise(found) == "Proven: no fewer words will do. The model confirmed the new label."
    verified = replace(found, status="verified", minimality="irreducible")
    assert "restores the old one, but a smaller set of other words may exist." in flip_promise(verified)
    one = replace(verified, words=("not",))
    assert flip_promise(one) == "One word is the minimum. The model confirmed the new label."
    assert "the budget ran out" in flip_promise(replace(verified, minimality="open"))
    assert "raise `max_queries`" in flip_promise(replace(found, status="not_found"))
