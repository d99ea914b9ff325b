"""Attacks on the console: by others of the service, by callers who may not, and by words that take room."""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import takewhile
from uuid import uuid4

import httpx2
import pytest

from garden.home.settings import TokenPolicy
from garden.surfaces.web.console.pages import seen
from garden.surfaces.web.console.versions import word_lines
from garden.surfaces.web.console.views import VIEWS
from garden.surfaces.web.console.visits import View
from tests.support.served import Person, Service
from tests.support.visitors import Visitor, visiting, words_of
from tests.support.waiting import until

WORDS = "the heron sleeps standing"
ASKED = "the owl was asked about"
# What a form may need, so that it is refused for nothing but who sends it.
_FIELDS = {
    "version": "1", "what": "passage", "text": WORDS, "sure": "yes", "tokens": "500",
    "reason": "She wants it.", "rationale": "She wants it.", "args": "{}",
}  # fmt: skip
_OPEN_TO_AGENTS = {"/export/documents", "/approvals/{id}/undo"}
_OPEN_TO_REVIEWERS = _OPEN_TO_AGENTS | {
    "/export/archive", "/export/verify", "/approvals/{id}/approve", "/approvals/{id}/deny",
}  # fmt: skip


@pytest.fixture
def places(service: Service, ada: Person) -> dict[str, str]:
    """Ids of Ada's garden by the view whose address has them."""
    done = ada.ok("fs.append", path=ada.notes, text=f"- {WORDS}", rationale=WORDS)
    ada.ok("memory.context", tokens=500)
    session = service.garden.session(ada.user_id, "bot", policy={"permissions": {"fs.append": "ask"}})
    asked = session.call("fs.append", {"path": ada.notes, "text": ASKED})["error"]["details"]
    return {
        "timeline": done["meta"]["eventId"], "approvals": asked["approvalId"],
        "documents": "notes.md",
    }  # fmt: skip


def address_in(view: View, places: dict[str, str]) -> str:
    own = places.get(view.path.split("/")[1], str(uuid4()))
    return re.sub(r"\{[^}]+\}", own, view.path)


def send(visitor: Visitor, view: View, places: dict[str, str], **fields: str) -> httpx2.Response:
    path = address_in(view, places)
    if view.method == "GET":
        return visitor.get(path)
    do = "restore" if path.startswith("/documents") else "carry_out"
    return visitor.client.post(f"/console{path}", data={**_FIELDS, "do": do, **fields})


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: f"{view.method} {view.path}")
def test_every_view_needs_a_sign_in_and_every_action_its_form(
    service: Service, owner: Visitor, view: View
) -> None:
    with service.client(None) as stranger:
        shut = send(Visitor("", stranger), view, {})
        assert shut.status_code == (303 if view.method == "GET" else 401)
        assert shut.headers.get("location", "/console/sign-in").startswith("/console/sign-in")
    if view.method == "POST":
        assert send(owner, view, {}).status_code == 403
        assert send(owner, view, {}, form_token="0" * 64).status_code == 403


@contextmanager
def signed_in(service: Service, user_id: str, policy: TokenPolicy) -> Iterator[Visitor]:
    """A maintainer by a token with a policy."""
    token = service.garden.tokens.create(
        user_id, role="maintainer", actor="mallory", expires_at=None, policy=policy
    )
    with service.client(None) as client:
        client.post("/console/sign-in", data={"token": token.secret})
        yield Visitor(user_id, client)


@pytest.mark.parametrize(("role", "is_open"), [("agent", _OPEN_TO_AGENTS), ("reviewer", _OPEN_TO_REVIEWERS)])
def test_no_action_does_more_than_the_role_may(
    service: Service, ada: Person, owner: Visitor, places: dict[str, str], role: str, is_open: set[str]
) -> None:
    with visiting(service, ada, role, "bot") as bot:
        token = bot.form_token()
        for view in VIEWS:
            if view.method == "POST" and view.path not in is_open:
                done = send(bot, view, places, form_token=token, path=ada.notes)
                assert done.status_code == 403, view.path
        # Not even where the role may answer: this call is the bot's own.
        for answer in ("approve", "deny"):
            assert bot.post(f"/approvals/{places['approvals']}/{answer}").status_code == 403
        owner.post(f"/approvals/{places['approvals']}/approve")
        bot.post(f"/approvals/{places['approvals']}/undo")
    assert "It runs when the same call is sent again." in owner.text("/approvals")
    assert WORDS in ada.client.get(f"/v1/documents/{ada.notes}").text


def test_a_token_that_is_denied_all_tools_sees_no_words(
    service: Service, ada: Person, places: dict[str, str]
) -> None:
    with signed_in(service, ada.user_id, TokenPolicy(permissions={"*": "deny"})) as denied:
        token = re.search('name="form_token" value="(.{64})"', denied.page("/recall"))
        assert token is not None
        with denied.client.stream("GET", "/console/live") as stream:
            assert stream.status_code == 403
        # Who answers for the garden sees what is asked, whatever tools a policy denies.
        for view in (each for each in VIEWS if not each.path.startswith("/approvals")):
            assert WORDS not in send(denied, view, places, form_token=token[1], text="").text, view.path


def test_the_ids_of_another_garden_lead_nowhere(
    service: Service, ada: Person, ben: Person, places: dict[str, str]
) -> None:
    places["documents"] = ada.notes
    with visiting(service, ben) as other:
        token = other.form_token()
        for view in VIEWS:
            shown = send(other, view, places, form_token=token, path=ada.notes, text="")
            assert WORDS not in shown.text
            assert ASKED not in shown.text
            if "{" in view.path:
                assert shown.status_code in (403, 404), view.path
    assert (
        service.garden.decisions.find(
            service.garden.session(ada.user_id, "o", role="reviewer").caller, places["approvals"]
        ).state
        == "pending"
    )


def test_a_stream_ends_with_its_sign_in(owner: Visitor) -> None:
    token = owner.form_token()
    with owner.client.stream("GET", "/console/live") as stream:
        lines = stream.iter_lines()
        assert next(lines)
        assert owner.post("/sign-out", form_token=token).status_code == 303
        # A stream that goes on says after a while that it is still there.
        said = [*takewhile(lambda line: line != ": still here", lines)]
        assert ": the service or the token has come to its end" in said


def test_a_sign_in_leads_to_no_other_sign_in(service: Service, ada: Person, ben: Person) -> None:
    code = service.garden.sign_ins.make_link(ben.user_id, role="agent", actor="mallory")
    with service.client(None) as client:
        for path in ("/console/enter", "/console/./enter", "/console/%65nter", "/console/x/..%2Fenter"):
            entered = client.post(
                "/console/sign-in", data={"token": ada.secret, "then": f"{path}?code={code}"}
            )
            assert 'content="0;url=/console/"' in entered.text


def test_a_stranger_sends_no_large_form(service: Service) -> None:
    def pieces() -> Iterator[bytes]:
        yield b"token=x"

    with service.client(None) as client:
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        assert client.post("/console/sign-in", data={"token": "x" * 70_000}).status_code == 413
        assert client.post("/console/sign-in", content=pieces(), headers=kind).status_code == 413


def test_a_person_signs_out_from_a_page_of_an_error(owner: Visitor) -> None:
    token = re.search('name="form_token" value="(.{64})"', owner.get(f"/timeline/{uuid4()}").text)
    assert token is not None
    assert owner.post("/sign-out", form_token=token[1]).status_code == 303


def test_who_leaves_amid_a_form_leaves_nothing_in_the_log(service: Service, owner: Visitor) -> None:
    log = service.garden.home.path / "serve.log"
    before = log.read_text().count("failed unexpectedly")
    cookie = "; ".join(f"{name}={value}" for name, value in owner.client.cookies.items())
    with service.connected() as connection:
        connection.sendall(
            f"POST /console/export/verify HTTP/1.1\r\nHost: localhost\r\nCookie: {cookie}\r\n"
            "Content-Length: 99\r\nContent-Type: application/x-www-form-urlencoded\r\n\r\nform".encode()
        )
    counted = 'garden_http_request_seconds_count{method="POST",route="/console",status="499"}'
    with service.client(None) as client:
        until(lambda: counted in client.get("/metrics").text)
    assert log.read_text().count("failed unexpectedly") == before


def test_runs_of_characters_that_hide_are_named_once() -> None:
    assert words_of(f"<main>{seen('a' + chr(0x202E) * 20_000 + 'b')}") == "a 20000 x U+202E b"
    assert len(seen("\u202e\u200b" * 10_000)) < 300
    assert "19984 more" in seen("\u202e\u200b" * 10_000)


def test_letters_that_show_nothing_are_seen() -> None:
    for blank in "\u3164\u115f\u1160\uffa0\u034f":
        assert f"U+{ord(blank):04X}" in seen(f"a{blank}b")


def test_beginnings_of_marks_take_no_time() -> None:
    started = time.process_time()
    for words in ("[-", "{+", "[-{+"):
        assert list(word_lines(f"a\nb\n{words * 25_000}\n"))
    assert time.process_time() - started < 1
