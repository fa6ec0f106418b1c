"""The web application: which address shows what, as HTML, as JSON, and described as OpenAPI."""

from __future__ import annotations

import json
import logging
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from sameas import __version__
from sameas.errors import OptionError, SameasError
from sameas.result.decisions import STATES, VERDICTS
from sameas.result.explanation.words import REASONS
from sameas.result.export import FORMATS, write
from sameas.result.run_folder import read_run
from sameas.web.review import pages
from sameas.web.review.folder import Review
from sameas.web.review.guard import LARGEST, Guard
from sameas.web.review.pair import pair
from sameas.web.review.parameters import Parameter, Record, check_all, object_schema
from sameas.web.review.queue import FILTER, Queue
from sameas.web.review.templates import STATIC, render, static_file

log = logging.getLogger(__name__)
REVIEWER = "sameas-reviewer"
"""The cookie that keeps the name of a reviewer."""
YEAR = 365 * 24 * 3600

SIDE = Parameter("side", "the graph", choices=("left", "right"), default="left")
ENTITIES = (
    Parameter("left", "the URI of a left entity", default=""),
    Parameter("right", "the URI of a right entity", default=""),
)
CLAIM = (*ENTITIES, Parameter("verdict", "what it is", choices=VERDICTS, required=True))
REQUEST = Parameter(
    "request",
    "a text that no other request has; one that is sent again is stored once",
    required=True,
)
NAME = Parameter("reviewer", "who decides; else who the cookie names", default="")
EXPORTS = tuple(suffix.removeprefix(".") for suffix in FORMATS)
EXPORT = Parameter("format", "a format of links", choices=EXPORTS, required=True)


@dataclass(frozen=True)
class Endpoint:
    """An address, and the function that answers there.

    A page is HTML at ``path`` (unless ``html`` is False) and its values at ``path``.json. An
    action changes something; it takes JSON and gives JSON.
    """

    path: str
    work: Callable[[Review, Queue, Record], Record]
    parameters: tuple[Parameter, ...] = ()
    html: bool = True

    @property
    def summary(self) -> str:
        """What it does, in one sentence."""
        return (self.work.__doc__ or "").split("\n")[0]


whole_number = partial(Parameter, type="integer")
PAGES = (
    Endpoint("/overview", pages.overview),
    Endpoint(
        "/links",
        pages.links,
        (
            *FILTER,
            whole_number("after", "the number of the link before the page"),
            whole_number("before", "the number of the link after it"),
        ),
    ),
    Endpoint("/pair", pair, (*ENTITIES, *FILTER)),
    Endpoint(
        "/unmatched",
        pages.unmatched,
        (
            SIDE,
            Parameter("text", "beginnings of words in the name", default=""),
            Parameter("reason", "why", choices=("", *REASONS), default=""),
            Parameter("status", "what was decided", choices=("all", *STATES), default="open"),
            whole_number("after", "the row before the page", default=0),
        ),
    ),
    Endpoint(
        "/decisions", pages.decisions, (whole_number("before", "the decision after the page"),)
    ),
    Endpoint(
        "/search",
        pages.search,
        (SIDE, Parameter("text", "words of a name", required=True)),
        html=False,
    ),
    Endpoint(
        "/changes", pages.changes, (whole_number("since", "a version", default=0),), html=False
    ),
)
CLAIMS = Parameter(
    "claims",
    "what is decided, all of it at once",
    type="array",
    required=True,
    most=20,
    items=CLAIM,
)
OF = Parameter("of", "the request to be repeated", required=True)
ACTIONS = (
    Endpoint("/decide", pages.take_decision, (REQUEST, NAME, CLAIMS)),
    Endpoint("/repeat", pages.repeat_decision, (REQUEST, NAME, OF)),
    Endpoint("/undo", pages.take_back, (REQUEST, NAME)),
)


def make_app(review: Review, *, token: str, hosts: tuple[str, ...] = ()) -> Guard:
    """The application behind its guard; ``hosts`` are names for it, if other machines can ask."""
    answer, show = partial(_answer, review), partial(_answer, review, html=True)
    routes = [
        Route("/", partial(show, PAGES[0])),
        *(Route(page.path, partial(show, page)) for page in PAGES if page.html),
        *(Route(f"{page.path}.json", partial(answer, page)) for page in PAGES),
        *(Route(action.path, partial(answer, action), methods=["POST"]) for action in ACTIONS),
        Route("/reviewer", _set_reviewer, methods=["POST"]),
        Route("/export", partial(_export, review)),
        Route("/openapi.json", lambda request: JSONResponse(description())),
        Route("/static/{name}", _static),
    ]
    handlers: dict[Any, Any] = {
        SameasError: _refused,
        HTTPException: _refused,
        Exception: _failed,
    }
    return Guard(Starlette(routes=routes, exception_handlers=handlers), token, hosts)


async def _answer(
    review: Review, endpoint: Endpoint, request: Request, *, html: bool = False
) -> Response:
    is_action = request.method == "POST"
    given = await _object(request) if is_action else request.query_params
    values = check_all(endpoint.parameters, given)
    kept = unquote(request.cookies.get(REVIEWER, ""))
    reviewer = values.get("reviewer") or kept or review.reviewer
    if is_action and not reviewer:
        raise OptionError("reviewer is missing: give your name first")

    def work() -> Response:
        with review.queue() as queue:
            found = endpoint.work(review, queue, {**values, "reviewer": reviewer})
        if html:
            page = endpoint.path.removeprefix("/")
            text = render(f"{page}.html.jinja", **found, page=page, reviewer=reviewer)
            return HTMLResponse(text)
        plain = json.dumps(found, default=str)
        return JSONResponse(json.loads(plain, parse_constant=lambda not_finite: None))

    return await run_in_threadpool(work)


async def _object(request: Request) -> Record:
    """The JSON object that a request sends."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise HTTPException(415, "JSON is expected (Content-Type: application/json)")
    try:
        found = json.loads(await request.body())
    except (ValueError, RecursionError):
        found = None
    except ClientDisconnect:
        raise HTTPException(413, f"at most {LARGEST:,} bytes can be sent") from None
    if not isinstance(found, dict):
        raise OptionError("a JSON object is expected")
    return found


async def _set_reviewer(request: Request) -> Response:
    name = Parameter("reviewer", "your name", required=True)
    reviewer = " ".join(name.check((await _object(request)).get("reviewer")).split())[:200]
    response = JSONResponse({"reviewer": reviewer})
    response.set_cookie(REVIEWER, quote(reviewer), max_age=YEAR, httponly=True, samesite="lax")
    return response


def _export(review: Review, request: Request) -> Response:
    kind = EXPORT.check(request.query_params.get("format"))
    with tempfile.TemporaryDirectory(prefix="sameas-") as folder:
        path = Path(folder) / f"links.{kind}"
        write(read_run(review.run), path)
        content = path.read_bytes()
    name = {"Content-Disposition": f'attachment; filename="links.{kind}"'}
    return Response(content, headers=name, media_type="application/octet-stream")


def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in STATIC:
        raise HTTPException(404)
    return Response(static_file(name), media_type=STATIC[name])


def _refused(request: Request, error: Exception) -> Response:
    """One sentence about what cannot be done, as HTML or JSON."""
    status = getattr(error, "status_code", 400)
    text, headers = getattr(error, "detail", str(error)), getattr(error, "headers", None)
    if request.method != "GET" or request.url.path.endswith(".json"):
        return JSONResponse({"error": text}, status_code=status, headers=headers)
    title = HTTPStatus(status).phrase
    content = render("error.html.jinja", title=title, text=text, page="", reviewer="")
    return HTMLResponse(content, status_code=status, headers=headers)


def _failed(request: Request, error: Exception) -> Response:
    log.warning("%s %s failed: %s", request.method, request.url.path, error)
    return JSONResponse({"error": "internal fault; the terminal says more"}, status_code=500)


def description() -> Record:
    """The application as OpenAPI describes it."""
    error = _json_content(object_schema([Parameter("error", "what is wrong", required=True)]))
    responses = {
        "200": {"description": "done", **_json_content({"type": "object"})},
        "400": {"description": "refused", **error},
        "404": {"description": "not in the run", **error},
        "401": {"description": "no token"},
    }
    of_actions = {
        **responses,
        "415": {"description": "not JSON", **error},
        "429": {"description": "too many requests"},
    }
    of_export = {
        "200": {"description": "a file", "content": {"*/*": {}}},
        "400": {"description": "refused", "content": {"text/html": {}}},
        "401": {"description": "no token"},
    }
    paths: Record = {}
    for page in PAGES:
        paths[f"{page.path}.json"] = _get(page.summary, page.parameters, responses)
    for action in ACTIONS:
        body = {"required": True, **_json_content(object_schema(action.parameters))}
        post = {"summary": action.summary, "requestBody": body, "responses": of_actions}
        paths[action.path] = {"post": post}
    title = "The links as decided, in a format of your choice."
    return {
        "openapi": "3.1.0",
        "info": {"title": "sameas review", "version": __version__},
        "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
        "security": [{"token": []}],
        "paths": {**paths, "/export": _get(title, [EXPORT], of_export)},
    }


def _json_content(schema: Record) -> Record:
    return {"content": {"application/json": {"schema": schema}}}


def _get(summary: str, parameters: Sequence[Parameter], responses: Record) -> Record:
    query = [
        {
            "name": one.name,
            "in": "query",
            "required": one.required,
            "description": one.help,
            "schema": one.schema,
        }
        for one in parameters
    ]
    return {"get": {"summary": summary, "parameters": query, "responses": responses}}
