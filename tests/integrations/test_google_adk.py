"""Google's Agent Development Kit: its runner with a scripted model and the garden as its memory."""

import asyncio
from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from google.adk.agents import Agent
from google.adk.events.event import Event
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService, Session
from google.adk.tools.load_memory_tool import load_memory_tool
from google.genai.types import Content, Part

from garden.application import Garden
from garden.grammar.errors import GardenError
from garden.integrations.google_adk import GardenMemoryService
from tests.integrations.conformance import LAMP, USER, Conformance, Driver, waited

APP = "companion"
WHO: dict[str, Any] = {"app_name": APP, "user_id": USER}
PATH = "users/ada/memories/adk/companion/s1.md"


def said(text: str, **fields: Any) -> Event:
    return Event(
        author=fields.pop("author", "user"), content=Content(role="user", parts=[Part(text=text)]), **fields
    )


def texts(service: GardenMemoryService, query: str, **who: Any) -> list[str]:
    found = waited(service.search_memory(**{**WHO, **who}, query=query))
    return ["".join(part.text or "" for part in each.content.parts or []) for each in found.memories]


class ServiceDriver(Driver):
    """The service, as the runner calls it."""

    actor = "google-adk"

    def __init__(self, home: Path, user: str = USER) -> None:
        self.service = GardenMemoryService(home=home)
        self.user = user

    def add(self, *events: Event) -> None:
        session = Session(id="s1", app_name=APP, user_id=self.user, events=[*events])
        waited(self.service.add_session_to_memory(session))

    def remember(self, text: str) -> None:
        self.add(said(text, id=Event.new_id()))

    def recalled(self, query: str) -> str:
        return "\n".join(texts(self.service, query, user_id=self.user))

    def refused(self) -> str:
        with pytest.raises(GardenError) as refusal:
            self.remember("too long " * 200_000)
        return f"{refusal.value} {refusal.value.hint}"

    def resend(self, text: str) -> None:
        event = said(text, id="e1")
        self.add(event)
        self.add(event, said("Bread on Sunday.", id="e2"))

    def close(self) -> None:
        self.service.close()


class TestService(Conformance):
    driver = ServiceDriver


@pytest.fixture
def service(garden: Garden) -> GardenMemoryService:
    return GardenMemoryService(garden=garden)


class ScriptedLlm(BaseLlm):
    """Looks into its memory once, and answers with what it was given."""

    async def generate_content_async(
        self,
        llm_request: LlmRequest,
        stream: bool = False,  # noqa: ARG002 - of the interface
    ) -> AsyncGenerator[LlmResponse, None]:
        last = (llm_request.contents[-1].parts or [Part()])[-1]
        if last.function_response is None:
            part = Part.from_function_call(name="load_memory", args={"query": "When was the lamp lit?"})
        else:
            part = Part(text=str(last.function_response.response))
        yield LlmResponse(content=Content(role="model", parts=[part]))


def test_an_agent_loads_what_an_earlier_session_said(garden: Garden, service: GardenMemoryService) -> None:
    sessions = InMemorySessionService()  # type: ignore[no-untyped-call]
    agent = Agent(name="Companion", model=ScriptedLlm(model="scripted"), tools=[load_memory_tool])
    runner = Runner(agent=agent, app_name=APP, session_service=sessions, memory_service=service)

    async def two_sessions() -> str:
        earlier = await sessions.create_session(**WHO, session_id="s1")
        await sessions.append_event(earlier, said(LAMP, timestamp=0.0))
        await service.add_session_to_memory(earlier)
        later = await sessions.create_session(**WHO)
        events = runner.run_async(
            user_id=USER, session_id=later.id, new_message=Content(role="user", parts=[Part(text="Well?")])
        )
        return str([event async for event in events][-1].content)

    assert LAMP in asyncio.run(two_sessions())
    assert "- 1970-01-01 00:00 user: The lamp was lit late. (ev:" in str(
        garden.session("ada").fs.read(PATH).result
    )


def test_a_memory_has_the_author_the_time_and_the_id_of_its_event(service: GardenMemoryService) -> None:
    at = datetime(2026, 11, 18, 7, 30, tzinfo=UTC)
    events = [said("Lamps:\n\n- one\n- two", id="e1", author="Keeper: 2", timestamp=at.timestamp())]
    waited(service.add_events_to_memory(**WHO, events=events, session_id="s1"))
    [found] = waited(service.search_memory(**WHO, query="lamps one")).memories
    assert (found.id, found.author, found.timestamp) == ("e1", "Keeper  2", at.isoformat())
    assert found.content == Content(role="model", parts=[Part(text="Lamps:\n\n- one\n- two")])


def test_apps_see_the_garden_and_nothing_of_each_other(garden: Garden, service: GardenMemoryService) -> None:
    waited(service.add_events_to_memory(**WHO, events=[said("The lamp broke.")]))
    garden.session("ada", "companion").memory.store("She likes the lamp.")
    assert set(texts(service, "lamp")) == {"The lamp broke.", texts(service, "lamp", app_name="other")[0]}
    assert len(texts(service, "lamp", app_name="other")) == 1
    assert texts(service, "lamp", user_id="Ben@example.com") == []


def test_a_given_user_gets_what_every_user_says(garden: Garden) -> None:
    service = GardenMemoryService("ada", garden=garden)
    waited(service.add_events_to_memory(app_name=APP, user_id="someone", events=[said(LAMP)]))
    assert texts(service, "lamp", user_id="else") == [LAMP]


def test_a_forgotten_event_is_found_no_more_and_not_kept_again(
    garden: Garden, service: GardenMemoryService
) -> None:
    events = [said(LAMP, id="e1"), said("The lamp broke.", id="e2")]
    waited(service.add_events_to_memory(**WHO, events=events, session_id="s1"))
    waited(service.delete_memory(**WHO, memory_id="e1"))
    waited(service.add_events_to_memory(**WHO, events=events, session_id="s1"))
    assert texts(service, "lamp") == ["The lamp broke."]
    assert "- forgotten (ev:e1)\n" in str(garden.session("ada").fs.read(PATH).result)


def test_a_memory_of_the_garden_is_forgotten_by_its_id(garden: Garden, service: GardenMemoryService) -> None:
    garden.session("ada", "companion").memory.store(LAMP)
    [found] = waited(service.search_memory(**WHO, query="lamp")).memories
    waited(service.delete_memory(**WHO, memory_id=found.id))
    assert texts(service, "lamp") == []
    for unknown in ("nothing", None):
        waited(service.delete_memory(**WHO, memory_id=unknown))


def test_memories_that_an_agent_writes_are_kept_once(service: GardenMemoryService) -> None:
    memory = MemoryEntry(content=Content(parts=[Part(text=LAMP)]), author="Companion", timestamp="yesterday")
    for _ in range(2):
        waited(service.add_memory(**WHO, memories=[memory, MemoryEntry(content=Content())]))
    assert texts(service, "lamp") == [LAMP]


def test_an_event_is_kept_once_also_after_its_request_is_forgotten(
    garden: Garden, service: GardenMemoryService
) -> None:
    kept = f"- 2026-11-18 07:30 user: {LAMP} (ev:e1)\n"
    garden.session("ada").fs.write(PATH, kept)
    waited(service.add_events_to_memory(**WHO, events=[said(LAMP, id="e1")], session_id="s1"))
    assert garden.session("ada").fs.read(PATH).result == kept


def test_no_words_pass_for_the_id_of_another_event(service: GardenMemoryService) -> None:
    for event in (said("The lamp is here. (ev:e2)\n\nAnd there.", id="e1"), said(LAMP, id="e2")):
        waited(service.add_events_to_memory(**WHO, events=[event], session_id="s1"))
    assert sorted(texts(service, "lamp")) == ["The lamp is here. (ev:e2)\n\nAnd there.", LAMP]


def test_an_event_that_two_processes_add_at_once_is_kept_once(
    service: GardenMemoryService, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Each has read the document before the other wrote.
    monkeypatch.setattr("garden.integrations.google_adk.text_or_nothing", lambda *_: "")
    for _ in range(2):
        waited(service.add_events_to_memory(**WHO, events=[said(LAMP, id="e1")], session_id="s1"))
    assert texts(service, "lamp") == [LAMP]


@pytest.mark.parametrize("query", ["", " \x00", "long " * 2000])
def test_any_query_is_answered(service: GardenMemoryService, query: str) -> None:
    assert texts(service, query) == []


@pytest.mark.parametrize("event_id", ["a (b) c", "x" * 300])
def test_an_event_with_any_id_is_kept_once(service: GardenMemoryService, event_id: str) -> None:
    for _ in range(2):
        waited(service.add_events_to_memory(**WHO, events=[said(LAMP, id=event_id)]))
    assert texts(service, "lamp") == [LAMP]


def test_words_elsewhere_are_nobodys_and_no_place_of_a_forgotten_event(
    garden: Garden, service: GardenMemoryService
) -> None:
    claims = ["2026-01-01 10:00 model: I promise tea (ev:e1)", "forgotten (ev:e2) tea (ev:e2)"]
    garden.session(USER).fs.write("users/ada/memories/tea.md", "\n\n".join(claims))
    found = waited(service.search_memory(**WHO, query="tea")).memories
    assert sorted(each.content.parts[0].text for each in found if each.content.parts) == claims
    assert {each.content.role for each in found} == {"user"}


def test_an_event_is_forgotten_by_the_id_that_the_framework_gave_it(service: GardenMemoryService) -> None:
    session = Session(id="s1", app_name=APP, user_id=USER, events=[said("Tea at nine.", id="an id (ev:e1)")])
    waited(service.add_session_to_memory(session))
    assert texts(service, "tea") == ["Tea at nine."]
    waited(service.delete_memory(**WHO, memory_id="an id (ev:e1)"))
    assert texts(service, "tea") == []


def test_one_refused_event_does_not_keep_the_others_of_its_session_out(service: GardenMemoryService) -> None:
    events = [said("Tea at nine.", id="e1"), said(f"tea {'x' * 2_000_000}", id="e2"), said("Tea.", id="e3")]
    session = Session(id="s1", app_name=APP, user_id=USER, events=events)
    with pytest.raises(GardenError) as refusal:
        waited(service.add_session_to_memory(session))
    assert refusal.value.code == "too_large"
    assert sorted(texts(service, "tea")) == ["Tea at nine.", "Tea."]
