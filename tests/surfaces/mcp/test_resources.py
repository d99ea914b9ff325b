"""Documents and their history as resources."""

import json
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp_types import ResourceTemplateReference, TextResourceContents

from garden.application import Garden
from garden.session import Session
from garden.surfaces.mcp.resources import PAGE_RESOURCES
from tests.support.gardens import CRITIC, NOTES, edit_outside, plant
from tests.surfaces.mcp.conftest import Converse


async def text_at(client: Client, uri: str) -> str:
    (contents,) = (await client.read_resource(uri)).contents
    assert isinstance(contents, TextResourceContents)
    return contents.text


def test_a_caller_sees_their_own_documents_and_no_others(
    converse: Converse, garden: Garden, ada: Session
) -> None:
    plant(ada, NOTES, CRITIC)
    plant(garden.session("ben"), "users/ben/notes.md")

    async def scene(client: Client) -> None:
        listed = (await client.list_resources()).resources
        assert [str(each.uri) for each in listed] == [f"garden://{NOTES}", f"garden://{CRITIC}"]
        assert [each.title for each in listed] == ["Notes", "Profile of the part critic"]
        with pytest.raises(MCPError, match="another user's garden"):
            await client.read_resource("garden://users/ben/notes.md")

    converse(scene)


def test_a_garden_without_documents_has_an_empty_list(converse: Converse) -> None:
    async def scene(client: Client) -> None:
        assert (await client.list_resources()).resources == []

    converse(scene, user="nobody")


def test_a_long_list_comes_in_pages_that_leave_nothing_out(converse: Converse, ada: Session) -> None:
    paths = [f"users/ada/parts/p{number:03d}/notes.md" for number in range(PAGE_RESOURCES + 5)]
    plant(ada, *paths)

    async def scene(client: Client) -> None:
        first = await client.list_resources()
        assert first.next_cursor is not None
        second = await client.list_resources(cursor=first.next_cursor)
        assert second.next_cursor is None
        found = [str(each.uri) for each in (*first.resources, *second.resources)]
        assert found == [f"garden://{path}" for path in paths]

    converse(scene)


def test_a_long_document_is_read_to_its_end(converse: Converse, ada: Session) -> None:
    plant(ada, NOTES)
    for number in range(3):
        ada.fs.append(NOTES, "\n".join(f"- line {number} {each}" for each in range(500)))

    async def scene(client: Client) -> None:
        text = await text_at(client, f"garden://{NOTES}")
        assert text.count("\n- line") == 1500

    converse(scene)


def test_earlier_versions_are_listed_and_can_be_read(
    converse: Converse, garden: Garden, ada: Session
) -> None:
    plant(ada, NOTES)
    ada.fs.append(NOTES, "First.", rationale="She said so.")
    edit_outside(garden, NOTES, "First.", "Second.")
    ada.fs.append(NOTES, "Third.")

    async def scene(client: Client) -> None:
        history = json.loads(await text_at(client, "garden://history/ada/notes"))
        assert [each["version"] for each in history["versions"]] == [4, 3, 2, 1]
        assert history["versions"][1]["actor"] == "external"
        assert history["versions"][2]["rationale"] == "She said so."
        texts = [await text_at(client, each["uri"]) for each in history["versions"]]
        assert ["First." in text for text in texts] == [False, False, True, False]
        assert texts[0] == await text_at(client, f"garden://{NOTES}")
        with pytest.raises(MCPError, match="no version 9"):
            await client.read_resource(f"garden://{NOTES}?version=9")

    converse(scene)


def test_a_copy_in_the_history_can_be_read(converse: Converse, ada: Session) -> None:
    plant(ada, CRITIC)
    copy = ada.md.snapshot_history(CRITIC).result.history_path

    async def scene(client: Client) -> None:
        assert await text_at(client, f"garden://{copy}") == await text_at(client, f"garden://{CRITIC}")

    converse(scene)


def test_a_free_document_is_a_resource_until_it_is_archived(converse: Converse, ada: Session) -> None:
    path = "users/ada/memories/drinks/tea.md"

    async def scene(client: Client) -> None:
        ada.fs.write(path, "She drinks oolong.\n")
        [listed] = (await client.list_resources()).resources
        assert (listed.uri, listed.title) == (f"garden://{path}", "memories/drinks/tea")
        assert await text_at(client, f"garden://{path}") == "She drinks oolong.\n"
        ada.fs.archive(path, rationale="She stopped.")
        assert (await client.list_resources()).resources == []
        history = await text_at(client, f"garden://{path.replace('users', 'history')}")
        assert '"op": "archive"' in history
        assert await text_at(client, f"garden://{path}?version=1") == "She drinks oolong.\n"

    converse(scene)


NO_RESOURCES = (
    "garden://users/ada", "garden://users/ada/../ben/notes.md", "garden://users/ada/notes.md?version=0",
    "garden://users/ada/notes.md?version=x", "garden://users/ada/notes.md#inbox", "garden:users/ada/notes.md",
    "garden:///etc/passwd", "file:///etc/passwd", "",
)  # fmt: skip


def test_a_uri_of_no_resource_is_refused_with_a_hint(converse: Converse, ada: Session) -> None:
    plant(ada, NOTES)

    async def scene(client: Client) -> None:
        for uri in NO_RESOURCES:
            with pytest.raises(MCPError) as refused:
                await client.read_resource(uri)
            assert refused.value.code == -32602, uri
            assert refused.value.data["hint"]
            assert "/tmp" not in str(refused.value.error)

    converse(scene)


def test_every_template_leads_to_a_resource(converse: Converse, ada: Session) -> None:
    part, pair = "users/ada/parts/critic", "users/ada/relationships/pair"
    plant(ada, NOTES, "users/ada/overview.md", f"{part}/profile.md", f"{part}/notes.md", f"{pair}/notes.md")
    ada.md.plant(f"{pair}/profile.md", participants=["critic", "child"])
    values = {
        "{partId}": "critic", "{relId}": "pair", "{+document}": "parts/critic/profile.md",
        "{version}": "1", "{+history}": "parts/critic/profile",
    }  # fmt: skip

    async def scene(client: Client) -> None:
        templates = (await client.list_resource_templates()).resource_templates
        assert len(templates) == 8
        for template in templates:
            uri = template.uri_template
            for name, value in values.items():
                uri = uri.replace(name, value)
            assert await text_at(client, uri)

    converse(scene)


def test_the_arguments_of_templates_are_completed(converse: Converse, ada: Session) -> None:
    plant(ada, NOTES, CRITIC, "users/ada/parts/child/notes.md")
    ada.fs.append(NOTES, "One more.")

    async def values(client: Client, name: str, value: str, **given: str) -> list[str]:
        reference = ResourceTemplateReference(uri="garden://users/ada/parts/{partId}/notes.md")
        argument: Any = {"name": name, "value": value}
        return (await client.complete(reference, argument, given)).completion.values

    async def scene(client: Client) -> None:
        assert await values(client, "partId", "c") == ["child", "critic"]
        assert await values(client, "partId", "cr") == ["critic"]
        assert await values(client, "relId", "") == []
        assert await values(client, "document", "parts/critic") == ["parts/critic/profile.md"]
        assert await values(client, "history", "n") == ["notes"]
        assert await values(client, "version", "", document="notes.md") == ["2", "1"]
        assert await values(client, "version", "", document="../ben/notes.md") == []
        assert await values(client, "unheard_of", "") == []

    converse(scene)
