"""Today follows the garden by itself, also over a restart of the service and in many tabs."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from garden.home.folder import Home
from tests.browser.browsing import Visits
from tests.support.databases import TestServer
from tests.support.folders import run_folder
from tests.support.ports import free_port
from tests.support.served import Person, Service, home_of_its_own, served

# Browsers open six connections to one host at most, and a stream keeps one.
_TABS = 8
_SHOWS = "words => document.querySelector('main').innerText.includes(words)"


@pytest.fixture
def own_home(server: TestServer) -> Iterator[Home]:
    """A home whose service may be stopped."""
    with home_of_its_own(server, run_folder()) as home:
        yield home


def test_a_change_of_an_agent_appears_without_a_reload(visits: Visits, ada: Person) -> None:
    page = _following(visits, ada)
    page.evaluate("window.isTheSamePage = true")
    _write(ada, "the first frost")
    page.wait_for_function(_SHOWS, arg="the first frost")
    assert page.evaluate("window.isTheSamePage") is True


def test_a_page_goes_on_by_itself_after_the_service_has_restarted(browser: Browser, own_home: Home) -> None:
    port = str(free_port())
    with served(own_home, "--port", port, port=False) as first, first.person() as ada:
        ada.ok("md.plant", path=ada.notes)
        visits = Visits(browser, first)
        page = _following(visits, ada)
        assert first.stop() == 0
        page.wait_for_selector("body[data-stream=lost]")
        session = first.garden.session(ada.user_id, "companion")
        session.fs.append(ada.notes, "in between", rationale="a frost in between")
        with served(own_home, "--port", port, port=False) as second:
            page.wait_for_function(_SHOWS, arg="a frost in between")
            with second.person(user_id=ada.user_id) as again:
                _write(again, "the second frost")
            page.wait_for_function(_SHOWS, arg="the second frost")
        visits.leave()
    assert visits.guard.faults == []


def test_tabs_in_the_background_keep_no_connection_and_catch_up_when_looked_at(
    visits: Visits, ada: Person
) -> None:
    first = _following(visits, ada)
    _turn(first, is_hidden=True)
    for _ in range(_TABS):
        page = first.context.new_page()
        page.goto(visits.address("/"))
        _turn(page, is_hidden=True)
    _write(ada, "the third frost")
    _turn(first, is_hidden=False)
    first.wait_for_function(_SHOWS, arg="the third frost")


def test_a_busy_garden_is_read_again_at_growing_pauses(visits: Visits, ada: Person) -> None:
    page = _following(visits, ada)
    reads = list[str]()
    page.on(
        "request", lambda request: reads.append(request.url) if request.url.endswith("/console/") else None
    )
    for number in range(40):
        ada.ok("fs.append", path=ada.notes, text=f"{number}")
        page.wait_for_timeout(50)
    _write(ada, "the last frost")
    page.wait_for_function(_SHOWS, arg="the last frost")
    # At half a second, one second, two and four.
    assert len(reads) <= 6


def test_what_a_person_holds_stays_as_it_is(service: Service, visits: Visits, ada: Person) -> None:
    session = service.garden.session(ada.user_id, "guest", policy={"permissions": {"fs.append": "ask"}})
    session.call("fs.append", {"path": ada.notes, "text": "Slept well."})
    page = visits.enter(ada.user_id, to="/approvals")
    page.wait_for_selector("body[data-stream=open]")
    page.click(".question summary >> text=Arguments")
    page.focus(".question [data-key=a] button")
    session.call("fs.append", {"path": ada.notes, "text": "Woke early."})
    page.wait_for_function(_SHOWS, arg="Woke early.")
    assert page.evaluate("document.activeElement.closest('.question').innerText").count("Slept well.") > 1


def _turn(page: Page, *, is_hidden: bool) -> None:
    """Have a page believe that it is in the background, or no longer; a browser without a screen has none."""
    page.evaluate(
        """isHidden => {
            Object.defineProperty(document, "hidden", {value: isHidden, configurable: true});
            document.dispatchEvent(new Event("visibilitychange"));
        }""",
        is_hidden,
    )


def _following(visits: Visits, person: Person) -> Page:
    page = visits.enter(person.user_id)
    page.wait_for_selector("body[data-stream=open]")
    return page


def _write(person: Person, words: str) -> None:
    person.ok("fs.append", path=person.notes, text=words, rationale=words)
