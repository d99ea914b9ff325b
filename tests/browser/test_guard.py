"""The guard of these tests notices what it is there for."""

import pytest

from tests.browser.browsing import Guard, Visits
from tests.support.served import Person
from tests.support.waiting import until


@pytest.mark.parametrize(
    ("deed", "fault"),
    [
        (
            "document.body.append(Object.assign(new Image(), {src: 'http://elsewhere.example/x'}))",
            "console: ",
        ),
        ("location.href = 'http://elsewhere.example/'", "request: http://elsewhere.example/"),
        ("document.body.setAttribute('onclick', 'x()'); document.body.click()", "console: "),
        ("document.body.setAttribute('style', 'color: red')", "console: "),
        ("setTimeout(() => { throw new Error('oh') })", "page error: "),
        ("setTimeout(() => alert('oh'))", "dialog: oh"),
        ("fetch('/console/static/nothing.js')", "answer 404: "),
    ],
)
def test_a_bad_page_is_noticed(visits: Visits, ada: Person, guard: Guard, deed: str, fault: str) -> None:
    page = visits.enter(ada.user_id)
    page.route("http://elsewhere.example/", lambda route: route.fulfill(body="elsewhere"))
    page.evaluate(f"() => {{ {deed} }}")
    # The browser's events arrive while a call to it lasts.
    until(lambda: page.wait_for_timeout(5) or guard.faults)
    assert any(each.startswith(fault) for each in guard.faults), guard.faults
    guard.faults.clear()
