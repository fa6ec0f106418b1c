"""The web application: which address shows what, as HTML, as JSON, and described as OpenAPI."""

from __future__ import annotations

import json
import logging
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
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

from sameas._version import __version__
from sameas.decisions import STATES, VERDICTS
from sameas.errors import OptionError, SameasError
from sameas.explanation.words import REASONS
from sameas.review import pages
from sameas.review.folder import Review
from sameas.review.guard import Guard
from sameas.review.pair import NotFoundError, pair
from sameas.review.parameters import Parameter, check_all, object_schema, query_description
from sameas.review.queue import SORTS, Filter, Record
from sameas.review.templates import render, static_files
from sameas.writing import read_run, write
from sameas.writing.links import FORMATS

log = logging.getLogger(__name__)
REVIEWER = "sameas-reviewer"
"""The cookie that keeps the name of a reviewer."""
EXPORTS = tuple(suffix.removeprefix(".") for suffix in FORMATS)

_default = Filter()
FILTER = (
    Parameter("sort", "the order", choices=tuple(SORTS), default=_default.sort),
    Parameter("status", "the state of links", choices=("all", *STATES), default=_default.status),
    Parameter("text", "beginnings of words in either name, or a URI", default=""),
    Parameter("relation", "a relation that either entity has", default=""),
    Parameter("type", "a type that either entity has", default=""),
    Parameter("low", "the least confidence", type="number", default=0.0, most=1),
    Parameter("high", "the largest confidence", type="number", default=1.0, most=1),
)
SIDE = Parameter("side", "the graph", choices=("left", "right"), default="left")
ENTITIES = (
    Parameter("left", "the URI of a left entity", default=""),
    Parameter("right", "the URI of a right entity", default=""),
)
REQUEST = Parameter(
    "request",
    "a text that no other request has; one that is sent again is stored once",
    required=True,
)
NAME = Parameter("reviewer", "who decides; else who the cookie names", default="")


@dataclass(frozen=True)
class Page:
    """An address that shows something: its HTML at ``path``, its values at ``path``.json."""

    path: str
    show: Callable[[Review, Record], Record]
    parameters: tuple[Parameter, ...] = ()
    html: bool = True

    @property
    def summary(self) -> str:
        """What it shows, in one sentence."""
        return (self.show.__doc__ or "").split("\n")[0]


@dataclass(frozen=True)
class Action:
    """An address that changes something: it takes JSON and gives JSON."""

    path: str
    take: Callable[[Review, Record, str], Record]
    parameters: tuple[Parameter, ...]


PAGES = (
    Page("/overview", pages.overview),
    Page(
        "/links",
        pages.links,
        (
            *FILTER,
            Parameter("after", "the number of the link before the page", type="integer"),
            Parameter("before", "the number of the link after it", type="integer"),
        ),
    ),
    Page("/pair", pair, (*ENTITIES, *FILTER)),
    Page(
        "/unmatched",
        pages.unmatched,
        (
            SIDE,
            Parameter("text", "beginnings of words in the name", default=""),
            Parameter("reason", "why", choices=("", *REASONS), default=""),
            Parameter("status", "what was decided", choices=("all", *STATES), default="open"),
            Parameter("after", "the row before the page", type="integer", default=0),
        ),
    ),
    Page(
        "/decisions",
        pages.decisions,
        (Parameter("before", "the decision after the page", type="integer"),),
    ),
    Page(
        "/search",
        pages.search,
        (SIDE, Parameter("text", "words of a name", required=True)),
        html=False,
    ),
    Page(
        "/changes",
        pages.changes,
        (Parameter("since", "a version", type="integer", default=0),),
        html=False,
    ),
)
ACTIONS = (
    Action(
        "/decide",
        pages.take_decision,
        (
            REQUEST,
            NAME,
            Parameter(
                "claims",
                "what is decided, all of it at once",
                type="array",
                required=True,
                most=20,
                items=(
                    *ENTITIES,
                    Parameter("verdict", "what it is", choices=VERDICTS, required=True),
                ),
            ),
        ),
    ),
    Action(
        "/repeat",
        pages.repeat_decision,
        (REQUEST, NAME, Parameter("of", "the request to be repeated", required=True)),
    ),
    Action("/undo", pages.take_back, (REQUEST, NAME)),
)
EXPORT = Parameter("format", "a format of links", choices=EXPORTS, required=True)


def make_app(
    review: Review, *, token: str, hosts: tuple[str, ...] = (), any_address: bool = False
) -> Guard:
    """The application behind its guard."""
    routes = [
        Route("/", _page(review, PAGES[0])),
        *(Route(page.path, _page(review, page)) for page in PAGES if page.html),
        *(Route(f"{page.path}.json", _page(review, page, html=False)) for page in PAGES),
        *(Route(action.path, _action(review, action), methods=["POST"]) for action in ACTIONS),
        Route("/reviewer", _set_reviewer, methods=["POST"]),
        Route("/export", _export(review)),
        Route("/openapi.json", lambda request: JSONResponse(description())),
        Route("/static/{name}", _static),
    ]
    handlers: Mapping[Any, Any] = {
        SameasError: _refused,
        HTTPException: _refused,
        Exception: _failed,
    }
    app = Starlette(routes=routes, exception_handlers=handlers)
    return Guard(app, token, hosts, any_address)


def _reviewer(request: Request, review: Review) -> str:
    return unquote(request.cookies.get(REVIEWER, "")) or review.reviewer


def _page(review: Review, page: Page, *, html: bool = True) -> Callable[[Request], Response]:
    def answer(request: Request) -> Response:
        values = page.show(review, check_all(page.parameters, request.query_params))
        if not html:
            return _json(values)
        name, who = page.path.removeprefix("/"), _reviewer(request, review)
        return HTMLResponse(render(f"{name}.html.jinja", **values, page=name, reviewer=who))

    return answer


def _json(values: Record) -> Response:
    """Values as JSON; null for numbers that are not finite."""
    plain = json.loads(json.dumps(values, default=str), parse_constant=lambda name: None)
    return JSONResponse(plain)


async def _object(request: Request) -> Record:
    """The JSON object that a request sends."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise HTTPException(415, "JSON is expected (Content-Type: application/json)")
    try:
        found = json.loads(await request.body())
    except (ValueError, RecursionError):
        found = None
    except ClientDisconnect:
        raise HTTPException(413, "the request is too large") from None
    if not isinstance(found, dict):
        raise OptionError("a JSON object is expected")
    return found


def _action(review: Review, action: Action) -> Callable[[Request], Any]:
    async def answer(request: Request) -> Response:
        values = check_all(action.parameters, await _object(request))
        reviewer = values["reviewer"] or _reviewer(request, review)
        return _json(await run_in_threadpool(action.take, review, values, reviewer))

    return answer


async def _set_reviewer(request: Request) -> Response:
    name = Parameter("reviewer", "your name", required=True)
    reviewer = " ".join(name.check((await _object(request)).get("reviewer")).split())[:200]
    response = JSONResponse({"reviewer": reviewer})
    year = 365 * 24 * 3600
    response.set_cookie(REVIEWER, quote(reviewer), max_age=year, httponly=True, samesite="lax")
    return response


def _export(review: Review) -> Callable[[Request], Response]:
    def answer(request: Request) -> Response:
        kind = EXPORT.check(request.query_params.get("format"))
        with tempfile.TemporaryDirectory(prefix="sameas-") as folder:
            path = Path(folder) / f"links.{kind}"
            write(read_run(review.run), path)
            content = path.read_bytes()
        name = {"Content-Disposition": f'attachment; filename="links.{kind}"'}
        return Response(content, headers=name, media_type="application/octet-stream")

    return answer


def _static(request: Request) -> Response:
    found = static_files().get(request.path_params["name"])
    if found is None:
        raise HTTPException(404)
    content, media_type = found
    return Response(content, media_type=media_type)


def _refused(request: Request, error: Exception) -> Response:
    """One sentence about what cannot be done, as HTML or JSON."""
    status = error.status_code if isinstance(error, HTTPException) else 400
    text = error.detail if isinstance(error, HTTPException) else str(error)
    if isinstance(error, NotFoundError):
        status = 404
    headers = getattr(error, "headers", None)
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
    ok = {
        "200": {
            "description": "done",
            "content": {"application/json": {"schema": {"type": "object"}}},
        }
    }
    problem = {"schema": object_schema([Parameter("error", "what is wrong", required=True)])}
    refusals = {
        "400": {"description": "refused", "content": {"application/json": problem}},
        "404": {"description": "not in the run", "content": {"application/json": problem}},
        "401": {"description": "no token"},
    }
    paths: Record = {}
    for page in PAGES:
        paths[f"{page.path}.json"] = {
            "get": {
                "summary": page.summary,
                "parameters": query_description(page.parameters),
                "responses": {**ok, **refusals},
            }
        }
    for action in ACTIONS:
        content = {"application/json": {"schema": object_schema(action.parameters)}}
        paths[action.path] = {
            "post": {
                "summary": (action.take.__doc__ or "").split("\n")[0],
                "requestBody": {"required": True, "content": content},
                "responses": {
                    **ok,
                    **refusals,
                    "415": {"description": "not JSON", "content": {"application/json": problem}},
                    "429": {"description": "too many requests"},
                },
            }
        }
    paths["/export"] = {
        "get": {
            "summary": "The links as decided, in a format of your choice.",
            "parameters": query_description([EXPORT]),
            "responses": {
                "200": {"description": "a file", "content": {"*/*": {}}},
                "400": {"description": "refused", "content": {"text/html": {}}},
                "401": {"description": "no token"},
            },
        }
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": "sameas review", "version": __version__},
        "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
        "security": [{"token": []}],
        "paths": paths,
    }
