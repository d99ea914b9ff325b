"""Transactions for tests: three documents, one of them new, and one edited twice."""

from collections.abc import Mapping, Sequence
from typing import Any

from garden.application import Garden
from garden.session import Session
from tests.support.crowd import Asked
from tests.support.planted import NOTES, PROFILE, patching

Answer = dict[str, Any]


def new_profile(number: int) -> str:
    return f"users/ada/parts/p{number}/profile.md"


def call(asked: Asked) -> dict[str, Any]:
    """A call as a transaction takes it."""
    return {"name": asked[0], "args": asked[1]}


def patch(path: str, anchor: str, line: str, **said: Any) -> dict[str, Any]:
    return call(patching(path, anchor, line, **said))


def edits(number: int) -> list[dict[str, Any]]:
    """Two edits of the profile around one of the notes and one that begins a document."""
    return [
        patch(PROFILE, "concerns v1", f"said {number};", rationale="She said so."),
        patch(NOTES, "s3 v1", f"said {number};"),
        {"name": "md.plant", "args": {"path": new_profile(number), "title": f"said {number};"}},
        patch(PROFILE, "needs v1", f"said {number};"),
    ]


def times_said(garden: Garden, number: int) -> list[int]:
    """How often each document has the words of the transaction of this number."""
    files = [garden.home.path / path for path in (PROFILE, NOTES, new_profile(number))]
    texts = [file.read_text() if file.exists() else "" for file in files]
    return [text.count(f"said {number};") for text in texts]


DONE, NOT_DONE = [2, 1, 1], [0, 0, 0]


def codes_of(answer: Mapping[str, Any]) -> list[str]:
    return [each["error"]["code"] if not each["ok"] else "ok" for each in answer["results"]]


def done(session: Session, calls: Sequence[Mapping[str, Any]], key: str | None = None) -> Answer:
    """Carry out a transaction that must succeed."""
    answer = session.transaction(calls, key)
    assert answer["success"], answer
    return answer
