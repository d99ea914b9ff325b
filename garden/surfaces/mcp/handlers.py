"""The handlers: one for each request of the protocol; each calls the toolbelt and translates its answer."""

import traceback
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import TypeVar

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from garden.application import Garden
from garden.events.records import Caller
from garden.gateway.access import Access, policy_of
from garden.gateway.dispatcher import InternalError, refusal
from garden.gateway.policies import Policies
from garden.gateway.threads import CallThreads
from garden.grammar.errors import GardenError
from garden.home.logs import get_logger
from garden.home.settings import Mcp, Profile
from garden.session import Session, asks_person
from garden.surfaces.mcp.answers import ToolAnswer, tool_answer
from garden.surfaces.mcp.completion import completions
from garden.surfaces.mcp.elicitation import ask_person
from garden.surfaces.mcp.progress import report_steps
from garden.surfaces.mcp.prompts import prompts_for, render_prompt
from garden.surfaces.mcp.resources import list_page, parse_uri, read_resource, resource_templates
from garden.surfaces.mcp.review import (
    ANSWER,
    URI,
    ReviewAnswer,
    card_answer,
    read_card,
    shows_cards,
    with_cards,
)
from garden.surfaces.mcp.subscriptions import Subscriptions
from garden.surfaces.mcp.tool_list import tools_for
from garden.tools.registry import REGISTRY, with_wire_names
from garden.tools.requests import find_tool, parse_form
from garden.writing.callers import Role

_Result = TypeVar("_Result")

# Errors that the caller can fix; all others are bugs or outages.
_CALLER_ERRORS = frozenset({"invalid_input", "not_found", "path_not_allowed", "permission_denied"})


class Handlers:
    """Answers the requests of all conversations of one server."""

    def __init__(
        self,
        open_garden: Callable[[], Awaitable[Garden]],
        threads: CallThreads,
        caller_of: Callable[[ServerRequestContext], Caller],
        policies: Policies,
        shown: Mcp,
    ) -> None:
        self._open_garden = open_garden
        self._threads = threads
        self._caller_of = caller_of
        self._policies = policies
        self._shown = shown
        self._subscriptions = Subscriptions(open_garden)

    async def initialized(self, context: ServerRequestContext, _params: types.NotificationParams) -> None:
        """Send a conversation its news until it ends; the newer protocol opens a stream for that instead."""
        if context.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            await self._subscriptions.serve_conversation(context, self._caller_of(context).user_id)

    async def subscribe(
        self, context: ServerRequestContext, params: types.SubscribeRequestParams
    ) -> types.EmptyResult:
        """Subscribe a conversation to a resource."""
        await self._run(context, lambda _, session: parse_uri(session, params.uri))
        await self._subscriptions.subscribe(context, params.uri)
        return types.EmptyResult()

    async def unsubscribe(
        self, context: ServerRequestContext, params: types.UnsubscribeRequestParams
    ) -> types.EmptyResult:
        """Unsubscribe a conversation from a resource."""
        self._subscriptions.unsubscribe(context, params.uri)
        return types.EmptyResult()

    async def listen(
        self, context: ServerRequestContext, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """Serve a stream of changes."""
        try:
            return await self._subscriptions.serve_stream(context, params, self._caller_of(context).user_id)
        except GardenError as error:
            raise protocol_error(error) from None

    async def list_tools(
        self, context: ServerRequestContext, params: types.PaginatedRequestParams
    ) -> types.ListToolsResult:
        """List the tools of the profile that this caller's role and policy have."""
        _check_first_page(params)
        caller = self._caller_of(context)
        rules = self._policies.rules(Access(caller, "mcp", policy_of(caller)))
        profile = _profile_in(context) or self._shown.profile
        shown = tools_for(self._role(context), profile, output_schemas=self._shown.output_schemas)
        tools = [each for each in shown if rules.offers(find_tool(REGISTRY, each.name), caller.role)]
        if shows_cards(context):
            tools = with_cards(tools, lambda name: rules.permission(find_tool(REGISTRY, name)) == "ask")
        return types.ListToolsResult(tools=tools)

    async def call_tool(
        self, context: ServerRequestContext, params: types.CallToolRequestParams
    ) -> ToolAnswer:
        """Call a tool. A refusal is an answer too, also where the garden can't be opened."""
        try:
            garden = await self._open_garden()
            session = self._session(context, garden)
            if params.name == ANSWER and shows_cards(context):
                return await self._answer_card(garden, session, params)
            name, writes = _tool_and_kind(params.name)
            asks_for_progress = (context.meta or {}).get("progress_token") is not None
            async with report_steps(context.session.report_progress if asks_for_progress else None) as pace:
                arguments, run = params.arguments or {}, partial(self._threads.run, session.caller.user_id)
                work = partial(session.call, name, arguments, pace)
                while asks_person(envelope := await run(work, pace, writes=writes)):
                    approval_id = envelope["error"]["details"]["approvalId"]
                    if shows_cards(context) and _is_asked(garden, session, name):
                        code = garden.gates.approvals.card_code(session.access, approval_id)
                        return card_answer(tool_answer(envelope), code)
                    answer = await ask_person(context, params, envelope["error"])
                    if not isinstance(answer, bool):
                        return answer or tool_answer(envelope)
                    await run(partial(session.answer, approval_id, is_yes=answer))
                return tool_answer(envelope, writes=writes)
        except GardenError as error:
            return tool_answer(refusal(error))
        except Exception:  # noqa: BLE001 - the outermost edge of this surface
            return tool_answer(refusal(_log_internal_error(params.name)))

    async def _answer_card(
        self, garden: Garden, session: Session, params: types.CallToolRequestParams
    ) -> ToolAnswer:
        """Record what a person answered on the card; it is no call, and changes no document."""
        given = parse_form(ReviewAnswer, params.arguments, "answer", "Only the review card sends one.")
        work = partial(
            garden.gates.approvals.answer_card,
            session.access,
            given.approval_id,
            given.code,
            is_yes=given.approve,
        )
        state = await self._threads.run(session.caller.user_id, work, writes=True)
        return tool_answer({"ok": True, "result": {"state": state}, "meta": {"warnings": []}}, writes=True)

    async def list_resources(
        self, context: ServerRequestContext, params: types.PaginatedRequestParams
    ) -> types.ListResourcesResult:
        """List the caller's documents."""
        await self._subscriptions.watch_list(context)
        shown, cursor = await self._run(context, lambda garden, own: list_page(garden, own, params.cursor))
        return types.ListResourcesResult(resources=shown, next_cursor=cursor)

    async def list_resource_templates(
        self, context: ServerRequestContext, params: types.PaginatedRequestParams
    ) -> types.ListResourceTemplatesResult:
        """List the templates of resource URIs."""
        _check_first_page(params)
        user_id = self._caller_of(context).user_id
        return types.ListResourceTemplatesResult(resource_templates=resource_templates(user_id))

    async def read_resource(
        self, context: ServerRequestContext, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        """Read a document, an earlier version of it, its history, or the review card."""

        def read(garden: Garden, session: Session) -> types.TextResourceContents:
            return read_card() if params.uri == URI else read_resource(garden, session, params.uri)

        return types.ReadResourceResult(contents=[await self._run(context, read)])

    async def list_prompts(
        self, context: ServerRequestContext, params: types.PaginatedRequestParams
    ) -> types.ListPromptsResult:
        """List the prompts that this caller's role may use."""
        _check_first_page(params)
        return types.ListPromptsResult(prompts=prompts_for(self._role(context)))

    async def get_prompt(
        self, context: ServerRequestContext, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        """Render a prompt."""
        return await self._run(
            context,
            lambda garden, session: render_prompt(garden, session, params.name, params.arguments or {}),
        )

    async def complete(
        self, context: ServerRequestContext, params: types.CompleteRequestParams
    ) -> types.CompleteResult:
        """Suggest values for an argument."""
        return await self._run(context, lambda _, session: completions(session, params))

    def end_streams(self) -> None:
        """End the streams of changes, each with the final message that clients expect."""
        self._subscriptions.end_streams()

    def close(self) -> None:
        """Wait for the calls under way."""
        self._threads.close()

    def _role(self, context: ServerRequestContext) -> Role:
        return Role(self._caller_of(context).role)

    def _session(self, context: ServerRequestContext, garden: Garden) -> Session:
        caller = self._caller_of(context)
        return garden.session(
            caller.user_id, caller.actor, role=caller.role, surface="mcp", policy=policy_of(caller)
        )

    async def _run(
        self, context: ServerRequestContext, work: Callable[[Garden, Session], _Result]
    ) -> _Result:
        """Run some work that is no tool call in a thread; a refusal becomes a protocol error."""
        try:
            garden = await self._open_garden()
            session = self._session(context, garden)
            return await self._threads.run(session.caller.user_id, lambda: work(garden, session))
        except GardenError as error:
            raise protocol_error(error) from None
        except Exception:  # noqa: BLE001 - the outermost edge of this surface
            raise protocol_error(_log_internal_error(context.method)) from None


def _tool_and_kind(name: str) -> tuple[str, bool]:
    """Return a tool's own name and whether it writes; the dispatcher refuses an unknown one."""
    with suppress(GardenError):
        tool = find_tool(REGISTRY, name)
        return tool.name, tool.traits.writes
    return name, False


def _is_asked(garden: Garden, session: Session, name: str) -> bool:
    return garden.gates.policies.rules(session.access).permission(find_tool(REGISTRY, name)) == "ask"


def protocol_error(error: GardenError) -> MCPError:
    """Translate a refusal into a protocol error; its data is the envelope's error."""
    code = types.INVALID_PARAMS if error.code in _CALLER_ERRORS else types.INTERNAL_ERROR
    return MCPError(code, with_wire_names(f"{error.message} {error.hint}".strip()), refusal(error)["error"])


def _log_internal_error(request: str) -> InternalError:
    get_logger("garden.mcp").error(
        "a request failed unexpectedly", request=request[:100], exception=traceback.format_exc()
    )
    return InternalError("Something went wrong here.", hint="The service's log says more.")


def _profile_in(context: ServerRequestContext) -> Profile | None:
    """Return the profile that the address of a request names, if it names one."""
    name = None if context.request is None else context.request.query_params.get("profile")
    if name not in (None, "lean", "full"):
        raise MCPError(types.INVALID_PARAMS, "The profile in the address must be lean or full.")
    return name


def _check_first_page(params: types.PaginatedRequestParams) -> None:
    if params.cursor is not None:
        raise MCPError(types.INVALID_PARAMS, "This list has one page and takes no cursor.")
