"""The judge of any explainer: exact sufficiency, comprehensiveness, size, and random words as the floor."""

from dataclasses import replace

import pytest

import kedge
from kedge import WordWeights
from kedge.errors import ModelRaised, OptionError, TextError

MODEL = WordWeights({"good": 2.0, "nice": 1.0, "slow": -1.5, "cold": -0.5}, intercept=-0.5)
TEXTS = ["good nice food was slow", "the nice soup was good and cold", "a nice and good place, but slow"]


def by_weight(_):
    """What a perfect explainer of a linear model says."""
    return {word: MODEL.weights.get(word, 0.0) for word in MODEL.weights}


def test_a_perfect_explainer_does_as_kedge_does():
    """The best words of a linear model are its anchor; the worst do worse, and so do random ones."""
    worst = lambda _: [("cold", 3.0), ("slow", 2.0), ("nice", 1.0), ("good", 0.5), ("soup", -1.0)]  # noqa: E731
    found = kedge.evaluate(MODEL, TEXTS, {"perfect": by_weight, "worst": worst})
    rows = {row["tool"]: row for row in found.table()}
    assert list(rows) == ["kedge", "perfect", "worst", "random"]
    assert rows["perfect"]["sufficiency"] == rows["kedge"]["sufficiency"]
    assert rows["worst"]["sufficiency"] < rows["random"]["sufficiency"] < rows["kedge"]["sufficiency"]
    assert rows["kedge"]["reaching"] == 1
    assert all(row["exact"] for row in rows.values())
    assert {one.size for one in found.of("perfect") if one.row == 0} == {len(found.of("kedge")[0].words)}


def test_sufficiency_is_the_precision_and_comprehensiveness_the_loss():
    """Both as the library has them: `precision`, and the label of the text without the words."""
    found = kedge.evaluate(MODEL, TEXTS, {"positions": lambda _: [0, 1]}, size=2, random=0)
    for one in found.of("positions"):
        verdict = kedge.precision(MODEL, TEXTS[one.row], list(_places(one)))
        assert one.sufficiency.mean == verdict.precision
        removed = kedge.Explainer(MODEL).masked(TEXTS[one.row], _places(one))
        assert one.lost == float(MODEL.predict([removed])[0] != verdict.label)
    assert found.tools == ("kedge", "positions")


def _places(one):
    return [k for k, token in enumerate(MODEL.tokens(TEXTS[one.row])) if token.word in one.words]


def test_what_cannot_be_judged_is_said():
    """Words the model does not read, too few of them, texts that cannot be explained."""
    found = kedge.evaluate(MODEL, [*TEXTS, "nothing here"], {"odd": lambda _: ["soup", "nice"]}, size=2)
    assert len(found.skipped) == 4
    assert "names 1 of 2 words" in found.skipped[0]
    assert "Text 3 is left out" in found.skipped[-1]
    assert "odd" in str(found)
    with pytest.raises(OptionError, match="other than 'kedge'"):
        kedge.evaluate(MODEL, TEXTS, {"random": by_weight})
    with pytest.raises(OptionError, match="size"):
        kedge.evaluate(MODEL, TEXTS, size=0)


def test_rows_for_a_table():
    """One for each tool and text."""
    rows = kedge.evaluate(MODEL, TEXTS, {"perfect": by_weight}).to_rows()
    assert len(rows) == 9
    assert rows[0]["low"] <= rows[0]["sufficiency"]


@pytest.mark.plot
def test_the_plot_shows_every_tool():
    """Each tool by name."""
    import matplotlib as mpl

    mpl.use("Agg")
    ax = kedge.evaluate(MODEL, TEXTS, {"perfect": by_weight}).plot()
    assert [t.get_text() for t in ax.get_yticklabels()] == ["random", "perfect", "kedge"]
    with pytest.raises(OptionError, match="nothing to draw"):
        replace(kedge.evaluate(MODEL, TEXTS[:1]), judged=()).plot()


def test_tools_that_fail_or_talk_nonsense():
    """One failure is told and passed over; what cannot be read is refused; a model that always fails, too."""

    def fails(_):
        raise RuntimeError("no memory")

    found = kedge.evaluate(MODEL, TEXTS[:1], {"poor": fails})
    assert "Text 0: poor raised RuntimeError: no memory." in found.skipped
    assert found.of("kedge")
    for said in (None, [None], [("good",)], {"good": "much"}):
        with pytest.raises(OptionError, match="odd must return words"):
            kedge.evaluate(MODEL, TEXTS[:1], {"odd": lambda _, said=said: said})
    for explainers, says in (
        ([str.split], "explainers must map"),
        ({1: str.split}, "needs a name other than"),
        ({"kedge": str.split}, "needs a name other than"),
        ({"poor": 3}, "'poor' must be a function from a text to words, got int"),
    ):
        with pytest.raises(OptionError, match=says):
            kedge.evaluate(MODEL, TEXTS[:1], explainers)
    with pytest.raises(TextError, match="no texts"):
        kedge.evaluate(MODEL, [])
    with pytest.raises(ModelRaised, match="no memory"):
        kedge.evaluate(fails, TEXTS)
