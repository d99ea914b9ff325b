"""The console as an ASGI application: it checks the door, signs in, calls views and shows their pages."""

from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from functools import partial
from typing import Any
from urllib.parse import parse_qsl, quote, unquote

from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import compile_path
from starlette.types import Receive, Scope, Send

from garden.events.records import Caller
from garden.gateway.access import policy_of
from garden.gateway.dispatcher import expected_error
from garden.gateway.sign_ins import parse_cookie
from garden.gateway.tokens import parse_token
from garden.grammar.errors import GardenError
from garden.surfaces.web.authentication import TokenAuthenticator
from garden.surfaces.web.calls import Calls
from garden.surfaces.web.console.door import (
    HEADERS,
    Door,
    check_form,
    form_token,
    is_link_from_elsewhere,
)
from garden.surfaces.web.console.downloads import DownloadResponse
from garden.surfaces.web.console.pages import Templates, static_files
from garden.surfaces.web.console.views import NAVIGATION, VIEWS
from garden.surfaces.web.console.visits import (
    PREFIX,
    Answer,
    Download,
    Redirect,
    View,
    Visit,
    address,
)
from garden.surfaces.web.intake import CALLER, KNOWN, MOUNTED_AT
from garden.surfaces.web.problems import (
    STATUSES,
    BodyTooLargeError,
    HttpError,
    MediaTypeError,
    MethodError,
    NoRouteError,
    NotAcceptedError,
    TokenRequiredError,
)
from garden.surfaces.web.streams import EventStream, Streams

Endpoint = Callable[[Request], Awaitable[Response]]

_FORM = "application/x-www-form-urlencoded"
_FIELDS_MAX = 100
_TOKEN_FORM_MAX = 1 << 16
_NO_PAGE = "There is no such page in the console."


class Console:
    """Answers every request below the console's prefix."""

    def __init__(self, calls: Calls, streams: Streams, door: Door) -> None:
        self._calls = calls
        self._streams = streams
        self._door = door
        self._sign_ins = calls.garden.sign_ins
        # A cookie is looked up with every request, so that signing out has its effect at once.
        self._authenticator = TokenAuthenticator(
            self._sign_ins.check, self._sign_ins.ended, parse=parse_cookie, known_seconds=0
        )
        self._templates = Templates(calls.garden.settings.timezone)
        own: list[tuple[str, str, Endpoint]] = [
            ("GET", "", self._go_home),
            ("GET", "/static/{name}", self._send_static),
            ("GET", "/enter", self._enter),
            ("GET", "/sign-in", self._show_sign_in),
            ("POST", "/sign-in", self._sign_in),
            ("POST", "/sign-out", self._sign_out),
            ("GET", "/live", self._follow),
        ]
        own += [(each.method, each.path, partial(self._visit, each)) for each in VIEWS]
        self._routes = [(compile_path(path)[0], method, endpoint) for method, path, endpoint in own]

    def close(self) -> None:
        """End the threads."""
        self._authenticator.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; every refusal is a page as well."""
        scope[MOUNTED_AT] = PREFIX
        request = Request(scope, receive)
        try:
            self._door.check(request)
            endpoint = self._find(request)
            if is_link_from_elsewhere(request):
                # Another site must not sign a person in as another user, and the browser keeps the cookie
                # back until a page of the console itself asks.
                response = self._show("from_elsewhere.html", {"here": _here(request)})
            else:
                response = await endpoint(request)
        except TokenRequiredError:
            response = self._ask_to_sign_in(request)
        except ClientDisconnect:
            raise
        except Exception as error:  # noqa: BLE001 - a person gets a page in any case
            response = self._show_error(request, expected_error(error, "the console"))
        for name, value in HEADERS.items():
            response.headers.setdefault(name, value)
        await response(scope, receive, send)

    def _find(self, request: Request) -> Endpoint:
        # Not the address in `request.url`, which is made with the header Host.
        path = request.scope["path"]
        path = "" if path == "/" else path.removeprefix(PREFIX)
        allowed = []
        for pattern, method, endpoint in self._routes:
            if found := pattern.match(path):
                if method == request.method or (request.method, method) == ("HEAD", "GET"):
                    request.scope["path_params"] = found.groupdict()
                    return endpoint
                allowed.append(method)
        if allowed:
            raise MethodError(allowed)
        raise NoRouteError(_NO_PAGE, hint="Start from Today.")

    async def _visit(self, view: View, request: Request) -> Response:
        cookie, caller = await self._authenticate(request)
        form: Mapping[str, str] = {}
        if view.method == "POST":
            form = await _read_form(request)
            check_form(form, cookie)

        def answer(_: Caller) -> Response:
            session = self._session(caller)
            visit = Visit(self._calls.garden, session, request.path_params, request.query_params, form)
            return self._respond(view.answer(visit), visit, view, form_token(cookie))

        return await self._calls.run(request, answer, writes=view.method == "POST")

    def _session(self, caller: Caller) -> Any:
        return self._calls.garden.session(
            caller.user_id, caller.actor, role=caller.role, surface="console", policy=policy_of(caller)
        )

    def _respond(self, answer: Answer, visit: Visit, view: View, token: str) -> Response:
        if isinstance(answer, Redirect):
            return RedirectResponse(answer.path, 303)
        if isinstance(answer, Download):
            return DownloadResponse(answer)
        about = {"caller": visit.caller, "form_token": token, "current": _top(view.path)}
        return self._show(answer.template, {**about, **answer.values}, answer.status)

    def _show(self, template: str, values: Mapping[str, Any], status: int = 200) -> Response:
        known = {"caller": None, "form_token": "", "current": "", "navigation": NAVIGATION}
        return Response(
            self._templates.render(template, {**known, **values}), status, None, "text/html; charset=utf-8"
        )

    def _show_error(self, request: Request, error: GardenError) -> Response:
        status = error.status if isinstance(error, HttpError) else STATUSES[error.code]
        about = {
            "caller": request.scope.get(CALLER),
            "form_token": form_token(self._door.cookie(request) or ""),
        }
        return self._show("error.html", {"error": error, **about}, status)

    async def _authenticate(self, request: Request) -> tuple[str, Caller]:
        """The cookie and the caller of a signed-in request."""
        cookie = self._door.cookie(request)
        if cookie is None:
            raise TokenRequiredError("Sign in first.", hint="'garden console' makes a link.")
        caller = await self._authenticator.authenticate(_as_bearer(cookie))
        self._door.check_user(caller.user_id)
        request.scope[CALLER] = caller
        request.scope[KNOWN]()
        return cookie, caller

    def _ask_to_sign_in(self, request: Request) -> Response:
        if request.method != "GET":
            return self._show_form("You are signed out.")
        if request.scope["path"] == f"{PREFIX}/live":
            # A browser that is told so does not try again.
            return Response(None, 204)
        return RedirectResponse(address("/sign-in", then=_here(request)), 303)

    async def _go_home(self, _request: Request) -> Response:
        return RedirectResponse(address("/"), 303)

    def _show_form(self, problem: str, then: str = "") -> Response:
        values = {"problem": problem, "then": then, "needs_tls": not self._door.is_private}
        return self._show("sign_in.html", values, 401 if problem else 200)

    async def _show_sign_in(self, request: Request) -> Response:
        return self._show_form("", request.query_params.get("then", ""))

    async def _sign_in(self, request: Request) -> Response:
        # Anyone may send this form, and its body is held while it arrives.
        if int(request.headers.get("content-length", _TOKEN_FORM_MAX + 1)) > _TOKEN_FORM_MAX:
            raise BodyTooLargeError("This form is too long.", hint="Send the access token alone.")
        form = await _read_form(request)
        then = form.get("then", "")
        try:
            token = form.get("token", "").strip()
            self._door.check_user(parse_token(token)[0])
            cookie = await self._authenticator.exchange(lambda: self._sign_ins.open_by_token(token))
            return self._begin(request, cookie, then)
        except GardenError as error:
            return self._show_form(error.message, then)

    async def _enter(self, request: Request) -> Response:
        code = request.query_params.get("code", "")
        if request.method == "HEAD":
            return Response(None, 204)
        try:
            # Before the link is used up.
            self._door.check_user(parse_cookie(code)[0])
            cookie = await self._authenticator.exchange(lambda: self._sign_ins.open_by_link(code))
            return self._begin(request, cookie, "")
        except GardenError as error:
            return self._show_form(f"{error.message} {error.hint}")

    def _begin(self, request: Request, cookie: str, then: str) -> Response:
        # Not a redirect: after a link from elsewhere the browser would keep the cookie back.
        response = self._show("entered.html", {"then": _own_page(then)})
        hours = self._calls.garden.settings.serve.sign_in_hours
        self._door.set_cookie(request, response, cookie, int(timedelta(hours=hours).total_seconds()))
        return response

    async def _sign_out(self, request: Request) -> Response:
        cookie, _ = await self._authenticate(request)
        check_form(await _read_form(request), cookie)
        await self._calls.run(request, lambda _: self._sign_ins.close(cookie), writes=True)
        response = RedirectResponse(address("/sign-in"), 303)
        self._door.set_cookie(request, response, "", 0)
        return response

    async def _follow(self, request: Request) -> Response:
        cookie, caller = await self._authenticate(request)
        # A caller that may not read the events must not follow them.
        await self._calls.run(request, lambda _: self._session(caller).events.query(limit=1))
        position = request.headers.get("last-event-id")
        watch = partial(self._authenticator.watch, _as_bearer(cookie))
        return EventStream(self._streams, caller.user_id, watch, position, tells_of_notices=True)

    async def _send_static(self, request: Request) -> Response:
        found = static_files().get(request.path_params["name"])
        if found is None:
            raise NoRouteError(_NO_PAGE, hint="Start from Today.")
        headers = {"Cache-Control": "public, max-age=31536000, immutable"}
        return Response(found.content, 200, headers, found.media_type)


async def _read_form(request: Request) -> dict[str, str]:
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _FORM:
        raise MediaTypeError("This is not a form of the console.", hint="Use the console's pages.")
    try:
        text = (await request.body()).decode("ascii")
        fields = parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=_FIELDS_MAX)
    except ValueError:
        raise NotAcceptedError(
            "This form can't be read.", hint="Load the page again, then send it."
        ) from None
    # Browsers send the line ends of a form as CRLF.
    return {name: value.replace("\r\n", "\n") for name, value in fields}


def _as_bearer(cookie: str) -> dict[str, str]:
    return {"authorization": f"Bearer {cookie}"}


def _here(request: Request) -> str:
    query = request.scope["query_string"].decode("latin-1")
    return quote(request.scope["path"]) + (f"?{query}" if query else "")


def _own_page(path: str) -> str:
    """The page to go on to; only one of the console, and not one that signs in as another user."""
    is_own = path.startswith(f"{PREFIX}/") and path.isprintable() and "\\" not in path
    return path if is_own and "/enter" not in unquote(path) else f"{PREFIX}/"


def _top(path: str) -> str:
    """The part of the navigation that a page belongs to."""
    return "/" + path.split("/")[1]
