"""Runs that could once not be finished, or said what was not so."""

import gzip
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import joblib
import numpy as np
import pytest
from places import SRC
from runs import rows_in, start_corpus, wait_for

import kedge
from kedge.corpus import explain_file, open_source, result_rows
from kedge.corpus.identity import model_digest

GOOD = kedge.rules.any_of(["not", "bad"], ["good"])
TEXTS = ["good food", "not bad at all", "", "so good"] * 5
posix = pytest.mark.skipif(os.name != "posix", reason="needs signals and limits of POSIX")


def write(folder, rows, name="in.jsonl"):
    (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return open_source(folder / name, "t", "id" if "id" in rows[0] else None)


def texts(many):
    return [{"t": f"good w{k} and more"} for k in range(many)]


def limited(size):
    """What lets a process write files of this size at most."""
    import resource

    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


class TestParquet:
    @pytest.fixture(autouse=True)
    def here(self):
        pytest.importorskip("pyarrow")
        with joblib.parallel_config(backend="threading", n_jobs=1):
            yield

    def test_ids_that_no_column_of_numbers_or_text_can_hold(self, tmp_path):
        """A lone surrogate, a number beyond 64 bits, a list, nothing: all are ids of a table's rows."""
        ids = ["\ud800 id", 2**70, [1, "é"], None, -5, "plain"]
        source = write(tmp_path, [{"t": "good", "id": name} for name in ids])
        summary = explain_file(kedge.Explainer(GOOD), source, tmp_path / "out.parquet")
        found = [row["id"] for row in result_rows(tmp_path / "out.parquet")]
        assert found == ["\\ud800 id", str(2**70), '[1, "\\u00e9"]', "3", "-5", "plain"]
        assert summary.documents == 6

    def test_every_shard_has_the_same_schema(self, tmp_path):
        """Whatever ids, labels and errors there are, tables are parts of one dataset."""
        import pyarrow.dataset as ds
        import pyarrow.parquet as pq

        models = [
            GOOD,
            lambda ts: ["good" in t for t in ts],
            lambda ts: [["a", "b"]["good" in t] for t in ts],
        ]
        shards = [[{"t": "good", "id": 1}], [{"t": "good", "id": "x"}], [{"t": "", "id": None}]]
        for k, (model, rows) in enumerate(zip(models, shards, strict=True)):
            source = write(tmp_path, rows, f"in{k}.jsonl")
            explain_file(kedge.Explainer(model), source, tmp_path / f"out{k}.parquet")
        schemas = [pq.read_schema(tmp_path / f"out{k}.parquet").remove_metadata() for k in range(3)]
        assert schemas[0] == schemas[1] == schemas[2]
        table = ds.dataset(sorted(tmp_path.glob("*.parquet"))).to_table()
        assert table.column("label").to_pylist() == ["1", "True", None]

    def test_where_the_results_come_from(self, tmp_path):
        """The file itself says by what and from what it was made."""
        import pyarrow.parquet as pq

        source = write(tmp_path, [{"t": "good"}])
        explain_file(kedge.Explainer(GOOD, threshold=0.9), source, tmp_path / "out.parquet")
        about = json.loads(pq.read_schema(tmp_path / "out.parquet").metadata[b"kedge"])
        assert (about["kedge"], about["threshold"]) == (kedge.__version__, 0.9)
        assert (about["source"], about["text"]) == ("in.jsonl", "t")
        assert len(about["model_digest"]) == 32

    def test_it_grows_with_the_run(self, tmp_path, monkeypatch):
        """Rows are in the table long before the end; what is left of an interrupted one is made again."""
        monkeypatch.setattr("kedge.corpus.files.table.GROUP", 4)
        source = write(tmp_path, [{"t": t} for t in TEXTS])
        sizes = []

        def watch(summary, _):
            sizes.append((tmp_path / "out.parquet.new").stat().st_size)
            if summary.documents == 14:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            explain_file(kedge.Explainer(GOOD), source, tmp_path / "out.parquet", watch=watch)
        assert sizes[-1] > sizes[0] + 1000
        assert not (tmp_path / "out.parquet.new").exists()
        summary = explain_file(kedge.Explainer(GOOD), source, tmp_path / "out.parquet", resume=True)
        assert (summary.resumed, summary.documents) == (14, 20)
        assert [row["row"] for row in result_rows(tmp_path / "out.parquet")] == list(range(20))


@posix
def test_a_disk_that_is_too_small_for_the_table(tmp_path):
    """It is one sentence, and with room the run goes on."""
    pytest.importorskip("pyarrow")
    write(tmp_path, texts(5))
    options = ["--out", "out.parquet", "--model", "small:model", "--workers", "1"]
    (tmp_path / "small.py").write_text("def model(texts):\n    return ['good' in t for t in texts]\n")
    process = start_corpus(tmp_path, *options, preexec_fn=limited(4000))
    _, said = process.communicate()
    assert (process.returncode, said.count("\n")) == (2, 1), said
    assert "continue with --resume" in said
    process = start_corpus(tmp_path, *options, "--resume")
    assert (process.communicate()[1], process.returncode) == ("", 0)
    assert [row["row"] for row in result_rows(tmp_path / "out.parquet")] == list(range(5))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_table_on_a_full_disk(tmp_path):
    """Its end is one sentence; and when the run has ended for another reason, that is what is said."""
    pytest.importorskip("pyarrow")
    from kedge.corpus.files.table import Table

    path = tmp_path / "out.parquet.new"

    def begin(then):
        path.symlink_to("/dev/full")
        with Table(path) as table:
            then(table)

    def interrupt(_):
        raise KeyboardInterrupt

    with pytest.raises(kedge.KedgeError, match="No space left on device"):
        begin(Table.close)
    assert not path.is_symlink()
    with pytest.raises(KeyboardInterrupt):
        begin(interrupt)
    assert not path.is_symlink()


@posix
@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_temporary_folder_that_is_too_small(tmp_path, workers):
    """A model that does not fit there is one sentence that names the folder, and leaves nothing behind."""
    write(tmp_path, texts(5))
    (tmp_path / "tmp").mkdir()
    weights = {f"word{k}": 0.1 for k in range(20_000)}
    (tmp_path / "big.py").write_text(f"import kedge\nmodel = kedge.WordWeights({weights!r})\n")
    process = start_corpus(
        tmp_path,
        *("--out", "out.jsonl", "--model", "big:model", "--workers", workers),
        preexec_fn=limited(20_000),
        env={"TMPDIR": str(tmp_path / "tmp")},
    )
    _, said = process.communicate()
    assert (process.returncode, said.count("\n")) == (2, 1), said
    assert "temporary folder" in said
    assert "$TMPDIR" in said
    assert not list(tmp_path.glob("out*"))
    assert not list((tmp_path / "tmp").glob("kedge-*"))


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_document_that_crashes_its_worker(tmp_path, workers):
    """With one worker, too, it is a row with the reason, and the run goes on."""
    (tmp_path / "deadly.py").write_text(
        "import os\n"
        "def model(texts):\n"
        "    if any('poison' in t for t in texts): os._exit(3)\n"
        "    return ['good' in t for t in texts]\n"
    )
    write(tmp_path, [{"t": "good"}, {"t": "poison"}, {"t": "bad"}])
    options = ["--out", "out.jsonl", "--model", "deadly:model", "--workers", workers]
    process = start_corpus(tmp_path, *options)
    assert (process.communicate()[1], process.returncode) == ("", 0)
    rows = list(result_rows(tmp_path / "out.jsonl"))
    assert [row["error_kind"] for row in rows] == [None, "WorkerDied", None]
    assert "exit code 3" in rows[1]["error"]


SLOW_ONES = """
import time
def model(texts):
    if any("stuck" in text for text in texts):
        time.sleep(600)
    if any("slow" in text for text in texts):
        time.sleep(0.02 * len(texts))
    return ["good" in text for text in texts]
"""


def test_a_document_that_takes_too_long(tmp_path):
    """What does not end is ended and a row with that reason; a search gives what it has found by then."""
    (tmp_path / "slow_ones.py").write_text(SLOW_ONES)
    slow = " ".join(["slow", "good", *(f"w{k}" for k in range(40))])
    write(tmp_path, [{"t": text} for text in ("good", "stuck", "bad", slow, "good food")])
    options = ["--out", "out.jsonl", "--model", "slow_ones:model", "--workers", "1", "--timeout", "4"]
    process = start_corpus(tmp_path, *options)
    assert (process.communicate()[1], process.returncode) == ("", 0)
    rows = list(result_rows(tmp_path / "out.jsonl"))
    assert [row["row"] for row in rows] == list(range(5))
    assert [row["error_kind"] for row in rows] == [None, "OutOfTime", None, None, None]
    assert "longer than the 4 s" in rows[1]["error"]
    assert any("time" in note for note in rows[3]["notes"])


@pytest.mark.parametrize("wrong", [0, -1, float("nan"), "1", True])
def test_a_time_limit_that_cannot_be_meant(wrong):
    """It is refused at once."""
    with pytest.raises(kedge.KedgeError, match="`timeout` must be"):
        kedge.Explainer(GOOD).explain_corpus(["good"], timeout=wrong)


class TestTheModel:
    def test_a_model_that_changed_in_the_middle(self, tmp_path):
        """A model that gives the first and the last row the same label is found out all the same."""
        from sklearn.feature_extraction.text import CountVectorizer
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline

        def trained(labels):
            model = make_pipeline(CountVectorizer(), LogisticRegression())
            return model.fit(["good food", "bad food", "cold soup", "warm soup"], labels)

        one, other = trained([1, 0, 0, 1]), trained([1, 0, 0, 1])
        other[-1].coef_ = other[-1].coef_.copy()
        other[-1].coef_[0, other[0].vocabulary_["soup"]] += 1e-3
        source = write(tmp_path, [{"t": t} for t in ("good food", "cold soup", "bad food", "good", "bad")])
        out = tmp_path / "out.jsonl"

        def stop(summary, _):
            if summary.documents == 4:
                raise KeyboardInterrupt

        with joblib.parallel_config(backend="threading", n_jobs=1):
            with pytest.raises(KeyboardInterrupt):
                explain_file(kedge.Explainer(one), source, out, watch=stop)
            with pytest.raises(kedge.KedgeError, match="not the model the run was started with"):
                explain_file(kedge.Explainer(other), source, out, resume=True)
            assert (
                explain_file(kedge.Explainer(trained([1, 0, 0, 1])), source, out, resume=True).documents == 5
            )

    def test_functions(self):
        """A function is its code, and what it uses: not its name, nor where it stands."""
        digests = {}
        for name, source in {
            "one": "def model(ts): return ['good' in t for t in ts]",
            "moved": "\n\n\ndef model(ts): return ['good' in t for t in ts]",
            "other": "def model(ts): return ['bad' in t for t in ts]",
            "global": "word = 'good'\ndef model(ts): return [word in t for t in ts]",
            "global changed": "word = 'bad'\ndef model(ts): return [word in t for t in ts]",
            "helper": "def f(t): return 1\ndef model(ts): return [f(t) for t in ts]",
            "helper changed": "def f(t): return 2\ndef model(ts): return [f(t) for t in ts]",
            "recursive": "def model(ts): return model(ts[1:]) if ts else []",
        }.items():
            space = {"__name__": "__main__"}
            exec(source, space)  # noqa: S102
            digests[name] = model_digest(space["model"])
        assert None not in digests.values()
        assert digests["one"] == digests["moved"]
        assert len(set(digests.values())) == len(digests) - 1

    def test_rules_and_weights(self):
        """Closures of the library itself are told apart by what is in them."""
        models = [kedge.rules.present("good"), kedge.rules.present("bad"), kedge.as_model(GOOD)]
        models += [kedge.WordWeights({"good": 1.0}), kedge.WordWeights({"good": 2.0})]
        assert len({model_digest(model) for model in models}) == 5
        assert model_digest(models[0]) == model_digest(kedge.rules.present("good"))

    def test_the_same_in_every_process(self):
        """Neither the order of sets nor addresses in memory are part of a digest."""
        program = (
            "from kedge.corpus.identity import model_digest\n"
            "from sklearn.feature_extraction.text import TfidfVectorizer\n"
            "from sklearn.linear_model import LogisticRegression\n"
            "from sklearn.pipeline import make_pipeline\n"
            "stop = {'the', 'a', 'of', 'in'}\n"
            "texts = ['good the food', 'bad of food'] * 3\n"
            "m = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(texts, [1, 0] * 3)\n"
            "m.steps[0][1].stop_words = frozenset(stop)\n"
            "print(model_digest(m), model_digest(lambda ts: [t in stop for t in ts]))\n"
        )
        said = {
            subprocess.run(
                [sys.executable, "-c", program],
                env={**os.environ, "PYTHONPATH": SRC, "PYTHONHASHSEED": str(seed)},
                capture_output=True,
                check=True,
            ).stdout
            for seed in (1, 2)
        }
        assert len(said) == 1
        assert b"None" not in said.pop()

    def test_networks(self):
        """Weights of a network count, and its digest is the same twice."""
        torch = pytest.importorskip("torch")

        torch.manual_seed(0)
        net = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.ReLU(), torch.nn.BatchNorm1d(2))
        before = model_digest(net)
        assert before is not None
        assert model_digest(net) == before
        with torch.no_grad():
            net[0].weight[0, 0] += 1
        assert model_digest(net) != before

    def test_what_cannot_be_pickled_has_no_digest(self):
        """Then a resumed run goes by the rows alone."""
        lock = __import__("threading").Lock()
        assert model_digest(lambda ts: [bool(lock) for _ in ts]) is None

    def test_arrays(self):
        """A change of one number in a large array is seen."""
        array = np.zeros(10_000)
        before = model_digest({"w": array})
        array[5_000] = 1e-12
        assert model_digest({"w": array}) != before


class TestFilesOfARun:
    @pytest.fixture(autouse=True)
    def here(self):
        with joblib.parallel_config(backend="threading", n_jobs=1):
            yield

    def interrupted(self, folder, rows=7):
        source, out = write(folder, [{"t": t} for t in TEXTS]), folder / "out.jsonl"

        def stop(summary, _):
            if summary.documents == rows:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            explain_file(kedge.Explainer(GOOD), source, out, watch=stop)
        return source, out, folder / "out.jsonl.part"

    @pytest.mark.parametrize("content", [None, "", " ", "{", "[]", "null"])
    def test_rows_without_what_was_asked_are_not_thrown_away(self, tmp_path, content):
        """A part whose .run is missing or unreadable is refused, and stays."""
        source, out, part = self.interrupted(tmp_path)
        before = part.read_bytes()
        if content is None:
            (tmp_path / "out.jsonl.run").unlink()
        else:
            (tmp_path / "out.jsonl.run").write_text(content)
        for options in ({"resume": True}, {"retry_errors": True}, {}):
            with pytest.raises(kedge.KedgeError, match="`overwrite=True`"):
                explain_file(kedge.Explainer(GOOD), source, out, **options)
            assert part.read_bytes() == before
        assert explain_file(kedge.Explainer(GOOD), source, out, overwrite=True).documents == 20

    @pytest.mark.parametrize(
        "line",
        [
            b'{"row":7}\n',
            b'{"row":7,"digest":1}\n',
            b"[" * 100_000 + b"\n",
            b'"x"\n',
            b"\n",
            b"\xff\n",
            b"7\n",
        ],
    )
    def test_strange_lines_in_the_part(self, tmp_path, line):
        """What is no row is set aside, with what follows it, and said; its documents are done again."""
        source, out, part = self.interrupted(tmp_path)
        good = part.read_bytes()
        with part.open("ab") as file:
            file.write(line + good)
        summary = explain_file(kedge.Explainer(GOOD), source, out, resume=True)
        assert (summary.resumed, summary.documents) == (7, 20)
        assert "out.jsonl.damaged" in summary.notes[0]
        assert (tmp_path / "out.jsonl.damaged").read_bytes() == line + good
        assert [row["row"] for row in result_rows(out)] == list(range(20))

    @pytest.mark.parametrize("ending", ["", ".part", ".run", ".new", ".before"])
    def test_the_input_is_not_replaced(self, tmp_path, ending):
        """A result that would be written over its own input is refused, by whatever name."""
        (tmp_path / f"out.jsonl{ending}").write_text('{"t": "good"}\n')
        source = open_source(tmp_path / f"out.jsonl{ending}", "t", format="jsonl")
        (tmp_path / "there").symlink_to(tmp_path)
        for out in (tmp_path / "out.jsonl", tmp_path / "there" / "out.jsonl"):
            with pytest.raises(kedge.KedgeError, match="is the input"):
                explain_file(kedge.Explainer(GOOD), source, out, overwrite=True)
        assert (tmp_path / f"out.jsonl{ending}").read_text() == '{"t": "good"}\n'

    def test_a_refused_overwrite_leaves_the_result_as_it_was(self, tmp_path):
        """What cannot be begun does not take the old result's origin away."""
        source, out = write(tmp_path, [{"t": "good"}]), tmp_path / "out.jsonl"
        explain_file(kedge.Explainer(GOOD), source, out)
        before = [(tmp_path / name).read_bytes() for name in ("out.jsonl", "out.jsonl.run")]
        with pytest.raises(kedge.KedgeError, match="raised"):
            explain_file(kedge.Explainer(lambda _: 1 / 0), source, out, overwrite=True)
        assert [(tmp_path / name).read_bytes() for name in ("out.jsonl", "out.jsonl.run")] == before
        assert sorted(path.name for path in tmp_path.glob("out*")) == ["out.jsonl", "out.jsonl.run"]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_cut_off_file_keeps_what_was_read(tmp_path, workers):
    """Every row before the damage is there when the run says so."""
    rng = random.Random(0)
    lines = [json.dumps({"t": f"good {rng.random()}"}) + "\n" for _ in range(3000)]
    packed = gzip.compress("".join(lines).encode())
    (tmp_path / "in.jsonl.gz").write_bytes(packed[: len(packed) // 2])
    source = open_source(tmp_path / "in.jsonl.gz", "t")
    readable = []
    with pytest.raises(EOFError):
        readable.extend(item.row for item in source)
    readable = len(readable)
    with pytest.raises(kedge.KedgeError, match=f"beyond row {readable - 1} .*rows before it are kept"):
        explain_file(kedge.Explainer(GOOD), source, tmp_path / "out.jsonl", workers=workers)
    assert rows_in(tmp_path / "out.jsonl.part") == readable > 500


def test_texts_that_end_badly():
    """Outcomes of the texts before are given, then the error of the caller's own iterable."""

    def raising():
        yield from ["good"] * 50
        raise ZeroDivisionError("mine")

    for workers in (1, 2):
        given = []

        def read(given=given, workers=workers):
            for outcome in kedge.Explainer(GOOD).explain_corpus(raising(), workers=workers):
                given.append(outcome.row)

        with pytest.raises(ZeroDivisionError, match="mine"):
            read()
        assert given == list(range(50))


@pytest.mark.parametrize("name", ["in.csv.gz", "in.csv.bz2", "in.csv.xz", "in.jsonl.gz", "in.csv.zst"])
def test_a_text_that_is_named_like_a_packed_file(tmp_path, name):
    """It is one sentence, and no file."""
    if name.endswith("zst"):
        pytest.importorskip("pyarrow")
    (tmp_path / name).write_text("t\ngood\n")
    process = start_corpus(tmp_path, "--out", "out.jsonl", source=name)
    _, said = process.communicate()
    assert (process.returncode, said.count("\n")) == (2, 1), said
    assert f"{name} cannot be read" in said
    assert not list(tmp_path.glob("out*"))


SLOW = """
import time
def model(texts):
    time.sleep(0.001 * len(texts))
    return ["good" in t for t in texts]
"""


def terminate(folder, number, workers):
    """End a run by a signal; what it said, its exit code, and what is left in its temporary folder."""
    (folder / "slow_model.py").write_text(SLOW)
    (folder / "tmp").mkdir(exist_ok=True)
    options = ["--out", "out.jsonl", "--model", "slow_model:model", "--workers", workers, "--resume"]
    process = start_corpus(folder, *options, env={"TMPDIR": str(folder / "tmp")})
    before = rows_in(folder / "out.jsonl.part")
    wait_for(lambda: rows_in(folder / "out.jsonl.part") >= before + 3)
    time.sleep(random.random() * 0.05)
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    wait_for(lambda: not list((folder / "tmp").glob("kedge-*")), 10)
    return said, process.returncode


def terminated(folder, times):
    write(folder, texts(100 * times))
    part = folder / "out.jsonl.part"
    for k in range(times):
        said, code = terminate(folder, signal.SIGTERM, "12"[k % 2])
        assert code == 143
        assert said == "kedge: every finished row is in out.jsonl.part; continue with --resume\n"
        lines = part.read_bytes().splitlines(keepends=True)
        assert all(json.loads(line)["row"] == row for row, line in enumerate(lines))
        assert lines[-1].endswith(b"\n")


@posix
def test_sigterm(tmp_path):
    """A run that is told to end has whole rows, says how to go on, and clears up."""
    terminated(tmp_path, 3)


@posix
@pytest.mark.long
def test_sigterm_many_times(tmp_path):
    """The same, fifty times."""
    terminated(tmp_path, 50)


@posix
@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_killed_run_leaves_nothing_in_the_temporary_folder(tmp_path, workers):
    """Its workers clear up after it when they notice."""
    write(tmp_path, texts(100))
    assert terminate(tmp_path, signal.SIGKILL, workers) == ("", -signal.SIGKILL)
