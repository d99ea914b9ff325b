"""The base of every request: camelCase on the wire, snake_case in Python, no unknown fields."""

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, BeforeValidator, Field, StrictBool

from garden.events.records import Caller
from garden.events.wire import Wire
from garden.home.times import parse_time

REASON_CHARACTERS_MAX = 2000
LINE_CHARACTERS_MAX = 500
REFS_MAX = 50
CORRELATION = ("tool_call_id", "transaction_id", "agent_action_id")
# Control characters other than tabs and line ends, and halves of surrogate pairs.
_NOT_PLAIN = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_REORDERING = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def plain(text: str) -> str:
    """Refuse a text with a control character."""
    if _NOT_PLAIN.search(text):
        raise ValueError("contains a control character")
    return text


def _in_order(text: str) -> str:
    if _REORDERING.search(text):
        raise ValueError("contains a character that reorders text")
    return text


def _one_line(text: str) -> str:
    if len(text.splitlines()) > 1 or text.splitlines() != [text]:
        raise ValueError("must be one line")
    if not text.strip():
        raise ValueError("must not be blank")
    return _in_order(plain(text))


Words = Annotated[str, AfterValidator(plain), Field(max_length=REASON_CHARACTERS_MAX)]
"""A few sentences of text."""
Reason = Annotated[Words, AfterValidator(_in_order)]
"""A few sentences that show a reviewer the order they were written in."""
Line = Annotated[str, AfterValidator(_one_line), Field(max_length=LINE_CHARACTERS_MAX)]
"""One line of text."""
Label = Annotated[str, Field(pattern="^[a-z][a-z0-9_.]{0,63}$")]
"""A name for programs: lower-case letters, digits, dots and underscores."""


def _check_time(value: Any) -> Any:
    text = value.isoformat() if isinstance(value, datetime) else value
    if isinstance(text, str):
        parse_time(text, datetime.now(UTC))
    return text


Time = Annotated[str, BeforeValidator(_check_time)]
"""A time in a request. It stays as written, so that a request that is sent again later is the same one."""


def is_absent(value: object) -> bool:
    """Whether an optional field is left out of the JSON."""
    return value is None


class Request(Wire):
    """The arguments of a tool; `other_names` of fields are accepted as well, on the wire."""

    other_names: ClassVar[Mapping[str, str]] = {}
    # Fields with words that the tool takes away; only they may hold a secret.
    words_to_remove: ClassVar[frozenset[str]] = frozenset()
    # Fields on the wire that models are only named; the tool's help page has their schema.
    rare: ClassVar[frozenset[str]] = frozenset()


class RecordedRequest(Request):
    """The fields of every tool that records something: reason, evidence and correlation ids."""

    rationale: Reason | None = Field(None, description="Why, in one sentence; stored with the event.")
    override_rationale: Line | None = Field(
        None, description="Why this edit may exceed a soft cap, in one line."
    )
    evidence_refs: Annotated[tuple[Line, ...], Field(max_length=REFS_MAX)] = Field(
        (), description="Evidence tokens, such as ev:s12-m40."
    )
    idempotency_key: str | None = Field(
        None,
        description="Your own key. Within 48 hours a request with the same key has one effect, however often "
        "you send it.",
    )
    tool_call_id: Line | None = Field(None, description="The id of your tool call.")
    transaction_id: Line | None = Field(None, description="The id of the turn or task.")
    agent_action_id: Line | None = Field(None, description="The id of your action.")


class WriteRequest(RecordedRequest):
    """The fields of every tool that writes."""

    if_match: str | None = Field(
        None,
        description="Expected current hash: the document's, or for md.* also the section's. The edit is "
        "refused if it differs.",
    )
    dry_run: StrictBool = Field(False, description="Report what would happen without changing anything.")

    @property
    def own_fields(self) -> dict[str, Any]:
        """The tool's own fields as they travel; stored with the event."""
        shared = set(WriteRequest.model_fields) | {"path"}
        return self.model_dump(mode="json", by_alias=True, exclude_none=True, exclude=shared)


class EditRequest(WriteRequest):
    """The fields of every tool that edits one document."""

    path: str = Field(description="The document.")


def with_correlation(caller: Caller, request: Request) -> Caller:
    """The caller, with the correlation ids of the request."""
    # Filters of a query have the same names but do not describe the caller.
    if not isinstance(request, RecordedRequest):
        return caller
    given = {name: value for name in CORRELATION if (value := getattr(request, name)) is not None}
    return replace(caller, **given) if given else caller


def payload_of(request: RecordedRequest) -> dict[str, Any]:
    """The fields that two requests share if they are the same request."""
    keys = {"idempotency_key", "tool_call_id", "transaction_id", "agent_action_id", "dry_run"}
    return request.model_dump(mode="json", by_alias=True, exclude_none=True, exclude=keys)


class NewHash(Wire):
    """The new hash of the document."""

    new_hash: str
