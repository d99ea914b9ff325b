"""A hostile page beside the console, in the owner's own browser, can neither read nor write the garden."""

import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import Page

from tests.browser.browsing import REBOUND, Visits, main_text
from tests.support.served import Person, Service

_WORDS = "the bees are asleep under the snow"
_PAGE = "<!DOCTYPE html><title>A prize</title><h1>You have won</h1>"
# Each returns what the page has learned; `garden` is the address of the service.
_READ: Mapping[str, str] = {
    "fetch": "read('/console/')",
    "fetch unseen": "read('/console/', {mode: 'no-cors'})",
    "fetch api": "read('/v1/documents')",
    "stream": """new Promise((done, fail) => {
        const stream = new EventSource(`${garden}/console/live`, {withCredentials: true});
        stream.onopen = () => done("open");
        stream.onerror = fail;
    })""",
    "image": "load('img', {src: `${garden}/console/static/icon.svg`})",
    "script": "load('script', {src: `${garden}/console/static/console.js`})",
    "page as script": "load('script', {src: `${garden}/console/`})",
    "style": "load('link', {rel: 'stylesheet', href: `${garden}/console/static/console.css`})",
    "frame": "load('iframe', {src: `${garden}/console/`}).then(it => it.contentDocument.body.innerText)",
    "window": """new Promise((done, fail) => {
        const other = open(`${garden}/console/`);
        const look = () => {
            if (!other || other.closed) return fail("cut off");
            try { if (other.document.body.innerText) return done(other.document.body.innerText); } catch { }
            setTimeout(look, 10);
        };
        look();
    })""",
}
_HELPERS = """
const read = async (path, how) =>
    (await fetch(garden + path, {credentials: "include", ...how})).text();
const load = (kind, fields) => new Promise((done, fail) => {
    const element = Object.assign(document.createElement(kind), fields);
    element.onload = () => done(element);
    element.onerror = fail;
    document.body.append(element);
});"""
_FETCH = """([path, method]) => fetch(path, {method})
    .then(async answer => [answer.status, await answer.text()])"""
# Every field that the console's forms have, of a page that can't know the token of one.
_FIELDS = "new URLSearchParams({form_token: '0'.repeat(64), token})"
_WRITE: Mapping[str, str] = {
    "fetch": f"""read(path, {{method: "POST", mode: "no-cors", body: {_FIELDS}}})
        .then(text => text === "", () => true)""",
    "form": f"""new Promise(done => {{
        const frame = Object.assign(document.createElement("iframe"), {{name: "frame"}});
        const form = Object.assign(document.createElement("form"), {{method: "post", action: garden + path}});
        for (const [name, value] of {_FIELDS})
            form.append(Object.assign(document.createElement("input"), {{name, value}}));
        form.target = "frame";
        document.body.append(frame, form);
        frame.onload = () => done(frame.contentDocument === null);
        form.submit();
    }})""",
}


@dataclass(frozen=True)
class _Victim:
    """A person who is signed in, and what the hostile page knows."""

    page: Page
    garden: str
    person: Person


@pytest.fixture
def victim(visits: Visits, service: Service, ada: Person) -> _Victim:
    ada.ok("fs.append", path=ada.notes, text=_WORDS, rationale=_WORDS)
    page = visits.blank(is_guarded=False)
    code = service.garden.sign_ins.make_link(ada.user_id, role="maintainer", actor="owner")
    page.goto(visits.address(f"/enter?code={code}"))
    page.wait_for_url(visits.address("/"))
    return _Victim(page, service.url, ada)


@pytest.fixture(scope="module")
def other_port() -> Iterator[int]:
    """The port of another site on this machine."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Prize) as site:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        yield site.server_port
        site.shutdown()


class _Prize(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(_PAGE.encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(params=["127.0.0.1", "localhost", REBOUND])
def prize(request: pytest.FixtureRequest, victim: _Victim, other_port: int) -> Page:
    """The hostile page in another tab: of the same machine, another name of it, or another site."""
    page = victim.page.context.new_page()
    page.goto(f"http://{request.param}:{other_port}/")
    return page


def test_another_site_learns_nothing(victim: _Victim, prize: Page) -> None:
    for name, way in _READ.items():
        attempt = (
            f"async garden => {{ {_HELPERS} try {{ return String(await {way}); }} catch {{ return ''; }} }}"
        )
        learned = prize.evaluate(attempt, victim.garden)
        assert learned == "", name


@pytest.mark.parametrize("path", ["/console/sign-out", "/console/sign-in"])
@pytest.mark.parametrize("way", _WRITE)
def test_another_site_can_not_sign_the_person_out_or_in_as_another(
    victim: _Victim, prize: Page, ben: Person, way: str, path: str
) -> None:
    deed = f"([garden, path, token]) => {{ {_HELPERS} return {_WRITE[way]}; }}"
    is_closed_to_the_page = prize.evaluate(deed, [victim.garden, path, ben.secret])
    assert is_closed_to_the_page
    victim.page.reload()
    assert victim.person.user_id in victim.page.content()


def test_a_link_of_another_site_asks_before_it_shows_the_garden(victim: _Victim, prize: Page) -> None:
    prize.evaluate("address => location.assign(address)", f"{victim.garden}/console/")
    prize.wait_for_url(f"{victim.garden}/console/")
    assert "another site" in main_text(prize)
    assert victim.person.user_id not in prize.content()
    prize.click("text=Open the garden")
    prize.wait_for_selector(f"text={victim.person.user_id}")


def test_a_name_that_is_bound_again_to_this_machine_gets_nothing(victim: _Victim, service: Service) -> None:
    """The name was another machine's when its page began; now pages of it have the garden's own origin."""
    page = victim.page.context.new_page()
    # A refusal is a page of that origin, too. A browser that is new keeps other ways from here to itself.
    page.goto(f"http://{REBOUND}:{service.address[1]}/console/")
    for path in ("/console/", "/console/sign-in", "/console/live", "/v1/documents", "/"):
        for method in ("GET", "POST"):
            status, text = page.evaluate(_FETCH, [path, method])
            assert status == 403, path
            assert victim.person.user_id not in text
