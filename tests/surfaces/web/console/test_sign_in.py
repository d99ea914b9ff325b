"""Signing in and out, and what the console's door keeps out."""

import re

import pytest
from starlette.requests import Request
from starlette.responses import Response

from garden.surfaces.web.console.door import Door
from tests.support.databases import TestServer
from tests.support.folders import run_folder
from tests.support.served import Person, Service, home_of_its_own, served
from tests.support.visitors import Visitor, words_of

_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}


def test_a_link_signs_in_once(service: Service, ada: Person) -> None:
    code = service.garden.sign_ins.make_link(ada.user_id, role="reviewer", actor="mira")
    with service.client(None) as first, service.client(None) as second:
        assert first.head(f"/console/enter?code={code}").status_code == 204
        assert first.get(f"/console/enter?code={code}").status_code == 200
        refused = second.get(f"/console/enter?code={code}")
        assert refused.status_code == 401
        assert "used already" in words_of(refused.text)
        assert "mira, reviewer" in first.get("/console/").text
        assert second.get("/console/").status_code == 303


def test_a_token_signs_in_and_its_end_signs_out(service: Service, ada: Person) -> None:
    with service.client(None) as client:
        entered = client.post("/console/sign-in", data={"token": ada.secret, "then": "/console/recall"})
        assert 'content="0;url=/console/recall"' in entered.text
        assert client.get("/console/recall").status_code == 200
        service.garden.tokens.revoke(ada.token.token_id, ada.user_id)
        assert client.get("/console/recall").headers["location"].startswith("/console/sign-in?then=")


def test_a_wrong_token_is_refused_and_never_repeated(service: Service, ada: Person) -> None:
    wrong = ada.secret[:-1] + ("A" if ada.secret[-1] != "A" else "B")
    with service.client(None) as client:
        answer = client.post("/console/sign-in", data={"token": wrong})
        assert answer.status_code == 401
        assert wrong not in answer.text
        assert "set-cookie" not in answer.headers


def test_signing_out_ends_the_cookie_at_once(service: Service, owner: Visitor) -> None:
    cookies = dict(owner.client.cookies)
    assert "Max-Age=0" in owner.post("/sign-out").headers["set-cookie"]
    with service.client(None) as thief:
        thief.cookies.update(cookies)
        assert thief.get("/console/").status_code == 303


def test_one_can_sign_out_from_the_page_of_a_refusal(owner: Visitor) -> None:
    refused = owner.get("/approvals/none").text
    token = refused.partition('name="form_token" value="')[2].partition('"')[0]
    assert owner.post("/sign-out", form_token=token).status_code == 303


def test_the_cookie_is_for_the_console_alone(service: Service, ada: Person) -> None:
    with service.client(None) as client:
        entered = client.post("/console/sign-in", data={"token": ada.secret})
        kept = entered.headers["set-cookie"]
        assert re.fullmatch(
            r"garden_\d+=mgs\.[^;]+; HttpOnly; Max-Age=43200; Path=/console; SameSite=strict", kept
        )
        cookie = kept.partition("=")[2].partition(";")[0]
    with service.client(cookie) as client:
        assert client.get("/v1/documents").status_code == 401


def test_behind_tls_the_cookie_is_sent_over_tls_alone(service: Service, ada: Person) -> None:
    with service.client(None) as client:
        origin = f"https://{client.base_url.netloc.decode()}"
        entered = client.post("/console/sign-in", data={"token": ada.secret}, headers={"Origin": origin})
        assert "; Secure" in entered.headers["set-cookie"]


def test_over_the_network_no_neighbouring_host_can_set_the_cookie() -> None:
    request = Request({"type": "http", "headers": [], "server": ("garden.example", 8620)})
    Door(None, is_private=False).set_cookie(request, response := Response(), "mgs", 60)
    expected = "__Host-garden_8620=mgs; HttpOnly; Max-Age=60; Path=/; SameSite=strict; Secure"
    assert response.headers["set-cookie"] == expected


def test_a_service_for_one_user_signs_in_no_other_and_leaves_their_link_whole(server: TestServer) -> None:
    with home_of_its_own(server, run_folder()) as home, served(home, "--user", "ada") as service:
        sign_ins, tokens = service.garden.sign_ins, service.garden.tokens
        link = sign_ins.make_link("ben", role="reviewer", actor="mira")
        token = tokens.create("ben", role="reviewer", actor="mira", expires_at=None).secret
        with service.client(None) as client:
            for refused in (
                client.get(f"/console/enter?code={link}"),
                client.post("/console/sign-in", data={"token": token}),
            ):
                assert "another user" in words_of(refused.text)
                assert "set-cookie" not in refused.headers
            client.cookies.set(f"garden_{service.address[1]}", sign_ins.open_by_link(link))
            assert client.get("/console/").headers["location"].startswith("/console/sign-in")
            own = sign_ins.make_link("ada", role="reviewer", actor="mira")
            assert client.get(f"/console/enter?code={own}").status_code == 200


@pytest.mark.parametrize(
    "then", ["https://evil.example/", "//evil.example", "/console/\\evil", "/v1/documents"]
)
def test_signing_in_leads_to_a_page_of_the_console(service: Service, ada: Person, then: str) -> None:
    with service.client(None) as client:
        entered = client.post("/console/sign-in", data={"token": ada.secret, "then": then})
        assert 'content="0;url=/console/"' in entered.text


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Origin": "https://evil.example"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"},
        {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty"},
    ],
)
@pytest.mark.parametrize("path", ["/", "/documents", "/live", "/sign-in", "/static/console.js", "/enter"])
def test_pages_of_other_sites_get_nothing(keeper: Visitor, path: str, headers: dict[str, str]) -> None:
    answer = keeper.client.get(f"/console{path}", headers=headers)
    assert answer.status_code == 403
    assert keeper.user_id not in answer.text


def test_a_link_from_another_site_asks_first(owner: Visitor) -> None:
    answer = owner.client.get("/console/recall?query=x", headers=_HEADERS)
    assert 'href="/console/recall?query=x"' in answer.text
    assert owner.user_id not in answer.text


def test_another_site_can_not_sign_a_person_in(service: Service, ada: Person) -> None:
    code = service.garden.sign_ins.make_link(ada.user_id, role="agent", actor="mallory")
    with service.client(None) as client:
        asked = client.get(f"/console/enter?code={code}", headers=_HEADERS)
        assert "set-cookie" not in asked.headers
        sent = client.post(
            "/console/sign-in", data={"token": ada.secret}, headers={"Origin": "https://evil.example"}
        )
        assert (sent.status_code, "set-cookie" in sent.headers) == (403, False)
        assert client.get(f"/console/enter?code={code}").status_code == 200


def test_the_header_host_does_not_choose_the_page(service: Service) -> None:
    with service.client(None) as client:
        answer = client.get("/v1/documents", headers={"Host": "localhost/console/static/console.js?"})
        assert answer.status_code in (401, 403)


def test_a_form_without_its_token_changes_nothing(owner: Visitor, reviewer: Visitor) -> None:
    assert f'name="form_token" value="{owner.form_token()}"' in owner.page("/export")
    for token in ("", "0" * 64, reviewer.form_token()):
        assert owner.post("/sign-out", form_token=token).status_code == 403
    assert owner.get("/").status_code == 200


def test_every_answer_forbids_frames_scripts_of_others_and_caches(owner: Visitor) -> None:
    for path in ("/", "/nowhere", "/sign-in", "/documents"):
        headers = owner.get(path).headers
        assert headers["content-security-policy"] == _POLICY
        for name, value in (
            ("cache-control", "no-store"),
            ("x-frame-options", "DENY"),
            ("referrer-policy", "same-origin"),
            ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
            ("x-content-type-options", "nosniff"),
        ):
            assert headers[name] == value


def test_a_form_of_another_kind_is_refused(owner: Visitor) -> None:
    answer = owner.client.post("/console/sign-out", json={"form_token": owner.form_token()})
    assert answer.status_code == 415


def test_the_root_leads_to_the_console(service: Service) -> None:
    with service.client(None) as client:
        assert client.get("/").headers["location"] == "/console/"
