"""The prompts for the typical flows."""

import asyncio
import re

import pytest
from mcp import Client, MCPError
from mcp_types import EmbeddedResource, PromptReference, TextContent, TextResourceContents

from garden.session import Session
from garden.surfaces.mcp.tool_list import wire_name
from garden.tools.registry import REGISTRY
from tests.support.gardens import CRITIC, NOTES, OVERVIEW, plant, result
from tests.support.mcp_service import Service
from tests.surfaces.mcp.conftest import NEWER, OLDER, Connect, over_http

SECTION = {"document": "parts/critic/profile.md", "section": "concerns v1", "learnt": "She fears Mondays."}


@pytest.fixture(params=[OLDER, NEWER])
def connect(request: pytest.FixtureRequest, service: Service) -> Connect:
    return over_http(service, str(request.param))


async def written(client: Client, name: str, arguments: dict[str, str]) -> list[str]:
    texts = []
    for message in (await client.get_prompt(name, arguments)).messages:
        if isinstance(message.content, TextContent):
            texts.append(message.content.text)
        elif isinstance(message.content, EmbeddedResource):
            assert isinstance(message.content.resource, TextResourceContents)
            texts.append(message.content.resource.text)
    return texts


def test_the_prompts_are_listed_with_their_arguments(connect: Connect) -> None:
    async def converse() -> None:
        async with connect() as client:
            listed = {prompt.name: prompt for prompt in (await client.list_prompts()).prompts}
        assert set(listed) == {"update_profile_section", "capture_observation", "weekly_review"}
        arguments = listed["update_profile_section"].arguments or []
        assert [(each.name, each.required) for each in arguments] == [
            ("document", True), ("section", True), ("learnt", True),
        ]  # fmt: skip
        assert all(prompt.title and prompt.description for prompt in listed.values())

    asyncio.run(converse())


def test_an_update_comes_with_the_document_as_it_stands(connect: Connect, ada: Session) -> None:
    plant(ada, CRITIC)

    async def converse() -> None:
        async with connect() as client:
            words, document = await written(client, "update_profile_section", SECTION)
            assert "> She fears Mondays." in words
            assert CRITIC in words
            assert document == ada.fs.read(CRITIC).result

    asyncio.run(converse())


def test_a_document_that_is_not_there_is_to_be_planted_first(connect: Connect) -> None:
    async def converse() -> None:
        async with connect() as client:
            for name, arguments in (
                ("update_profile_section", SECTION),
                ("capture_observation", {"observation": "She laughed."}),
            ):
                (words,) = await written(client, name, arguments)
                assert "md_plant" in words

    asyncio.run(converse())


def test_a_review_begins_where_it_is_told_to(connect: Connect, ada: Session) -> None:
    plant(ada, OVERVIEW)

    async def converse() -> None:
        async with connect() as client:
            words, overview = await written(client, "weekly_review", {"since": "2026-11-02"})
            assert '"2026-11-02T00:00:00Z"' in words
            assert overview == ada.fs.read(OVERVIEW).result
            with pytest.raises(MCPError, match="not a date"):
                await client.get_prompt("weekly_review", {"since": "last week"})

    asyncio.run(converse())


def test_prompts_name_only_tools_and_documents_that_there_are(connect: Connect, ada: Session) -> None:
    plant(ada, NOTES, CRITIC)
    given = {
        "update_profile_section": SECTION,
        "capture_observation": {"observation": "She laughed.", "about": "parts/critic"},
        "weekly_review": {},
    }
    tools = {wire_name(name) for name in REGISTRY}

    async def converse() -> None:
        async with connect() as client:
            for name, arguments in given.items():
                words = (await written(client, name, arguments))[0]
                named = set(re.findall(r"\b(?:fs|md|events|lint|tools)_[a-z_]+", words))
                assert named
                assert named <= tools, (name, named - tools)
                assert not re.search(r"\{[a-zA-Z]+\}", words)

    asyncio.run(converse())


def test_an_observation_is_sent_to_a_section_that_planted_notes_have(connect: Connect, ada: Session) -> None:
    plant(ada, NOTES)
    anchors = [each["anchor"] for each in result(ada, "md.list_sections", path=NOTES)]

    async def converse() -> None:
        async with connect() as client:
            words = (await written(client, "capture_observation", {"observation": "She laughed."}))[0]
            assert re.findall(r'section "([^"]+)"', words) == ["inbox v1"]

    asyncio.run(converse())
    assert "inbox v1" in anchors


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("unheard_of", {}),
        ("update_profile_section", {"document": "parts/critic/profile.md"}),
        ("update_profile_section", {**SECTION, "document": "../ben/notes.md"}),
        ("update_profile_section", {**SECTION, "mood": "bad"}),
        ("capture_observation", {"observation": "   "}),
        ("capture_observation", {"observation": "x" * 5000}),
    ],
)
def test_a_prompt_that_can_t_be_written_is_refused_with_a_hint(
    connect: Connect, name: str, arguments: dict[str, str]
) -> None:
    async def converse() -> None:
        async with connect() as client:
            with pytest.raises(MCPError) as refused:
                await client.get_prompt(name, arguments)
            assert refused.value.code == -32602
            assert refused.value.data["hint"]

    asyncio.run(converse())


def test_who_may_change_nothing_is_offered_no_prompt_that_ends_in_a_change(connect: Connect) -> None:
    async def converse() -> None:
        async with connect(role="reviewer") as client:
            assert (await client.list_prompts()).prompts == []
            with pytest.raises(MCPError, match="not for the role"):
                await client.get_prompt("weekly_review", {})

    asyncio.run(converse())


def test_the_arguments_of_prompts_are_completed(connect: Connect, ada: Session) -> None:
    plant(ada, CRITIC)

    async def converse() -> None:
        async with connect() as client:
            reference = PromptReference(name="update_profile_section")
            document = await client.complete(reference, {"name": "document", "value": "parts"})
            assert document.completion.values == ["parts/critic/profile.md"]
            section = await client.complete(
                reference, {"name": "section", "value": "con"}, {"document": "parts/critic/profile.md"}
            )
            assert section.completion.values == ["concerns v1"]
            about = PromptReference(name="capture_observation")
            assert (await client.complete(about, {"name": "about", "value": ""})).completion.values == [
                "parts/critic"
            ]

    asyncio.run(converse())
