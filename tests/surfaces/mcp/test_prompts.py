"""Prompts: their list, their texts and their refusals."""

import re
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from mcp import Client, MCPError
from mcp_types import EmbeddedResource, PromptReference, TextContent, TextResourceContents

from garden.application import Garden
from garden.session import Session
from garden.tools.registry import REGISTRY, wire_name
from tests.support.gardens import CRITIC, NOTES, OVERVIEW, plant
from tests.surfaces.mcp.conftest import Converse

SECTION = {"document": "parts/critic/profile.md", "section": "concerns v1", "learnt": "She fears Mondays."}


async def rendered(client: Client, name: str, arguments: dict[str, str]) -> list[str]:
    texts = []
    for message in (await client.get_prompt(name, arguments)).messages:
        if isinstance(message.content, TextContent):
            texts.append(message.content.text)
        elif isinstance(message.content, EmbeddedResource):
            assert isinstance(message.content.resource, TextResourceContents)
            texts.append(message.content.resource.text)
    return texts


def test_the_prompts_are_listed_with_their_arguments(converse: Converse) -> None:
    async def scene(client: Client) -> None:
        listed = {prompt.name: prompt for prompt in (await client.list_prompts()).prompts}
        assert set(listed) == {"update_profile_section", "capture_observation", "weekly_review"}
        arguments = listed["update_profile_section"].arguments or []
        assert [(each.name, each.required) for each in arguments] == [
        ("document", True), ("section", True), ("learnt", True),
        ]  # fmt: skip
        assert all(prompt.title and prompt.description for prompt in listed.values())

    converse(scene)


def test_an_update_embeds_the_current_document(converse: Converse, ada: Session) -> None:
    plant(ada, CRITIC)

    async def scene(client: Client) -> None:
        words, document = await rendered(client, "update_profile_section", SECTION)
        assert "> She fears Mondays." in words
        assert CRITIC in words
        assert document == ada.fs.read(CRITIC).result

    converse(scene)


def test_a_missing_document_is_to_be_planted_first(converse: Converse) -> None:
    async def scene(client: Client) -> None:
        for name, arguments in (
            ("update_profile_section", SECTION),
            ("capture_observation", {"observation": "She laughed."}),
        ):
            (words,) = await rendered(client, name, arguments)
            assert "md_plant" in words

    converse(scene)


def test_a_review_begins_at_the_given_day(converse: Converse, ada: Session) -> None:
    plant(ada, OVERVIEW)

    async def scene(client: Client) -> None:
        words, overview = await rendered(client, "weekly_review", {"since": "2026-11-02"})
        assert 'since "2026-11-02"' in words
        assert overview == ada.fs.read(OVERVIEW).result
        with pytest.raises(MCPError, match="not a date"):
            await client.get_prompt("weekly_review", {"since": "last week"})

    converse(scene)


def test_prompts_name_only_existing_tools(converse: Converse, ada: Session) -> None:
    plant(ada, NOTES, CRITIC)
    given = {
        "update_profile_section": SECTION,
        "capture_observation": {"observation": "She laughed.", "about": "parts/critic"},
        "weekly_review": {},
    }
    tools = {wire_name(name) for name in REGISTRY}

    async def scene(client: Client) -> None:
        for name, arguments in given.items():
            words = (await rendered(client, name, arguments))[0]
            named = set(re.findall(r"\b(?:fs|md|events|lint|tools)_[a-z_]+", words))
            assert named
            assert named <= tools, (name, named - tools)
            assert not re.search(r"\{[a-zA-Z]+\}", words)

    converse(scene)


def test_an_observation_is_dated_where_the_person_is(
    converse: Converse, garden: Garden, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scene(client: Client) -> None:
        words = (await rendered(client, "capture_observation", {"observation": "She laughed."}))[0]
        today = datetime.now(ZoneInfo(garden.settings.timezone or "")).date()
        assert f'"- {today}: ..."' in words

    # Their days always differ.
    for zone in ("Etc/GMT-14", "Etc/GMT+12"):
        monkeypatch.setattr(garden, "settings", garden.settings.model_copy(update={"timezone": zone}))
        converse(scene)


REFUSED: list[tuple[str, dict[str, str]]] = [
    ("unheard_of", {}),
    ("update_profile_section", {"document": "parts/critic/profile.md"}),
    ("update_profile_section", {**SECTION, "document": "../ben/notes.md"}),
    ("update_profile_section", {**SECTION, "mood": "bad"}),
    ("capture_observation", {"observation": "   "}),
    ("capture_observation", {"observation": "x" * 5000}),
]


def test_a_prompt_that_can_t_be_rendered_is_refused_with_a_hint(converse: Converse) -> None:
    async def scene(client: Client) -> None:
        for name, arguments in REFUSED:
            with pytest.raises(MCPError) as refused:
                await client.get_prompt(name, arguments)
            assert refused.value.code == -32602
            assert refused.value.data["hint"]

    converse(scene)


def test_a_reviewer_is_offered_no_prompt(converse: Converse) -> None:
    async def scene(client: Client) -> None:
        assert (await client.list_prompts()).prompts == []
        with pytest.raises(MCPError, match="not for the role"):
            await client.get_prompt("weekly_review", {})

    converse(scene, role="reviewer")


def test_the_arguments_of_prompts_are_completed(converse: Converse, ada: Session) -> None:
    plant(ada, CRITIC)

    async def scene(client: Client) -> None:
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

    converse(scene)
