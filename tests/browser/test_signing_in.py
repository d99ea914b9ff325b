"""Signing in and out, by keyboard alone."""

from playwright.sync_api import Page, expect

from tests.browser.browsing import Visits, main_text, shows, tab_to
from tests.support.served import Person, Service


def test_a_person_signs_in_with_a_token_and_out_again_without_a_mouse(visits: Visits, ada: Person) -> None:
    page = visits.blank()
    page.goto(visits.address("/recall"))
    # The field has the focus from the start.
    page.keyboard.type(ada.secret)
    page.keyboard.press("Enter")
    page.wait_for_url(visits.address("/recall"))
    tab_to(page, page.get_by_role("button", name="Sign out"))
    page.keyboard.press("Enter")
    page.wait_for_url(visits.address("/sign-in"))
    page.goto(visits.address("/"))
    assert "Sign in" in main_text(page)


def test_the_skip_link_leads_past_the_navigation(visits: Visits, ada: Person) -> None:
    page = visits.enter(ada.user_id)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()


def test_a_page_of_a_signed_out_person_asks_to_sign_in_and_then_comes_back(
    visits: Visits, ada: Person
) -> None:
    page = visits.blank(java_script_enabled=False)
    page.goto(visits.address("/timeline"))
    page.fill("#token", ada.secret)
    page.click("main button")
    # Without script the page goes on by itself as well.
    page.wait_for_url(visits.address("/timeline"))


def test_a_link_signs_in_once_and_says_so_the_second_time(
    visits: Visits, service: Service, ada: Person
) -> None:
    code = service.garden.sign_ins.make_link(ada.user_id, role="reviewer", actor="mira")
    first, second = visits.blank(java_script_enabled=False), visits.blank()
    first.goto(visits.address(f"/enter?code={code}"))
    first.wait_for_url(visits.address("/"))
    assert "mira, reviewer" in first.inner_text("header")
    second.goto(visits.address(f"/enter?code={code}"))
    shows(second, "used already")
    second.goto(visits.address("/"))
    assert second.url.startswith(visits.address("/sign-in"))


def test_the_end_of_a_token_ends_its_sign_in_and_the_page_leads_back(
    visits: Visits, service: Service, ada: Person
) -> None:
    page = visits.blank()
    _sign_in_by_token(page, visits, ada)
    service.garden.tokens.revoke(ada.token.token_id, ada.user_id)
    # Today is live, and leaves the screen by itself.
    page.wait_for_url(f"{visits.address('/sign-in')}?*")
    with service.person("reviewer", ada.user_id) as again:
        page.get_by_label("access token").fill(again.secret)
        page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(visits.address("/"))


def test_signing_out_in_one_tab_ends_the_others(visits: Visits, ada: Person) -> None:
    first = visits.enter(ada.user_id, to="/documents")
    second = first.context.new_page()
    second.goto(visits.address("/erasure"))
    first.get_by_role("button", name="Sign out").click()
    first.wait_for_url(visits.address("/sign-in"))
    second.get_by_label("Why?").fill("It was told in confidence.")
    second.get_by_label("The passage").fill("heron")
    second.get_by_role("button", name="Show all places").click()
    # What was typed for the form is sent to no one who is signed out.
    shows(second, "You are signed out.")
    assert "heron" not in second.content()


def test_words_leave_the_screen_when_a_person_signs_out_in_another_tab(visits: Visits, ada: Person) -> None:
    first = visits.enter(ada.user_id)
    second = first.context.new_page()
    second.goto(visits.address("/approvals"))
    second.wait_for_selector("body[data-stream=open]")
    first.get_by_role("button", name="Sign out").click()
    second.wait_for_url("**/sign-in?then=*")


def _sign_in_by_token(page: Page, visits: Visits, person: Person) -> None:
    page.goto(visits.address("/sign-in"))
    page.get_by_label("access token").fill(person.secret)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(visits.address("/"))
