"""The OpenAI Agents SDK: a session kept as a document, and the garden's tools as function tools.

session = GardenSession("chat-7")
agent = Agent("Companion", tools=function_tools())
await Runner.run(agent, "I sleep better with the window open.", session=session)
"""

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, cast
from uuid import uuid4

from garden.application import Garden
from garden.integrations.documents import append_text, change_text, text_or_nothing, unless_missing
from garden.integrations.listed_tools import ListedTool, Profile, ToolCallError, call_listed, list_tools
from garden.integrations.message_items import Message, item_of, items_in, messages_in
from garden.integrations.naming import document_name
from garden.integrations.opening import Adapter, UserGarden, missing_extra

try:
    from agents import FunctionTool, SessionSettings, TResponseInputItem
    from agents.memory.session_settings import resolve_session_limit
    from agents.tool_context import ToolContext
except ModuleNotFoundError as missing:
    raise missing_extra("openai-agents", missing) from None

ACTOR = "openai-agents"


class GardenSession(Adapter):
    """The items of a session in `memories/sessions/`, exactly as the SDK gives them; people can read them."""

    def __init__(
        self,
        session_id: str,
        user: str = "me",
        *,
        home: str | Path | None = None,
        actor: str = ACTOR,
        garden: Garden | None = None,
        session_settings: SessionSettings | None = None,
    ) -> None:
        self.opening = UserGarden(user, actor=actor, home=home, garden=garden)
        self.session_id = session_id
        self.session_settings = session_settings
        self.path = f"users/{user}/memories/sessions/{document_name(session_id)}.md"

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Return the items, or the last of them, oldest first."""
        most = resolve_session_limit(limit, self.session_settings)
        text = await self.opening.run(partial(text_or_nothing, self.opening, self.path))
        items = messages_in(text)
        kept = items if most is None or most < 0 else items[max(len(items) - most, 0) :]
        return cast("list[TResponseInputItem]", kept)

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Add items at the end; all of them are added, or none."""
        if items:
            text = "\n\n".join(item_of(cast("Message", each)) for each in items)
            titled = {"title": self.session_id, "key": uuid4().hex}
            await self.opening.run(partial(append_text, self.opening, self.path, text, **titled))

    async def pop_item(self) -> TResponseInputItem | None:
        """Remove the last item and return it."""
        return cast("TResponseInputItem | None", await self.opening.run(self._pop))

    async def clear_session(self) -> None:
        """Archive the document; its history keeps the items."""
        await self.opening.run(partial(unless_missing, self._archive))

    def _pop(self) -> Message | None:
        popped: list[Message] = []

        def without_last(text: str) -> str:
            last = next((each for each in reversed(items_in(text)) if messages_in(each)), None)
            popped[:] = messages_in(last or "")
            above, _, below = text.rpartition(last) if last else (text, "", "")
            return above.rstrip("\n") + "\n" + below.lstrip("\n") if last else text

        change_text(self.opening, self.path, without_last, "The last item is taken back.")
        return popped[0] if popped else None

    def _archive(self) -> None:
        self.opening.ask("fs.archive", {"path": self.path, "rationale": "The session is cleared."})


def function_tools(
    user: str = "me",
    *,
    home: str | Path | None = None,
    actor: str = ACTOR,
    garden: Garden | None = None,
    profile: Profile = "full",
) -> list[FunctionTool]:
    """Make a function tool of each tool of the garden; this opens it, so call it before the event loop runs.

    A refusal is an answer to the model, with its code and hint.
    """
    opening = UserGarden(user, actor=actor, home=home, garden=garden)
    return [_function_tool(opening, each) for each in list_tools(opening, profile)]


def _function_tool(opening: UserGarden, tool: ListedTool) -> FunctionTool:
    async def invoke(context: ToolContext[Any], arguments: str) -> str:
        return await opening.run(partial(_answer, opening, tool, arguments, context.tool_call_id))

    # In strict mode every field is required; most of the garden's are optional.
    return FunctionTool(tool.name, tool.description, tool.schema, invoke, strict_json_schema=False)


def _answer(opening: UserGarden, tool: ListedTool, arguments: str, call_id: str) -> str:
    try:
        args = json.loads(arguments or "{}")
    except ValueError:
        args = None
    if not isinstance(args, Mapping):
        return "invalid_input: The arguments are no JSON object.\nSend a JSON object."
    try:
        return json.dumps(call_listed(opening, tool, args, call_id), ensure_ascii=False)
    except ToolCallError as refusal:
        return str(refusal)
