"""Coverage against a brute-force count."""

import pickle
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kedge
from kedge.text.index import CorpusIndex

WORD = st.sampled_from(["a", "b", "c", "dé", "e", "f\u2028", "😀"])
TEXTS = st.lists(st.lists(WORD, max_size=12).map(" ".join), max_size=40)
ANCHOR = st.lists(WORD | st.just("never"), max_size=5)


def contained(words, text):
    have = Counter(split(text))
    return all(have[w] >= n for w, n in Counter(words).items())


def split(text):
    return text.split(" ") if text else []


@settings(max_examples=150, deadline=None)
@given(TEXTS, st.lists(ANCHOR, min_size=1, max_size=8), st.integers(1, 20))
def test_counts_are_exact(texts, anchors, times):
    """Count, coverage and documents are those of looking into every text, with multiplicity."""
    texts = texts * times  # long corpora have both sparse lists and bit sets
    index = CorpusIndex.build(texts, split)
    for words in anchors:
        rows = [k for k, text in enumerate(texts) if contained(words, text)]
        assert index.documents(words).tolist() == rows
        assert index.count(words) == len(rows)
        assert index.coverage(words) == (len(rows) / len(texts) if texts else 0.0)


@settings(max_examples=20, deadline=None)
@given(TEXTS, ANCHOR)
def test_saved_and_opened(tmp_path_factory, texts, words):
    """A saved index answers as the one in memory does, opened or sent to another process."""
    index = CorpusIndex.build(texts, split)
    folder = index.save(tmp_path_factory.mktemp("index") / "corpus")
    for other in (CorpusIndex.open(folder), pickle.loads(pickle.dumps(CorpusIndex.open(folder)))):
        assert len(other) == len(index)
        assert other.documents(words).tolist() == index.documents(words).tolist()


@settings(max_examples=60, deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=4), st.lists(ANCHOR, min_size=1, max_size=6), st.integers(1, 20))
def test_merged_indexes_are_those_of_all_texts(shards, anchors, times):
    """Built of shards and merged, an index is that of the whole corpus, array for array."""
    shards = [texts * times for texts in shards]
    texts = [text for shard in shards for text in shard]
    whole = CorpusIndex.build(texts, split)
    both = CorpusIndex.merge(*(CorpusIndex.build(shard, split) for shard in shards))
    assert len(both) == len(texts)
    assert both.fingerprint == whole.fingerprint
    for words in anchors:
        assert both.documents(words).tolist() == whole.documents(words).tolist()
        assert both.count(words) == whole.count(words)
    assert both.is_of(texts)
    assert whole.is_of(texts)


@settings(max_examples=60, deadline=None)
@given(TEXTS, TEXTS, st.integers(0, 40))
def test_which_texts_an_index_is_of(texts, others, cut):
    """Those in their order, all of them: not other ones, not more, not fewer."""
    index = CorpusIndex.merge(CorpusIndex.build(texts[:cut], split), CorpusIndex.build(texts[cut:], split))
    assert index.is_of(iter(texts))
    assert index.is_of(others) is (others == texts)
    assert not index.is_of([*texts, "more"])
    assert not texts or not index.is_of(texts[:-1])


def test_added_to_a_saved_index(tmp_path):
    """New documents go onto a saved index, in the words of the same model."""
    explainer = kedge.Explainer(kedge.rules.present("good"))
    folder = explainer.index(["Good food", "bad"]).save(tmp_path / "index")
    explainer.index(["so GOOD", ""], onto=folder).save(folder)
    grown = CorpusIndex.open(folder)
    assert grown.documents("good").tolist() == [0, 2]
    assert grown.is_of(["Good food", "bad", "so GOOD", ""])
    assert kedge.Explainer(kedge.rules.present("good"), corpus=folder).explain("good").coverage == 0.5
    with pytest.raises(kedge.KedgeError, match="other words"):
        explainer.index(["good"], onto=CorpusIndex.build(["Good Food"], str.split))
    mixed = CorpusIndex.merge(grown, CorpusIndex.build(["Good Food"], str.split))
    with pytest.raises(kedge.KedgeError, match="other words"):
        kedge.Explainer(kedge.rules.present("good"), corpus=mixed)


@pytest.mark.parametrize(
    "about", ['{"format": 2}', '{"format": 2, "parts": [{}]}', "[]", "{", '{"format": 1}']
)
def test_a_damaged_index_is_one_sentence(tmp_path, about):
    """Whatever is wrong with it."""
    folder = CorpusIndex.build(["good"], split).save(tmp_path / "index")
    (folder / "index.json").write_text(about)
    with pytest.raises(kedge.KedgeError, match=r"cannot be read as a corpus index|build it again"):
        CorpusIndex.open(folder)


def test_rare_and_frequent_words():
    """Sparse lists meet bit sets: 1,000 documents, a word in every one, in one of 7, in one of 333."""
    texts = [f"x {'y ' * (k % 7 == 0)}{'z' * (k % 333 == 0)}" for k in range(1000)]
    index = CorpusIndex.build(texts, str.split)
    assert index.count(["x"]) == 1000
    assert index.count(["x", "y"]) == 143
    assert index.count(["x", "z"]) == 4
    assert index.documents(["y", "z"]).tolist() == [0]
    assert index.count(["z", "x", "y", "y"]) == 0


def test_explanations_carry_their_coverage():
    """corpus= as texts, as an index and as a saved folder give e.coverage, in the model's own words."""
    texts = ["Good food", "GOOD, good", "bad food", ""]
    model = kedge.rules.present("good")
    assert kedge.explain(model, "so good", corpus=texts).coverage == 0.5
    assert kedge.explain(model, "so good").coverage is None
    explainer = kedge.Explainer(model, corpus=kedge.Explainer(model).index(texts))
    assert explainer.explain("so good").coverage == 0.5
    assert pickle.loads(pickle.dumps(explainer)).explain("so good").coverage == 0.5


def test_a_foreign_index_is_refused(tmp_path):
    """An index made with other words than the model reads would give wrong numbers."""
    folder = CorpusIndex.build(["Good Food"], str.split).save(tmp_path / "index")
    with pytest.raises(kedge.KedgeError, match="other words"):
        kedge.Explainer(kedge.rules.present("good"), corpus=folder)
    with pytest.raises(kedge.KedgeError, match="There is no corpus index in"):
        kedge.Explainer(kedge.rules.present("good"), corpus=tmp_path / "nothing")
    (tmp_path / "other").mkdir()
    with pytest.raises(kedge.KedgeError, match="no corpus index"):
        CorpusIndex.open(folder).save(tmp_path / "other")
