"""Today, and the ways out of what needs a person."""

import re
from datetime import timedelta
from pathlib import Path

import pytest
from starlette.datastructures import QueryParams

from garden.home.settings import TokenPolicy
from garden.surfaces.web.console.today import show_today
from garden.surfaces.web.console.visits import Page, Visit
from garden.upkeep.reconciliation import sweep
from tests.support.served import Person, Service
from tests.support.stalled import leave_open
from tests.support.visitors import Visitor, visiting, words_of


@pytest.fixture
def file(service: Service, ada: Person) -> Path:
    """The file of Ada's notes."""
    return service.garden.home.path / ada.notes


def way_out(visitor: Visitor, change: str) -> str:
    """The address of the way out that Today offers."""
    [found] = re.findall(rf'href="/console(/documents/[^"]*do={change}[^"]*)"', visitor.page("/"))
    return str(found.replace("&amp;", "&"))


def take(visitor: Visitor, address: str) -> str:
    """Open the preview, send its form as it is, and return what the next page says."""
    page = visitor.page(address)
    fields = dict(re.findall(r'<input type="hidden" name="(?!form_token)(\w+)" value="([^"]*)"', page))
    answer = visitor.post(address.partition("?")[0], **fields, rationale="It is right so.")
    if answer.status_code != 303:
        return words_of(answer.text)
    return visitor.text(answer.headers["location"].removeprefix("/console"))


def test_today_shows_what_changed_and_by_whom(owner: Visitor, ada: Person) -> None:
    ada.ok("fs.append", path=ada.notes, text="Slept well.", rationale="She said so.")
    words = owner.text("/")
    assert "In the last day: companion 2." in words
    assert "companion append file notes.md § inbox v1 She said so." in words
    assert "No call waits for an approval." in words
    assert "Nothing. Every document is whole." in words


def test_an_empty_garden_says_what_to_do_first(service: Service) -> None:
    with service.person() as person, visiting(service, person) as visitor:
        words = visitor.text("/")
        assert "Welcome This garden is empty." in words
        assert "garden mcp" in words
        assert "garden token create" in words
        assert "Nothing has happened here yet." in visitor.text("/timeline")


def test_calls_that_wait_for_an_approval_are_counted(ada: Person, service: Service, owner: Visitor) -> None:
    policy = TokenPolicy(permissions={"fs.append": "ask"})
    issued = service.garden.tokens.create(
        ada.user_id, role="agent", actor="guest", expires_at=None, policy=policy
    )
    with service.client(issued.secret) as guest:
        for text in ("Slept well.", "Woke early."):
            guest.post("/v1/tools/fs.append", json={"path": ada.notes, "text": text})
    today = owner.page("/")
    assert "2 calls wait for an answer guest asks for fs.append in notes.md" in words_of(today)
    link = re.search(r'href="/console(/approvals/[^"]+)"', today)
    assert link is not None
    assert "Slept well." in owner.text(link[1])


def test_a_damaged_document_is_repaired_after_a_preview(owner: Visitor, file: Path) -> None:
    file.write_text(file.read_text().replace("<!-- @anchor: inbox v1 -->\n", ""))
    assert "damaged notes.md Missing: the anchor 'inbox v1'. Repair…" in owner.text("/")
    address = way_out(owner, "repair")
    assert "+<!-- @anchor: inbox v1 -->" in owner.text(address)
    assert "inbox v1 -->" not in file.read_text()
    assert "The document is repaired" in take(owner, address)
    assert "<!-- @anchor: inbox v1 -->" in file.read_text()
    assert "It is right so." in owner.text("/timeline")
    assert "damaged" not in owner.text("/")


def test_a_missing_document_is_brought_back(owner: Visitor, file: Path) -> None:
    text = file.read_text()
    file.unlink()
    assert "missing notes.md The file is missing. Bring it back…" in owner.text("/")
    assert "comes back with the words of the version" in owner.text(way_out(owner, "restore"))
    assert "The version is restored" in take(owner, way_out(owner, "restore"))
    assert file.read_text() == text


def test_lines_that_an_edit_by_hand_lost_are_brought_back(owner: Visitor, ada: Person, file: Path) -> None:
    ada.ok("fs.append", path=ada.notes, text="The lamp was lit late.")
    file.write_text(file.read_text().replace("The lamp was lit late.", ""))
    assert "This save removed 1 line by companion." in owner.text("/")
    assert "The version is restored" in take(owner, way_out(owner, "restore"))
    assert "The lamp was lit late." in file.read_text()


def test_findings_of_form_are_fixed_by_callers_who_may_write(
    ada: Person, file: Path, service: Service
) -> None:
    file.write_text(file.read_text() + "\n- one   \t\n")
    ada.ok("fs.append", path=ada.notes, text="Slept well.")
    with visiting(service, ada, "agent", "juno") as juno:
        assert "What could be fixed is fixed" in take(juno, way_out(juno, "fix"))
        assert "Every document is whole." in juno.text("/needs")
    assert "\t" not in file.read_text()


def test_a_secret_leads_to_its_erasure(owner: Visitor, reviewer: Visitor, ada: Person, file: Path) -> None:
    file.write_text(file.read_text() + "\n- AKIA" + "ABCDEFGHIJKLMNOP\n")
    page = owner.page("/")
    assert "secret notes.md It holds an AWS access key." in words_of(page)
    assert "AKIA" not in words_of(page)
    assert f'href="/console/erasure?path={ada.notes.replace("/", "%2F")}"' in page
    assert "/erasure" not in reviewer.page("/")


def test_a_sync_copy_is_named_and_explained(owner: Visitor, file: Path) -> None:
    names = ("notes.sync-conflict-20261118-101010-ABCDEFG.md", "notes (conflicted copy 2026-11-18).md")
    for name in (*names, "my notes.md", "conflicts.md"):
        file.with_name(name).write_text("- other words\n")
    words = owner.text("/")
    assert all(f"sync copy {name} A sync program kept two versions" in words for name in names)
    assert words.count("sync copy") == 2


def test_an_unreadable_document_is_named(owner: Visitor, file: Path) -> None:
    file.write_bytes(b"\xff")
    assert "unreadable notes.md A document is UTF-8 text" in owner.text("/")


def test_a_change_that_was_given_up_is_tried_once_more(
    owner: Visitor, reviewer: Visitor, ada: Person, file: Path, service: Service
) -> None:
    services = service.garden.services
    leave_open(service.garden, ada.notes, "more")
    before = file.read_bytes()
    file.write_bytes(b"\xff")
    for _ in range(service.garden.settings.upkeep.attempts + 1):
        list(sweep(services, timedelta(0), ada.user_id, pause_seconds=0))
    words = owner.text("/needs")
    assert "quarantined notes.md" in words
    assert "'garden" not in words
    assert "Try once more" in words
    file.write_bytes(before)
    assert reviewer.post("/needs/settle", path=ada.notes).status_code == 403
    done = owner.post("/needs/settle", path=ada.notes).headers["location"]
    assert "were tried once more. Every document" in owner.text(done.removeprefix("/console"))
    assert "Every document is whole." in owner.text("/needs")


def test_a_reviewer_sees_what_is_wrong_and_is_offered_no_change(reviewer: Visitor, file: Path) -> None:
    text = file.read_text().replace("<!-- @anchor: inbox v1 -->\n", "")
    file.write_text(text)
    assert "damaged notes.md Missing: the anchor 'inbox v1'. for a maintainer" in reviewer.text("/")
    assert "do=repair" not in reviewer.page("/")
    assert file.read_text() == text


def test_versions_that_do_not_exist_and_gardens_of_others_are_refused(owner: Visitor, ben: Person) -> None:
    for version in ("x", "9" * 5000, "-1"):
        assert owner.get(f"/documents/notes.md?do=restore&version={version}").status_code == 400
    assert owner.post("/needs/settle", path=ben.notes).status_code == 403


def test_a_large_garden_is_looked_through_after_today(
    service: Service, ada: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("garden.gateway.needs.SMALL_GARDEN_DOCUMENTS", 0)
    monkeypatch.setattr("garden.gateway.needs.Needs.find", lambda *_: pytest.fail("it took its time"))
    session = service.garden.session(ada.user_id, "owner", role="maintainer", surface="console")
    page = show_today(Visit(service.garden, session, {}, QueryParams(), {}))
    assert isinstance(page, Page)
    assert page.values["is_quick"] is False


def test_a_way_out_that_a_policy_asks_about_waits_among_the_approvals(
    service: Service, ada: Person, reviewer: Visitor, file: Path
) -> None:
    file.write_text(file.read_text().replace("<!-- @anchor: inbox v1 -->\n", ""))
    policy = TokenPolicy(permissions={"md.repair": "ask"})
    issued = service.garden.tokens.create(
        ada.user_id, role="maintainer", actor="juno", expires_at=None, policy=policy
    )
    with service.client(None) as client:
        client.post("/console/sign-in", data={"token": issued.secret})
        juno = Visitor(ada.user_id, client)
        assert "Once another person has approved it" in take(juno, way_out(juno, "repair"))
        assert "juno asks for md.repair in notes.md" in reviewer.text("/")
        mira = service.garden.session(ada.user_id, "mira", role="reviewer").caller
        [asked] = service.garden.decisions.list(mira, state="pending")
        service.garden.decisions.decide(mira, str(asked.approval_id), "approved")
        assert "The document is repaired" in take(juno, way_out(juno, "repair"))


def test_a_policy_that_hides_the_garden_hides_what_needs_a_person(ada: Person, service: Service) -> None:
    policy = TokenPolicy(permissions={"fs.list": "deny"})
    issued = service.garden.tokens.create(
        ada.user_id, role="agent", actor="guest", expires_at=None, policy=policy
    )
    with service.client(None) as client:
        client.post("/console/sign-in", data={"token": issued.secret})
        assert client.get("/console/needs").status_code == 403
