"""The public interface as a typed program uses it: mypy checks the types, pytest that they are true.

``assert_type`` does nothing when it runs; ``mypy --strict`` fails where a type is not what stands here,
and where an error that is announced (``type: ignore``) does not come.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import assert_type

import pytest

import kedge
from kedge.model.rules import Rule
from kedge.typing import Label, Span, Status

TEXT = "not bad, rather good"
RULE = kedge.rules.any_of(["not", "bad"], ["good"])


def classify(texts: Sequence[str]) -> list[str]:
    return ["good" if "good" in text else "bad" for text in texts]


def test_one_explanation() -> None:
    """A rule, a function, a dictionary of weights: all are models, and the answer has typed fields."""
    e = assert_type(kedge.explain(RULE, TEXT, threshold=0.9, seed=3), kedge.Explanation)
    assert assert_type(e.words, tuple[str, ...]) == ("good",)
    assert assert_type(e.positions, tuple[int, ...]) == (3,)
    (span,) = assert_type(e.spans, tuple[Span, ...])
    assert TEXT[slice(*span)] == "good"
    assert assert_type(e.label, Label) == 1
    assert 0.9 <= assert_type(e.precision, float) <= 1.0
    assert assert_type(e.status, Status) == "exact"
    assert assert_type(e.to_html(), str).startswith("<!doctype html>")
    assert kedge.Explanation.from_json(assert_type(e.to_json(), str)) == e
    assert kedge.explain(classify, TEXT).label == "good"
    weights = kedge.WordWeights({"good": 1.0, "bad": -2.0}, intercept=0.5, classes=("no", "yes"))
    assert assert_type(weights.predict(["good"]), list[Label]) == ["yes"]


def test_options_are_checked_where_they_are_typed() -> None:
    """A misspelled option and a value of the wrong type are errors before the program runs."""
    with pytest.raises((TypeError, kedge.KedgeError)):
        kedge.explain(RULE, TEXT, treshold=0.9)  # type: ignore[call-arg]
    with pytest.raises(kedge.KedgeError):
        kedge.explain(RULE, TEXT, threshold="high")  # type: ignore[arg-type]
    with pytest.raises(AttributeError):
        kedge.expalin  # type: ignore[attr-defined]  # noqa: B018


def test_an_explainer_for_many_texts(tmp_path: Path) -> None:
    """Options once, then single texts, corpora, an index and rules."""
    explainer = kedge.Explainer(RULE, perturbation=kedge.Masking(keep=0.5), allow_empty=False)
    assert_type(explainer.explain(TEXT), kedge.Explanation)
    texts = [TEXT, "so good", "bad food"]
    for outcome in explainer.explain_corpus(texts, workers=1):
        assert_type(outcome, kedge.corpus.Outcome)
        assert assert_type(outcome.explanation, kedge.Explanation | None) is not None
    index = assert_type(explainer.index(texts), kedge.CorpusIndex)
    assert assert_type(index.coverage(["good"]), float) == pytest.approx(2 / 3)
    assert_type(index.save(tmp_path / "index"), Path)
    assert assert_type(explainer.split(TEXT), tuple[str, ...])[-1] == "good"


def test_questions_around_an_explanation() -> None:
    """One's own words, another model, other seeds, other documents."""
    verdict = assert_type(kedge.precision(RULE, TEXT, ["good"]), kedge.Verdict)
    assert assert_type(verdict.reaches, bool | None) is True
    other = kedge.rules.all_present(["rather", "good"])
    compared = assert_type(kedge.compare(RULE, other, [TEXT, "so good"]), kedge.Comparison)
    assert assert_type(compared.agreement, float) == 0.5
    repeated = assert_type(kedge.stability(RULE, TEXT, seeds=range(2)), kedge.Stability)
    assert_type(repeated.over_thresholds, float)
    e = kedge.explain(RULE, TEXT)
    assert list(kedge.apply(e, ["good wine", "bad wine"])) == [True, False]


def test_values_and_parts() -> None:
    """Rules combine to rules, documents have tokens, and lazy parts are modules with types."""
    rule = assert_type(kedge.rules.present("good") & ~kedge.rules.present("bad"), Rule)
    assert assert_type(rule.predict(["good", "bad"]), list[int]) == [1, 0]
    tokens = assert_type(kedge.tokenize.words(TEXT), list[kedge.Token])
    document = kedge.Document(TEXT, tokens)
    assert assert_type(document.tokens, Sequence[kedge.Token])[0].word == "not"
    model = assert_type(kedge.as_model(classify, outputs="labels"), kedge.Model)
    assert assert_type(model.name, str)
    assert assert_type(kedge.theory.break_point(), int) == 4
    assert assert_type(kedge.Anchor((0, 2)).positions, tuple[int, ...]) == (0, 2)
