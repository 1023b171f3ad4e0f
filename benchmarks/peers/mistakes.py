"""What the peers get wrong, each point as a few lines that show it. Runs in the peers' environment.

usage: .venv-peers/bin/python -m benchmarks.peers.mistakes   (``make bench`` builds it)

Every model here is a plain rule, so that the truth can be worked out by hand. docs/peers.md says what each
point means, and what the peers do well.
"""

import json
import logging
import resource
import sys
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import spacy
from alibi.explainers import AnchorText as Alibi
from anchor.anchor_text import AnchorText as AnchorExp

from . import tasks

Rule = Callable[[Any], bool]
SEEDS = 20
# Both split words with it; alibi adds a table to it, which takes seconds, so it is made once.
NLP = spacy.blank("en")


def model(rule: Rule, asked: list[str] | None = None) -> Callable[[list[str]], Any]:
    """A predictor of labels that remembers what it was asked."""

    def predict(texts: list[str]) -> Any:
        if asked is not None:
            asked.extend(texts)
        return np.array([int(rule(text)) for text in texts])

    return predict


def with_words(*words: str) -> Rule:
    """Label 1 when all these words are there."""
    return lambda text: all(word in text.split() for word in words)


def anchor_exp(text: Any, predict: Any, seed: int = 0, **options: Any) -> Any:
    """anchor-exp's answer with its defaults."""
    np.random.seed(seed)  # noqa: NPY002  (they draw from the global state)
    return AnchorExp(NLP, ["0", "1"]).explain_instance(text, predict, **options)


def alibi(text: Any, predict: Any, seed: int = 0, **options: Any) -> Any:
    """The answer of alibi with its defaults."""
    return Alibi(predictor=predict, nlp=NLP, seed=seed).explain(text, **options)


def attempt(call: Callable[[], Any]) -> str:
    """What a call raises, in one line."""
    try:
        return f"no error: {call()!r}"
    except Exception as error:  # noqa: BLE001  (a failure is what is shown)
        return f"{type(error).__name__}: {error}".split("\n")[0][:110]


def say(title: str, *lines: str) -> None:
    """A point and what was seen."""
    sys.stdout.write(f"{title}\n" + "".join(f"    {line}\n" for line in lines) + "\n")
    sys.stdout.flush()


def other_text() -> None:
    """The model is asked about texts that are not the user's, even where nothing is masked."""
    text = "we didnt like it"
    lines = []
    for name, explain in (("anchor-exp", anchor_exp), ("alibi", alibi)):
        asked: list[str] = []
        explain(text, model(with_words("like"), asked))
        whole = {t for t in asked if "UNK" not in t} - {text, "Hello world"}
        lines.append(f"{name}: {text!r} with nothing masked reaches the model as {sorted(whole)}")
    say("Other text than the user's", *lines)


def other_scores() -> None:
    """How many documents of the benchmark are scored differently for being taken apart and joined again."""
    work = Path(__file__).parents[1] / ".peers"
    if not (work / "peers" / "yelp-logistic.joblib").exists():
        return
    pipeline, _ = tasks.load(work, "peers", "yelp", "logistic")
    texts = json.loads((work / "yelp.json").read_text(encoding="utf-8"))["test"]
    joined = [" ".join(token.text for token in NLP(text)) for text in texts]
    changed = np.abs(pipeline.decision_function(texts) - pipeline.decision_function(joined)) > 1e-9
    labels = pipeline.predict(texts) != pipeline.predict(joined)
    say(
        "The same on Yelp, logistic model, nothing masked",
        f"the score changes on {changed.sum()} of {len(texts)} test documents, the label on {labels.sum()}",
    )


def cut_samples() -> None:
    """The array of samples of alibi is too narrow for the blanks between words."""
    asked: list[str] = []
    alibi("the food was very good", model(with_words("food"), asked))
    samples = [t for t in asked if t not in {"the food was very good", "Hello world"}]
    kept = [t for t in samples if not t.endswith("UNK")]
    cut = [t for t in kept if t.split()[-1] != "good"]
    example = Counter(cut).most_common(1)[0][0]
    say(
        "Samples cut short (alibi)",
        f"{len(cut)} of {len(samples)} samples end within the last word, for example {example!r}",
    )


def below_threshold() -> None:
    """An anchor counts when its mean reaches the threshold and its lower bound comes within 0.05 of it."""
    others = ["one", "two", "three", "four"]
    text = " ".join(["good", *others])

    def rule(sample: str) -> bool:
        words = sample.split()
        return "good" in words and any(w in words for w in others)

    lines = []
    for name, explain in (("anchor-exp", anchor_exp), ("alibi", alibi)):
        claims = []
        for seed in range(SEEDS):
            e = explain(text, model(rule), seed)
            words = e.names() if name == "anchor-exp" else e.anchor
            if list(words) == ["good"]:
                claims.append(float(np.squeeze(e.precision() if name == "anchor-exp" else e.precision)))
        lines.append(
            f"{name}: ['good'] is claimed in {len(claims)} of {SEEDS} runs, at {np.mean(claims or 0):.3f} on "
            "average; its precision is 1 - 1/16 = 0.9375"
        )
    say("Claims below the threshold of 0.95", *lines)


def no_word_needed() -> None:
    """When the label holds without any word, the answer should say so."""
    text = "what a nice day it is"
    found = Counter(" ".join(anchor_exp(text, model(lambda _: True), s).names()) for s in range(SEEDS))
    empty = Counter(
        " ".join(alibi(text, model(lambda _: True), s).anchor) or "(nothing)" for s in range(SEEDS)
    )
    say(
        "A model that always says yes",
        f"anchor-exp, {SEEDS} seeds: {dict(found.most_common())}",
        f"alibi, {SEEDS} seeds: {dict(empty.most_common())}, with no word on why",
    )


def seeds() -> None:
    """One seed does not give one answer: both draw from numpy's global state, which moves on."""
    text = "good good good good fine fine fine fine"
    rule = model(lambda t: sum(w in {"good", "fine"} for w in t.split()) >= 4)
    explainer = Alibi(predictor=rule, nlp=NLP, seed=0)
    found = [tuple(sorted(explainer.explain(text).data["raw"]["feature"])) for _ in range(10)]
    np.random.seed(0)  # noqa: NPY002  (what happens to it is what is shown)
    before = np.random.get_state()[1].copy()  # type: ignore[union-attr,call-overload]  # noqa: NPY002
    Alibi(predictor=rule, nlp=NLP, seed=7)
    after = np.random.get_state()[1]  # type: ignore[call-overload]  # noqa: NPY002
    say(
        "One seed, several answers",
        f"alibi, seed=0, the same text ten times: {len(set(found))} different anchors",
        f"making an explainer changes the caller's global random state: {not (before == after).all()}",
    )


def dropped_options() -> None:
    """Options that are accepted and have no effect."""
    text = " ".join("abcdefghij")
    counts = []
    for size in (1, 4, 50):
        asked: list[str] = []
        anchor_exp(text, model(with_words("a", "b", "c"), asked), beam_size=size)
        counts.append(len(asked))
    logged: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: logged.append(record.getMessage())  # type: ignore[method-assign]
    logging.getLogger("alibi").addHandler(handler)
    wrong = {"sampling_strategy": "similar", "sample_prob": 0.9}
    explainer = Alibi(predictor=model(with_words("a")), nlp=NLP, **wrong)
    say(
        "Options that do nothing",
        f"anchor-exp, beam_size 1, 4, 50: {counts} texts asked",
        f"alibi, {wrong}: goes on with {explainer.sampling_strategy!r} and {explainer.perturb_opts}; "
        f"logged: {logged}",
    )


def fields() -> None:
    """Fields of the result that are not what their names say."""
    text = "the food was very good"
    asked: list[str] = []
    e = alibi(text, model(with_words("good"), asked))
    coverage = Counter(float(anchor_exp(text, model(with_words("good")), s).coverage()) for s in range(SEEDS))
    say(
        "Fields",
        f"alibi: num_preds is {e.raw['num_preds']:,}; the model was asked about {len(asked):,} texts",
        f"anchor-exp: coverage() of the one-word anchor, over {SEEDS} seeds: {dict(coverage)}",
    )


def long_words() -> None:
    """anchor-exp keeps words in arrays of 80 characters."""
    word = "a" * 100
    asked: list[str] = []
    anchor_exp(f"see {word} now", model(lambda t: "see" in t, asked))
    longest = max(len(w) for t in asked[1:] for w in t.split())
    say("Long words (anchor-exp)", f"a word of 100 characters reaches the model with {longest}")


def bad_input() -> None:
    """What bad input gives; the predictor itself takes anything."""
    label = model(lambda text: "good" in str(text))

    def listed(texts: list[str]) -> list[int]:
        return [int("good" in text) for text in texts]

    say(
        "Bad input",
        f"anchor-exp, empty text: {attempt(lambda: anchor_exp('', label))}",
        f"alibi, empty text: {attempt(lambda: alibi('', label))}",
        f"anchor-exp, None: {attempt(lambda: anchor_exp(None, label))}",
        f"alibi, None: {attempt(lambda: alibi(None, label))}",
        f"anchor-exp, a predictor that gives a list: {attempt(lambda: anchor_exp('good food', listed))}",
        f"alibi, the same: {attempt(lambda: alibi('good food', listed))}",
    )


def one_number() -> None:
    """One probability per text is taken for a label."""
    text = "the food was very good"

    def graded(texts: list[str]) -> Any:
        return np.array([0.9 - 0.1 * t.split().count("UNK") for t in texts])

    names = anchor_exp(text, graded).names()
    alibis = alibi(text, graded).anchor
    say(
        "One probability per text",
        f"anchor-exp: {len(names)} of 5 words are the anchor: {[str(n) for n in names]}",
        f"alibi: {len(alibis)} of 5 words are the anchor: {alibis}",
    )


def memory() -> None:
    """3,000 words."""
    text = " ".join(f"word{i}" for i in range(2_999)) + " good"
    label = model(with_words("good"))
    now = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, now[1]))
    lines = [
        f"anchor-exp: {attempt(lambda: anchor_exp(text, label))}",
        f"alibi: {attempt(lambda: alibi(text, label))}",
    ]
    resource.setrlimit(resource.RLIMIT_AS, now)
    say("3,000 words, 4 GiB of address space", *lines)


def main() -> None:
    """Show everything."""
    warnings.filterwarnings("ignore")
    for show in (
        other_text,
        other_scores,
        cut_samples,
        below_threshold,
        no_word_needed,
        seeds,
        dropped_options,
        fields,
        long_words,
        bad_input,
        one_number,
        memory,
    ):
        show()


if __name__ == "__main__":
    main()
