"""Plots: each gives its Axes back, draws on given ones, and shows what the explanation says."""

import matplotlib as mpl

mpl.use("Agg")

from dataclasses import replace

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

import kedge
from kedge import plots
from kedge.data.demo import review_model
from kedge.errors import ModelError, OptionError

pytestmark = pytest.mark.plot

SHORT = "The staff were friendly and the soup was very very good."


@pytest.fixture(scope="module")
def e():
    return kedge.explain(review_model(), SHORT)


@pytest.fixture(autouse=True)
def figures():
    yield
    plt.close("all")


def draw(name, e, **options):
    others = [kedge.explain(review_model(), SHORT, threshold=t) for t in (0.6, 0.8, 0.95)]
    return {
        "plot": lambda: e.plot(**options),
        "words": lambda: plots.words(e, **options),
        "stability": lambda: plots.stability(others, **options),
        "shift": lambda: plots.shift(dict(enumerate(others)), **options),
    }[name]()


@pytest.mark.parametrize("name", ["plot", "words", "stability", "shift"])
def test_axes_in_axes_out(name, e):
    """Without ax= there is a new figure; with it the very axes come back and no figure is made."""
    made = draw(name, e)
    assert isinstance(made, Axes)
    made.figure.canvas.draw()
    _, own = plt.subplots()
    before = plt.get_fignums()
    assert draw(name, e, ax=own) is own
    assert plt.get_fignums() == before
    own.figure.canvas.draw()


def test_settings_are_left_alone(e):
    """Drawing changes none of the user's matplotlib settings."""
    before = dict(mpl.rcParams)
    e.plot()
    assert dict(mpl.rcParams) == before


def test_search_shows_every_candidate(e):
    """One dot per candidate, one ring around the anchor, one line at the threshold."""
    ax = e.plot()
    dots, chosen, ring = ax.collections[:3]
    assert len(dots.get_offsets()) == len(e.trace)
    assert ring.get_offsets()[0][1] == chosen.get_offsets()[0][1] == pytest.approx(e.precision)
    assert ring.get_offsets()[0][0] == pytest.approx(len(e.words), abs=0.31)
    assert any(np.allclose(line.get_ydata(), e.threshold) for line in ax.lines)


def test_words_rank_by_their_influence(e):
    """The model is not asked; the strongest words are at the top, with the anchor's names in bold."""
    ax = plots.words(e, top=4)
    names = [tick.get_text() for tick in ax.get_yticklabels()]
    bold = [tick.get_text() for tick in ax.get_yticklabels() if tick.get_fontweight() == "bold"]
    assert len(names) == 4
    assert {n.lower() for n in bold} == set(e.words)
    widths = [bar.get_width() for bar in ax.patches]
    assert widths == sorted(widths)


def test_words_of_a_class(e):
    """One class's log-odds instead; a class that is not known is refused by name."""
    for_it, against = plots.words(e, label="positive"), plots.words(e, label="negative")
    assert "log-odds" in for_it.get_xlabel()
    assert [bar.get_width() for bar in for_it.patches] == pytest.approx(
        [-bar.get_width() for bar in against.patches][::-1]
    )
    with pytest.raises(OptionError, match="'Sports' is not known"):
        plots.words(e, label="Sports")


def test_words_of_a_label_that_needs_none():
    """Where no word changes whether the label holds, its log-odds are drawn, and no word is the anchor's."""
    weights = kedge.WordWeights({"good": 1.5, "bad": -1.0}, intercept=20.0)
    ax = plots.words(kedge.explain(weights, "good bad food"))
    assert "log-odds" in ax.get_xlabel()
    assert "anchor" not in ax.get_title(loc="left")
    assert {tick.get_fontweight() for tick in ax.get_yticklabels()} == {"normal"}
    assert [bar.get_width() for bar in ax.patches] == pytest.approx([-1.0, 0.0, 1.5])


def test_sampled_words_have_error_bars():
    """An influence of samples is drawn with its errors, and one of more samples can be drawn instead."""
    text = "a good and nice place with good food that was rather slow and cold today"
    found = kedge.explain(lambda texts: [int("good" in t and "slow" not in t) for t in texts], text)
    assert "standard errors" in plots.words(found).get_xlabel()
    exact = kedge.influence(kedge.rules.all_present(["good"]), text)
    assert "standard errors" not in plots.words(found, influence=exact).get_xlabel()


def test_words_need_an_influence(e):
    """An explanation that knows nothing of single words says what to do."""
    with pytest.raises(OptionError, match=r"kedge\.influence\(model"):
        plots.words(replace(e, measure=None))


def test_stability_says_how_far_anchors_agree():
    """Equal anchors agree fully, disjoint ones not at all; what kedge.stability found is drawn too."""
    found = kedge.stability(kedge.rules.any_of(["good"], ["nice"]), "good nice", seeds=range(2))
    assert "Jaccard 1.00" in plots.stability(found).get_title(loc="left")
    one = found.explanations[0]
    other = one.__class__(**{**vars(one), "positions": (1,), "words": ("nice",)})
    assert "Jaccard 0.00" in plots.stability([one, other]).get_title(loc="left")


def test_stability_columns_are_seeds_or_thresholds():
    """Columns are named by what differs."""
    seeds = [kedge.explain(review_model(), SHORT, seed=s) for s in (3, 5)]
    assert [t.get_text() for t in plots.stability(seeds).get_xticklabels()] == ["3", "5"]
    goals = [kedge.explain(review_model(), SHORT, threshold=t) for t in (0.7, 0.9)]
    assert [t.get_text() for t in plots.stability(goals).get_xticklabels()] == ["0.7", "0.9"]
    with pytest.raises(OptionError, match="one text"):
        plots.stability([seeds[0], kedge.explain(review_model(), "good food")])
    with pytest.raises(OptionError, match="at least one"):
        plots.stability([])


def test_shift_follows_words():
    """A shifted copy of the model is another model, and the curve shows who is in the anchor."""
    model = review_model()
    moved = plots.shifted(model, -2.5)
    assert moved.steps[-1][1].intercept_ == pytest.approx(model.steps[-1][1].intercept_ - 2.5)
    runs = {by: kedge.explain(plots.shifted(model, -by), SHORT) for by in (0.0, 1.0, 2.5)}
    ax = plots.shift(runs, ["good"])
    drawn = ax.lines[0].get_ydata()
    assert list(np.round(drawn)) == [float("good" in e.words) for e in runs.values()]
    with pytest.raises(ModelError, match="linear"):
        plots.shifted(lambda t: t, 1.0)
    with pytest.raises(OptionError, match="at least one"):
        plots.shift({})


def test_odd_words_are_drawn_as_text():
    """Dollar signs and backslashes are not taken for formulas."""
    e = kedge.explain(lambda texts: [int("$x" in t) for t in texts], r"pay $x^{ now \frac please")
    e.plot().figure.canvas.draw()
    plots.words(e).figure.canvas.draw()
