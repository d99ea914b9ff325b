"""Every page of the console is complete, small, valid, open to all, and fits its screen."""

from typing import Any

import pytest
from playwright.sync_api import Page

from garden.surfaces.web.console.views import VIEWS
from tests.browser.addresses import OF_VIEWS, OTHERS, PAGES
from tests.browser.browsing import DESKTOP, PHONE, Visits, fits, lines_of
from tests.browser.checks import COLOURS, Validator, barriers
from tests.browser.story import Story

_PAGE_BYTES_MAX = 150_000
_INTERACTIVE = "a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex='0']"
# The elements that the keyboard must reach; of radio buttons with one name it reaches one.
_REACHABLE = """wanted => {
    const seen = new Set();
    return [...document.querySelectorAll(wanted)].filter(each => {
        if (!each.checkVisibility({visibilityProperty: true}) || each.disabled) return false;
        if (each.tabIndex < 0) return false;
        if (each.type !== "radio") return true;
        const isFirst = !seen.has(each.name);
        seen.add(each.name);
        return isFirst;
    }).length;
}"""
_FOCUSED = """() => {
    const each = document.activeElement;
    if (each === document.body || each === document.documentElement) return null;
    const style = getComputedStyle(each), box = each.getBoundingClientRect();
    const isMarked = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
    const isBeside = box.width > 0 && box.right > 0 && box.left < innerWidth;
    const isOnScreen = isBeside && box.bottom > 0 && box.top < innerHeight;
    const name = each.outerHTML.slice(0, 120);
    return {name, isSkip: each.classList.contains("skip"), isSeen: isMarked && isOnScreen};
}"""
_TABS_MAX = 400


def test_the_list_of_addresses_has_every_view() -> None:
    assert set(OF_VIEWS) == {view.path for view in VIEWS if view.method == "GET"}


@pytest.mark.parametrize("role", ["maintainer", "reviewer"])
@pytest.mark.parametrize("address", PAGES)
def test_a_page_is_valid_and_small(
    visits: Visits, story: Story, validator: Validator, address: str, role: str
) -> None:
    page = visits.stay(story.user_id, role)
    answer = page.goto(visits.address(story.address(address)))
    assert answer is not None
    # A reviewer is told why a page is not theirs.
    assert answer.status == 200 or (role, answer.status) == ("reviewer", 403)
    assert page.locator("h1").count() == 1
    assert len(answer.body()) < _PAGE_BYTES_MAX
    assert validator.faults(answer.text()) == []


@pytest.mark.parametrize("address", OTHERS)
def test_a_page_of_the_door_is_valid_and_open_to_all(
    visits: Visits, validator: Validator, address: str
) -> None:
    page = visits.blank()
    answer = page.goto(visits.address(address))
    assert answer is not None
    assert answer.status == OTHERS[address]
    assert validator.faults(answer.text()) == []
    _check_looks(page)


@pytest.mark.parametrize("address", PAGES)
def test_a_page_is_open_to_all_in_every_look(visits: Visits, story: Story, address: str) -> None:
    page = visits.stay(story.user_id)
    page.goto(visits.address(story.address(address)))
    _check_looks(page)


def _check_looks(page: Page) -> None:
    for size in (DESKTOP, PHONE):
        page.set_viewport_size(size)
        assert fits(page), f"{page.url} has to be scrolled sideways at {size['width']} pixels"
        page.emulate_media(color_scheme="light")
        assert barriers(page) == [], size["width"]
        page.emulate_media(color_scheme="dark")
        assert barriers(page, *COLOURS) == [], f"{size['width']} in the dark"


@pytest.mark.parametrize("address", PAGES)
def test_a_page_says_the_same_without_script(visits: Visits, story: Story, address: str) -> None:
    with_script, without = visits.stay(story.user_id), visits.stay(story.user_id, has_script=False)
    for page in (with_script, without):
        page.goto(visits.address(story.address(address)))
    assert lines_of(with_script) <= lines_of(without)


@pytest.mark.parametrize("address", PAGES)
def test_the_keyboard_reaches_everything_and_shows_where_it_is(
    visits: Visits, story: Story, address: str
) -> None:
    page = visits.stay(story.user_id)
    page.goto(visits.address(story.address(address)))
    # A page may take the focus for itself, as a search field does; the first key begins at the top.
    page.evaluate("document.activeElement.blur()")
    wanted = page.evaluate(_REACHABLE, _INTERACTIVE)
    reached: list[dict[str, Any]] = []
    for _ in range(_TABS_MAX):
        page.keyboard.press("Tab")
        focused = page.evaluate(_FOCUSED)
        if focused is None or (reached and focused["isSkip"]):
            break
        reached.append(focused)
    assert reached[0]["isSkip"]
    assert [each["name"] for each in reached if not each["isSeen"]] == []
    assert len(reached) == wanted
