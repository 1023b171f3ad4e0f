"""The server: its addresses, wired to the answers. Everything is made from an Explanation."""

from typing import Annotated, Any, Literal

from fastapi import FastAPI, Query, Request
from fastapi.responses import Response, StreamingResponse
from starlette.exceptions import HTTPException

import kedge
from kedge.explainer import Explainer
from kedge.search.strategies import METHODS
from kedge.workbench.answers import Bench, result
from kedge.workbench.isolation import Isolated
from kedge.workbench.jobs import Jobs
from kedge.workbench.page import STATIC, index
from kedge.workbench.problems import add_handlers
from kedge.workbench.schemas import (
    EXPLANATION,
    ROW,
    ErrorBody,
    ExplainRequest,
    FlipBody,
    FlipRequest,
    Health,
    InfluenceBody,
    InfluenceRequest,
    ModelInfo,
    PrecisionRequest,
    Prediction,
    PredictRequest,
    VerdictBody,
    with_explanation,
)
from kedge.workbench.security import Guard
from kedge.workbench.settings import Settings

__all__ = ["create_app"]

REFUSALS: dict[int | str, dict[str, Any]] = {
    401: {"model": ErrorBody, "description": "The server's token is missing."},
    408: {"model": ErrorBody, "description": "The request did not arrive in time."},
    413: {"model": ErrorBody, "description": "The text is too long."},
    415: {"model": ErrorBody, "description": "The body is not said to be JSON."},
    422: {"model": ErrorBody, "description": "The request cannot be answered; the message says why."},
    429: {"model": ErrorBody, "description": "The server is busy; see Retry-After."},
    502: {"model": ErrorBody, "description": "The model failed."},
}
EXPLAINED: dict[int | str, dict[str, Any]] = {
    **REFUSALS,
    200: {
        "description": "The explanation, as JSON, as a row, as a page, or as a stream of lines.",
        "content": {
            "application/json": {"schema": {"anyOf": [EXPLANATION, ROW]}},
            "application/x-ndjson": {"schema": {"type": "string"}},
            "text/html": {"schema": {"type": "string"}},
        },
    },
}


def create_app(model: Any, settings: Settings | None = None, **options: Any) -> Any:
    """An ASGI application that explains one model; ``options`` are those of ``Explainer``."""
    settings = settings or Settings()
    explainer = Explainer(model, **options)  # bad options are refused before the server starts
    app = FastAPI(
        title="kedge workbench",
        version=kedge.__version__,
        summary="Why a text classifier gave a text its label.",
        docs_url=None,  # these pages load scripts from elsewhere
        redoc_url=None,
    )
    jobs = Jobs(workers=settings.workers, waiting=settings.waiting, seconds=settings.seconds)
    isolated = Isolated(explainer, settings.workers, settings.seconds) if settings.isolate else None
    bench = Bench(explainer, settings, jobs, isolated)
    _add_pages(app)
    _add_facts(app, bench)
    _add_answers(app, bench)
    add_handlers(app, settings)
    plain = app.openapi
    app.openapi = lambda: with_explanation(plain())  # type: ignore[method-assign]
    return Guard(app, settings)


def _add_pages(app: FastAPI) -> None:
    @app.get("/", include_in_schema=False)
    async def page() -> Response:
        return Response(index(), media_type="text/html")

    @app.get("/static/{name}", include_in_schema=False)
    async def static(name: str) -> Response:
        if name not in STATIC:
            raise HTTPException(404)
        content, media_type = STATIC[name]()
        return Response(content, media_type=media_type, headers={"cache-control": "no-cache"})


def _add_facts(app: FastAPI, bench: Bench) -> None:
    stuck = {503: {"model": Health, "description": "Every worker is stuck in the model."}}

    @app.get("/healthz", tags=["server"], responses=stuck)  # type: ignore[arg-type]
    async def health(response: Response) -> Health:
        """Whether the server can answer, and how much it has to do."""
        if bench.jobs.stuck:
            response.status_code = 503
        return Health(status="stuck" if bench.jobs.stuck else "ok", jobs=bench.jobs.busy)

    @app.get("/api/model", tags=["server"])
    async def about() -> ModelInfo:
        """The model being served, texts to try, and the server's limits."""
        return ModelInfo(
            name=bench.explainer.model.name,
            version=kedge.__version__,
            methods=list(METHODS),
            documents=list(bench.settings.documents),
            characters=bench.settings.characters,
            seconds=bench.settings.seconds,
        )


def _add_answers(app: FastAPI, bench: Bench) -> None:
    @app.post("/api/explain", tags=["answers"], response_class=Response, responses=EXPLAINED)
    async def explain(
        body: ExplainRequest,
        request: Request,
        form: Annotated[Literal["json", "row", "html", "stream"], Query(alias="as")] = "json",
    ) -> Response:
        """The shortest set of words that keeps a text's label.

        As JSON; as one flat row without texts, examples and influences, which takes far less time
        (`as=row`); as a self-contained page (`as=html`); or as a stream of lines (`as=stream`), each a
        JSON object with an `event`: `waiting` or `progress` (with `queries`), at last `result` (with
        `explanation`, and in `said` what it means in words) or `error`. Closing the connection cancels
        the work.
        """
        job = bench.explain(body, form)
        if form == "stream":
            return StreamingResponse(bench.lines(job), media_type="application/x-ndjson")
        media_type = "text/html" if form == "html" else "application/json"
        return Response(await result(job, request), media_type=media_type)

    @app.post("/api/precision", tags=["answers"], responses=REFUSALS)
    async def precision(body: PrecisionRequest, request: Request) -> VerdictBody:
        """How surely a given set of words keeps the label, and whether it is an anchor."""
        verdict: VerdictBody = await result(bench.judge(body), request)
        return verdict

    @app.post("/api/flip", tags=["answers"], responses=REFUSALS)
    async def flip(body: FlipRequest, request: Request) -> FlipBody:
        """The fewest words whose removal changes the label."""
        found: FlipBody = await result(bench.flip(body), request)
        return found

    @app.post("/api/influence", tags=["answers"], responses=REFUSALS)
    async def influence(body: InfluenceRequest, request: Request) -> InfluenceBody:
        """What every word does to the label: exact where the model can be read, else from new samples."""
        weighed: InfluenceBody = await result(bench.weigh(body), request)
        return weighed

    @app.post("/api/predict", tags=["answers"], responses=REFUSALS)
    async def predict(body: PredictRequest, request: Request) -> Prediction:
        """The model's answer when some words are masked."""
        answer: Prediction = await result(bench.predict(body), request)
        return answer
