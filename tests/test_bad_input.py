"""Bad input is refused in one clear sentence of kedge's own."""

import sys
from pathlib import PurePath

import numpy as np
import pytest

import kedge
from kedge.errors import (
    KedgeError,
    LabelError,
    ModelError,
    ModelRaised,
    OptionError,
    OutputError,
    StorageError,
    TextError,
)


def ok(texts):
    return ["good" in t for t in texts]


def explain(text="so good", model=ok, **options):
    return lambda: kedge.explain(model, text, **options)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (explain(""), TextError, "empty"),
        (explain(" \n\t"), TextError, "empty"),
        (explain("... !!"), TextError, "has no words"),
        (explain("bad day", model=kedge.rules.present("good")), TextError, "No word of the text"),
        (explain(None), TextError, "must be a string, got NoneType"),
        (explain(7), TextError, "must be a string, got int"),
        (explain(["good"]), TextError, "must be a string, got list"),
        (explain(b"good"), TextError, r"got bytes; decode it first, text\.decode\('utf-8'\)"),
        (explain(PurePath("review.txt")), TextError, "read the file first, path.read_text"),
        (explain(np.array(["good"])), TextError, r"got ndarray; pass one of its elements, or str\(text\)"),
        (
            explain("zzz", model=kedge.rules.present("good")),
            TextError,
            "does not depend on what the text says",
        ),
        (explain(model=None), ModelError, "NoneType cannot be explained"),
        (explain(model="bert"), ModelError, "str cannot be explained"),
        (explain(model=lambda _: None), OutputError, "returned None"),
        (explain(model=lambda t: [1] * (len(t) + 1)), OutputError, "2 answers for 1 text;"),
        (explain(model=lambda t: [[0.5, np.nan]] * len(t)), OutputError, "NaN"),
        (explain(model=lambda t: [0.7] * len(t)), OutputError, "outputs='probabilities'"),
        (explain(model=lambda t: np.zeros((len(t), 2, 2))), OutputError, "shape"),
        (explain(model=lambda: [1]), ModelError, "TypeError"),
        (explain(label="spam"), LabelError, "labels this text True, not 'spam'"),
        (explain(threshold=0), OptionError, r"`threshold` must lie in \(0, 1\]"),
        (explain(threshold=1.01), OptionError, "threshold"),
        (explain(threshold="high"), OptionError, "threshold"),
        (explain(threshold=float("nan")), OptionError, "threshold"),
        (explain(delta=1), OptionError, "delta"),
        (explain(seed=-1), OptionError, "seed"),
        (explain(seed=1.5), OptionError, "seed"),
        (explain(max_queries=0), OptionError, "max_queries"),
        (explain(batch_size=0), OptionError, "batch_size"),
        (explain(method="magic"), OptionError, "auto, "),
        (explain(evaluator="magic"), OptionError, "empirical"),
        (explain(ties="magic"), OptionError, "strongest, first, last, random"),
        (explain(outputs="magic"), OptionError, "multilabel"),
        (explain(perturbation="magic"), OptionError, "unk"),
        (explain(perturbation=3), OptionError, "Masking"),
        (explain(mask=3), OptionError, "`mask` must be a string"),
        (explain(mask="X", perturbation="unk"), OptionError, "`mask` and `perturbation` both"),
        (explain(tokenizer=3), OptionError, "function from text"),
        (explain(tokenizer=lambda _: None), TextError, "returned None"),
        (explain(tokenizer=lambda _: 1 / 0), TextError, "tokenizer raised ZeroDivisionError"),
        (explain(tokenizer=lambda _: [("a", "b")]), TextError, "offsets"),
        (explain(model=lambda _: sys.exit(3)), ModelRaised, "SystemExit"),
        (lambda: kedge.Masking(mask=3), OptionError, "`mask` must be a string"),
        (lambda: kedge.Masking(keep="half"), OptionError, "`keep` must be a number"),
        (lambda: kedge.Masking(keep=1), OptionError, "strictly between 0 and 1"),
        (lambda: kedge.theory.break_point("x"), OptionError, "eps is 'x'"),
        (explain(zest=0.9), OptionError, "There is no option `zest`; the options are allow_empty, "),
        (explain(corpus="nowhere"), StorageError, "There is no corpus index in 'nowhere'"),
        (explain(treshold=0.9), OptionError, "There is no option `treshold`; perhaps you meant `threshold`"),
    ],
)
def test_bad_input_is_refused(call, error, message):
    """The right kind of error, one line, saying what was wrong."""
    with pytest.raises(error, match=message) as caught:
        call()
    assert isinstance(caught.value, KedgeError)
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith(".")


def test_a_model_that_changes_shape_later_is_refused():
    """Fine for one text, too few rows for many."""
    with pytest.raises(OutputError, match="1 answer for"):
        kedge.explain(lambda texts: ["good" in texts[0]], "so very good")


def test_names_that_would_be_ignored_are_refused():
    """outputs= speaks of a function's answers, classes= of numbers: a model that names its labels knows."""
    from kedge.data.demo import review_model

    for model, options in [
        (kedge.rules.present("good"), {"outputs": "labels"}),
        (kedge.rules.present("good"), {"classes": ["a", "b", "c"]}),
        (review_model(), {"classes": ["a", "b"]}),
        (lambda texts: ["x"] * len(texts), {"classes": ["a", "b"]}),
    ]:
        with pytest.raises(KedgeError, match=r"`classes`|`outputs`"):
            kedge.explain(model, "so good", **options)


def test_labels_of_different_types_are_kept_apart():
    """1 and "b" beside each other stay 1 and "b"."""
    e = kedge.explain(lambda texts: [1 if "good" in t else "b" for t in texts], "so good")
    assert (e.label, e.words) == (1, ("good",))
