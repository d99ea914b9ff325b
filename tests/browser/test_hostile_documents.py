"""Words that try to break out of a page stay words, in every page that shows them."""

import pytest
from playwright.sync_api import Page

from tests.browser import hostile
from tests.browser.addresses import PAGES
from tests.browser.browsing import PHONE, Visits, fits
from tests.browser.checks import Validator
from tests.browser.story import Story
from tests.support.served import Service

_PAGE_BYTES_MAX = 150_000
_HIDDEN = "\u202e\u202c\u2066\u2067\u2069\u200b\u2060\ufeff\U000e0041\U000e0042"
# What no page has of its own: elements that load, run or lead elsewhere, and handlers.
_STRAY = """() => {
    const own = each => each.src?.startsWith(`${location.origin}/console/static/`);
    const found = [...document.querySelectorAll("script, img, iframe, object, embed, base, [srcdoc], link")]
        .filter(each => !own(each) && !each.href?.startsWith(`${location.origin}/console/static/`));
    for (const each of document.querySelectorAll("[href], [action], [formaction]"))
        for (const name of ["href", "action", "formaction"]) {
            const to = each.getAttribute(name);
            if (to !== null && !to.startsWith("/console/") && !/^[#?]/.test(to)) found.push(each);
        }
    for (const each of document.querySelectorAll("*"))
        if ([...each.attributes].some(({name}) => /^on|^style$/.test(name))) found.push(each);
    if (window.broken) found.push(document.body);
    return found.map(each => each.outerHTML.slice(0, 200));
}"""


@pytest.fixture(scope="session")
def hostile_story(service: Service) -> Story:
    return hostile.plant(service.garden)


@pytest.mark.parametrize("address", PAGES)
def test_hostile_words_stay_words(
    visits: Visits, hostile_story: Story, validator: Validator, address: str
) -> None:
    page = visits.stay(hostile.USER)
    answer = page.goto(visits.address(hostile_story.address(address)))
    assert answer is not None
    assert answer.status == 200
    assert len(answer.body()) < _PAGE_BYTES_MAX
    assert page.evaluate(_STRAY) == []
    assert _hidden_characters(page) == []
    assert validator.faults(answer.text()) == []
    page.set_viewport_size(PHONE)
    assert fits(page)


def _hidden_characters(page: Page) -> list[str]:
    """Characters that turn or hide others, which a page shows by their numbers."""
    # A field for changing a text has to hold the text itself.
    page.evaluate("document.querySelectorAll('textarea').forEach(each => each.remove())")
    shown = set(page.evaluate("document.documentElement.textContent"))
    return [f"U+{ord(each):04X}" for each in _HIDDEN if each in shown]
