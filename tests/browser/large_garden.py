"""A garden with 10,000 events and 2,000 documents, in a home of its own."""

from garden.application import Garden
from garden.events.database import connection
from tests.browser.story import Story
from tests.support.sealed_events import fill

USER = "user-0"
_EVENTS, _DOCUMENTS = 10_000, 2_000


def grow(garden: Garden, url: str) -> Story:
    """Fill an empty home by the address of its database, and ask for an approval."""
    with connection(url) as opened, opened.transaction():
        of_a_document = _EVENTS // _DOCUMENTS
        fill(
            opened, garden.keys(), garden.home.path,
            events=_EVENTS, of_a_document=of_a_document, of_a_user=_DOCUMENTS,
        )  # fmt: skip
    path, missing = (f"users/{USER}/parts/part-{number}/notes.md" for number in (1, 2))
    owner = garden.session(USER, "owner", role="maintainer")
    [newest] = owner.call("events.query", {"limit": 1, "path": path})["result"]["rows"]
    words = {"path": path, "text": "she said that entry 1 matters", "reason": "She asked for it."}
    erased = owner.call("garden.erase", words)
    session = garden.session(USER, "visitor", policy={"permissions": {"fs.append": "ask"}})
    asked = session.call("fs.append", {"path": path, "text": "- asked"})
    for tool, args in (("memory.store", {"content": "Sails"}), ("memory.context", {"tokens": 2000})):
        assert owner.call(tool, args)["ok"]
    (garden.home.path / missing).unlink()
    return Story(
        USER, "", path, newest["eventId"], asked["error"]["details"]["approvalId"],
        erased["result"]["tombstone"], missing,
    )  # fmt: skip
