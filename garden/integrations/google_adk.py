"""Google's Agent Development Kit: a memory service.

runner = Runner(agent=agent, memory_service=GardenMemoryService(), app_name="companion", ...)
"""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from garden.application import Garden
from garden.grammar.errors import GardenError
from garden.integrations.documents import append_text, change_text, text_or_nothing, unless_missing
from garden.integrations.message_items import items_in, list_item, plain_words
from garden.integrations.naming import document_name
from garden.integrations.opening import Adapter, UserGarden, missing_extra

try:
    from google.adk.events.event import Event
    from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
    from google.adk.memory.memory_entry import MemoryEntry
    from google.adk.sessions import Session
    from google.genai.types import Content, Part
except ModuleNotFoundError as missing:
    raise missing_extra("google-adk", missing) from None

_FOUND_MAX = 10
# Some of them may be of other apps.
_ASKED = 50
_QUESTION_CHARACTERS_MAX = 2000
_APPS = "memories/adk"
_PLAIN_ID = re.compile(r"[^\s()]{1,200}")
_MARK = re.compile(r" \(ev:([^\s()]+)\)\Z")
_NOTE = re.compile(
    r"(?P<day>\d{4}-\d\d-\d\d) (?P<time>\d\d:\d\d) (?P<author>[^:\n]+): (?P<words>.*)"
    r" \(ev:(?P<mark>[^\s()]+)\)",
    re.DOTALL,
)
_FORGOTTEN = "forgotten"


class GardenMemoryService(Adapter, BaseMemoryService):
    """What was said in sessions, kept in `memories/adk/{app}/`, each event once.

    Each user of the ADK has a garden of their own; with `user`, all that is said goes to that one. A search
    finds what this app keeps and what the user's other documents say, not what other apps keep.
    """

    def __init__(
        self,
        user: str | None = None,
        *,
        home: str | Path | None = None,
        actor: str = "google-adk",
        garden: Garden | None = None,
    ) -> None:
        self.opening = UserGarden(user or "me", actor=actor, home=home, garden=garden)
        self._user = user

    async def add_session_to_memory(self, session: Session) -> None:
        """Keep what was said in a session; events that were kept before stay as they are."""
        await self.add_events_to_memory(
            app_name=session.app_name, user_id=session.user_id, events=session.events, session_id=session.id
        )

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,  # noqa: ARG002 - of the interface
    ) -> None:
        """Keep what was said in some events of a session."""
        notes = {
            _mark(each.id): _note(each.timestamp, each.author, words, _mark(each.id))
            for each in events if (words := _words(each.content))
        }  # fmt: skip
        keep = partial(self._keep, app_name, user_id, session_id or "events", notes)
        await self.opening.run(keep)

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,  # noqa: ARG002 - of the interface
    ) -> None:
        """Keep memories that an agent writes itself."""
        notes = {}
        for each in memories:
            if words := _words(each.content):
                mark = _mark(each.id or f"Memory {words}")
                notes[mark] = _note(_seconds(each.timestamp), each.author or app_name, words, mark)
        await self.opening.run(partial(self._keep, app_name, user_id, "memories", notes))

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """Find what answers a question, best first."""
        words = plain_words(query)[:_QUESTION_CHARACTERS_MAX]
        if not words:
            return SearchMemoryResponse()
        hits = await self.opening.run(partial(self._recall, app_name, user_id, words))
        return SearchMemoryResponse(memories=[*filter(None, map(_entry, hits))][:_FOUND_MAX])

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Forget what was said in an event; its id stays, so that it is not kept again."""
        if memory_id:
            await self.opening.run(partial(self._forget, app_name, user_id, memory_id))

    def _garden_of(self, user_id: str) -> UserGarden:
        if self._user is not None:
            return self.opening
        return self.opening.of_user(document_name(user_id))

    def _keep(self, app_name: str, user_id: str, session_id: str, notes: Mapping[str, str]) -> None:
        opening = self._garden_of(user_id)
        path = f"{_folder(opening, app_name)}/{document_name(session_id)}.md"
        items = items_in(text_or_nothing(opening, path))
        kept = {found[1] for item in items if (found := _MARK.search(item))}
        refusals: list[GardenError] = []
        for mark, note in notes.items():
            if mark in kept:
                continue
            # Of two processes that add an event at once, one does.
            key = sha256(f"{path} {mark}".encode()).hexdigest()
            try:
                append_text(opening, path, note, title=session_id, key=f"adk {key}")
            except GardenError as refusal:
                # A secret or erased words in one event must not keep the later ones of a session out.
                refusals.append(refusal)
        if refusals:
            raise refusals[0]

    def _recall(self, app_name: str, user_id: str, query: str) -> list[Any]:
        opening = self._garden_of(user_id)
        apps, own = f"users/{opening.user}/{_APPS}/", f"{_folder(opening, app_name)}/"
        found = opening.ask("memory.recall", {"query": query, "limit": _ASKED})
        return [
            each for each in found.memories if each.path.startswith(own) or not each.path.startswith(apps)
        ]

    def _forget(self, app_name: str, user_id: str, memory_id: str) -> None:
        opening, why = self._garden_of(user_id), "The agent was asked to forget it."
        if memory_id.startswith("users/"):
            opening.ask("memory.forget", {"id": memory_id, "rationale": why})
            return
        mark = f" (ev:{_mark(memory_id)})"
        search = {"root": _folder(opening, app_name), "pattern": mark, "literal": True, "glob": "*.md"}
        for each in unless_missing(partial(opening.ask, "fs.search", search)) or ():
            change_text(opening, each.path, partial(_without, mark), why)


def _folder(opening: UserGarden, app_name: str) -> str:
    return f"users/{opening.user}/{_APPS}/{document_name(app_name)}"


def _words(content: Content | None) -> str:
    parts = (content.parts if content else None) or []
    return plain_words("\n".join(each.text for each in parts if each.text and not each.thought))


def _note(seconds: float | None, author: str, words: str, mark: str) -> str:
    at = datetime.fromtimestamp(seconds, UTC) if seconds is not None else datetime.now(UTC)
    name = plain_words(author).replace(":", " ").replace("\n", " ") or "agent"
    return list_item(f"{at:%Y-%m-%d %H:%M} {name}: {words} (ev:{mark})")


def _mark(event_id: str) -> str:
    return event_id if _PLAIN_ID.fullmatch(event_id) else document_name(event_id)


def _without(mark: str, text: str) -> str:
    for item in items_in(text):
        if item.endswith(mark):
            text = text.replace(item, f"- {_FORGOTTEN}{mark}")
    return text


def _seconds(time: str | None) -> float | None:
    try:
        return datetime.fromisoformat(time).timestamp() if time else None
    except ValueError:
        return None


def _entry(memory: Any) -> MemoryEntry | None:
    """A memory in the framework's form; the place of a forgotten one is none."""
    # Elsewhere such words are only words: no document of another writer says who said something.
    is_kept = memory.path.split("/", 2)[2].startswith(f"{_APPS}/")
    if is_kept and memory.text.startswith(f"{_FORGOTTEN} (ev:"):
        return None
    found = _NOTE.fullmatch(memory.text) if is_kept else None
    if found is None:
        content = Content(role="user", parts=[Part(text=memory.text)])
        time = memory.created_at.isoformat()
        return MemoryEntry(id=memory.id, content=content, author=memory.actor, timestamp=time)
    role = "user" if found["author"] == "user" else "model"
    content = Content(role=role, parts=[Part(text=found["words"])])
    time = f"{found['day']}T{found['time']}:00+00:00"
    return MemoryEntry(id=found["mark"], content=content, author=found["author"], timestamp=time)
