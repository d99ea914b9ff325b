"""Open gardens for tests, and the documents in them."""

from typing import Any

from garden.application import Garden, open_garden
from garden.events.known_heads import KnownHeads
from garden.home.folder import Home
from garden.session import Session

PROFILE = "users/ada/parts/critic/profile.md"
NOTES = "users/ada/notes.md"
SECTIONS = 20
# A profile has eight sections of its own; the last is its Change Log.
OWN_SECTIONS = ("summary", "concerns", "needs", "strengths", "what_helps", "evidence", "questions")


def put_database(home: Home, url: str) -> None:
    """Make a home use this database in every process."""
    (home.path / "garden.toml").write_text(f'database_url = "{url}"\n')


def opened(home: Home) -> Garden:
    return open_garden(home.path)


def ada(garden: Garden) -> Session:
    """A session that may use every tool."""
    return garden.session("ada", "companion", role="maintainer")


def ok(envelope: dict[str, Any]) -> dict[str, Any]:
    """Return an envelope that must be a success."""
    assert envelope["ok"], envelope
    return envelope


def code_of(envelope: dict[str, Any]) -> str:
    return "ok" if envelope["ok"] else str(envelope["error"]["code"])


def notes_text(sections: int = SECTIONS) -> str:
    """A notes document with so many anchored sections, from `s0 v1` on."""
    head = "---\nid: ada-notes\nuser_id: ada\nschema: 1\n---\n\n# Notes\n"
    return head + "".join(
        f"\n## Section {number}\n<!-- @anchor: s{number} v1 -->\n\n- first of {number}\n"
        for number in range(sections)
    )


def profile_text(sections: int = SECTIONS) -> str:
    """A part's profile with so many sections before its Change Log."""
    head = "---\nid: critic\nuser_id: ada\nschema: 1\n---\n\n# Critic\n"
    own = [(name.replace("_", " ").title(), name) for name in OWN_SECTIONS]
    others = [(f"Section {number}", f"s{number}") for number in range(sections - len(own))]
    log = [("Change Log", "change_log")]
    return head + "".join(
        f"\n## {heading}\n<!-- @anchor: {anchor} v1 -->\n" for heading, anchor in own + others + log
    )


def anchors_of(path: str, sections: int = SECTIONS) -> list[str]:
    """The anchors of the sections of `notes_text` and `profile_text` that tools may change."""
    if path.endswith("notes.md"):
        return [f"s{number} v1" for number in range(sections)]
    others = [f"s{number} v1" for number in range(sections - len(OWN_SECTIONS))]
    return [f"{name} v1" for name in OWN_SECTIONS] + others


def forget_heads(garden: Garden) -> None:
    """Let the next change of every document take the lock before it is planned."""
    garden.services.store._known = KnownHeads()


def plant(session: Session, path: str, sections: int = SECTIONS) -> None:
    """Write one of the two documents."""
    text = notes_text(sections) if path.endswith("notes.md") else profile_text(sections)
    ok(session.call("fs.write", {"path": path, "content": text}))


def patching(path: str, anchor: str, line: str, **said: Any) -> tuple[str, dict[str, Any]]:
    """A call that appends one line to a section."""
    change = {"append": f"- {line}"}
    return "md.patch_section", {"path": path, "sectionAnchor": anchor, "change": change, **said}
