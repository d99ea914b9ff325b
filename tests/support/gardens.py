"""Helpers for an open garden: call tools, edit files by hand, and verify the events."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from garden.application import Garden, open_garden
from garden.events.verifier import Verifier
from garden.home.folder import Home
from garden.home.keys import KeySource
from garden.session import Session
from tests.support.folders import PREFIX

NOTES = "users/ada/notes.md"
OVERVIEW = "users/ada/overview.md"
CRITIC = "users/ada/parts/critic/profile.md"
PAIR = "users/ada/relationships/critic-and-child/profile.md"


def ok(session: Session, tool: str, /, **args: Any) -> dict[str, Any]:
    """Call a tool that must succeed; return the whole envelope."""
    envelope = session.call(tool, args)
    assert envelope["ok"], envelope
    assert set(envelope) == {"ok", "result", "meta"}
    return envelope


def result(session: Session, tool: str, /, **args: Any) -> Any:
    """Call a tool that must succeed; return the result."""
    return ok(session, tool, **args)["result"]


def refused(session: Session, tool: str, code: str, /, **args: Any) -> dict[str, Any]:
    """Call a tool that must refuse with this code; return the error."""
    envelope = session.call(tool, args)
    assert not envelope["ok"], envelope
    assert set(envelope) == {"ok", "error"}
    error: dict[str, Any] = envelope["error"]
    assert set(error) == {"code", "message", "hint", "details"}
    assert error["code"] == code, error
    assert error["message"].endswith((".", "?", ")")), error
    assert error["hint"], error
    assert PREFIX not in str(error), error
    return error


def plant(session: Session, *paths: str) -> None:
    """Plant documents."""
    for path in paths:
        ok(session, "md.plant", path=path, **({"participants": ["critic", "child"]} if path == PAIR else {}))


def rows(session: Session, /, **filters: Any) -> list[dict[str, Any]]:
    """Query events."""
    found: list[dict[str, Any]] = result(session, "events.query", **filters)["rows"]
    return found


def events_of(session: Session, path: str) -> list[str]:
    """List op and status of a document's events, oldest first."""
    return [f"{row['op']} {row['status']}" for row in reversed(rows(session, path=path))]


def file_of(garden: Garden, path: str) -> Path:
    """A document's file, for edits outside the tools."""
    return garden.home.path / path


def edit_outside(garden: Garden, path: str, old: str, new: str) -> None:
    """Edit a file as a person with an editor would."""
    file = file_of(garden, path)
    before = file.read_bytes()
    assert before.count(old.encode()) == 1, before.decode()
    file.write_bytes(before.replace(old.encode(), new.encode()))


def addition(path: str, text: str) -> tuple[str, dict[str, Any]]:
    """The call that adds a paragraph to a document of any kind."""
    if path.endswith("notes.md"):
        return "fs.append", {"path": path, "text": text}
    return "md.patch_section", {"path": path, "sectionAnchor": "summary v1", "change": {"append": text}}


def put(garden: Garden, path: str, content: bytes) -> None:
    """Write a file at a document's path."""
    file = file_of(garden, path)
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    file.write_bytes(content)


def without_names(text: str) -> str:
    """Blank out event ids and times."""
    return re.sub(
        r"evt:[0-9a-f-]{36}", "evt:-", re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\dZ", "----------------Z", text)
    )


def out_of_step(garden: Garden) -> list[str]:
    """Find broken chains, and documents whose file is not their newest version."""
    reader, found = garden.services.reader, []
    verifier = Verifier(reader, KeySource(garden.settings, garden.home))
    for user_id in sorted({"ada", *(folder.name for folder in (garden.home.path / "users").iterdir())}):
        found += [f"{fault.stream}: {fault.message}" for fault in verifier.check_user(user_id).faults]
        with reader.snapshot(user_id) as snapshot:
            heads = {row["path"]: row["version"] for row in snapshot.fetch("heads", {})}
        for path, version in heads.items():
            if not version:
                continue
            text, file = reader.text_at(user_id, path, version), file_of(garden, path)
            if (file.read_bytes() if file.exists() else b"") != text.encode():
                found.append(f"{path}: the file is not version {version}")
    return found


@contextmanager
def asking_garden(home: Home) -> Iterator[Garden]:
    """A garden that asks a person before notes are appended to; Ada has notes."""
    file = home.path / "garden.toml"
    file.write_text(f'{file.read_text()}\n[gateway.permissions]\n"fs.append" = "ask"\n')
    with open_garden(home.path) as garden:
        plant(garden.session("ada", "companion"), NOTES)
        yield garden
