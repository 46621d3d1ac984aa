"""An agent in service over HTTP: decisions, rewards, arms, estimates, health, metrics, and a page to look at.

Every request but those for health and for this description needs the token, as ``Authorization: Bearer``; the page and
the metrics take it as the password of a browser, too.
"""

from __future__ import annotations

import base64
import contextlib
import hmac
import html
import json
import math
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from .file import LiveFileError
from .live import ConflictingRewardError, Live, UnknownDecisionError

BYTES = 1 << 20  # of a request's body
MOST = 1_000  # decisions of one request
LONGEST = 100  # letters of an arm's name
OPEN = ("/healthz", "/openapi.json")  # answered without the token
READ = ("/", "/metrics")  # for browsers and collectors, which send a password
STATUS = {UnknownDecisionError: 404, ConflictingRewardError: 409, LiveFileError: 503}  # other errors in words are 422
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="30"><title>{title}</title>
<style>body{{font:15px system-ui,sans-serif;margin:2rem;max-width:60rem}}table{{border-collapse:collapse}}
td,th{{padding:.3rem .8rem;text-align:right;border-bottom:1px solid #ccc}}
td:first-child,th:first-child{{text-align:left}}
</style><h1>{title}</h1><p>{agent}{notes}</p>
<table><tr><th>arm<th>decisions<th>rewards<th>waiting<th>mean<th>error<th>believed</tr>{rows}</table>
<p>{alarms}</p><p>{time}; renewed every 30 seconds</p></html>
"""


class Refused(Exception):  # noqa: N818 - an answer, rather than a failure
    """A request that is answered with a status and one line."""

    def __init__(self, status: int, words: str) -> None:
        self.status, self.words = status, words


async def content(request: Request, known: Mapping[str, type]) -> dict[str, Any]:
    """The JSON object in a request's body, with values of the known types alone."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise Refused(415, "the body must be JSON: send Content-Type: application/json")
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > BYTES:
            raise Refused(413, f"a body may have {BYTES:,} bytes; send several requests")
    try:
        found = json.loads(body or b"{}", parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise Refused(400, f"the body cannot be read as JSON: {str(error)[:200]}") from None
    if not isinstance(found, dict) or (others := [key for key in found if key not in known]):
        what = f"no {others[0][:50]!r}" if isinstance(found, dict) else f"a {type(found).__name__}"
        raise Refused(422, f"the body must be an object with {' and '.join(known)} alone, it has {what}")
    for key, value in found.items():
        if known[key] is int and isinstance(value, float) and value.is_integer():
            found[key] = int(value)  # 7.0 is an integer of JSON
        elif type(value) is not known[key]:
            raise Refused(422, f"{key} must be of type {known[key].__name__}, got {type(value).__name__}")
    return found


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is no number of JSON")


class Service:
    """The answers to all requests.

    Args:
        live: the agent.
        token: the secret that requests show.
    """

    def __init__(self, live: Live, token: str) -> None:
        self.live, self.token = live, token
        self.requests: Counter[tuple[str, int]] = Counter()

    async def decide(self, request: Request) -> Response:
        """Make decisions."""
        n = (await content(request, {"n": int})).get("n", 1)
        if not 1 <= n <= MOST:
            raise Refused(422, f"n must be from 1 to {MOST}, got {str(n)[:20]}")
        made = await run_in_threadpool(self.live.decide, n)
        return JSONResponse({"decisions": [each._asdict() | {"id": str(each.id)} for each in made]})

    async def reward(self, request: Request) -> Response:
        """Take in rewards."""
        given = (await content(request, {"rewards": list})).get("rewards")
        if not given:
            raise Refused(422, 'rewards must be a list such as [{"id": "17", "reward": 1}], with at least one')
        for each in given:
            wrong = not isinstance(each, dict) or set(each) != {"id", "reward"} or not isinstance(each["id"], str)
            if wrong or type(each["reward"]) not in (int, float):
                raise Refused(422, f"a reward is an object with id, a text, and reward, a number; got {str(each)[:80]}")
        learned = await run_in_threadpool(self.live.learn, [(each["id"], each["reward"]) for each in given])
        return JSONResponse(learned._asdict())

    async def arms(self, request: Request) -> Response:
        """List the open arms; open or retire one first, if that is asked for."""
        if request.method == "POST":
            given = await content(request, {"add": str, "retire": str})
            if len(given) != 1:
                raise Refused(422, "give either add or retire, the name of an arm")
            for what, name in given.items():
                if not 0 < len(name) <= LONGEST:
                    raise Refused(422, f"the name of an arm has 1 to {LONGEST} letters")
                try:
                    await run_in_threadpool(getattr(self.live, what), name)
                except LiveFileError:
                    raise
                except ValueError as error:
                    raise Refused(409, str(error)) from None
        return JSONResponse({"arms": list(self.live.arms)})

    async def estimates(self, request: Request) -> Response:
        """Show what is known of each arm."""
        window = request.query_params.get("window")
        found = [asdict(each) for each in await run_in_threadpool(self.live.estimates, window)]
        shown = [{key: None if value != value else value for key, value in each.items()} for each in found]
        return JSONResponse({"estimates": shown})

    async def health(self, request: Request) -> Response:
        """Answer if the file can be read."""
        await run_in_threadpool(self.live.alarms)
        return PlainTextResponse("ok\n")

    async def metrics(self, request: Request) -> Response:
        """Show counts in the text form of Prometheus."""
        estimates = await run_in_threadpool(self.live.estimates, "1000000d")
        lines = []
        for name, kind, words, values in (
            ("decisions_total", "counter", "Decisions.", [each.decisions for each in estimates]),
            ("rewards_total", "counter", "Rewards that count.", [each.rewards for each in estimates]),
            ("waiting", "gauge", "Decisions whose reward may still come.", [each.waiting for each in estimates]),
            ("believed", "gauge", "The mean that the agent expects.", [each.believed for each in estimates]),
        ):
            lines += [f"# HELP ns_mab_gym_{name} {words}", f"# TYPE ns_mab_gym_{name} {kind}"]
            for each, value in zip(estimates, values, strict=True):
                label = each.arm.replace("\\", r"\\").replace('"', r"\"")
                lines.append(f'ns_mab_gym_{name}{{arm="{label}"}} {"NaN" if math.isnan(value) else value}')
        alarms = await run_in_threadpool(self.live.alarms)
        for name, words in (("alarms_total", "Changes that the agent noticed."), ("requests_total", "Requests.")):
            lines += [f"# HELP ns_mab_gym_{name} {words}", f"# TYPE ns_mab_gym_{name} counter"]
            lines += [f"ns_mab_gym_{name} {len(alarms)}"] * (name == "alarms_total")
        for (path, status), count in sorted(self.requests.items()):
            lines.append(f'ns_mab_gym_requests_total{{path="{path}",status="{status}"}} {count}')
        return PlainTextResponse("\n".join([*lines, ""]), media_type="text/plain; version=0.0.4")

    async def page(self, request: Request) -> Response:
        """Show a page for people."""
        estimates = await run_in_threadpool(self.live.estimates)
        alarms = await run_in_threadpool(self.live.alarms)
        rows = []
        for each in estimates:
            counts = (f"{count:,}" for count in (each.decisions, each.rewards, each.waiting))
            means = ("" if math.isnan(mean) else f"{mean:.4g}" for mean in (each.mean, each.error, each.believed))
            rows.append((f"{each.arm}{' (retired)' * each.retired}", *counts, *means))
        cells = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}" for cell in row) + "</tr>" for row in rows)
        last = [f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M}, {arm or 'all arms'}" for at, arm in alarms[-5:]]
        said = f"changes noticed: {len(alarms)}" + (f"; the last: {'; '.join(last)}" if last else "")
        notes = "".join(f"; {note}" for note in self.live.notes)
        text = PAGE.format(
            title="ns-mab-gym", agent=html.escape(self.live.agent), notes=html.escape(notes), rows=cells,
            alarms=html.escape(said), time=f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC",
        )  # fmt: skip
        return Response(text, media_type="text/html")

    async def described(self, request: Request) -> Response:
        """Show the OpenAPI description."""
        return JSONResponse(DESCRIPTION)

    def answered(self, path: str, answer: Callable[[Request], Awaitable[Response]]) -> Any:
        """The answer to requests for a path, with what all have in common: the token, errors, headers, counts."""

        async def reply(request: Request) -> Response:
            try:
                if path not in OPEN and not self._shown(request.headers.get("authorization", ""), path in READ):
                    raise Refused(401, "the token is missing or wrong: send Authorization: Bearer TOKEN")
                response = await answer(request)
            except Refused as refused:
                response = JSONResponse({"error": refused.words}, refused.status)
            except (ValueError, TypeError) as error:
                status = next((status for kind, status in STATUS.items() if isinstance(error, kind)), 422)
                response = JSONResponse({"error": str(error)}, status)
            response.headers.update(HEADERS)
            if response.status_code == 401:
                response.headers["WWW-Authenticate"] = "Basic" if path in READ else "Bearer"
            self.requests[path, response.status_code] += 1
            return response

        return reply

    def _shown(self, authorization: str, password: bool) -> bool:
        """Whether the header shows the token, in a time that tells nothing of it."""
        scheme, _, given = authorization.partition(" ")
        if scheme.lower() == "basic" and password:
            with contextlib.suppress(ValueError):
                given = base64.b64decode(given).decode().partition(":")[2]
        elif scheme.lower() != "bearer":
            given = ""
        return hmac.compare_digest(given.encode(errors="replace"), self.token.encode())


def application(live: Live, token: str) -> Starlette:
    """Return the service as an ASGI application, which closes the agent when it stops."""
    service = Service(live, token)
    answers = {
        "/decide": (["POST"], service.decide), "/reward": (["POST"], service.reward),
        "/arms": (["GET", "POST"], service.arms), "/estimates": (["GET"], service.estimates),
        "/healthz": (["GET"], service.health), "/metrics": (["GET"], service.metrics),
        "/": (["GET"], service.page), "/openapi.json": (["GET"], service.described),
    }  # fmt: skip

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        live.close()

    routes = [Route(path, service.answered(path, answer), methods=ways) for path, (ways, answer) in answers.items()]
    return Starlette(routes=routes, lifespan=lifespan)


# The OpenAPI description.


def _object(required: bool = True, **properties: Any) -> dict[str, Any]:
    needs = {"required": list(properties)} if required else {}
    return {"type": "object", "properties": properties, "additionalProperties": False, **needs}


def _operation(summary: str, answer: Any, body: Any = None, *others: int, **more: Any) -> dict[str, Any]:
    form = answer if "text/" in str(answer) else "application/json"
    shown = {"description": "done", "content": {form: {} if form == answer else {"schema": answer}}}
    wrong = {"description": "refused", "content": {"application/json": {"schema": _object(error=TEXT)}}}
    codes = [*others, 503, *([400, 413, 415, 422] if body else [])]
    asked = {"requestBody": {"required": True, "content": {"application/json": {"schema": body}}}} if body else {}
    return {"summary": summary, "responses": {"200": shown, **{str(code): wrong for code in codes}}, **asked, **more}


TEXT, NUMBER, COUNT, TRUTH = ({"type": kind} for kind in ("string", "number", "integer", "boolean"))
MAYBE = {"type": ["number", "null"]}
NAME = {"type": "string", "minLength": 1, "maxLength": LONGEST}
ARMS = _object(arms={"type": "array", "items": TEXT})
MADE = _object(id=TEXT, arm=TEXT, probability=NUMBER, holdout=TRUTH)
GIVEN = _object(id=TEXT, reward=NUMBER)
KNOWN = _object(
    arm=TEXT, retired=TRUTH, decisions=COUNT, rewards=COUNT, waiting=COUNT, mean=MAYBE, error=MAYBE, believed=MAYBE
)
WINDOW = {"name": "window", "in": "query", "schema": {"type": "string", "pattern": r"^[1-9][0-9]{0,3}[smhdw]$"}}
DESCRIPTION = {
    "openapi": "3.1.0",
    "info": {"title": "ns-mab-gym: an agent in service", "version": version("ns-mab-gym")},
    "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
    "security": [{"token": []}],
    "paths": {
        "/decide": {"post": _operation(
            "Make decisions", _object(decisions={"type": "array", "items": MADE}),
            _object(False, n={"type": "integer", "minimum": 1, "maximum": MOST}), 401,
        )},
        "/reward": {"post": _operation(
            "Give rewards of decisions, all of them or none", _object(new=COUNT, repeated=COUNT, late=COUNT),
            _object(rewards={"type": "array", "items": GIVEN, "minItems": 1}), 401, 404, 409,
        )},
        "/arms": {
            "get": _operation("List the open arms", ARMS, None, 401),
            "post": _operation(
                "Open or retire an arm", ARMS, {**_object(False, add=NAME, retire=NAME), "maxProperties": 1,
                "minProperties": 1}, 401, 409,
            ),
        },
        "/estimates": {"get": _operation(
            "Show what is known of each arm", _object(estimates={"type": "array", "items": KNOWN}), None, 401, 422,
            parameters=[WINDOW],
        )},
        "/healthz": {"get": _operation("Answer", "text/plain", security=[])},
        "/metrics": {"get": _operation("Show counts for Prometheus", "text/plain", None, 401)},
        "/": {"get": _operation("Show a page for people", "text/html", None, 401)},
        "/openapi.json": {"get": _operation("Show this description", {"type": "object"}, security=[])},
    },
}  # fmt: skip
