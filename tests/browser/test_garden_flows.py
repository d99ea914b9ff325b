"""The garden as its owner uses it: the timeline, what needs a person, recall, erasure, export and verify."""

import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from zipfile import ZipFile

import pytest
from playwright.sync_api import Page, expect

from garden.history.checkpoints import log_signers, make_checkpoints
from garden.transfer.archive_check import check_archive
from garden.upkeep.reconciliation import sweep
from tests.browser.browsing import Visits, click, lacks, main_text, shows
from tests.events.test_verifier import tamper
from tests.support.recalled import owner_url
from tests.support.served import Person, Service
from tests.support.stalled import leave_open

ROOT = Path(__file__).parents[2]
HERON = "The heron told her in confidence."
both_ways = pytest.mark.parametrize("has_script", [True, False], ids=["script", "no-script"])


@pytest.fixture
def file(service: Service, ada: Person) -> Path:
    """The file of Ada's notes."""
    return service.garden.home.path / ada.notes


def text_of(person: Person) -> str:
    return str(person.ok("fs.read", path=person.notes)["result"])


def append(person: Person, text: str, **fields: str) -> str:
    return str(person.ok("fs.append", path=person.notes, text=text, **fields)["meta"]["eventId"])


def saved(page: Page, button: str, folder: Path) -> Path:
    """Download what a button or a link sends."""
    with page.expect_download() as arrival:
        click(page, button)
    path = Path(folder / arrival.value.suggested_filename)
    arrival.value.save_as(path)
    return path


@both_ways
def test_the_timeline_is_narrowed_and_widened_and_leads_on(
    visits: Visits, ada: Person, has_script: bool
) -> None:
    for number in range(26):
        append(ada, f"- {number}", rationale=f"Reason {number:02}.")
    page = visits.enter(ada.user_id, to="/timeline", java_script_enabled=has_script)
    page.locator("#facets").get_by_role("link", name="fs.append").click()
    shows(page, "26 events")
    chips = page.get_by_role("list", name="Filters in use")
    expect(chips).to_contain_text("fs.append")
    shows(page, "Reason 25.")
    page.locator("a[rel=next]").click()
    shows(page, "Reason 00.")
    lacks(page, "Reason 25.")
    page.get_by_label("Words of a reason").fill("07")
    page.get_by_role("button", name="Find").click()
    shows(page, "Reason 07.")
    lacks(page, "Reason 08.")
    chips.get_by_role("link").filter(has_text="fs.append").click()
    expect(chips).not_to_contain_text("fs.append")
    shows(page, "1 event")
    page.locator("a.op").click()
    shows(page, "Reason 07.")


def test_the_proof_of_an_event_convinces_a_stranger(
    visits: Visits, service: Service, ada: Person, folder: Path
) -> None:
    event = append(ada, "Slept well.")
    list(make_checkpoints(service.garden.services))
    page = visits.enter(ada.user_id, to=f"/timeline/{event}")
    proof = saved(page, "Download the proof", folder)
    key = str(log_signers(service.garden.services)[0].public)
    verdict = subprocess.run(
        [sys.executable, ROOT / "examples" / "verify_proof.py", proof, key],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert event in verdict.stdout, verdict.stderr


@both_ways
def test_what_needs_a_person_is_mended_from_today(
    visits: Visits, ada: Person, file: Path, has_script: bool
) -> None:
    whole = file.read_text()

    def add_stray_spaces() -> None:
        file.write_text(f"{whole}\n- one   \t\n")
        append(ada, "Slept well.")

    page = visits.enter(ada.user_id, java_script_enabled=has_script)
    harms = (
        ("Repair", lambda: file.write_text(whole.replace("<!-- @anchor: inbox v1 -->\n", ""))),
        ("Bring it back", file.unlink),
        ("Fix", add_stray_spaces),
    )
    for way_out, harm in harms:
        harm()
        page.goto(visits.address("/"))
        click(page.locator("#needs"), way_out)
        page.locator("main form[method=post] button").click()
        page.wait_for_load_state()
        page.goto(visits.address("/"))
        shows(page, "Every document is whole.")
        assert "<!-- @anchor: inbox v1 -->" in file.read_text()
        assert "\t" not in file.read_text()


@both_ways
def test_a_change_that_was_given_up_is_tried_again_from_today(
    visits: Visits, service: Service, ada: Person, file: Path, has_script: bool
) -> None:
    leave_open(service.garden, ada.notes, "more of it")
    before = file.read_bytes()
    file.write_bytes(b"\xff")
    for _ in range(service.garden.settings.upkeep.attempts + 1):
        list(sweep(service.garden.services, timedelta(0), ada.user_id, pause_seconds=0))
    page = visits.enter(ada.user_id, java_script_enabled=has_script)
    shows(page, "quarantined")
    file.write_bytes(before)
    click(page, "Try once more")
    shows(page, "tried once more")
    lacks(page, "quarantined")


@both_ways
def test_a_question_is_asked_with_filters_and_leads_to_its_section(
    visits: Visits, ada: Person, has_script: bool
) -> None:
    ada.ok("memory.store", content="Wants to sail the Baltic", tags=["sea"])
    page = visits.enter(ada.user_id, to="/recall", java_script_enabled=has_script)
    for day, words in (("yesterday", "No passage is found"), ("today", "1 passage")):
        page.get_by_role("searchbox").fill("sailing the Baltic")
        if not page.get_by_label("To day").is_visible():
            page.locator("summary", has_text="At another time").click()
        page.get_by_label("To day").fill(day)
        page.get_by_role("button", name="Ask").click()
        shows(page, words)
        expect(page.get_by_label("To day")).to_have_value(day)
    page.locator(".hits a").first.click()
    expect(page.locator("#inbox")).to_be_in_viewport()


def test_what_was_given_as_context_is_found(visits: Visits, ada: Person) -> None:
    ada.ok("memory.store", content="Wants to sail the Baltic")
    ada.ok("memory.context", query="sail", tokens=500)
    page = visits.enter(ada.user_id, "reviewer", to="/recall")
    page.get_by_role("main").get_by_role("link", name="Given as context").click()
    page.locator("main summary").first.click()
    shows(page, "Wants to sail the Baltic")


@both_ways
def test_erased_words_are_gone_from_every_page(visits: Visits, ada: Person, has_script: bool) -> None:
    event = append(ada, f"- {HERON}", rationale="A note.")
    ada.ok("memory.context", query="heron", tokens=500)
    page = visits.enter(ada.user_id, to="/erasure", java_script_enabled=has_script)
    page.get_by_label("The passage").fill(HERON.upper())
    page.get_by_label("Why?").fill("She asked for it.")
    click(page, "Show all places")
    shows(page, "1 version")
    assert HERON in text_of(ada)
    page.get_by_role("checkbox").check()
    page.get_by_role("button", name="Erase", exact=True).click()
    page.wait_for_url("**/erasure/*-*")
    shows(page, "She asked for it.")
    assert "heron" not in text_of(ada)
    notes = "/documents/notes.md"
    for address in (
        "/", "/timeline", f"/timeline/{event}", notes, f"{notes}?at=2", f"{notes}?view=versions",
        f"{notes}?from=1&to=2", f"{notes}?view=lines", "/recall?query=confidence", "/recall/given",
        "/erasure",
    ):  # fmt: skip
        page.goto(visits.address(address))
        assert "heron" not in page.content().casefold(), address


def test_what_was_not_confirmed_is_not_erased(visits: Visits, ada: Person) -> None:
    append(ada, f"- {HERON}")
    page = visits.enter(ada.user_id, to="/erasure")
    page.get_by_label("Everything of").check()
    page.get_by_label("Why?").fill("A test.")
    click(page, "Show all places")
    button = page.get_by_role("button", name="Erase", exact=True)
    # The browser holds the form back until the name is there.
    button.click()
    page.get_by_label("To erase everything").fill("someone")
    button.click()
    shows(page, "Nothing was erased")
    click(page, "Leave everything as it is")
    assert HERON in text_of(ada)


@both_ways
def test_the_garden_is_taken_away_as_a_zip_and_as_an_archive(
    visits: Visits, ada: Person, folder: Path, has_script: bool
) -> None:
    page = visits.enter(ada.user_id, to="/export", java_script_enabled=has_script)
    with ZipFile(saved(page, "Download the documents", folder)) as opened:
        assert opened.read(ada.notes.removeprefix("users/")).decode() == text_of(ada)
    verdict = check_archive(saved(page, "Download the archive", folder), [])
    assert (verdict.holds, verdict.user, verdict.documents) == (True, ada.user_id, 1)


@both_ways
def test_a_verification_says_that_all_holds_until_a_row_is_changed(
    visits: Visits, service: Service, ada: Person, has_script: bool
) -> None:
    event = append(ada, "Slept well.")
    page = visits.enter(ada.user_id, to="/export", java_script_enabled=has_script)
    click(page, "Verify now")
    shows(page, "Everything holds.")
    forged = f"update garden.events set actor = 'forger' where event_id = '{event}'"
    tamper(owner_url(service.garden), forged)
    click(page, "Verify now")
    shows(page, "not hold")
    page.locator("main a.event-id").first.click()
    page.wait_for_url(f"**/timeline/{event}")
    assert "forger" in main_text(page)
