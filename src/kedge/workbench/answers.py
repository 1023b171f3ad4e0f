"""The questions a server answers, each a job in its queue."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, Literal

from starlette.exceptions import HTTPException
from starlette.requests import Request

from kedge.explain import Explainer
from kedge.model import Model
from kedge.oracle import Oracle
from kedge.render.phrases import baseline, meaning
from kedge.workbench.jobs import Job, Jobs
from kedge.workbench.problems import problem, too_long
from kedge.workbench.schemas import ExplainRequest, PrecisionRequest, Prediction, PredictRequest, VerdictBody
from kedge.workbench.settings import Settings

__all__ = ["Bench"]

# How often a streamed answer reports and a waiting one looks for its client, in seconds.
_LOOK = 0.1


@dataclass(frozen=True)
class Bench:
    """A model, how to explain it, and the queue of those who ask."""

    model: Model
    options: dict[str, Any]
    settings: Settings
    jobs: Jobs

    def explain(self, asked: ExplainRequest, form: Literal["json", "html", "stream"] = "json") -> Job:
        """Start an explanation; its result is the JSON form, the page, or the last line of a stream."""

        def work(job: Job) -> str:
            found = self._explainer(asked, job).explain(asked.text, asked.label)
            if form == "html":
                return found.to_html()
            data = found.to_json(times=True).encode("utf-8", "replace").decode()
            if form == "json":
                return data
            # The sentences of the library, so that the page need not have its own.
            said = json.dumps({"meaning": meaning(found), "baseline": baseline(found)})
            return f'{{"event": "result", "explanation": {data}, "said": {said}}}\n'

        return self.jobs.submit(work)

    def judge(self, asked: PrecisionRequest) -> Job:
        """Start a verdict on a set of words."""

        def work(job: Job) -> VerdictBody:
            verdict = self._explainer(asked, job).precision(asked.text, asked.words, asked.label)
            return VerdictBody.model_validate(verdict.to_dict(times=True))

        return self.jobs.submit(work)

    def predict(self, asked: PredictRequest) -> Job:
        """Start a question about the text with some words masked: what a click on a word asks."""

        def work(job: Job) -> Prediction:
            del job
            if len(asked.text) > self.settings.characters:
                raise too_long(self.settings)
            masked = Explainer(self.model, **self.options).masked(asked.text, asked.removed)
            found = Oracle().ask(self.model.predict, [masked])
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

        return self.jobs.submit(work)

    def _explainer(self, asked: ExplainRequest | PrecisionRequest, job: Job) -> Explainer:
        if len(asked.text) > self.settings.characters:
            raise too_long(self.settings)
        given = asked.model_dump(exclude={"text", "label", "words"})
        return Explainer(self.model, **{**self.options, **given}, progress=job.progress)

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
            except Exception as error:  # noqa: BLE001  (whatever it was, the client is told in one sentence)
                _, kind, message = problem(error, self.settings)
                yield _line(event="error", error={"kind": kind, "message": message})
        finally:
            job.task.cancel()


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
