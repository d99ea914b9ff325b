"""What every request has in common: camelCase on the wire, snake_case in Python, and nothing unknown."""

import unicodedata
from dataclasses import replace
from typing import Annotated, Any

from pydantic import AfterValidator, Field, StrictBool

from garden.events.records import Caller
from garden.events.wire import Wire

REASON_CHARACTERS_MAX = 2000
LINE_CHARACTERS_MAX = 500
REFS_MAX = 50
_CORRELATION = ("tool_call_id", "transaction_id", "agent_action_id")


def _plain(text: str) -> str:
    if any(
        unicodedata.category(character) in {"Cc", "Cs"} and character not in "\n\t\r" for character in text
    ):
        raise ValueError("holds a control character")
    return text


def _one_line(text: str) -> str:
    if len(text.splitlines()) > 1 or text.splitlines() != [text]:
        raise ValueError("must be one line")
    if not text.strip():
        raise ValueError("must not be blank")
    return _plain(text)


Words = Annotated[str, AfterValidator(_plain), Field(max_length=REASON_CHARACTERS_MAX)]
"""A reason in a few sentences."""
Line = Annotated[str, AfterValidator(_one_line), Field(max_length=LINE_CHARACTERS_MAX)]
"""One line of words."""
Label = Annotated[str, Field(pattern="^[a-z][a-z0-9_.]{0,63}$")]
"""A word that programs know: lower-case letters, digits, dots and underscores."""


def is_absent(value: object) -> bool:
    """Tell what is left out where it is optional."""
    return value is None


class Request(Wire):
    """What a caller asks of a tool."""


class Correlated(Request):
    """What may be said beside anything that is recorded: why, on what evidence, and in which context."""

    rationale: Words | None = Field(None, description="Why, in a sentence; it is kept with the event.")
    override_rationale: Line | None = Field(
        None, description="One line that says why a soft cap may be exceeded this time."
    )
    evidence_refs: Annotated[tuple[Line, ...], Field(max_length=REFS_MAX)] = Field(
        (), description="Tokens of the evidence, such as ev:s12-m40."
    )
    idempotency_key: str | None = Field(
        None,
        description="A key of your own: the same request under it is carried out once. Without one, the same "
        "words for the same document within 48 hours count as one request that was sent again.",
    )
    tool_call_id: Line | None = Field(None, description="The id of your tool call.")
    transaction_id: Line | None = Field(None, description="The id of the turn or task this belongs to.")
    agent_action_id: Line | None = Field(None, description="The id of your action.")


class WriteRequest(Correlated):
    """What every mutating tool takes beside its own fields."""

    if_match: str | None = Field(
        None, description="The hash it must have now: the document's, or for md.* also the section's."
    )
    dry_run: StrictBool = Field(False, description="Plan only: say what would happen, and change nothing.")

    @property
    def asked(self) -> dict[str, Any]:
        """The edit in the caller's own words: the tool's own fields."""
        shared = set(WriteRequest.model_fields) | {"path"}
        return self.model_dump(mode="json", by_alias=True, exclude_none=True, exclude=shared)


def correlated(caller: Caller, request: Request) -> Caller:
    """Give the caller with the ids that a request brings along."""
    # A question's filters bear the same names, and say nothing of who asks.
    if not isinstance(request, Correlated):
        return caller
    given = {name: value for name in _CORRELATION if (value := getattr(request, name)) is not None}
    return replace(caller, **given) if given else caller


def payload_of(request: Correlated) -> dict[str, Any]:
    """Give what two requests must have in common to be the same one."""
    keys = {"idempotency_key", "tool_call_id", "transaction_id", "agent_action_id", "dry_run"}
    return request.model_dump(mode="json", by_alias=True, exclude_none=True, exclude=keys)


class NewHash(Wire):
    """What the document hashes to now."""

    new_hash: str
