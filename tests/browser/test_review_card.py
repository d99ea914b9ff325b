"""The review card in a browser, on a page that speaks the protocol of a host."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, FrameLocator, Page, expect

from garden.application import Garden
from garden.home.folder import Home
from garden.session import Session
from garden.surfaces.mcp.answers import tool_answer
from garden.surfaces.mcp.review import card_answer, read_card
from tests.support.gardens import NOTES, asking_garden

WORDS = {"path": NOTES, "text": "Slept well. </script><img src=x onerror=alert(1)> \u202egnp"}
# As a host does: the card is sandboxed, and may load nothing from anywhere.
_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'"
_HOST = """
<!DOCTYPE html><title>A host</title><iframe sandbox="allow-scripts" width="600" height="600"></iframe>
<script>
const frame = document.querySelector("iframe"), sent = [];
let answer = null, replies = {};
const post = (message) => frame.contentWindow.postMessage({jsonrpc: "2.0", ...message}, "*");
addEventListener("message", ({source, data}) => {
  if (source !== frame.contentWindow) return;
  sent.push(data);
  if (data.method === "ui/initialize") post({id: data.id, result: {hostContext: {theme: "dark"}}});
  else if (data.method === "ui/notifications/initialized") post({method: "ui/notifications/tool-result", params: answer});
  else if (data.method in replies) post({id: data.id, ...replies[data.method]});
});
function open_card(html, given) { answer = given; frame.srcdoc = html; }
</script>
"""  # noqa: E501 - a page, not code


@pytest.fixture
def garden(ready_home: Home) -> Iterator[Garden]:
    with asking_garden(ready_home) as garden:
        yield garden


@pytest.fixture
def ada(garden: Garden) -> Session:
    return garden.session("ada", "companion")


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    page = browser.new_page()
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("dialog", lambda dialog: problems.append(dialog.message))
    page.set_content(_HOST)
    yield page
    page.close()
    assert problems == []


def show(page: Page, given: dict[str, Any]) -> FrameLocator:
    html = read_card().text.replace(
        "<head>", f'<head><meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
    )
    page.evaluate("([html, given]) => open_card(html, given)", [html, given])
    return page.frame_locator("iframe")


def asked(garden: Garden, ada: Session) -> dict[str, Any]:
    envelope = ada.call("fs.append", WORDS)
    code = garden.gates.approvals.card_code(ada.access, envelope["error"]["details"]["approvalId"])
    return card_answer(tool_answer(envelope), code)


def reply(page: Page, method: str, **reply: Any) -> None:
    page.evaluate("([method, reply]) => { replies[method] = reply; }", [method, reply])


def sent(page: Page, method: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = page.evaluate(
        "(method) => sent.filter((each) => each.method === method).map((each) => each.params)", method
    )
    return found


@pytest.mark.parametrize("approve", [True, False])
def test_a_person_answers_and_the_chat_is_told(
    page: Page, garden: Garden, ada: Session, approve: bool
) -> None:
    card = show(page, asked(garden, ada))
    expect(card.get_by_role("heading")).to_have_text("May fs.append make this change?")
    button = card.get_by_role("button", name="Approve" if approve else "Deny")
    state = "approved" if approve else "denied"
    result = {"structuredContent": {"ok": True, "result": {"state": state}}}
    reply(page, "tools/call", result=result)
    reply(page, "ui/message", result={})
    button.focus()
    page.keyboard.press("Enter")
    expect(card.get_by_role("status")).to_have_text(f"You {state} it.")
    [call] = sent(page, "tools/call")
    given = call["arguments"]
    assert call["name"] == "review_answer"
    assert given["approve"] is approve
    done = garden.gates.approvals.answer_card(ada.access, given["approvalId"], given["code"], is_yes=approve)
    assert done == state
    [message] = sent(page, "ui/message")
    assert ("Send the same call again" in message["content"][0]["text"]) is approve
    assert len(sent(page, "ui/notifications/size-changed")) >= 1


def test_words_of_documents_are_text_and_characters_that_hide_are_seen(
    page: Page, garden: Garden, ada: Session
) -> None:
    card = show(page, asked(garden, ada))
    expect(card.get_by_label("Change")).to_contain_text("</script><img src=x onerror=alert(1)> U+202Egnp")
    expect(card.locator("img")).to_have_count(0)


def test_an_answer_that_was_too_late_or_lost_says_so(page: Page, garden: Garden, ada: Session) -> None:
    card = show(page, asked(garden, ada))
    reply(page, "tools/call", error={"code": -32000, "message": "the person said no"})
    card.get_by_role("button", name="Approve").click()
    expect(card.get_by_role("status")).to_have_text("The answer did not arrive: the person said no.")
    reply(page, "tools/call", result={"structuredContent": {"ok": True, "result": {"state": "expired"}}})
    card.get_by_role("button", name="Approve").click()
    expect(card.get_by_role("status")).to_have_text("Your answer came too late: the call is expired.")
    assert sent(page, "ui/message") == []


def test_a_change_that_is_cut_cant_be_approved_here(page: Page, garden: Garden, ada: Session) -> None:
    given = asked(garden, ada)
    given["structuredContent"]["error"]["details"]["isWhole"] = False
    card = show(page, given)
    expect(card.get_by_role("button", name="Approve")).to_be_disabled()
    expect(card.get_by_role("status")).to_contain_text("too long to be shown here")


def test_another_answer_of_the_tool_is_shown_without_buttons(page: Page) -> None:
    card = show(page, {"structuredContent": {"ok": True, "meta": {"summary": "Appended 2 lines."}}})
    expect(card.get_by_text("Appended 2 lines.")).to_be_visible()
    expect(card.get_by_role("button")).to_have_count(0)
