"""With 10,000 events and 2,000 documents every page opens, stays small, and leads on page by page."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.browser.addresses import PAGES
from tests.browser.browsing import Visits
from tests.browser.large_garden import grow
from tests.support.databases import TestServer
from tests.support.folders import run_folder
from tests.support.served import Service, home_of_its_own, served

_PAGE_BYTES_MAX = 150_000
_PAGES_READ = 5


@pytest.fixture
def own_service(server: TestServer) -> Iterator[Service]:
    with home_of_its_own(server, run_folder()) as home, served(home) as service:
        yield service


# One test: the garden takes longer to make than all of its pages to read.
def test_every_page_opens_and_leads_on(browser: Browser, own_service: Service) -> None:
    url = own_service.garden.settings.database_url
    assert url is not None
    story = grow(own_service.garden, url.get_secret_value())
    visits = Visits(browser, own_service)
    page = visits.enter(story.user_id)
    for address in PAGES:
        answer = page.goto(visits.address(story.address(address)))
        seen = set[str]()
        for _ in range(_PAGES_READ):
            assert answer is not None
            assert answer.status == 200, address
            assert len(answer.body()) < _PAGE_BYTES_MAX, address
            assert answer.url not in seen, f"{address} leads to a page that was read before"
            seen.add(answer.url)
            following = page.locator("a[rel=next]")
            if not following.count():
                break
            with page.expect_navigation() as arrival:
                following.first.click()
            answer = arrival.value
    visits.leave()
    assert visits.guard.faults == []
