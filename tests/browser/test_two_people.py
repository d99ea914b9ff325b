"""Two people at once, each in a browser of their own, never see each other's words."""

import pytest
from playwright.sync_api import Page

from tests.browser.addresses import PAGES
from tests.browser.browsing import Visits, main_text
from tests.browser.story import Story
from tests.support.served import Person

_HERS, _HIS = "the bees are asleep under the snow", "a parcel for the lighthouse"


def test_a_change_of_one_person_appears_only_on_that_persons_page(
    visits: Visits, ada: Person, ben: Person
) -> None:
    hers, his = visits.enter(ada.user_id), visits.enter(ben.user_id)
    _until_live(hers, his)
    for person, page, words in ((ada, hers, _HERS), (ben, his, _HIS)):
        person.ok("fs.append", path=person.notes, text=words, rationale=words)
        page.wait_for_function("words => document.querySelector('main').innerText.includes(words)", arg=words)
    assert _HERS not in his.content()
    assert _HIS not in hers.content()


@pytest.mark.parametrize("address", PAGES)
def test_no_page_has_words_of_another_persons_garden(visits: Visits, story: Story, address: str) -> None:
    mine, other = visits.stay(story.user_id), visits.stay(story.other_id)
    mine.goto(visits.address(story.address(address)))
    # The address may name a document, an event or an approval of the other garden.
    answer = other.goto(visits.address(story.address(address)))
    assert answer is not None
    assert answer.status < 500
    shown = main_text(other).replace(answer.url, "")
    for words in ("The Inspector", "She named a new worry", "a first sentence for Osk", "Lamplighter"):
        assert words not in shown
    assert story.other_id not in mine.content()


def _until_live(*pages: Page) -> None:
    for page in pages:
        page.wait_for_selector("body[data-stream=open]")
