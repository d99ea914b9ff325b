"""A document as a person uses it: who wrote what, earlier versions, comparisons, and ways back."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.browsing import Visits, click, lacks, main_text, shows, tab_to
from tests.support.served import Person

NOTES = "/documents/notes.md"
LINES = 400
both_ways = pytest.mark.parametrize("has_script", [True, False], ids=["script", "no-script"])


@pytest.fixture
def planted(ada: Person) -> Person:
    """Ada's notes in three versions; the newest names Mira instead of Ben."""
    text = text_of(ada) + "\n- Waters the fern\n- Calls Ben\n"
    ada.ok("fs.write", path=ada.notes, content=text, rationale="A first list.")
    changed = text.replace("Calls Ben", "Calls Mira")
    ada.ok("fs.write", path=ada.notes, content=changed, rationale="She named Mira.")
    return ada


def text_of(person: Person) -> str:
    return str(person.ok("fs.read", path=person.notes)["result"])


def open_notes(visits: Visits, person: Person, query: str = "", *, has_script: bool = True) -> Page:
    return visits.enter(person.user_id, to=f"{NOTES}{query}", java_script_enabled=has_script)


def tab_of(page: Page, name: str) -> None:
    page.get_by_role("navigation", name="This document").get_by_role("link", name=name).click()


@both_ways
def test_who_wrote_what_is_shown_and_hidden(visits: Visits, planted: Person, has_script: bool) -> None:
    page = open_notes(visits, planted, has_script=has_script)
    click(page, "Show who wrote what")
    expect(page.locator(".text.blamed")).to_contain_text("Calls Mira")
    click(page, "Hide who wrote what")
    expect(page.locator(".text:not(.blamed)")).to_contain_text("Calls Mira")
    tab_of(page, "Who wrote what")
    shows(page, "She named Mira.")
    page.locator(".source a.event-id").last.click()
    page.wait_for_url("**/timeline/*")
    shows(page, "+- Calls Mira")


def test_the_slider_shows_versions_by_keyboard_without_a_reload(visits: Visits, planted: Person) -> None:
    page = open_notes(visits, planted)
    page.evaluate("window.isTheSamePage = true")
    slider = page.get_by_label("Version", exact=True)
    tab_to(page, slider)
    page.keyboard.press("ArrowLeft")
    shows(page, "Calls Ben")
    expect(slider).to_have_attribute("aria-valuetext", "Version 2 of 3")
    page.keyboard.press("Home")
    lacks(page, "Waters the fern")
    page.keyboard.press("End")
    shows(page, "Calls Mira")
    assert page.evaluate("window.isTheSamePage") is True
    page.keyboard.press("ArrowLeft")
    shows(page, "Calls Ben")
    page.wait_for_url("**at=2*")
    page.reload()
    shows(page, "Calls Ben")


def test_the_slider_works_without_script(visits: Visits, planted: Person) -> None:
    page = open_notes(visits, planted, has_script=False)
    tab_to(page, page.get_by_label("Version", exact=True))
    page.keyboard.press("ArrowLeft")
    click(page, "Show")
    shows(page, "Calls Ben")
    lacks(page, "Calls Mira")


@both_ways
def test_two_versions_are_compared_in_each_form(visits: Visits, planted: Person, has_script: bool) -> None:
    page = open_notes(visits, planted, has_script=has_script)
    tab_of(page, "Compare")
    for form in ("side", "unified", "words"):
        page.get_by_label("From").fill("2")
        page.get_by_label("To").fill("3")
        page.get_by_label("As", exact=True).select_option(form)
        page.get_by_role("button", name="Compare").click()
        page.wait_for_url(f"**from=2&to=3&as={form}")
        expect(page.locator("main del")).to_contain_text("Ben")
        expect(page.locator("main ins")).to_contain_text("Mira")


@both_ways
def test_an_earlier_version_is_restored_after_a_preview(
    visits: Visits, planted: Person, has_script: bool
) -> None:
    page = open_notes(visits, planted, has_script=has_script)
    tab_of(page, "Versions")
    click(page.get_by_role("row").filter(has_text="A first list."), "Restore")
    expect(page.locator("ins")).to_contain_text("Calls Ben")
    assert "Calls Mira" in text_of(planted)
    page.get_by_label("Why").fill("Ben after all.")
    page.get_by_role("button", name="Restore").click()
    shows(page, "The version is restored")
    shows(page, "Ben after all.")
    assert "Calls Ben" in text_of(planted)


@both_ways
def test_a_change_is_undone_from_the_page_of_its_event(
    visits: Visits, planted: Person, has_script: bool
) -> None:
    page = visits.enter(planted.user_id, to="/timeline", java_script_enabled=has_script)
    page.locator("li", has_text="She named Mira.").locator("a.op").click()
    click(page, "Undo this change")
    expect(page.locator("ins")).to_contain_text("Calls Ben")
    page.get_by_role("button", name="Undo").click()
    shows(page, "taken back")
    assert "Calls Ben" in text_of(planted)


@both_ways
def test_a_preview_that_is_out_of_date_is_shown_anew(
    visits: Visits, planted: Person, has_script: bool
) -> None:
    page = open_notes(visits, planted, "?do=restore&version=2", has_script=has_script)
    planted.ok("fs.append", path=planted.notes, text="- Came later")
    page.get_by_label("Why").fill("Ben after all.")
    page.get_by_role("button", name="Restore").click()
    shows(page, "has changed since")
    expect(page.locator("del", has_text="Came later")).to_be_visible()
    expect(page.get_by_label("Why")).to_have_value("Ben after all.")
    assert "Came later" in text_of(planted)
    page.get_by_role("button", name="Restore").click()
    shows(page, "The version is restored")
    assert "Came later" not in text_of(planted)


@pytest.fixture
def long(planted: Person) -> Person:
    """Ada's notes, longer than a screen and than one part."""
    words = "of many words " * 20
    items = "".join(f"- item {number} {words}\n" for number in range(LINES))
    end = "\n## At the end\n<!-- @anchor: last_things v1 -->\n\n- Zinnias\n"
    planted.ok("fs.write", path=planted.notes, content=f"{text_of(planted)}\n{items}{end}")
    return planted


@both_ways
def test_an_address_of_a_line_opens_at_the_line(visits: Visits, long: Person, has_script: bool) -> None:
    number = text_of(long).splitlines().index("- Zinnias") + 1
    for view in ("read", "lines"):
        page = open_notes(visits, long, f"?view={view}&line={number}#L{number}", has_script=has_script)
        expect(page.locator(f"#L{number}")).to_be_in_viewport()
    page.locator(f"#L{number - 1}, #L{number} a.line").last.click()
    page.wait_for_url(f"**#L{number}")


def test_the_sign_of_a_section_is_its_address(visits: Visits, planted: Person) -> None:
    page = open_notes(visits, planted)
    page.get_by_role("link", name="inbox v1", exact=True).click()
    page.wait_for_url("**#inbox")
    page.goto(page.url)
    expect(page.locator("#inbox")).to_be_in_viewport()


def test_an_address_of_a_version_shows_it_with_the_way_to_now(visits: Visits, planted: Person) -> None:
    page = open_notes(visits, planted, "?at=2")
    assert "Calls Ben" in main_text(page)
    planted.ok("fs.append", path=planted.notes, text="- Came later")
    lacks(page, "Came later")
    click(page, "Show it as it is now")
    shows(page, "Came later")
