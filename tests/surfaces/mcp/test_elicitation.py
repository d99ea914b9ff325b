"""A call that is asked about asks the person at a client that can show a form."""

import asyncio
from collections.abc import Iterator
from typing import Any, Literal

import pytest
from mcp_types import ElicitRequestParams, ElicitResult

from garden.application import Garden
from garden.home.folder import Home
from tests.support.gardens import NOTES, asking_garden, edit_outside
from tests.support.mcp_service import Service
from tests.surfaces.mcp.conftest import NEWER, OLDER, over_http, over_stdio


@pytest.fixture
def garden(ready_home: Home) -> Iterator[Garden]:
    with asking_garden(ready_home) as garden:
        yield garden


class Person:
    """Answers forms, and may do something else first."""

    def __init__(self, action: Literal["accept", "decline", "cancel"], content: Any = None) -> None:
        self.questions: list[str] = []
        self.action: Literal["accept", "decline", "cancel"] = action
        self.content = content
        self.first: Any = None

    async def __call__(self, _context: object, params: ElicitRequestParams) -> ElicitResult:
        self.questions.append(params.message)
        if self.first and len(self.questions) == 1:
            self.first()
        return ElicitResult(action=self.action, content=self.content)


def call(connect: Any, text: str, **options: Any) -> dict[str, Any]:
    async def scene() -> dict[str, Any]:
        async with connect(**options) as client:
            answer = await client.call_tool("fs_append", {"path": NOTES, "text": text})
            envelope: dict[str, Any] = answer.structured_content
            return envelope

    return asyncio.run(scene())


def code(envelope: dict[str, Any]) -> str:
    return "ok" if envelope["ok"] else str(envelope["error"]["code"])


@pytest.mark.parametrize("mode", [OLDER, NEWER])
def test_a_person_answers_in_a_form(service: Service, garden: Garden, mode: str) -> None:
    answers = [
        (Person("accept", {"approve": True}), "ok"),
        (Person("accept", {"approve": False}), "permission_denied"),
        (Person("decline"), "permission_denied"),
        (Person("cancel"), "permission_required"),
    ]
    for number, (person, expected) in enumerate(answers):
        envelope = call(over_http(service, mode), f"said {number}", elicitation_callback=person)
        assert code(envelope) == expected, envelope
        [question] = person.questions
        assert f"said {number}" in question
    grace = garden.session("ada", "grace", role="reviewer")
    decided = [(each.state, each.decided_by) for each in garden.decisions.list(grace.caller)]
    assert decided == [("pending", None), ("denied", "person"), ("denied", "person"), ("used", "person")]


@pytest.mark.parametrize("mode", [OLDER, NEWER])
def test_a_client_without_forms_gets_the_approvals_id(service: Service, mode: str) -> None:
    envelope = call(over_http(service, mode), "said")
    assert code(envelope) == "permission_required"
    assert envelope["error"]["details"]["approvalId"] in envelope["error"]["hint"]


@pytest.mark.parametrize("mode", [OLDER, NEWER])
def test_an_answer_to_what_has_changed_meanwhile_asks_again(
    service: Service, garden: Garden, mode: str
) -> None:
    person = Person("accept", {"approve": True})
    person.first = lambda: edit_outside(garden, NOTES, "---\n\n# ", "---\n\n# The ")
    assert code(call(over_http(service, mode), "said", elicitation_callback=person)) == "ok"
    assert len(person.questions) == 2


@pytest.mark.parametrize("mode", [OLDER, NEWER])
@pytest.mark.usefixtures("garden")
def test_a_form_is_asked_over_stdio_too(ready_home: Home, mode: str) -> None:
    person = Person("accept", {"approve": True})
    assert code(call(over_stdio(ready_home, mode), "said", elicitation_callback=person)) == "ok"


@pytest.mark.usefixtures("garden")
def test_no_answer_in_time_counts_as_no(ready_home: Home) -> None:
    file = ready_home.path / "garden.toml"
    file.write_text(f"{file.read_text()}\n[gateway]\napproval_seconds = 1\n")

    async def never(_context: object, _params: ElicitRequestParams) -> ElicitResult:
        await asyncio.Event().wait()
        raise AssertionError

    envelope = call(over_stdio(ready_home, OLDER), "said", elicitation_callback=never)
    assert code(envelope) == "permission_denied"
