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
from urllib.parse import parse_qsl, quote, unquote

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from sameas import __version__
from sameas.errors import OptionError, SameasError
from sameas.options.declare import Option
from sameas.result.decisions import PREDICATES, STATES, VERDICTS
from sameas.result.explanation.sentences import REASONS
from sameas.result.export import FORMATS, write
from sameas.result.run_folder import read_run
from sameas.web.guard import Guard, Workers, read_body
from sameas.web.review import cluster_pages, pages
from sameas.web.review.access import Access
from sameas.web.review.clusters import ACTION, CLUSTER_FILTER
from sameas.web.review.folder import Review
from sameas.web.review.pair import pair
from sameas.web.review.parameters import Record, object_schema, request_values, schema
from sameas.web.review.queue import FILTER, Queue
from sameas.web.review.templates import STATIC, render, static_file

log = logging.getLogger(__name__)
REVIEWER = "sameas-reviewer"
"""The cookie that keeps the name of a reviewer."""
YEAR = 365 * 24 * 3600
MOST_BYTES = 256 * 1024
"""The size of a request's body."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
    "referrer-policy": "same-origin",  # else forms would not tell where they come from
}
FORM = "application/x-www-form-urlencoded"
MOST_FIELDS = 1000
"""Fields of a form: a cluster sends the members that were chosen."""

SIDE = Option("the graph", name="side", choices=("left", "right"), default="left")
ENTITIES = (
    Option("the URI of a left entity", name="left", default=""),
    Option("the URI of a right entity", name="right", default=""),
)
CLAIM = (
    *ENTITIES,
    Option("what it is", name="verdict", choices=VERDICTS),
    Option(
        "what the right entity is to the left one; all but exact go with the verdict reject",
        name="predicate",
        choices=PREDICATES,
        default="exact",
    ),
    Option("why", name="comment", default=""),
)
REQUEST = Option(
    "a text that no other request has; one that is sent again is stored once", name="request"
)
NAME = Option("who decides; else who the cookie names", name="reviewer", default="")
EXPORTS = tuple(suffix.removeprefix(".") for suffix in FORMATS)
EXPORT = Option("a format of links", name="format", choices=EXPORTS)


@dataclass(frozen=True)
class Endpoint:
    """An address, and the function that answers there.

    A page is HTML at ``path`` (unless ``html`` is False) and its values at ``path``.json. An
    action changes something; it takes JSON and gives JSON.
    """

    path: str
    summary: str
    work: Callable[[Review, Queue, Record], Record]
    parameters: tuple[Option, ...] = ()
    html: bool = True


def _number(name: str, help: str, default: int | None = None) -> Option:
    """A whole number that JavaScript can hold: of a link, a row or a version."""
    return Option(help, name=name, type=int, default=default, least=0, most=2**53)


PAGES = (
    Endpoint(
        "/overview",
        "Counts, confidences, relation matches and how the run was made.",
        pages.overview,
    ),
    Endpoint(
        "/links",
        "A page of the queue.",
        pages.links,
        (
            *FILTER,
            _number("after", "the number of the link before the page"),
            _number("before", "the number of the link after it"),
        ),
    ),
    Endpoint(
        "/clusters",
        "A page of the list of clusters.",
        cluster_pages.clusters,
        (
            *CLUSTER_FILTER,
            _number("after", "the number of the cluster before the page"),
            _number("before", "the number of the cluster after it"),
        ),
    ),
    Endpoint(
        "/cluster",
        "A cluster: its members side by side, and the links between them.",
        cluster_pages.cluster,
        (Option("the name of a cluster", name="cluster"), *CLUSTER_FILTER),
    ),
    Endpoint(
        "/pair",
        "Two entities side by side; or one, with its partner or nearest candidate.",
        pair,
        (*ENTITIES, *FILTER),
    ),
    Endpoint(
        "/unmatched",
        "A page of entities without a link.",
        pages.unmatched,
        (
            SIDE,
            Option("beginnings of words in the name", name="text", default=""),
            Option("why", name="reason", choices=("", *REASONS), default=""),
            Option("what was decided", name="status", choices=("all", *STATES), default="open"),
            _number("after", "the row before the page", 0),
        ),
    ),
    Endpoint(
        "/decisions",
        "What was decided, the latest first, and what reviewers disagree about.",
        pages.decisions,
        (_number("before", "the decision after the page"),),
    ),
    Endpoint(
        "/search",
        "Entities by words of their names, to link one by hand.",
        pages.search,
        (SIDE, Option("words of a name", name="text")),
        html=False,
    ),
    Endpoint(
        "/changes",
        "States that changed after a version.",
        pages.changes,
        (_number("since", "a version", 0),),
        html=False,
    ),
)
CLAIMS = Option(
    "what is decided, all of it at once",
    name="claims",
    type=dict,
    several=True,
    most_items=200,
    items=CLAIM,
)
OF = Option("the request to be repeated", name="of")
ACTIONS = (
    Endpoint(
        "/decide",
        "Store what a reviewer says; the answer means that it is on disk.",
        pages.take_decision,
        (REQUEST, NAME, CLAIMS),
    ),
    Endpoint(
        "/repeat",
        "Decide about all open links with the same two names as about one; undone as one.",
        pages.repeat_decision,
        (REQUEST, NAME, OF),
    ),
    Endpoint(
        "/decide-all",
        "Decide about all links that a filter shows; undone as one.",
        pages.decide_about_all,
        (
            REQUEST,
            NAME,
            Option("what they are", name="verdict", choices=("accept", "reject", "unsure")),
            _number("count", "how many there are, as the page says"),
            *FILTER,
        ),
    ),
    Endpoint(
        "/again",
        "Align again in the background, with what was decided as known links and non-links.",
        pages.align_again,
        (NAME,),
    ),
    Endpoint(
        "/decide-cluster",
        "Say that members of a cluster are the same, or not; undone as one.",
        cluster_pages.decide_cluster,
        (REQUEST, NAME, *ACTION),
    ),
    Endpoint("/undo", "Undo what a reviewer decided.", pages.take_back, (REQUEST, NAME)),
)


def make_app(review: Review, access: Access) -> Guard:
    """The application, behind the checks of who may ask what."""
    workers = Workers()
    answer = partial(_answer, review, workers)
    show = partial(answer, html=True)
    routes = [
        Route("/", partial(show, PAGES[0])),
        *(Route(page.path, partial(show, page)) for page in PAGES if page.html),
        *(Route(f"{page.path}.json", partial(answer, page)) for page in PAGES),
        *(Route(action.path, partial(answer, action), methods=["POST"]) for action in ACTIONS),
        Route("/reviewer", _set_reviewer, methods=["POST"]),
        Route("/export", partial(_export, review, workers)),
        Route("/openapi.json", lambda request: JSONResponse(description())),
        Route("/static/{name}", _static),
    ]
    handlers: dict[Any, Any] = {
        SameasError: _refused,
        HTTPException: _refused,
        Exception: _failed,
    }
    app = Starlette(routes=routes, exception_handlers=handlers)
    return Guard(app, access.refusal, HEADERS)


async def _answer(
    review: Review, workers: Workers, endpoint: Endpoint, request: Request, *, html: bool = False
) -> Response:
    is_action = request.method == "POST"
    given = await _given(request) if is_action else request.query_params
    back = given.get("back") if is_action else None  # of a form: the page that it is on
    values = request_values(endpoint.parameters, given)
    kept = unquote(request.cookies.get(REVIEWER, ""))
    reviewer = values.get("reviewer") or kept or review.reviewer
    if is_action and not reviewer:
        raise OptionError("reviewer is missing: give your name first")

    def work() -> Response:
        with review.queue(reviewer) as queue:
            shown = endpoint.work(review, queue, {**values, "reviewer": reviewer})
        if isinstance(back, str):
            return _to_page(back)
        if html:
            page = endpoint.path.removeprefix("/")
            given = {"of_clusters": review.of_clusters, **shown}
            text = render(f"{page}.html.jinja", **given, page=page, reviewer=reviewer)
            return HTMLResponse(text)
        plain = json.dumps(shown, default=str)
        return JSONResponse(json.loads(plain, parse_constant=lambda not_finite: None))

    return await workers.run(work)


def _to_page(back: str) -> Response:
    """Lead to a page of this server, and nowhere else."""
    return RedirectResponse("/" + back.lstrip("/\\"), status_code=303)


async def _given(request: Request) -> Record:
    """What a request sends: a JSON object, or the form of a page without scripts."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip()
    if kind == FORM:
        body = await read_body(request, MOST_BYTES)
        try:
            sent = parse_qsl(body.decode("utf8", "replace"), max_num_fields=MOST_FIELDS)
        except ValueError:
            raise OptionError(f"a form must have at most {MOST_FIELDS:,} fields") from None
        fields: Record = dict(sent)
        fields["members"] = [value for name, value in sent if name == "members"]
        if "take" in fields:
            fields |= {"action": "split", "members": [fields["take"]]}
        if "similar" in fields:  # a button can send one value alone
            fields |= {"verdict": "reject", "predicate": fields["similar"]}
        claim = {one.name: fields[one.name] for one in CLAIM if one.name in fields}
        claims = {"claims": [claim]} if {"left", "right"} & claim.keys() else {}
        numbers = {"count": int(fields["count"])} if fields.get("count", "").isdigit() else {}
        return {"back": "/", **fields, **claims, **numbers}
    if kind != "application/json":
        raise HTTPException(415, "JSON is expected (Content-Type: application/json)")
    try:
        value = json.loads(await read_body(request, MOST_BYTES))
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise OptionError("a JSON object is expected")
    return value


async def _set_reviewer(request: Request) -> Response:
    sent = await _given(request)
    given = request_values([Option("your name", name="reviewer")], sent)
    reviewer = " ".join(given["reviewer"].split())[:200]
    response: Response = JSONResponse({"reviewer": reviewer})
    if "back" in sent:
        response = _to_page(sent["back"])
    response.set_cookie(REVIEWER, quote(reviewer), max_age=YEAR, httponly=True, samesite="lax")
    return response


async def _export(review: Review, workers: Workers, request: Request) -> Response:
    kind = request_values([EXPORT], request.query_params)["format"]

    def written() -> bytes:
        with tempfile.TemporaryDirectory(prefix="sameas-") as folder:
            path = Path(folder) / f"links.{kind}"
            write(read_run(review.run), path)
            return path.read_bytes()

    content = await workers.run(written)
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
    is_form = request.headers.get("content-type", "").startswith(FORM)
    if (request.method != "GET" and not is_form) or request.url.path.endswith(".json"):
        return JSONResponse({"error": text}, status_code=status, headers=headers)
    title = HTTPStatus(status).phrase
    content = render(
        "error.html.jinja", title=title, text=text, page="", reviewer="", of_clusters=None
    )
    return HTMLResponse(content, status_code=status, headers=headers)


def _failed(request: Request, error: Exception) -> Response:
    log.warning("%s %s failed: %s", request.method, request.url.path, error)
    return JSONResponse({"error": "internal fault; the terminal says more"}, status_code=500)


def description() -> Record:
    """The application as OpenAPI describes it."""
    error = _json_content(object_schema([Option("what is wrong", name="error")]))
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


def _get(summary: str, parameters: Sequence[Option], responses: Record) -> Record:
    query = [
        {
            "name": one.name,
            "in": "query",
            "required": one.is_required,
            "description": one.help,
            "schema": schema(one),
        }
        for one in parameters
    ]
    return {"get": {"summary": summary, "parameters": query, "responses": responses}}
