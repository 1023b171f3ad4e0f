"""The reproduction: verdicts, cache, report, and every experiment on a handful of documents."""

import gzip
import json
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from command import run

import kedge
from kedge.cli.reproduce import experiments
from kedge.errors import OptionError

pytestmark = pytest.mark.reproduce
package = experiments()

TINY = replace(package.setting.QUICK, name="tiny", data=("restaurants",), most=1, repeats=3)


def part(name) -> ModuleType:
    return import_module(f"{package.__name__}.{name}")


@pytest.fixture(autouse=True)
def forget():
    """Nothing that an experiment remembers of one review set is taken for another's."""
    yield
    mine = [module for name, module in sys.modules.items() if name.startswith(package.__name__)]
    for value in [value for module in mine for value in vars(module).values()]:
        if hasattr(value, "cache_clear"):
            value.cache_clear()


@pytest.fixture
def session(tmp_path):
    return package.session.Session(tmp_path, TINY, quiet=True)


def test_the_paper_has_44_numbers():
    """Ten of the exhaustive table, 33 of the ranking tables, one of the masked model."""
    published = part("published")
    ranking = [c for m in published.RANKING.values() for s in m.values() for c in s.values() if c]
    assert (
        len(ranking) + sum(len(row) for row in published.EXHAUSTIVE.values()) + 1 == part("judge").LOOKS == 44
    )


class TestVerdict:
    """A number is judged by standard errors, against the authors' runs where they are known."""

    def sample(self, mean, error):
        return part("judge").Sample(mean, error, 0.4, 100, 10)

    @pytest.mark.parametrize(
        ("found", "verdict"),
        [(0.8, "within"), (0.95, "within, corrected"), (1.05, "outside"), (0.35, "outside")],
    )
    def test_against_the_authors_runs(self, found, verdict):
        """z counts both errors: 0.7 and 0.9 with 0.06 and 0.08 are two standard errors apart."""
        cell = part("result").Cell("r", "c", 0.1, 0.2, self.sample(found, 0.06), self.sample(0.7, 0.08))
        assert cell.z == pytest.approx((found - 0.7) / 0.1)
        assert cell.verdict == verdict

    def test_against_a_printed_number(self):
        """Without runs theirs are supposed to spread as ours, and the number is known to two digits."""
        cell = part("result").Cell("r", "c", 0.70, None, self.sample(0.905, 0.1))
        assert cell.z == pytest.approx(0.2 / (0.1 * 2**0.5))

    def test_against_one_draw_of_many(self):
        """What is drawn again is judged by the spread of the draws, and that of the one more drawn."""
        draws = tuple(self.sample(m, 0.01) for m in (0.5, 0.7))
        cell = part("result").Cell("r", "c", 0.1, 0.2, self.sample(0.6, 0.01), self.sample(0.8, 0.01), draws)
        assert cell.z == pytest.approx(-0.2 / (0.02**0.5 * 1.5**0.5))

    def test_without_documents(self):
        """Nothing to compare is neither within nor outside."""
        assert part("result").Cell("r", "c", 0.7, 0.2, None).verdict == "nothing to compare"

    def test_runs_of_one_document_count_once(self):
        """Many runs on few documents do not make a mean more certain than the documents allow."""
        one, many = ([[0.0] * n, [1.0] * n] for n in (1, 50))
        assert part("judge").Sample.of(many).error == part("judge").Sample.of(one).error == 0.5

    def test_the_same_documents_are_compared_one_by_one(self):
        """A small difference that is always there shows, however far apart the documents are."""
        here = {str(k): [k / 10 + 0.01 + k % 2 / 1000] for k in range(10)}
        theirs = {str(k): [k / 10] for k in range(10)}
        assert part("judge").z_paired(here, theirs) > 10
        assert part("judge").z_paired({"1": [0.5]}, theirs) is None


def test_texts_are_cut_as_the_official_package_cuts_them():
    """Contractions fall apart, white space is a token, and the label is that of the text before."""
    pytest.importorskip("spacy")
    models = part("position_models")
    assert models.cut("i cant  say").split() == ["i", "ca", "nt", "\N{OPEN BOX}", "say"]
    model = models.position_model(
        lambda texts: [int("cant" in text) for text in texts],
        lambda _: lambda kept: np.zeros(len(kept), dtype=int),
        "contractions",
    )
    assert kedge.Explainer(model, method="beam").explain(models.cut("i cant say")).label == 1


@pytest.mark.parametrize("kind", ["indicator", "tree", "logistic", "perceptron", "forest"])
@pytest.mark.usefixtures("made_reviews")
def test_asked_models_answer_as_predict_does(kind):
    """Labels from kept positions are those of the masked texts, whatever the words."""
    setting, words = part("setting"), part("position_models")._places
    model, text = setting.official("restaurants", kind), "Good service but zzz the food is not bad good"
    named = [token.word for token in words(text)]
    kept = np.random.default_rng(0).random((60, len(named))) < 0.5
    texts = [" ".join(w if k else "UNK" for w, k in zip(text.split(), row, strict=True)) for row in kept]
    told = model.from_counts(named)(kept.astype(int)).labels.tolist()
    assert told == list(setting.classifier("restaurants", kind).predict(texts))


@pytest.mark.parametrize("kind", ["logistic", "perceptron"])
@pytest.mark.usefixtures("made_reviews")
def test_a_token_may_be_several_words_of_a_linear_model(kind):
    """The figures explain texts as they are: a token with punctuation counts with every word in it."""
    setting = part("setting")
    pipeline = setting.classifier("restaurants", kind, raw=True)
    model, text = (
        part("position_models").from_linear(pipeline),
        "Good/service , the food's not-bad bad/good good ! ...",
    )
    named = [token.word for token in part("position_models")._places(text)]
    kept = np.random.default_rng(0).random((60, len(named))) < 0.5
    texts = [" ".join(w if k else "UNK" for w, k in zip(text.split(), row, strict=True)) for row in kept]
    told = model.from_counts(named)(kept.astype(int)).labels.tolist()
    assert told == list(pipeline.predict(texts))
    assert setting.corpus("restaurants", raw=True)[0] == kedge.datasets.load("restaurants").texts


@pytest.mark.usefixtures("made_reviews")
def test_networks_answer_as_their_features_do():
    """A network asked by positions, its probabilities and its slopes agree with torch."""
    torch = pytest.importorskip("torch")
    networks, split = part("networks"), part("setting").split("restaurants")
    module = networks._module((8, 4), he=False)
    vectorizer = part("vocabulary").tfidf(split.train)
    size = len(vectorizer.vocabulary_)
    module[0] = torch.nn.Linear(size, 8)
    layers = tuple(
        (m.weight.detach().numpy(), m.bias.detach().numpy()) for m in module if hasattr(m, "weight")
    )
    made, text = networks.Network(vectorizer, layers, 0.0), split.test[0]
    rows = torch.tensor(vectorizer.transform([text]).toarray(), dtype=torch.float32, requires_grad=True)
    probability = module(rows).exp()
    assert made.probabilities([text])[0] == pytest.approx(probability[0, 1].item(), abs=1e-5)
    probability.max().backward()
    slope = rows.grad.numpy()[0] * vectorizer.idf_
    for word, weight in made.weights(text).items():
        at = vectorizer.vocabulary_.get(word)
        assert weight == pytest.approx(0.0 if at is None else slope[at], abs=1e-5)
    named = [t.word for t in part("position_models")._places(text)]
    told = made.model.from_counts(named)(np.ones((1, len(named)), dtype=int)).labels[0]
    assert told == int(probability[0, 1] > 0.5)


def test_the_official_candidates_are_all_words():
    """A word outside the vocabulary can be in the anchor, and every occurrence is a candidate."""
    model = part("position_models").from_pipeline(kedge.rules.present("good"))
    reading = kedge.Explainer(model).read("good zzz good")
    assert reading.units.sizes.tolist() == [1, 1, 1]


class TestCache:
    """A piece of work is done once by the same source, and never taken from another."""

    def test_an_interrupted_run_goes_on_where_it_stopped(self, session, tmp_path):
        """What is done is not done again, by another session either, and a line cut short does no harm."""
        module, calls = part("figure_dummy"), []

        def work(item):
            calls.append(item)
            if item == 3 and calls.count(3) == 1:
                raise KeyboardInterrupt
            return item * 10

        with pytest.raises(KeyboardInterrupt):
            session.each(module, "t", [1, 2, 3, 4], work)
        with (tmp_path / "cache" / "figure_dummy.jsonl").open("a", encoding="utf-8") as file:
            file.write('{"key": "cut sho')
        again = package.session.Session(tmp_path, TINY, quiet=True)
        assert again.each(module, "t", [1, 2, 3, 4], work) == [10, 20, 30, 40]
        assert calls == [1, 2, 3, 3, 4]
        assert (again.new, again.reused) == (2, 2)

    def test_other_source_does_it_again(self, session, tmp_path, monkeypatch):
        """The digest of the source is part of the key."""
        module = part("figure_dummy")
        session.each(module, "t", [1], str)
        monkeypatch.setattr(part("session"), "digest", lambda _: "other")
        again = package.session.Session(tmp_path, TINY, quiet=True)
        again.each(module, "t", [1], str)
        assert (again.new, again.reused) == (1, 0)

    def test_the_digest_follows_what_is_imported(self):
        """An experiment rests on what it imports and on the library, and not on how a report looks."""
        closure = part("provenance")._closure("table_networks")
        assert {"table_networks", "networks", "position_models", "vocabulary", "setting", "judge"} <= closure
        assert "report" not in closure

    def test_a_clean_run_begins_with_nothing(self, session, tmp_path):
        """What was done before is removed."""
        session.each(part("figure_dummy"), "t", [1], str)
        clean = package.session.Session(tmp_path, TINY, quiet=True, clean=True)
        clean.each(part("figure_dummy"), "t", [1], str)
        assert (clean.new, clean.reused) == (1, 0)

    def test_patience_leaves_the_rest_for_later(self, tmp_path):
        """Without patience nothing new is done; what is known is given all the same."""
        module = part("figure_dummy")
        patient = package.session.Session(tmp_path, TINY, quiet=True)
        assert patient.each(module, "t", [1], str) == ["1"]
        hasty = package.session.Session(tmp_path, TINY, quiet=True, patience=-1)
        assert hasty.each(module, "t", [1, 2], str, partial=True) == ["1", None]
        assert hasty.left_out == 1


def test_the_authors_runs_are_read_and_grouped(tmp_path, monkeypatch):
    """One line a run; the similarity is computed where a file has the words only."""
    (tmp_path / "authors").mkdir()
    rows = [
        {"Example": "a", "Proba": [0.8], "Anchor": ["Good", "x"], "Expected": ["good", "y"], "Run": r}
        for r in (0, 1)
    ]
    with gzip.open(tmp_path / "authors" / "logistic_yelp.jsonl.gz", "wt") as file:
        file.write("\n".join(json.dumps(row) for row in rows))
    monkeypatch.setenv("KEDGE_DATA", str(tmp_path))
    authors = part("authors")
    assert authors.proba_and_runs("logistic", "yelp") == {"a": (0.8, (1 / 3, 1 / 3))}
    assert authors.sample("logistic", "yelp", 0.75) is None
    assert authors.sample("logistic", "restaurants", 1.01) is None


def test_two_programs_of_one_law_are_told_from_two_laws():
    """The permutation test is small where the anchors differ, and not where they do not."""
    share = part("official_package").permutation_share
    same = [[["a"], ["b"]] * 5] * 4
    assert share(same, same) > 0.5
    assert share([[["a"]] * 10] * 4, [[["b"]] * 10] * 4) < 0.01


@pytest.mark.slow
@pytest.mark.usefixtures("made_reviews")
def test_everything_runs_at_the_quick_scale(tmp_path):
    """All tables and figures, a few documents and runs of each, by the command; the last line says so."""
    done = run("reproduce", "all", "--quick", "--quiet", "--out", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1].startswith("This was a quick run")
    numbers = json.loads((tmp_path / "numbers.json").read_text(encoding="utf-8"))
    results = {r["name"]: r for r in numbers["results"]}
    assert list(results) == list(package.reproduce.EXPERIMENTS)
    counted = [c for r in results.values() for t in r["tables"] if t["counted"] for c in t["cells"]]
    assert len(counted) in {43, 44}  # the last needs a masked model
    for result in results.values():
        for figure in result["figures"]:
            for suffix in ("png", "pdf"):
                assert (tmp_path / "figures" / f"{figure['stem']}.{suffix}").stat().st_size > 1_000
    report = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "no run of the authors is published" in report
    assert "figures/dummy.png" in (tmp_path / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("names", [["table9"], ["all", "table9"]])
def test_the_command_refuses_an_unknown_experiment(tmp_path, names):
    """One sentence with the names there are, exit code 2, and no folder."""
    done = run("reproduce", *names, cwd=tmp_path)
    assert done.returncode == 2
    assert "There is no experiment 'table9'" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_clean_run_needs_a_clean_tree(tmp_path, monkeypatch):
    """One sentence that names a file that differs; nothing is removed or made."""
    monkeypatch.setattr(package.reproduce, "uncommitted", lambda: [" M src/kedge/options.py"])
    done = run("reproduce", "corrections", "--clean", cwd=tmp_path)
    assert done.returncode == 2
    assert "src/kedge/options.py" in done.stderr or "git does not know" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_an_interrupted_command_says_how_to_go_on(tmp_path, monkeypatch):
    """The line to type, without --clean, which would remove what is done."""

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(package.reproduce, "reproduce", stop)
    done = run("reproduce", "corrections", "--quick", "--out", tmp_path)
    assert done.returncode != 0
    said = " ".join(done.stderr.split())
    assert "Go on with: kedge reproduce corrections --quick --out" in said
    assert "--clean" not in said


def test_long_experiments_run_in_processes_of_their_own(tmp_path, monkeypatch):
    """Their work is done elsewhere; the report is written once, by the command."""
    monkeypatch.setattr(package.reproduce, "_LONG", ["corrections"])
    done = run("reproduce", "corrections", "--quick", "--jobs", "2", "--out", tmp_path)
    assert done.returncode == 0
    assert "of 11 checks pass" in (tmp_path / "report.md").read_text(encoding="utf-8")


def test_an_experiment_that_fails_elsewhere_is_named(monkeypatch, session):
    """One sentence, after the process's own words."""
    monkeypatch.setattr(package.reproduce, "_LONG", ["corrections"])
    with pytest.raises(OptionError, match="The experiment corrections failed"):
        package.reproduce.in_parallel(["corrections"], session, 2, ["--no-such-option"])


def test_progress_without_a_terminal_is_lines_with_times(tmp_path):
    """Each begins with the time of day and the seconds since the start."""
    done = run("reproduce", "corrections", "--quick", "--out", tmp_path)
    assert done.returncode == 0
    assert done.stderr.splitlines()[0].endswith("s  [1/1] corrections")


@pytest.mark.parametrize(
    ("arguments", "library", "extra"),
    [
        (["networks"], "torch", "reproduce"),
        (["corrections", "dummy"], "matplotlib", "reproduce"),
        (["infill", "--masked-model", "bert"], "transformers", "transformers"),
    ],
)
def test_a_missing_library_is_told_before_any_work(tmp_path, monkeypatch, arguments, library, extra):
    """One sentence that names the experiment, the library and its extra; no folder is made."""
    find = package.reproduce.find_spec
    monkeypatch.setattr(package.reproduce, "find_spec", lambda name: None if name == library else find(name))
    done = run("reproduce", *arguments, "--quick", cwd=tmp_path)
    name = "dummy" if library == "matplotlib" else arguments[0]
    assert done.returncode == 2
    assert done.stderr == f"kedge: The experiment {name} needs {library}: pip install 'kedge[{extra}]'.\n"
    assert not list(tmp_path.iterdir())


def test_what_is_skipped_is_said_on_the_terminal(tmp_path, monkeypatch):
    """An experiment without its masked model has nothing in the report but the reason: so it is printed."""
    monkeypatch.setattr(part("masked_language"), "ENCODER", "not_there_at_all")
    done = run("reproduce", "infill", "--quick", "--quiet", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout.startswith("infill: Skipped: no masked language model was named")


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path):
    """The place of the report is a file, say."""
    (tmp_path / "file").write_text("")
    done = run("reproduce", "corrections", "--out", "file/report", cwd=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "choose another --out" in done.stderr


@pytest.mark.reviews
def test_the_authors_weights_need_the_older_order(monkeypatch):
    """With it they give the authors' accuracy, probabilities and ranked words; where the files are."""
    from places import REVIEWS

    if not (Path(REVIEWS) / "authors").is_dir():
        pytest.skip("the authors' runs are not there")
    monkeypatch.setenv("KEDGE_DATA", REVIEWS)
    authors, ranked = part("authors"), part("setting").ranked_words
    made = part("networks").authors_network("restaurants")
    assert made.accuracy == 0.84
    stored = authors.proba_and_runs("3 layers", "restaurants")
    assert np.abs(made.probabilities(list(stored)) - [p for p, _ in stored.values()]).max() < 1e-6
    for row in authors.published_runs("restaurants_nn_3_similarity")[::40]:
        words = made.vectorizer.build_analyzer()(row["Example"])
        assert ranked(words, made.weights(row["Example"]), len(row["Anchor"])) == row["Expected"]
