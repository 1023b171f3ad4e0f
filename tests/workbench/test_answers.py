"""The endpoint: what it answers, what it refuses, and that one request does not block the rest."""

import json
import re
import subprocess
import sys
import threading
import time
from importlib.resources import files

import httpx
import jsonschema
import pytest

import kedge
from kedge.data.demo import review_model
from kedge.render.phrases import baseline, headline, leading_status, meaning
from kedge.render.shading import views
from kedge.workbench.answers import _explained
from kedge.workbench.jobs import Job
from kedge.workbench.schemas import ExplainRequest
from kedge.workbench.settings import Settings

pytestmark = pytest.mark.serve

TEXT = "The staff were friendly and the soup was very good."


@pytest.fixture
def client(address):
    with httpx.Client(base_url=address, timeout=30) as client:
        yield client


def test_health_and_model(client):
    """The server says that it is there and what it serves."""
    assert client.get("/healthz").json() == {"status": "ok", "jobs": 0}
    about = client.get("/api/model").json()
    assert about["name"] == "TfidfVectorizer + LogisticRegression"
    assert "auto" in about["methods"]
    assert about["documents"][1] == "Friendly staff, delicious food."


def test_explain_is_the_library_explanation(client):
    """The JSON is that of Explanation.to_json, and follows its schema."""
    answer = client.post("/api/explain", json={"text": TEXT, "threshold": 0.9})
    assert answer.status_code == 200
    schema = json.loads((files("kedge") / "data" / "explanation.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(answer.json(), schema)
    found = kedge.Explanation.from_json(answer.text)
    assert found == kedge.explain(review_model(), TEXT, threshold=0.9)


def test_explain_as_a_row(client):
    """as=row gives what a row of a corpus has, and nothing that takes long."""
    row = client.post("/api/explain?as=row", json={"text": TEXT}).json()
    (outcome,) = kedge.Explainer(review_model()).explain_corpus([TEXT], workers=1)
    wanted = json.loads(outcome.to_line())
    assert row.keys() <= wanted.keys()
    assert {name: value for name, value in row.items() if name != "seconds"} == {
        name: wanted[name] for name in row if name != "seconds"
    }


@pytest.mark.parametrize("form", ["json", "html", "stream"])
def test_what_the_time_does_not_allow_is_left_out(form):
    """Near the limit the anchor is answered all the same, without what is worked out for the reader."""

    class Late(Job):
        def progress(self, queries):
            """The search itself was in time."""

    job = Late(seconds=1e-6)
    job.begin()
    explainer = kedge.Explainer(kedge.rules.present("good"))
    said = _explained(ExplainRequest(text="good food"), form, explainer, job)
    assert "The time limit was near" in said
    if form == "json":
        assert (json.loads(said)["words"], json.loads(said)["influence"]) == (["good"], None)


def test_explain_as_a_page(client):
    """as=html gives the report."""
    answer = client.post("/api/explain?as=html", json={"text": TEXT})
    assert answer.headers["content-type"].startswith("text/html")
    assert answer.text.startswith("<!doctype html>")
    assert "friendly" in answer.text


def test_explain_as_a_stream(client):
    """as=stream reports progress and ends with the explanation and the library's sentences about it."""
    with client.stream("POST", "/api/explain?as=stream", json={"text": TEXT, "method": "beam"}) as answer:
        lines = [json.loads(line) for line in answer.iter_lines()]
    assert {line["event"] for line in lines[:-1]} <= {"waiting", "progress"}
    assert lines[-1]["event"] == "result"
    found = kedge.Explanation.from_json(json.dumps(lines[-1]["explanation"]))
    assert found.label == "positive"
    assert lines[-1]["said"] == {
        "headline": headline(found),
        "status": leading_status(found),
        "meaning": meaning(found),
        "baseline": baseline(found),
        "notes": list(found.notes),
        "carried": None,
        "views": json.loads(json.dumps([view.to_dict() for view in views(found)])),
    }


def test_a_stream_tells_errors(client):
    """An error after the stream began is its last line."""
    with client.stream("POST", "/api/explain?as=stream", json={"text": "   "}) as answer:
        lines = [json.loads(line) for line in answer.iter_lines()]
    assert lines[-1] == {
        "event": "error",
        "error": {"kind": "text", "message": "The text is empty; there is nothing to explain."},
    }


def test_precision(client):
    """A chosen set of words gets its exact precision and a verdict."""
    answer = client.post("/api/precision", json={"text": TEXT, "words": ["good", 3]}).json()
    want = kedge.precision(review_model(), TEXT, ["good", 3])
    assert answer["interval"]["mean"] == pytest.approx(want.precision)
    assert (answer["words"], answer["reaches"], answer["status"]) == (
        ["friendly", "good"],
        want.reaches,
        "exact",
    )


def test_influence(client):
    """What every word does, as the library says it."""
    answer = client.post("/api/influence", json={"text": TEXT}).json()
    want = kedge.influence(review_model(), TEXT)
    assert answer["values"] == list(want.values)
    assert [c["label"] for c in answer["classes"]] == ["positive", "negative"]


def test_against(client):
    """Two classes: the label against the other one is the label."""
    answer = client.post("/api/explain", json={"text": TEXT, "against": "negative"}).json()
    assert answer["against"] == "negative"
    assert answer["words"] == list(kedge.explain(review_model(), TEXT).words)


def test_flip(client):
    """What changes the label, and the answer in words; a label it has already is refused."""
    answer = client.post("/api/flip", json={"text": TEXT, "to": "negative"}).json()
    want = kedge.flip(review_model(), TEXT)
    assert (answer["words"], answer["new_label"]) == (list(want.words), "negative")
    assert answer["said"].startswith("Without ")
    refused = client.post("/api/flip", json={"text": TEXT, "to": "positive"})
    assert refused.status_code == 422
    assert "already" in refused.json()["error"]["message"]


def test_predict(client):
    """Removing words gives the prediction for the masked text."""
    answer = client.post("/api/predict", json={"text": TEXT, "removed": [3, 9]}).json()
    assert answer["masked"] == "The staff were UNK and the soup was very UNK."
    assert answer["label"] == review_model().predict([answer["masked"]])[0]
    assert sum(share for _, share in answer["probabilities"]) == pytest.approx(1)


@pytest.mark.parametrize(
    ("path", "body", "says"),
    [
        ("explain", {"text": ""}, "text"),
        ("explain", {"text": " \n"}, "empty"),
        ("explain", {"text": "qwrtz xkcd"}, "vocabulary"),
        ("explain", {"text": TEXT, "threshold": 0}, "threshold"),
        ("explain", {"text": TEXT, "threshold": "0.9"}, "threshold"),
        ("explain", {"text": TEXT, "method": "magic"}, "method"),
        ("explain", {"text": TEXT, "seed": -1}, "seed"),
        ("explain", {"text": TEXT, "surprise": 1}, "surprise"),
        ("explain", {"text": TEXT, "label": "negative"}, "positive"),
        ("explain", {"text": 5}, "text"),
        ("explain", {}, "text"),
        ("precision", {"text": TEXT, "words": ["pizza"]}, "pizza"),
        ("precision", {"text": TEXT, "words": [999]}, "999"),
        ("predict", {"text": TEXT, "removed": [999]}, "999"),
    ],
)
def test_refusals(client, path, body, says):
    """Bad input is status 422 and one sentence that names what is wrong."""
    answer = client.post(f"/api/{path}", json=body)
    assert answer.status_code == 422
    assert says in answer.json()["error"]["message"]
    assert "Traceback" not in answer.text


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"{", "The body is not JSON (Expecting property name"),
        (b'{"text": "goo', "(Unterminated string starting at character 9); send a JSON object."),
        (b"\xff\xfe", "send a JSON object"),
        (
            b'{"text": "\\ud800 good"}',
            "The field 'text' holds half of a surrogate pair, which is no character.",
        ),
        (b"[1]", "The body should be a JSON object."),
        (b"", "The body should be a JSON object."),
        (b'{"text": NaN}', "The field 'text' should be a valid string."),
        (b'{"text": "good", "surprise": 1}', "The field 'surprise' is not known; see /openapi.json."),
        (b'{"text": "good", "label": [1]}', "The field 'label' should be a valid boolean, or be"),
        (b'{"text": "good", "threshold": 2}', "The field 'threshold' should be less than or equal to 1."),
        (b'{"threshold": 1}', "The field 'text' is missing."),
    ],
)
def test_broken_bodies(client, body, says):
    """What is not JSON, or not what is asked for, is refused in a sentence that names the field."""
    answer = client.post("/api/explain", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 422
    assert says in answer.json()["error"]["message"]


def test_a_broken_parameter(client):
    """The form of the answer is one of three."""
    answer = client.post("/api/explain?as=pdf", json={"text": TEXT})
    message = "The parameter 'as' should be 'json', 'row', 'html' or 'stream'."
    assert answer.json()["error"]["message"] == message


def test_unknown_addresses(client):
    """There is nothing else, and the answer is JSON too."""
    for path in ("/nothing", "/static/../app.py", "/static/app.py", "/docs"):
        answer = client.get(path)
        assert answer.status_code == 404
        assert answer.json()["error"]["kind"] == "not_found"
    assert client.get("/api/explain").status_code == 405


def test_a_failing_model_is_not_a_traceback(serve, caplog):
    """When the model raises, the client learns that it did, and a number; the log says what it said."""

    def broken(_):
        raise RuntimeError("weights are gone: \x1b[31mkey=secret")

    with caplog.at_level("ERROR", logger="kedge.workbench"), serve(broken) as address:
        answer = httpx.post(f"{address}/api/explain", json={"text": "any text"})
    assert answer.status_code == 502
    message = answer.json()["error"]["message"]
    number = re.search(r"under number (\d+)", message).group(1)
    assert "secret" not in answer.text
    assert f"(number {number})" in caplog.text
    assert "key=secret" in caplog.text
    assert "\x1b" not in caplog.text
    with serve(broken, Settings(debug=True)) as address:
        answer = httpx.post(f"{address}/api/explain", json={"text": "any text"})
    assert "weights are gone" in answer.json()["error"]["message"]
    assert "File" not in answer.text


def test_an_unexpected_error_is_hidden(serve):
    """An error nobody foresaw is status 500 and says nothing of the inside."""

    class Broken(kedge.Masking):
        def writer(self, *_):
            raise ZeroDivisionError("secret detail")

    with serve(lambda texts: [1] * len(texts), perturbation=Broken()) as address:
        answer = httpx.post(f"{address}/api/explain", json={"text": "any text"})
    assert answer.status_code == 500
    assert "secret" not in answer.text
    assert answer.json()["error"]["kind"] == "internal"


LONG = " ".join(f"w{k}" for k in range(60)) + " good"


def slow(texts):
    """A model that takes its time over the word sleepy."""
    if any("sleepy" in t for t in texts):
        time.sleep(0.05)
    return [int("good" in t) for t in texts]


def test_the_time_limit_gives_what_was_found(serve):
    """A black box that is too slow gets the best anchor found so far, in time, and the reason."""
    with serve(slow, Settings(seconds=1.5), batch_size=2) as address:
        started = time.monotonic()
        answer = httpx.post(f"{address}/api/explain", json={"text": f"sleepy {LONG}"}, timeout=20)
        took = time.monotonic() - started
    assert took < 4
    assert answer.status_code in {200, 422}
    if answer.status_code == 200:
        assert answer.json()["status"] == "not_reached"
        assert "time limit" in " ".join(answer.json()["notes"])
    else:
        assert "1.5 s" in answer.json()["error"]["message"]


def stubborn(texts):
    """A model that never asks anyone: pure Python, for ever, on the word endless."""
    while any("endless" in t for t in texts):
        sum(range(1000))
    return [int("good" in t) for t in texts]


def test_a_search_that_never_reports_is_stopped_too(serve):
    """A computation that does not look up is ended at the limit, and its place is free again."""
    with serve(stubborn, Settings(seconds=0.5, workers=1)) as address:
        answer = httpx.post(f"{address}/api/explain", json={"text": "endless"}, timeout=20)
        assert answer.status_code == 422
        assert answer.json()["error"]["kind"] in {"time_limit", "out_of_time"}
        again = httpx.post(f"{address}/api/explain", json={"text": "good food"}, timeout=20)
        assert again.status_code == 200


def test_two_clients_at_once(serve):
    """While one client waits for a long answer another gets a short one; both get theirs."""
    with serve(slow, Settings(seconds=5), batch_size=8) as address:
        answers = {}

        def ask(name, text):
            answers[name] = httpx.post(f"{address}/api/explain", json={"text": text}, timeout=30)
            answers[f"{name} at"] = time.monotonic()

        first = threading.Thread(target=ask, args=("long", f"sleepy {LONG}"))
        first.start()
        time.sleep(0.2)
        second = threading.Thread(target=ask, args=("short", "good food here"))
        second.start()
        second.join()
        first.join()
    assert answers["short"].status_code == answers["long"].status_code == 200
    assert answers["short at"] < answers["long at"]


def test_cancelling_frees_the_place(serve):
    """A client that goes away stops its work, so that the next one does not wait for it."""
    with serve(slow, Settings(seconds=30, workers=1), batch_size=2) as address:
        with pytest.raises(httpx.TimeoutException):
            httpx.post(f"{address}/api/explain", json={"text": f"sleepy {LONG}"}, timeout=0.5)
        with (
            httpx.Client(timeout=20) as client,
            client.stream(
                "POST", f"{address}/api/explain?as=stream", json={"text": f"sleepy {LONG}"}
            ) as answer,
        ):
            next(answer.iter_lines())  # and goes away
        started = time.monotonic()
        assert httpx.post(f"{address}/api/explain", json={"text": "good food"}, timeout=20).status_code == 200
        assert time.monotonic() - started < 5
        for _ in range(50):
            if httpx.get(f"{address}/healthz").json()["jobs"] == 0:
                break
            time.sleep(0.1)
        else:
            pytest.fail("a cancelled job is still there")


def test_a_full_queue_sends_clients_away(serve):
    """When too many wait, the next is told to come back, at once."""
    with serve(slow, Settings(seconds=1.5, workers=1, waiting=1), batch_size=2) as address:
        threads = [
            threading.Thread(
                target=lambda: httpx.post(
                    f"{address}/api/explain", json={"text": f"sleepy {LONG}"}, timeout=30
                )
            )
            for _ in range(2)
        ]
        for thread in threads:
            thread.start()
        for _ in range(100):
            if httpx.get(f"{address}/healthz").json()["jobs"] == 2:
                break
            time.sleep(0.02)
        answer = httpx.post(f"{address}/api/explain", json={"text": "good"}, timeout=20)
        assert answer.status_code == 429
        assert int(answer.headers["retry-after"]) >= 1
        for thread in threads:
            thread.join()


def test_multi_label_models(serve):
    """A multi-label model is asked about one of its labels; a click shows all that hold."""

    def tags(texts):
        return [[int("good" in t), int("food" in t)] for t in texts]

    with serve(tags, outputs="multilabel", classes=["praise", "kitchen"]) as address:
        body = {"text": "good food", "label": "praise"}
        assert httpx.post(f"{address}/api/explain", json=body).json()["words"] == ["good"]
        refused = httpx.post(f"{address}/api/explain", json={"text": "good food"})
        assert "praise" in refused.json()["error"]["message"]
        gone = httpx.post(f"{address}/api/predict", json={"text": "good food", "removed": [0]}).json()
        assert (gone["label"], gone["labels"]) == (None, ["kitchen"])


WITHOUT = """
import sys
sys.modules["fastapi"] = None
import kedge
kedge.workbench.Settings(seconds=1)
try:
    kedge.workbench.create_app(kedge.rules.present("good"))
except kedge.KedgeError as error:
    print(error)
"""


def test_the_application_is_made_from_python():
    """``import kedge`` alone gives kedge.workbench.create_app; without FastAPI it says what to install."""
    app = kedge.workbench.create_app(kedge.rules.present("good"), Settings(seconds=5), allow_empty=True)
    assert callable(app)
    with pytest.raises(kedge.KedgeError, match="There is no option `treshold`"):
        kedge.workbench.create_app(kedge.rules.present("good"), treshold=0.9)
    said = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, check=True, text=True).stdout
    assert said == "The workbench needs FastAPI: pip install 'kedge[serve]'.\n"
