"""Pydantic AI: the garden's tools as a toolset.

agent = Agent("openai:gpt-5", toolsets=[GardenToolset()])
"""

from functools import partial
from pathlib import Path
from typing import Any

from garden.application import Garden
from garden.integrations.listed_tools import ListedTool, Profile, ToolCallError, call_listed, list_tools
from garden.integrations.opening import Adapter, UserGarden, missing_extra

try:
    from pydantic_ai import ModelRetry, RunContext, ToolDefinition
    from pydantic_ai.exceptions import ToolFailed
    from pydantic_ai.toolsets import AbstractToolset, ToolsetTool
    from pydantic_core import SchemaValidator, core_schema
except ModuleNotFoundError as missing:
    raise missing_extra("pydantic-ai", missing) from None

# The gateway checks the arguments, and its refusals say what to change.
_ANY_OBJECT = SchemaValidator(core_schema.dict_schema(core_schema.str_schema()))


class GardenToolset(Adapter, AbstractToolset[Any]):
    """The tools of one user's garden; the model is asked again if it can mend what was refused."""

    def __init__(
        self,
        user: str = "me",
        *,
        home: str | Path | None = None,
        actor: str = "pydantic-ai",
        garden: Garden | None = None,
        profile: Profile = "full",
        id: str | None = None,  # noqa: A002 - named by the framework
    ) -> None:
        self.opening = UserGarden(user, actor=actor, home=home, garden=garden)
        self._profile: Profile = profile
        self._id = id

    # An agent enters and leaves its toolsets in each run, and the garden stays open between two runs.
    __aenter__ = AbstractToolset.__aenter__
    __aexit__ = AbstractToolset.__aexit__

    @property
    def id(self) -> str | None:
        """The id of this toolset in its agent."""
        return self._id

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        """List the tools that this user's agent may use."""
        listed = await self.opening.run(partial(list_tools, self.opening, self._profile))
        return {each.name: self._tool(each, ctx) for each in listed}

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> Any:
        """Call a tool and return its result and meta."""
        listed = ListedTool(name, "", {}, writes=bool((tool.tool_def.metadata or {}).get("writes")))
        call = partial(call_listed, self.opening, listed, tool_args, ctx.tool_call_id)
        try:
            return await self.opening.run(call)
        except ToolCallError as refusal:
            # Neither is the cause of the other: one is the other in the framework's words.
            raise (ToolFailed if refusal.is_lasting else ModelRetry)(str(refusal)) from None

    def _tool(self, listed: ListedTool, ctx: RunContext[Any]) -> ToolsetTool[Any]:
        definition = ToolDefinition(
            name=listed.name,
            description=listed.description,
            parameters_json_schema=listed.schema,
            metadata={"writes": listed.writes},
        )
        return ToolsetTool(
            toolset=self, tool_def=definition, max_retries=ctx.max_retries, args_validator=_ANY_OBJECT
        )
