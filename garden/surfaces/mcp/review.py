"""The review card: a diff in the chat that a person approves or denies (the extension MCP Apps).

The host shows the card for the calls of a tool that is asked about. It keeps two things from the model: the
`_meta` of an answer, which holds a code for this one approval, and the tool that takes the code back.
"""

from collections.abc import Callable, Iterable
from importlib.resources import files
from typing import TYPE_CHECKING

import mcp_types as types
from mcp.server.context import ServerRequestContext
from pydantic import StrictBool, StrictStr

from garden.events.wire import Wire

if TYPE_CHECKING:
    from garden.surfaces.mcp.answers import ToolAnswer

APPS = "io.modelcontextprotocol/ui"
"""The extension by which a tool has a page in the chat."""
URI = "ui://memory-garden/review"
ANSWER = "review_answer"
_MEDIA_TYPE = "text/html;profile=mcp-app"
_CODE = "memory-garden/review"


class ReviewAnswer(Wire):
    """What the card sends."""

    approval_id: StrictStr
    code: StrictStr
    approve: StrictBool


_ANSWER_TOOL = types.Tool(
    name=ANSWER,
    description="Takes a person's answer from the review card.",
    input_schema=ReviewAnswer.model_json_schema(),
    _meta={"ui": {"resourceUri": URI, "visibility": ["app"]}},
)


def shows_cards(context: ServerRequestContext) -> bool:
    """Whether the client has declared that it shows such pages."""
    capabilities = context.session.client_capabilities
    settings = (capabilities.extensions or {}).get(APPS) if capabilities else None
    kinds = settings.get("mimeTypes") if settings else None
    return isinstance(kinds, list) and _MEDIA_TYPE in kinds


def with_cards(tools: Iterable[types.Tool], is_asked: Callable[[str], bool]) -> list[types.Tool]:
    """The tools, those that are asked about with the card; and the one that the card alone may call."""
    shown = [_with_card(each) if is_asked(each.name) else each for each in tools]
    return [*shown, _ANSWER_TOOL] if any(is_asked(each.name) for each in shown) else shown


def _with_card(tool: types.Tool) -> types.Tool:
    return tool.model_copy(update={"meta": {**(tool.meta or {}), "ui": {"resourceUri": URI}}})


def card_answer(refusal: "ToolAnswer", code: str) -> "ToolAnswer":
    """A refusal that waits for a person, with what the card needs to answer it."""
    return {**refusal, "_meta": {_CODE: {"code": code}}}


def read_card() -> types.TextResourceContents:
    """The card's page; it loads nothing and reaches nothing but the host."""
    text = files("garden.surfaces.mcp").joinpath("review_card.html").read_text("utf-8")
    domains: dict[str, list[str]] = {"connectDomains": [], "resourceDomains": []}
    meta = {"ui": {"csp": domains, "prefersBorder": True}}
    return types.TextResourceContents(uri=URI, mime_type=_MEDIA_TYPE, text=text, _meta=meta)
