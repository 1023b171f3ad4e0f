"""The questions a server answers, each a job in its queue."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

from starlette.exceptions import HTTPException
from starlette.requests import Request

from kedge.corpus.files.columns import explained_values
from kedge.explainer import Explainer
from kedge.reading.oracle import Oracle
from kedge.render.flips import flip_headline, flip_promise
from kedge.render.phrases import baseline, headline, leading_status, meaning, unknown
from kedge.render.removals import share_removed
from kedge.render.shading import views
from kedge.results.explanation import Explanation
from kedge.utils.deadline import TimeIsUp
from kedge.utils.messages import readable_json
from kedge.workbench.jobs import FIRM, Job, Jobs
from kedge.workbench.problems import problem, too_long
from kedge.workbench.schemas import (
    ExplainRequest,
    FlipBody,
    FlipRequest,
    InfluenceBody,
    InfluenceRequest,
    PrecisionRequest,
    Prediction,
    PredictRequest,
    VerdictBody,
)
from kedge.workbench.settings import Settings

__all__ = ["Bench"]

WithOptions = ExplainRequest | PrecisionRequest | InfluenceRequest | FlipRequest
AnyRequest = WithOptions | PredictRequest
Form = Literal["json", "row", "html", "stream"]
_LEFT_OUT = "The time limit was near, so influences, examples and further removals are left out."
# How often a streamed answer reports and a waiting one looks for its client, in seconds.
_LOOK = 0.1


@dataclass(frozen=True)
class Bench:
    """A model, how to explain it, and the queue of requests.

    ``isolated`` answers in another process; None to answer in the thread of the job.
    """

    explainer: Explainer
    settings: Settings
    jobs: Jobs
    isolated: Callable[[Callable[[Explainer, Job], Any], Job], Any] | None = None

    def explain(self, body: ExplainRequest, form: Form = "json") -> Job:
        """Start an explanation; its result is the JSON form, the page, or the last line of a stream."""
        return self._submit(body, partial(_explained, body, form))

    def judge(self, body: PrecisionRequest) -> Job:
        """Start a verdict on a set of words."""
        return self._submit(body, partial(_judged, body))

    def weigh(self, body: InfluenceRequest) -> Job:
        """Start the influence of every word."""
        return self._submit(body, partial(_weighed, body))

    def flip(self, body: FlipRequest) -> Job:
        """Start the search for what changes the label."""
        return self._submit(body, partial(_flipped, body))

    def predict(self, body: PredictRequest) -> Job:
        """Start a question about the text with some words masked: what a click on a word asks."""
        return self._submit(body, partial(_predicted, body))

    def _submit(
        self,
        body: AnyRequest,
        answer: Callable[[Explainer, Job], Any],
    ) -> Job:
        if len(body.text) > self.settings.characters:
            raise too_long(self.settings)
        if (elsewhere := self.isolated) is not None:
            return self.jobs.submit(lambda job: elsewhere(answer, job))
        return self.jobs.submit(lambda job: answer(self.explainer, job))

    async def lines(self, job: Job) -> AsyncIterator[bytes]:
        """A job's progress and its result, one JSON object per line."""
        try:
            last: object = None
            while not job.task.done():
                now = ("progress", job.queries) if job.started else ("waiting", 0)
                if now != last:
                    yield _line(event=now[0], queries=now[1])
                    last = now
                await asyncio.wait({job.task}, timeout=_LOOK)
            try:
                yield job.task.result().encode()
            except Exception as error:  # noqa: BLE001  (whatever it was, the client gets one sentence)
                _, kind, message = problem(error, self.settings)
                yield _line(event="error", error={"kind": kind, "message": message})
        finally:
            job.task.cancel()


def _explained(body: ExplainRequest, form: Form, explainer: Explainer, job: Job) -> str:
    found = _configured(body, explainer, job).explain(body.text, body.label, against=body.against)
    # What every word does, examples and harder removals are worked out while the answer is written.
    with suppress(TimeIsUp):
        if job.worked <= FIRM * job.seconds:
            return _written(found, form)
    bare = replace(found, measure=None, examples=(), removals=(), notes=(*found.notes, _LEFT_OUT))
    return _written(bare, form)


def _written(found: Explanation, form: Form) -> str:
    if form == "html":
        return found.to_html()
    if form == "row":
        return readable_json(explained_values(replace(found, removals=())))
    data = found.to_json(times=True)
    if form == "json":
        return data
    # The sentences of the library, so that the page need not have its own.
    said = json.dumps(
        {
            "headline": headline(found),
            "status": leading_status(found),
            "meaning": meaning(found),
            "baseline": baseline(found),
            "notes": [line for line in (unknown(found), *found.notes) if line],
            "carried": None if (carried := found.carried_by) is None else share_removed(carried.keep),
            "views": [view.to_dict() for view in views(found)],
        }
    )
    return f'{{"event": "result", "explanation": {data}, "said": {said}}}\n'


def _judged(body: PrecisionRequest, explainer: Explainer, job: Job) -> VerdictBody:
    verdict = _configured(body, explainer, job).precision(body.text, body.words, body.label)
    return VerdictBody.model_validate(verdict.to_dict(times=True))


def _weighed(body: InfluenceRequest, explainer: Explainer, job: Job) -> InfluenceBody:
    found = _configured(body, explainer, job).influence(body.text, body.label, samples=body.samples)
    return InfluenceBody.model_validate(found.to_dict())


def _flipped(body: FlipRequest, explainer: Explainer, job: Job) -> FlipBody:
    found = _configured(body, explainer, job).flip(body.text, body.label, to=body.to)
    said = f"{flip_headline(found)} {flip_promise(found)}"
    return FlipBody.model_validate({**found.to_dict(times=True), "said": said})


def _predicted(body: PredictRequest, explainer: Explainer, job: Job) -> Prediction:
    del job
    masked = explainer.masked(body.text, body.removed)
    found = Oracle().ask(explainer.model.predict, [masked])
    shares = found.distribution()
    single = None if found.labels is None else found.labels[0]
    holding = [c for c in found.classes or () if found.hold(c)[0]] if single is None else [single]
    return Prediction.model_validate(
        {
            "label": single,
            "labels": holding,
            "probabilities": None if shares is None else list(shares.items()),
            "masked": masked,
        }
    )


def _configured(body: WithOptions, explainer: Explainer, job: Job) -> Explainer:
    """The explainer with the options of a request; the converted model is shared."""
    given = body.model_dump(exclude={"text", "label", "words", "samples", "to", "against"})
    return explainer.with_options(**given, progress=job.progress)


async def result(job: Job, request: Request) -> Any:
    """A job's result; the job is stopped when its client goes away."""
    try:
        while not job.task.done():
            await asyncio.wait({job.task}, timeout=_LOOK)
            if not job.task.done() and await request.is_disconnected():
                raise HTTPException(499, "The client went away.")
        return job.task.result()
    finally:
        job.task.cancel()


def _line(**values: Any) -> bytes:
    return json.dumps(values).encode() + b"\n"
