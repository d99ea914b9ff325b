"""Erasure in the console: places first, then a confirmation, then the tombstone."""

import re
from html import unescape

import httpx2
import pytest

from garden.events.records import Caller
from garden.home.settings import TokenPolicy
from tests.support.served import Person, Service
from tests.support.visitors import Visitor, visiting, words_of

WORDS = "The heron told her in confidence."
WHY = "She asked for it."


@pytest.fixture
def told(ada: Person) -> str:
    """Words in the notes of Ada's garden."""
    ada.ok("fs.append", path=ada.notes, text=f"- {WORDS}")
    return WORDS


def hidden_fields(page: str) -> dict[str, str]:
    found = re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', page.partition("<main")[2])
    return {name: unescape(value) for name, value in found}


def look(visitor: Visitor, what: str, **fields: str) -> httpx2.Response:
    return visitor.post("/erasure/preview", what=what, **{"reason": WHY, **fields})


def confirm(visitor: Visitor, page: str, sure: str, **changed: str) -> httpx2.Response:
    fields = hidden_fields(page) | {"sure": sure} | changed
    return visitor.client.post("/console/erasure", data=fields)


def test_a_passage_is_shown_in_all_its_places_and_then_erased(owner: Visitor, ada: Person, told: str) -> None:
    shown = look(owner, "passage", text=f"  {told.upper()}\n").text
    assert "notes.md 1 file, 1 version, 1 event" in words_of(shown)
    assert told in ada.client.get(f"/v1/documents/{ada.notes}").text
    done = confirm(owner, shown, "yes")
    assert done.status_code == 303
    assert told not in ada.client.get(f"/v1/documents/{ada.notes}").text
    tombstone = owner.page(done.headers["location"].removeprefix("/console"))
    assert "A passage in all documents By owner as maintainer" in words_of(tombstone)
    assert f"Why {WHY}" in words_of(tombstone)
    assert "Seal holds" in words_of(tombstone)
    assert "heron" not in tombstone
    assert done.headers["location"] in owner.page("/erasure")


def test_the_words_are_in_no_address_and_in_no_log(service: Service, owner: Visitor, told: str) -> None:
    shown = look(owner, "passage", text=told)
    done = confirm(owner, shown.text, "yes")
    for answer in (shown, done):
        assert "heron" not in str(answer.request.url) + str(answer.headers)
    log = service.garden.home.path / "serve.log"
    assert "heron" not in log.read_text()
    assert 'autocomplete="off"' in owner.page("/erasure")


def test_a_document_goes_as_a_whole(owner: Visitor, ada: Person) -> None:
    assert 'value="notes.md"' in owner.page("/erasure?path=notes.md")
    done = confirm(owner, look(owner, "document", path="notes.md").text, "yes")
    assert done.status_code == 303
    assert ada.client.get(f"/v1/documents/{ada.notes}").status_code == 404


def test_everything_goes_once_its_user_is_named(owner: Visitor, ada: Person) -> None:
    shown = look(owner, "everything").text
    assert f"type {owner.user_id}" in words_of(shown)
    for wrong in ("", "yes", "someone"):
        assert "confirm it below first" in words_of(confirm(owner, shown, wrong).text)
    assert ada.client.get(f"/v1/documents/{ada.notes}").status_code == 200
    done = confirm(owner, shown, owner.user_id)
    assert "Erased Everything" in owner.text(done.headers["location"].removeprefix("/console"))


@pytest.mark.parametrize(
    "changed", [{"text": "Notes"}, {"path": "overview.md"}, {"what": "document"}, {"reason": "Another."}]
)
def test_only_what_was_shown_is_erased(
    owner: Visitor, ada: Person, told: str, changed: dict[str, str]
) -> None:
    shown = look(owner, "passage", text=told, path="notes.md").text
    assert "has changed since" in words_of(confirm(owner, shown, "yes", **changed).text)
    assert told in ada.client.get(f"/v1/documents/{ada.notes}").text


def test_without_the_tick_nothing_is_erased(owner: Visitor, ada: Person, told: str) -> None:
    shown = look(owner, "passage", text=told).text
    assert "confirm it below first" in words_of(confirm(owner, shown, "").text)
    assert told in ada.client.get(f"/v1/documents/{ada.notes}").text


def test_words_that_are_nowhere_leave_nothing_to_confirm(owner: Visitor) -> None:
    shown = look(owner, "passage", text="Never written anywhere at all.").text
    assert "Nothing here holds these words" in words_of(shown)
    assert 'name="sure"' not in shown
    assert "Nothing was erased yet" in owner.text("/erasure")


@pytest.mark.parametrize(
    ("what", "fields", "refusal"),
    [
        ("passage", {"text": "ab"}, "needs 3 letters"),
        ("passage", {"text": ""}, "clear what to erase"),
        ("document", {"path": "../ben/notes.md"}, "path"),
        ("document", {"path": ""}, "clear what to erase"),
        ("everything", {"reason": ""}, "reason"),
        ("passage", {"text": "a long walk", "reason": "a long walk"}, "repeats the text"),
        ("", {"path": "notes.md"}, "clear what to erase"),
    ],
)
def test_a_refusal_stands_above_the_form_as_it_was_filled_in(
    keeper: Visitor, what: str, fields: dict[str, str], refusal: str
) -> None:
    answer = look(keeper, what, **fields)
    assert 400 <= answer.status_code < 500
    assert refusal in words_of(answer.text)
    assert fields.get("text", "") in unescape(answer.text)
    assert "Show all places" in answer.text


def test_what_the_policy_asks_about_leads_to_the_approvals(service: Service, ada: Person, told: str) -> None:
    issued = service.garden.tokens.create(
        ada.user_id, role="maintainer", actor="mira", expires_at=None,
        policy=TokenPolicy(permissions={"garden.erase": "ask"}),
    )  # fmt: skip
    with service.client(None) as client:
        client.post("/console/sign-in", data={"token": issued.secret})
        asking = Visitor(ada.user_id, client)
        shown = look(asking, "passage", text=told).text
        asked = confirm(asking, shown, "yes")
        assert asked.status_code == 403
        assert 'href="/console/approvals"' in asked.text
        approver, decisions = Caller(ada.user_id, "owner", "maintainer"), service.garden.decisions
        [waiting] = decisions.list(approver, state="pending")
        decisions.decide(approver, str(waiting.approval_id), "approved")
        assert confirm(asking, asked.text, "yes").status_code == 303


@pytest.mark.parametrize("role", ["reviewer", "agent"])
def test_only_maintainers_erase(service: Service, ada: Person, role: str) -> None:
    with visiting(service, ada, role, "mira") as other:
        assert other.get("/erasure").status_code == 403
        assert other.get("/erasure/01a1f819-1294-7f04-8c4e-24953362be4a").status_code == 403
        assert look(other, "document", path="notes.md").status_code == 403
        assert confirm(other, "", "yes", form_token=other.form_token()).status_code == 403
        assert "/erasure" not in other.page("/")


def test_a_tombstone_is_the_users_own(service: Service, owner: Visitor, ben: Person, told: str) -> None:
    done = confirm(owner, look(owner, "passage", text=told).text, "yes")
    place = done.headers["location"].removeprefix("/console")
    with visiting(service, ben) as other:
        assert other.get(place).status_code == 404
        assert "Nothing was erased yet" in other.text("/erasure")
    assert owner.get("/erasure/nonsense").status_code == 404


def test_markup_in_the_words_stays_words(owner: Visitor, ada: Person) -> None:
    words = "<script>alert(1)</script> \u202egpj.exe"
    ada.ok("fs.append", path=ada.notes, text=f"- {words}", overrideRationale="Quoted.")
    shown = look(owner, "passage", text=words).text
    assert "<script>alert" not in shown.replace("<script src", "")
    assert "U+202E" in shown
    assert confirm(owner, shown, "yes").status_code == 303
