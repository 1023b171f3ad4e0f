"""HTML reports and notebook views: self-contained, escaped, complete, accessible."""

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kedge
from kedge.data.demo import VERY_GOOD, review_model, very_good
from kedge.render.html import stylesheet
from kedge.render.segments import document_segments, example_segments

REVIEW = "The service was slow and the soup was cold, but the staff were friendly."
NASTY = (
    '<script>alert("x")</script> {{ 7*7 }} {% raw %} "quoted" \'single\' & &amp; </article> good '
    "<img src=x onerror=y>"
)
VOID = {"meta", "link", "br", "img", "input", "hr", "wbr"}


class Page(HTMLParser):
    """Collects elements, attributes and text, and checks that elements nest."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.stack, self.tags, self.attributes, self.text = [], [], [], ""
        self.feed(html)
        self.close()
        assert self.stack == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attrs]
        if tag not in VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attrs]

    def handle_endtag(self, tag):
        assert self.stack.pop() == tag

    def handle_data(self, data):
        if "style" not in self.stack:
            self.text += data


@pytest.fixture(scope="module")
def review():
    return kedge.explain(review_model(), REVIEW)


@pytest.mark.parametrize("form", ["to_html", "_repr_html_"])
def test_everything_is_there(review, form):
    """Document, anchor, label, probabilities, precision, baseline, search, examples and promise."""
    page = Page(getattr(review, form)())
    for segment in (
        "kedge",
        str(review.label),
        "Precision",
        "baseline: no word held in place",
        "The search",
        "Perturbed examples",
        "kept the label",
        "lost the label",
        "remove the other words at random",
        review.model,
        review.method,
    ):
        assert segment in page.text
    assert page.text.count("service") > 10  # the document and its examples
    assert page.tags.count("del") > 10
    assert page.tags.count("mark") > len(review.words)


def test_nothing_comes_from_elsewhere(review):
    """No script, no link, no address: the file is complete in itself, and its policy says so."""
    html = review.to_html()
    page = Page(html)
    assert not {"script", "link", "img", "iframe", "object", "form"} & set(page.tags)
    assert not [a for a in page.attributes if a[1] in {"src", "href", "style"} or a[1].startswith("on")]
    assert "http" not in html.replace("http-equiv", "")
    assert "@import" not in html
    assert "url(" not in html
    assert "default-src 'none'" in html


@pytest.mark.parametrize("form", ["to_html", "_repr_html_"])
def test_text_shows_as_itself(form):
    """Markup, quotes and template syntax in a document are text, not markup."""
    e = kedge.explain(lambda texts: ["<b>" if "good" in t else "{{x}}" for t in texts], NASTY)
    page = Page(getattr(e, form)())
    assert not {"script", "img"} & set(page.tags)
    assert page.tags.count("article") == 1
    assert 'alert("x")' in page.text
    assert "{{ 7*7 }} {% raw %}" in page.text
    assert "&amp;" in page.text
    assert "<b>" in page.text


@settings(max_examples=60, deadline=None)
@given(st.text(min_size=1, max_size=80), st.text(max_size=8))
def test_any_text_any_label(text, label):
    """Whatever the text and the label are, the page parses, holds the text, and is valid UTF-8."""
    try:
        e = kedge.explain(lambda texts: [label or "x"] * len(texts), text)
    except kedge.KedgeError:
        return  # nothing to explain
    html = e.to_html()
    html.encode()
    page = Page(html)
    shown = (
        re.sub("[\ud800-\udfff]", "\ufffd", text)
        .replace("\r\n", "\n")
        .replace("\r", "\n")
        .replace("\0", "\ufffd")
    )
    clean = page.text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
    assert shown in clean or e.words  # marks may carry the number of an occurrence
    assert "script" not in page.tags


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(["very", "Very", "good", "😀", "é", "food"]), min_size=1, max_size=12))
def test_pieces_spell_the_document(words):
    """The segments of a document and of each example, put together, are the text itself."""
    text = " ".join([*words, "good very"])
    e = kedge.explain(VERY_GOOD, text)
    assert "".join(p.text for p in document_segments(e)) == text
    for example in e.examples:
        assert "".join(p.text for p in example_segments(e, example.removed)) == text


def test_repeated_words_are_told_apart():
    """Of five times very the one that is kept is marked 1/5, the others are dotted copies."""
    e = kedge.explain(VERY_GOOD, very_good(4))
    segments = [p for p in document_segments(e) if p.kind in {"kept", "copy"}]
    assert [(p.text, p.kind, p.nth, p.of) for p in segments] == [
        ("very", "kept", 1, 4),
        ("very", "copy", 2, 4),
        ("very", "copy", 3, 4),
        ("very", "copy", 4, 4),
        ("good", "kept", 0, 0),
    ]
    html = e.to_html()
    assert "1/4" in html
    assert "occurrence 2 of 4, not needed" in html


def test_an_explanation_made_by_hand_is_shown():
    """Without the units of the text the anchor's spans are enough."""
    e = kedge.explain(VERY_GOOD, very_good(4))
    bare = e.__class__(**{**vars(e), "tokens": (), "unknown": (), "trace": (), "examples": ()})
    assert "".join(p.text for p in document_segments(bare)) == e.text
    assert Page(bare.to_html()).tags.count("mark") == 3  # two words and the key


def test_statuses_are_named_and_signed():
    """Each status is a word and a sign, so that colour is not needed to read it."""
    exact = kedge.explain(VERY_GOOD, very_good(4)).to_html()
    assert "k-status exact" in exact
    assert "Exact" in Page(exact).text
    missed = kedge.explain(
        lambda t: [int("w1 w2" in x) for x in t],
        " ".join(f"w{k}" for k in range(30)),
        method="beam",
        max_queries=5,
    )
    assert missed.status == "not_reached"
    text = Page(missed.to_html()).text
    assert "No anchor was shown to reach 0.95" in text
    assert "The model was queried too little" in text


def test_an_empty_anchor_is_explained():
    """When no word is needed the page says so."""
    e = kedge.explain(lambda texts: ["spam"] * len(texts), "any words at all", allow_empty=True)
    assert e.words == ()
    text = Page(e.to_html()).text
    assert "The label “spam” needs no word." in text
    assert "No word is needed, so none is marked" in text


def test_pictures_have_alternatives(review):
    """Every picture is either hidden from screen readers or has a text of its own."""
    html = review.to_html()
    for svg in re.findall(r"<svg[^>]*>", html):
        assert 'aria-hidden="true"' in svg or ('role="img"' in svg and "aria-label=" in svg)
    assert '<html lang="en">' in html


def luminance(colour):
    """Relative luminance by WCAG 2."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    """Contrast ratio by WCAG 2."""
    bright, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", [0, 1])
@pytest.mark.parametrize(
    ("front", "back"),
    [
        ("ink", "paper"),
        ("ink", "panel"),
        ("quiet", "paper"),
        ("quiet", "panel"),
        ("accent", "paper"),
        ("accent", "panel"),
        ("mark-ink", "mark"),
        ("lost", "lost-soft"),
        ("paper", "accent"),
    ],
)
def test_contrast(theme, front, back):
    """Text has a contrast of at least 4.5 to 1 in the light and in the dark palette."""
    palette = dict(re.findall(r"--([\w-]+): light-dark\((#\w{6}, #\w{6})\)", stylesheet("kedge.css")))
    colours = {name: pair.split(", ")[theme] for name, pair in palette.items()}
    assert contrast(colours[front], colours[back]) >= 4.5


def test_a_long_document_makes_a_reasonable_page():
    """A page of a 5,000-word document stays below two megabytes."""
    text = "very good " + " ".join(f"word{k}" for k in range(5000))
    assert len(kedge.explain(VERY_GOOD, text).to_html()) < 2_000_000


def test_a_page_of_a_stored_explanation_is_the_same(review):
    """Everything shown comes from the Explanation: a JSON round trip changes nothing."""
    again = kedge.Explanation.from_json(review.to_json(times=True))
    assert again.to_html() == review.to_html()
