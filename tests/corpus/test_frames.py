"""Tables of texts to tables of results: pandas, Spark, Ray."""

import math
import sys

import joblib
import pytest

import kedge
from kedge.corpus import explain_frame

pd = pytest.importorskip("pandas", reason="needs pandas: pip install 'kedge[data]'")

MODEL = kedge.WordWeights({"good": 2.0, "fine": 1.0, "bad": -1.5}, intercept=-0.4)
TEXTS = ["good fine bad", "bad", "nothing known", "fine and good", "", None]


def reviews():
    return pd.DataFrame({"review": TEXTS, "key": [f"k{i}" for i in range(len(TEXTS))], "stars": 5})


def check(found):
    """The results are those of the texts one by one, with a reason where there is none."""
    found = found.sort_values("id").reset_index(drop=True)
    assert found["id"].tolist() == [f"k{i}" for i in range(len(TEXTS))]
    for i in (0, 1, 3):
        e = kedge.explain(MODEL, TEXTS[i])
        assert tuple(found.loc[i, "words"]) == e.words
        assert math.isclose(found.loc[i, "precision"], e.precision)
        assert found.loc[i, "label"] == str(e.label)
    assert found["error_kind"].fillna("").tolist() == ["", "", "TextError", "", "TextError", "TextError"]


def test_a_pandas_table():
    """One row each, in order, typed whatever the documents; the index names them where no column does."""
    explainer = kedge.Explainer(MODEL)
    check(explain_frame(explainer, reviews(), text="review", id="key"))
    one = explain_frame(explainer, reviews()[4:5], text="review")
    assert one["id"].tolist() == ["4"]
    assert one.dtypes.equals(explain_frame(explainer, reviews()[:2], text="review").dtypes)
    with pytest.raises(kedge.KedgeError, match="no column 'text'; it has 'review', 'key', 'stars'"):
        explain_frame(explainer, reviews(), text="text")


@pytest.mark.filterwarnings("ignore")  # Spark's own
def test_spark(monkeypatch):
    """A Spark table gives a Spark table, through its own workers; or a column of the same table."""
    sql = pytest.importorskip("pyspark.sql", reason="needs pyspark: pip install pyspark")
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    builder = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = builder.config("spark.driver.bindAddress", "127.0.0.1").getOrCreate()
    try:
        frame = session.createDataFrame(reviews()).repartition(2)
        check(kedge.spark.explain(frame, MODEL, text="review", id="key", threshold=0.95).toPandas())
        beside = frame.withColumn("why", kedge.spark.column(MODEL)("review"))
        check(beside.select(beside.key.alias("id"), "why.*").toPandas())
        assert beside.select("stars", "why.words").count() == len(TEXTS)
    finally:
        session.stop()


@pytest.mark.filterwarnings("ignore")  # Ray's own
def test_ray():
    """A Ray dataset gives a Ray dataset, through its own workers; joblib's way gives the same, slowly."""
    ray = pytest.importorskip("ray", reason="needs ray: pip install 'ray[data]'")
    from ray.util.joblib import register_ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        dataset = ray.data.from_pandas(reviews())
        check(kedge.ray.explain(dataset, kedge.Explainer(MODEL), text="review", id="key").to_pandas())
        register_ray()
        with joblib.parallel_config(backend="ray", n_jobs=-1):
            there = list(kedge.Explainer(MODEL).explain_corpus(TEXTS, ids=reviews()["key"]))
        here = kedge.Explainer(MODEL).explain_corpus(TEXTS, ids=reviews()["key"], workers=1)
        told = [(outcome.id, outcome.explanation, outcome.error) for outcome in there]
        assert told == [(outcome.id, outcome.explanation, outcome.error) for outcome in here]
    finally:
        ray.shutdown()
