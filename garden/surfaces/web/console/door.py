"""The console's door: which requests may come in, the cookie of a sign-in, and the token of its forms."""

import hmac
from collections.abc import Collection, Mapping

from starlette.requests import Request
from starlette.responses import Response

from garden.surfaces.web.authentication import check_host
from garden.surfaces.web.console.visits import PREFIX
from garden.surfaces.web.problems import ForbiddenError, TokenRequiredError

FORM_TOKEN = "form_token"  # noqa: S105 - the name of a field
_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": _POLICY,
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}
"""What every answer carries: no other site may frame it, nothing else is loaded, and no cache keeps it."""


class Door:
    """Checks where requests come from and who may sign in, and keeps the cookie.

    `names` are those the service answers to, None is any; a service for one user signs in no one else.
    """

    def __init__(
        self, names: Collection[str] | None, only_user: str | None = None, *, is_private: bool
    ) -> None:
        self._names = names
        self._only_user = only_user
        self.is_private = is_private

    def check(self, request: Request) -> None:
        """Refuse a request that a page of another site, or of another port, has made."""
        headers = request.headers
        if self._names is not None:
            check_host(headers, self._names)
        origin, host = headers.get("origin"), headers.get("host", "")
        is_own = headers.get("sec-fetch-site") in (None, "none", "same-origin")
        if origin not in (None, f"http://{host}", f"https://{host}") or not (
            is_own or is_link_from_elsewhere(request)
        ):
            raise ForbiddenError(
                "This request comes from a page of another site.", hint="Use the console's pages."
            )

    def check_user(self, user_id: str) -> None:
        """Refuse a user who is not this service's."""
        if self._only_user not in (None, user_id):
            raise TokenRequiredError("This service is another user's.", hint="Sign in at your own.")

    def cookie(self, request: Request) -> str | None:
        """The cookie of the sign-in."""
        return request.cookies.get(self._name(request))

    def set_cookie(self, request: Request, response: Response, cookie: str, seconds: int) -> None:
        """Have the browser keep a sign-in for so long."""
        response.set_cookie(
            self._name(request), cookie, max_age=seconds, path=PREFIX if self.is_private else "/",
            secure=self._is_secure(request), httponly=True, samesite="strict",
        )  # fmt: skip

    def _is_secure(self, request: Request) -> bool:
        # Behind a proxy with TLS the service itself may listen on loopback; forms name their origin.
        return not self.is_private or request.headers.get("origin", "").startswith("https:")

    def _name(self, request: Request) -> str:
        # Browsers send the cookies of a host to all of its ports, where other services may listen.
        _, port = request.scope.get("server") or ("", None)
        name = f"garden_{port or 'socket'}"
        # A name by which no site of a domain above or below this host can put another's sign-in in its place.
        return name if self.is_private else f"__Host-{name}"


def is_link_from_elsewhere(request: Request) -> bool:
    """Whether a person followed a link of another site: a whole page is asked for, and nothing is sent."""
    headers = request.headers
    return (
        request.method == "GET"
        and headers.get("sec-fetch-site") in ("cross-site", "same-site")
        and headers.get("sec-fetch-mode") == "navigate"
        and headers.get("sec-fetch-dest") == "document"
    )


def form_token(cookie: str) -> str:
    """The token that the forms of a sign-in carry; another site can't know it."""
    return hmac.digest(cookie.encode(), b"form", "sha256").hex()


def check_form(form: Mapping[str, str], cookie: str) -> None:
    """Refuse a form that was not made for this sign-in."""
    if not hmac.compare_digest(form.get(FORM_TOKEN, "").encode(), form_token(cookie).encode()):
        raise ForbiddenError("This form is of another sign-in.", hint="Load the page again, then send it.")
