"""Answering calls as a person does it: by keyboard alone, two at once, and taken back."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from garden.home.settings import TokenPolicy
from tests.browser.browsing import Visits, click, lacks, shows, tab_to
from tests.support.recalled import change
from tests.support.served import Person, Service

both_ways = pytest.mark.parametrize("has_script", [True, False], ids=["script", "no-script"])


@pytest.fixture
def asking(service: Service, ada: Person) -> Iterator[Person]:
    """Ada's companion, which is asked about before each note."""
    policy = TokenPolicy(permissions={"fs.append": "ask"})
    issued = service.garden.tokens.create(
        ada.user_id, role="agent", actor="companion", expires_at=None, policy=policy
    )
    with service.client(issued.secret) as client:
        yield Person(ada.user_id, issued.secret, issued.token, client)


def ask(person: Person, text: str) -> str:
    refused = person.call("fs.append", path=person.notes, text=text).json()["error"]
    assert refused["code"] == "permission_required"
    return str(refused["details"]["approvalId"])


def text_of(person: Person) -> str:
    return str(person.ok("fs.read", path=person.notes)["result"])


def is_selected(page: Page, approval: str) -> None:
    expect(page.locator(f"#approval-{approval}")).to_be_focused()


def test_calls_are_approved_denied_and_taken_back_by_keyboard(visits: Visits, asking: Person) -> None:
    first, second = ask(asking, "Slept well."), ask(asking, "Woke early.")
    page, keys = (page := visits.enter(asking.user_id, to="/approvals")), page.keyboard
    for key, approval in (("j", first), ("k", first), ("j", second), ("j", second)):
        keys.press(key)
        is_selected(page, approval)
    keys.press("a")
    shows(page, "approved by you")
    keys.press("u")
    shows(page, "2 wait for an answer")
    ask(asking, "Woke early.")
    keys.press("j")
    keys.press("j")
    keys.press("a")
    shows(page, "approved by you")
    asking.ok("fs.append", path=asking.notes, text="Woke early.")
    keys.press("j")
    is_selected(page, first)
    keys.press("d")
    keys.type("Not hers: jkadeu?")
    keys.press("Enter")
    shows(page, "denied by you")
    shows(page, "Nothing waits for an answer")
    assert "Not hers: jkadeu?" in asking.call("fs.append", path=asking.notes, text="Slept well.").text
    assert "Slept well." not in text_of(asking)


def test_a_call_is_changed_looked_at_and_carried_out_by_keyboard(visits: Visits, asking: Person) -> None:
    ask(asking, "Slept well.")
    page, keys = (page := visits.enter(asking.user_id, to="/approvals")), page.keyboard
    keys.press("j")
    keys.press("e")
    page.wait_for_url("**/edit")
    field = page.get_by_label("Arguments, as JSON")
    tab_to(page, field)
    better = field.input_value().replace("well", "a little")
    keys.press("Control+A")
    keys.insert_text(better)
    tab_to(page, page.get_by_role("button", name="Preview"))
    keys.press("Enter")
    shows(page, "+Slept a little.")
    assert "Slept" not in text_of(asking)
    tab_to(page, page.get_by_role("button", name="Carry it out as mine"))
    keys.press("Enter")
    shows(page, "edited by you")
    assert "Slept a little." in text_of(asking)
    [newest, *_] = asking.ok("events.query", path=asking.notes)["result"]["rows"]
    assert newest["actor"] == "owner"


def test_keys_are_letters_while_a_field_has_the_focus(visits: Visits, asking: Person) -> None:
    approval = ask(asking, "Slept well.")
    page, keys = (page := visits.enter(asking.user_id, to="/approvals")), page.keyboard
    keys.press("j")
    for key in ("Control+a", "Alt+a", "Meta+a", "x"):
        keys.press(key)
    keys.press("d")
    keys.type("jkade?")
    reason = page.get_by_label("Reason")
    expect(reason).to_have_value("jkade?")
    # The page follows the garden meanwhile, but not over the head of someone who writes.
    page.wait_for_selector("body[data-stream=open]")
    asking.ok("fs.read", path=asking.notes)
    ask(asking, "Woke early.")
    keys.type("u")
    expect(reason).to_have_value("jkade?u")
    keys.press("Escape")
    is_selected(page, approval)
    assert "/approvals" in page.url
    shows(page, "an answer")
    lacks(page, "by you")


def test_the_selected_call_stays_selected_when_another_arrives(visits: Visits, asking: Person) -> None:
    approval = ask(asking, "Slept well.")
    page = visits.enter(asking.user_id, to="/approvals")
    page.wait_for_selector("body[data-stream=open]")
    page.keyboard.press("j")
    ask(asking, "Woke early.")
    shows(page, "Woke early.")
    is_selected(page, approval)
    page.keyboard.press("a")
    shows(page, "approved by you")
    asking.ok("fs.append", path=asking.notes, text="Slept well.")
    assert "Woke early." not in text_of(asking)


@both_ways
def test_an_answer_is_given_and_taken_back_by_mouse(visits: Visits, asking: Person, has_script: bool) -> None:
    ask(asking, "Slept well.")
    page = visits.enter(asking.user_id, to="/approvals", java_script_enabled=has_script)
    page.locator("summary", has_text="Deny").click()
    page.get_by_label("Reason").fill("Not hers.")
    page.get_by_role("button", name="Deny", exact=True).click()
    shows(page, "denied by you")
    click(page, "Undo")
    shows(page, "Slept well.")
    click(page, "Approve")
    shows(page, "approved by you")
    asking.ok("fs.append", path=asking.notes, text="Slept well.")


def test_an_undo_that_comes_too_late_says_so(visits: Visits, service: Service, asking: Person) -> None:
    ask(asking, "Slept well.")
    page = visits.enter(asking.user_id, to="/approvals", java_script_enabled=False)
    click(page, "Approve")
    change(service.garden, "update garden.approvals set decided_at = now() - interval '31 s'")
    click(page, "Undo")
    shows(page, "can't be taken back any more")
    asking.ok("fs.append", path=asking.notes, text="Slept well.")


@both_ways
def test_the_second_of_two_people_sees_the_answer_of_the_first(
    visits: Visits, asking: Person, has_script: bool
) -> None:
    ask(asking, "Slept well.")
    first = visits.enter(asking.user_id, to="/approvals")
    second = visits.enter(asking.user_id, "reviewer", "mira", to="/approvals", java_script_enabled=has_script)
    if has_script:
        second.wait_for_selector("body[data-stream=open]")
    click(first, "Approve")
    shows(first, "approved by you")
    if not has_script:
        click(second, "Approve")
        shows(second, "too late")
    shows(second, "Nothing waits for an answer")
    expect(second.locator("#answered")).to_contain_text("answered by owner")
