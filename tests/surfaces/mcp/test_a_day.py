"""A companion's day over stdio with the lean profile: wrong calls among right ones, then a sound garden."""

import asyncio
from typing import Any

from mcp import Client

from garden.home.folder import Home
from tests.support.gardens import NOTES
from tests.support.processes import garden
from tests.surfaces.mcp.conftest import OLDER, over_stdio

OVERVIEW = "users/ada/overview.md"
WHY = {"rationale": "She said so this morning.", "toolCallId": "call_1"}


class Companion:
    """Calls tools as a model does, and knows which of them it was shown."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.listed: set[str] = set()

    async def look(self) -> None:
        self.listed = {tool.name for tool in (await self._client.list_tools()).tools}

    async def do(self, tool: str, /, **arguments: Any) -> Any:
        answer = await self._call(tool, arguments)
        assert answer["ok"], (tool, answer)
        return answer["result"]

    async def fail(self, code: str, tool: str, /, **arguments: Any) -> str:
        error = (await self._call(tool, arguments))["error"]
        assert error["code"] == code, error
        return f"{error['message']} {error['hint']}"

    async def _call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        result = await self._client.call_tool(tool, arguments)
        assert result.structured_content is not None
        return dict(result.structured_content)


def test_a_companion_works_a_day_with_the_lean_profile(ready_home: Home) -> None:
    async def scene() -> None:
        async with over_stdio(ready_home, OLDER)() as client:
            companion = Companion(client)
            await companion.look()
            await morning(companion)
            await noon(companion)
            await evening(companion)

    asyncio.run(scene())
    verified = garden("verify", "--user", "ada", home=ready_home.path)
    assert verified.returncode == 0, verified.stdout + verified.stderr


async def morning(companion: Companion) -> None:
    await companion.do("memory_context", tokens=800)
    await companion.fail("invalid_input", "memory_store", content="Sails", category="life-goals")
    wish = await companion.do(
        "memory_store", content="Wants to sail the Baltic", category="life-goal", tags='["sailing"]', meta=WHY
    )
    await companion.do("memory_store", content="Sleeps badly before deadlines", category="health")
    twice = await companion.fail(
        "invalid_input", "memory_store", content="Sails", rationale="Because.", meta={"rationale": "Why not."}
    )
    assert "rationale is given twice" in twice
    [found] = (await companion.do("memory_recall", query="the Baltic", limit=1))["memories"]
    assert found["id"] == wish["id"]
    await companion.fail("invalid_input", "memory_forget", id=wish["id"])
    await companion.do("memory_forget", id=wish["id"], rationale="It is the North Sea.")
    await companion.do("memory_store", content="Wants to sail the North Sea", category="life-goal", meta=WHY)


async def noon(companion: Companion) -> None:
    await companion.fail("path_not_allowed", "fs_append", path="users/ben/notes.md", text="Slept well.")
    await companion.do("memory_store", content="Laughed about the deadline.")
    await companion.do("fs_append", path=NOTES, text="- Slept well.", meta='{"rationale": "She told me."}')
    sections = [each["anchor"] for each in await companion.do("md_list_sections", path=OVERVIEW)]
    assert "summary v1" in sections
    summary = {"path": OVERVIEW, "sectionAnchor": "summary v1", "change": '{"replace": "She sails."}'}
    stale = {**WHY, "ifMatch": f"sha256:{'0' * 64}"}
    await companion.fail("precondition_failed", "md_patch_section", **summary, meta=stale)
    await companion.do("md_patch_section", **summary, meta=WHY)


async def evening(companion: Companion) -> None:
    assert "md.curate_list?" in await companion.fail("unknown_tool", "md_curate_lists")
    names = [line.partition(":")[0] for line in await companion.do("tools_help")]
    assert "md.curate_list" in names
    assert "md_curate_list" not in companion.listed
    example = (await companion.do("tools_help", tool="md_curate_list"))["example"]
    item = {"path": OVERVIEW, "sectionAnchor": "facts v1", "items": ["Has a boat"]}
    await companion.do("md_curate_list", **{**example, **item})
    block = (await companion.do("memory_context", query="sailing", tokens=2000))["text"]
    assert "North Sea" in block
    assert "She sails." in block
    assert "Has a boat" in block
    assert "Baltic" not in block
