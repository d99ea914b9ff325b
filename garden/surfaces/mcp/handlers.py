"""The handlers: each request of the protocol, carried to the toolbelt and back."""

import traceback
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

import mcp_types as types
import structlog
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from garden.access.dispatcher import InternalError, refusal
from garden.access.threads import Workers
from garden.application import Garden
from garden.grammar.errors import GardenError
from garden.session import Session
from garden.surfaces.mcp.answers import Answer, answered
from garden.surfaces.mcp.callers import CallerOf, Context
from garden.surfaces.mcp.completion import completed
from garden.surfaces.mcp.garden_source import GardenSource
from garden.surfaces.mcp.progress import told_to
from garden.surfaces.mcp.prompts import prompts_for, written
from garden.surfaces.mcp.resources import page, place_of, read, templates
from garden.surfaces.mcp.subscriptions import Watching
from garden.surfaces.mcp.tool_list import tools_for
from garden.surfaces.mcp.tool_names import in_wire_names
from garden.tools.pace import Pace
from garden.tools.registry import REGISTRY
from garden.tools.requests import find_tool
from garden.writing.callers import Role

Result = TypeVar("Result")

# What whoever asks can mend by asking otherwise; everything else is ours.
_ASKED_WRONGLY = frozenset({"invalid_input", "not_found", "path_not_allowed", "permission_denied"})


class Handlers:
    """What is done for each request; one for all conversations of a server."""

    def __init__(self, source: GardenSource, workers: Workers, caller_of: CallerOf) -> None:
        self._source = source
        self._workers = workers
        self._caller_of = caller_of
        self._watching = Watching(source, workers)

    async def initialized(self, context: Context, _params: types.NotificationParams) -> None:
        """Tell a conversation what changes, until it ends; the newer protocol asks for that by a stream."""
        if context.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            await self._watching.converse(context, self._caller_of(context).user_id)

    async def subscribe(self, context: Context, params: types.SubscribeRequestParams) -> types.EmptyResult:
        """Have a conversation told of a resource."""
        await self._do(context, lambda _, session: place_of(session, params.uri))
        await self._watching.subscribe(context, params.uri)
        return types.EmptyResult()

    async def unsubscribe(
        self, context: Context, params: types.UnsubscribeRequestParams
    ) -> types.EmptyResult:
        """Have a conversation no longer told of a resource."""
        self._watching.unsubscribe(context, params.uri)
        return types.EmptyResult()

    async def listen(
        self, context: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """Serve a stream of changes."""
        try:
            return await self._watching.stream(context, params, self._caller_of(context).user_id)
        except GardenError as error:
            raise protocol_error(error) from None

    async def list_tools(
        self, context: Context, params: types.PaginatedRequestParams
    ) -> types.ListToolsResult:
        """List the tools that this caller may use."""
        _check_first_page(params)
        return types.ListToolsResult(tools=list(tools_for(self._role(context))))

    async def call_tool(self, context: Context, params: types.CallToolRequestParams) -> Answer:
        """Call a tool; a refusal is an answer too, also where the garden can't be opened."""
        try:
            session = self._session(context, await self._source.garden())
            if (context.meta or {}).get("progress_token") is None:
                return await self._call(session, params, Pace())
            async with told_to(context.session.report_progress) as pace:
                return await self._call(session, params, pace)
        except GardenError as error:
            return answered(refusal(error))
        except Exception:  # noqa: BLE001 - the outermost edge of this surface
            return answered(refusal(_internal(params.name)))

    async def list_resources(
        self, context: Context, params: types.PaginatedRequestParams
    ) -> types.ListResourcesResult:
        """List the caller's documents."""
        user_id = self._caller_of(context).user_id
        await self._watching.list_seen(context)
        shown, following = await self._do(context, lambda garden, _: page(garden, user_id, params.cursor))
        return types.ListResourcesResult(resources=shown, next_cursor=following)

    async def list_resource_templates(
        self, context: Context, params: types.PaginatedRequestParams
    ) -> types.ListResourceTemplatesResult:
        """List the forms that URIs have."""
        _check_first_page(params)
        return types.ListResourceTemplatesResult(
            resource_templates=templates(self._caller_of(context).user_id)
        )

    async def read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        """Read a document, an earlier version of it, or its history."""
        found = await self._do(context, lambda garden, session: read(garden, session, params.uri))
        return types.ReadResourceResult(
            contents=[types.TextResourceContents(uri=found.uri, mime_type=found.mime_type, text=found.text)]
        )

    async def list_prompts(
        self, context: Context, params: types.PaginatedRequestParams
    ) -> types.ListPromptsResult:
        """List the prompts that this caller can follow."""
        _check_first_page(params)
        return types.ListPromptsResult(prompts=prompts_for(self._role(context)))

    async def get_prompt(
        self, context: Context, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        """Write a prompt out."""
        return await self._do(
            context, lambda garden, session: written(garden, session, params.name, params.arguments or {})
        )

    async def complete(self, context: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
        """Suggest how an argument may go on."""
        return await self._do(context, lambda _, session: completed(session, params))

    def end_streams(self) -> None:
        """End the streams of changes, in the way that tells a client so."""
        self._watching.end_streams()

    def close(self) -> None:
        """Wait for the calls that have begun."""
        self._workers.close()

    def _role(self, context: Context) -> Role:
        return Role(self._caller_of(context).role)

    def _session(self, context: Context, garden: Garden) -> Session:
        caller = self._caller_of(context)
        return garden.session(caller.user_id, caller.actor, role=caller.role)

    async def _call(self, session: Session, params: types.CallToolRequestParams, pace: Pace) -> Answer:
        work = partial(_called, session, params.name, params.arguments or {}, pace)
        return await self._workers.run(session.caller.user_id, work, pace, writes=_writes(params.name))

    async def _do(self, context: Context, work: Callable[[Garden, Session], Result]) -> Result:
        """Do in a thread what is no call of a tool; a refusal is an error of the protocol there."""
        try:
            garden = await self._source.garden()
            session = self._session(context, garden)
            return await self._workers.run(session.caller.user_id, lambda: work(garden, session))
        except GardenError as error:
            raise protocol_error(error) from None
        except Exception:  # noqa: BLE001 - the outermost edge of this surface
            raise protocol_error(_internal(context.method)) from None


def _writes(name: str) -> bool:
    with suppress(GardenError):
        return find_tool(REGISTRY, name).traits.writes
    return False


def _called(session: Session, name: str, arguments: dict[str, Any], pace: Pace) -> Answer:
    return answered(session.call(name, arguments, pace))


def protocol_error(error: GardenError) -> MCPError:
    """Say a refusal in the protocol's terms, with ours beside it."""
    code = types.INVALID_PARAMS if error.code in _ASKED_WRONGLY else types.INTERNAL_ERROR
    return MCPError(code, in_wire_names(f"{error.message} {error.hint}".strip()), refusal(error)["error"])


def _internal(what: str) -> InternalError:
    structlog.get_logger("garden.mcp").error(
        "a request failed unexpectedly", request=what[:100], exception=traceback.format_exc()
    )
    return InternalError("Something went wrong here.", hint="The service's log says more.")


def _check_first_page(params: types.PaginatedRequestParams) -> None:
    if params.cursor is not None:
        raise MCPError(types.INVALID_PARAMS, "This list has one page, and no cursor.")
