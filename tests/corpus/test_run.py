"""Whole runs: order, errors, formats, resuming, workers."""

import json
import random
import re
from collections import Counter
from dataclasses import replace

import counted
import joblib
import numpy as np
import pytest

import kedge
from kedge.corpus import explain_file, open_source, result_rows
from kedge.corpus.files.journal import Journal, intact_rows
from kedge.data.demo import review_model, reviews
from kedge.errors import Failure

GOOD = kedge.rules.any_of(["not", "bad"], ["good"])
TEXTS = ["good food", "", "not bad at all", "😀 good good", "bad"] * 3


def source_of(folder, texts=TEXTS):
    path = folder / "in.jsonl"
    path.write_text("".join(json.dumps({"t": t}) + "\n" for t in texts))
    return open_source(path, "t")


def rows_of(path):
    return [{k: v for k, v in row.items() if k != "seconds"} for row in result_rows(path)]


class TestFromPython:
    def test_order_ids_and_errors(self):
        """One outcome per text, in order; what cannot be explained has a reason and ends nothing."""
        texts = ["so good", "", None, 3, "no words of the rule", "good"]
        outcomes = list(kedge.Explainer(GOOD).explain_corpus(texts, ids="abcdef", workers=1))
        assert [o.row for o in outcomes] == list(range(6))
        assert [o.id for o in outcomes] == list("abcdef")
        assert [o.explanation is None for o in outcomes] == [False, True, True, True, True, False]
        assert outcomes[1].error == Failure("TextError", "The text is empty; there is nothing to explain.")
        assert "got NoneType" in outcomes[2].error.reason

    def test_the_same_as_one_by_one(self):
        """A corpus changes nothing: the seed of a document is its own, not its place's."""
        texts = reviews()[0][:12]
        black_box = kedge.Explainer(lambda ts: ["good" in t for t in ts], method="beam", seed=3)
        together = [o.explanation for o in black_box.explain_corpus(texts, workers=1)]
        assert together == [black_box.explain(text) for text in texts]
        backwards = [o.explanation for o in black_box.explain_corpus(texts[::-1], workers=1)]
        assert backwards == together[::-1]

    def test_any_number_of_workers(self):
        """Two processes, threads, or none: the same explanations."""
        texts = [*reviews()[0][:20], "", "unheard"]
        explainer = kedge.Explainer(review_model())
        alone = [o.explanation for o in explainer.explain_corpus(texts, workers=1)]
        assert alone == [o.explanation for o in explainer.explain_corpus(texts, workers=2)]
        with joblib.parallel_config(backend="threading", n_jobs=2):
            assert alone == [o.explanation for o in explainer.explain_corpus(texts)]

    @pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of fork, in newer versions of Python
    def test_other_backends(self):
        """A backend that gives results only a round at a time, as those of ray and Spark do."""
        texts = [*reviews()[0][:6], ""]
        explainer = kedge.Explainer(GOOD)
        alone = list(explainer.explain_corpus(texts, workers=1))
        with joblib.parallel_config(backend="multiprocessing", n_jobs=2):
            others = list(explainer.explain_corpus(texts))
        assert [o.explanation for o in others] == [o.explanation for o in alone]
        assert [o.error for o in others] == [o.error for o in alone]

    def test_streams(self):
        """Texts are read as they are needed, and a caller may stop early."""
        read = []

        def texts():
            for k in range(10_000):
                read.append(k)
                yield "good"

        outcomes = kedge.Explainer(GOOD).explain_corpus(texts(), workers=1)
        assert next(outcomes).explanation.words == ("good",)
        outcomes.close()
        assert len(read) < 100
        read.clear()
        outcomes = kedge.Explainer(GOOD).explain_corpus(texts(), workers=2)
        next(outcomes)
        outcomes.close()
        assert len(read) < 10_000

    def test_the_model_is_sent_once_per_worker(self, tmp_path):
        """However many batches there are, each worker unpacks the model once."""
        model = counted.Counted(str(tmp_path / "unpacked"))
        list(kedge.Explainer(model).explain_corpus(["good food"] * 60, workers=2))
        assert max(Counter((tmp_path / "unpacked").read_text().split()).values()) == 1

    def test_refusals(self):
        """A single string, no workers, a model that cannot travel: one sentence each."""
        explainer = kedge.Explainer(GOOD)
        with pytest.raises(kedge.KedgeError, match="list of texts"):
            explainer.explain_corpus("good")
        with pytest.raises(kedge.KedgeError, match="other than 0"):
            list(explainer.explain_corpus(["good"], workers=0))
        with pytest.raises(kedge.KedgeError, match="more texts than ids"):
            list(explainer.explain_corpus(["good", "bad"], ids=["a"], workers=1))
        lock = __import__("threading").Lock()
        stuck = kedge.Explainer(lambda ts: [bool(lock) for _ in ts])
        with pytest.raises(kedge.KedgeError, match="cannot be sent"):
            list(stuck.explain_corpus(["good"], workers=2))

    def test_progress_is_left_at_home(self):
        """A caller's progress function does not keep an explainer from travelling."""
        lock = __import__("threading").Lock()
        explainer = kedge.Explainer(GOOD, progress=lambda _: lock.locked())
        assert len(list(explainer.explain_corpus(["good", "bad"], workers=2))) == 2


class TestFiles:
    @pytest.fixture(autouse=True)
    def here(self):
        """Explain in this process: that of other processes is tested elsewhere, and takes longer."""
        with joblib.parallel_config(backend="threading", n_jobs=1):
            yield

    def test_rows(self, tmp_path):
        """One row per document, in input order, with all that an explanation says."""
        summary = explain_file(kedge.Explainer(GOOD), source_of(tmp_path), tmp_path / "out.jsonl", workers=1)
        rows = rows_of(tmp_path / "out.jsonl")
        assert [row["row"] for row in rows] == list(range(15))
        assert rows[0]["words"] == ["good"]
        assert rows[0]["spans"] == [[0, 4]]
        assert (rows[0]["error_kind"], rows[1]["error_kind"]) == (None, "TextError")
        assert rows[1]["error"] == "The text is empty; there is nothing to explain."
        assert (rows[0]["threshold"], rows[0]["needs_no_word"]) == (0.95, False)
        assert (summary.documents, summary.explained, summary.errors["TextError"]) == (15, 12, 3)
        assert summary.lengths == {1: 9, 2: 3}
        assert "exact 12" in str(summary)
        assert re.search(r"^labels     1: \d+", str(summary), re.MULTILINE)

    @pytest.mark.data
    def test_parquet(self, tmp_path):
        """A Parquet result holds the same rows, typed."""
        import pyarrow.parquet as pq

        explainer = kedge.Explainer(GOOD)
        for name in ("out.jsonl", "out.parquet"):
            explain_file(explainer, source_of(tmp_path), tmp_path / name, workers=1)
        rows = rows_of(tmp_path / "out.jsonl")
        typed = [{**r, "id": str(r["id"])} | ({} if r["error"] else {"label": str(r["label"])}) for r in rows]
        assert rows_of(tmp_path / "out.parquet") == typed
        types = {f.name: str(f.type) for f in pq.read_schema(tmp_path / "out.parquet")}
        assert (types["label"], types["row"], types["precision"]) == ("string", "int64", "double")
        names = ["out.jsonl", "out.jsonl.run", "out.parquet", "out.parquet.run"]
        assert sorted(p.name for p in tmp_path.glob("out*")) == names

    def test_full_rows(self, tmp_path):
        """With full=True every row holds the whole explanation, but for what only looking at it finds."""
        explainer = kedge.Explainer(GOOD)
        explain_file(explainer, source_of(tmp_path), tmp_path / "out.jsonl", workers=1, full=True)
        kept = [
            r["explanation"] and json.dumps(r["explanation"]) for r in result_rows(tmp_path / "out.jsonl")
        ]
        back = [line and kedge.Explanation.from_json(line) for line in kept]
        assert back == [replace(explainer.explain(t), removals=()) if t else None for t in TEXTS]

    def test_existing_results_are_not_touched(self, tmp_path):
        """An existing file is refused, unless it is to be replaced; a finished run resumes to itself."""
        explainer, out = kedge.Explainer(GOOD), tmp_path / "out.jsonl"
        explain_file(explainer, source_of(tmp_path), out, workers=1)
        before = out.read_bytes()
        with pytest.raises(kedge.KedgeError, match="exists; replace it with `overwrite=True`"):
            explain_file(explainer, source_of(tmp_path), out, workers=1)
        summary = explain_file(explainer, source_of(tmp_path), out, workers=1, resume=True)
        assert (summary.documents, summary.resumed) == (15, 15)
        assert out.read_bytes() == before
        explain_file(explainer, source_of(tmp_path, ["good"]), out, workers=1, overwrite=True)
        assert len(rows_of(out)) == 1
        with pytest.raises(kedge.KedgeError, match="must end in"):
            explain_file(explainer, source_of(tmp_path), tmp_path / "out.csv", workers=1)

    @pytest.mark.parametrize("torn", [b"", b'{"row":', b"\0" * 400, b'{"row":99}\n', b"[]\n", b"\xff\xfe\n"])
    @pytest.mark.parametrize("rows", [0, 1, 7, 15])
    def test_resume_after_any_tear(self, tmp_path, rows, torn):
        """Whatever an interruption left at the end of the part, the result is the same."""
        explainer, out = kedge.Explainer(GOOD), tmp_path / "out.jsonl"
        source = source_of(tmp_path)
        explain_file(explainer, source, out, workers=1)
        expected = rows_of(out)
        lines = out.read_bytes().splitlines(keepends=True)
        interrupt(explainer, source, out)
        out.with_name("out.jsonl.part").write_bytes(b"".join(lines[:rows]) + torn)
        out.unlink()
        summary = explain_file(explainer, source, out, workers=1, resume=True)
        assert rows_of(out) == expected
        assert summary.resumed == rows

    def test_resuming_something_else_is_refused(self, tmp_path):
        """Other options, or another input, would mix two results in one file."""
        explainer, out = kedge.Explainer(GOOD), tmp_path / "out.jsonl"
        interrupt(explainer, source_of(tmp_path), out)
        with pytest.raises(kedge.KedgeError, match="interrupted run has left"):
            explain_file(explainer, source_of(tmp_path), out, workers=1)
        other = kedge.Explainer(GOOD, threshold=0.9)
        with pytest.raises(kedge.KedgeError, match=r"threshold=0\.95`, not 0\.9"):
            explain_file(other, source_of(tmp_path), out, workers=1, resume=True)
        with pytest.raises(kedge.KedgeError, match="another text"):
            explain_file(explainer, source_of(tmp_path, ["changed"]), out, workers=1, resume=True)
        retrained = kedge.Explainer(
            replace(kedge.as_model(kedge.rules.present("bad")), name=str(explainer.model.name))
        )
        with pytest.raises(kedge.KedgeError, match="not the model the run was started with"):
            explain_file(retrained, source_of(tmp_path), out, workers=1, resume=True)
        explain_file(explainer, source_of(tmp_path), out, workers=1, overwrite=True)
        assert len(rows_of(out)) == 15

    @pytest.mark.parametrize("name", ["out.jsonl", pytest.param("out.parquet", marks=pytest.mark.data)])
    def test_a_finished_run_is_not_passed_off_as_another(self, tmp_path, name):
        """Resuming a finished run gives it again; any other question about it is refused."""
        explainer, out = kedge.Explainer(GOOD), tmp_path / name
        explain_file(explainer, source_of(tmp_path), out, workers=1)
        before = out.read_bytes()

        def again(explainer, texts=TEXTS, **options):
            return explain_file(explainer, source_of(tmp_path, texts), out, workers=1, resume=True, **options)

        assert again(explainer).resumed == 15
        for seed in (0, 1):
            with pytest.raises(kedge.KedgeError, match="earlier run was started with"):
                again(kedge.Explainer(GOOD, threshold=0.9, seed=seed))
        with pytest.raises(kedge.KedgeError, match="limit=None`, not 3"):
            again(explainer, limit=3)
        with pytest.raises(kedge.KedgeError, match="another text"):
            again(explainer, ["changed"])
        with pytest.raises(kedge.KedgeError, match="another text"):
            again(explainer, TEXTS[:5])
        with pytest.raises(kedge.KedgeError, match="has more documents"):
            again(explainer, [*TEXTS, "good"])
        other = replace(kedge.as_model(kedge.rules.present("bad")), name=str(explainer.model.name))
        with pytest.raises(kedge.KedgeError, match="not the model the run was started with"):
            again(kedge.Explainer(other))
        out.with_name(f"{name}.run").unlink()
        with pytest.raises(kedge.KedgeError, match="choose another `out`"):
            again(explainer)
        assert out.read_bytes() == before

    def test_options_that_are_objects_are_told_apart(self, tmp_path):
        """A mask, a list of classes, a tokenizer or a corpus that changed makes another run."""
        source, out = source_of(tmp_path), tmp_path / "out.jsonl"

        def explained(overwrite=False, **options):
            explainer = kedge.Explainer(lambda ts: [[0.0, 1.0]] * len(ts), **options)
            again = {"overwrite": True} if overwrite else {"resume": True}
            return explain_file(explainer, source, out, workers=1, limit=2, **again)

        for name, one, other in [
            ("perturbation", kedge.Masking(keep=0.4), kedge.Masking(keep=0.6)),
            ("classes", ["no", "yes"], ["nein", "ja"]),
            ("tokenizer", str.split, str.splitlines),
            ("corpus", ["good food", "bad"], ["good food", "bad food"]),
        ]:
            explained(overwrite=True, **{name: one})
            assert explained(**{name: one}).resumed == 2
            with pytest.raises(kedge.KedgeError, match=f"started with `{name}="):
                explained(**{name: other})

    def test_a_refusal_leaves_nothing_behind(self, tmp_path):
        """What is refused before the first row is not in the way of the corrected call."""
        lock = __import__("threading").Lock()
        stuck = kedge.Explainer(lambda ts: [bool(lock) for _ in ts])
        source, out = source_of(tmp_path), tmp_path / "out.jsonl"
        for explainer, wrong in [
            (kedge.Explainer(GOOD), {"workers": 0}),
            (kedge.Explainer(GOOD), {"limit": 0}),
            (stuck, {"workers": 2}),
        ]:
            with pytest.raises(kedge.KedgeError), joblib.parallel_config(backend="loky"):
                explain_file(explainer, source, out, **wrong)
            assert not list(tmp_path.glob("out*"))
        assert explain_file(kedge.Explainer(GOOD), source, out, workers=1).documents == 15

    @pytest.mark.posix
    def test_one_writer_at_a_time(self, tmp_path):
        """A second run on the same file is refused while the first one lasts."""
        with Journal(tmp_path / "out.jsonl", {}), pytest.raises(kedge.KedgeError, match="Another run"):
            Journal(tmp_path / "out.jsonl", {}, "resume").__enter__()

    def test_a_source_that_ends_badly(self, tmp_path):
        """A damaged input is one sentence; the rows before the damage are kept."""
        import gzip

        rng = random.Random(0)
        lines = [json.dumps({"t": f"good {rng.random()}"}) + "\n" for _ in range(3000)]
        packed = gzip.compress("".join(lines).encode())
        (tmp_path / "in.jsonl.gz").write_bytes(packed[: len(packed) // 2])
        source = open_source(tmp_path / "in.jsonl.gz", "t")
        with pytest.raises(kedge.KedgeError, match="cannot be read beyond row"):
            explain_file(kedge.Explainer(GOOD), source, tmp_path / "out.jsonl", workers=1)
        with (tmp_path / "out.jsonl.part").open("rb") as file:
            assert sum(1 for _ in intact_rows(file)) > 100


def interrupt(explainer, source, out):
    """Leave a run as an interruption after its third row would."""

    def stop(summary, _):
        if summary.documents == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        explain_file(explainer, source, out, workers=1, watch=stop, overwrite=True)


class TestTogether:
    """Documents of a batch, which are read together."""

    TEXTS = ("good food so good", "bad food", "good place", "bad place so bad") * 3

    def fitted(self, **options):
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline

        pipeline = make_pipeline(TfidfVectorizer(**options), LogisticRegression())
        return pipeline.fit(list(self.TEXTS), [1, 0, 1, 0] * 3)

    @pytest.mark.parametrize("norm", [None, "l2"])
    def test_each_is_explained_as_if_it_were_alone(self, norm):
        """Those that cannot be explained, for want of words, have their errors beside the others."""
        rng = np.random.default_rng(0)
        words = ["good", "bad", "food", "place", "so"]
        texts = [
            *(" ".join(rng.choice(words, n)) for n in (3, 30, 60, 90)),
            "...",
            "unseen words",
            "",
            *self.TEXTS,
        ]
        explainer = kedge.Explainer(self.fitted(norm=norm))
        for text, outcome in zip(texts, explainer.explain_corpus(texts, workers=1), strict=True):
            if outcome.error is None:
                assert outcome.explanation == replace(explainer.explain(text), removals=())
            else:
                with pytest.raises(kedge.errors.KedgeError, match=re.escape(outcome.error.reason[:30])):
                    explainer.explain(text)

    def test_with_all_words_known_they_are_begun_together(self):
        """The reading of each is at hand, with the first look at its anchors."""
        rng = np.random.default_rng(0)
        texts = [" ".join(rng.choice(["good", "bad", "food", "place"], 40)) for _ in range(3)]
        explainer = kedge.Explainer(self.fitted(norm=None))
        queries = explainer.prepare_batch([*texts, "unseen"], [None] * 4)
        assert [q.opened is not None for q in queries] == [True, True, True, False]
        assert all(begun is not None for q in queries[:3] for begun in q.opened[1].begun.values())
        assert [explainer.answer(q) for q in queries[:3]] == [explainer.explain(t) for t in texts]
        assert [q.known for q in explainer.prepare_batch(["...", "!"], [None, None])] == [None, None]

    def test_a_tokenizer_of_the_users_own_is_respected(self):
        """Then words are not the model's own, and only its labels come from one call."""
        explainer = kedge.Explainer(self.fitted(), tokenizer=str.split)
        queries = explainer.prepare_batch(list(self.TEXTS[:3]), [None] * 3)
        assert all(q.opened is None and q.known is not None for q in queries)
        outcomes = list(explainer.explain_corpus(self.TEXTS[:3], workers=1))
        alone = [replace(explainer.explain(text), removals=()) for text in self.TEXTS[:3]]
        assert [replace(o.explanation, removals=()) for o in outcomes] == alone

    def test_a_model_that_is_fitted_anew_is_read_anew(self):
        """A second corpus is explained for the model as it is then."""
        pipeline = self.fitted()
        explainer = kedge.Explainer(pipeline)
        first = [o.explanation.label for o in explainer.explain_corpus(self.TEXTS, workers=1)]
        pipeline.fit(list(self.TEXTS), [0, 1, 0, 1] * 3)
        second = [o.explanation.label for o in explainer.explain_corpus(self.TEXTS, workers=1)]
        assert second == [1 - label for label in first]
