"""Bytes cut into lines, and lines understood as messages, or refused for what they are."""

import json
from typing import Any

import mcp_types as types
from pydantic import ValidationError
from pydantic_core import PydanticSerializationError, from_json

LINE_BYTES_MAX = 8 * 1024 * 1024


class Lines:
    """Lines out of chunks; of one that is too long only the beginning is kept, which is no message."""

    def __init__(self, bytes_max: int) -> None:
        self._bytes_max = bytes_max
        self._begun = bytearray()

    def of(self, chunk: bytes) -> list[bytes]:
        """Give the lines that end in this chunk."""
        *ended, begun = chunk.split(b"\n")
        lines = []
        for part in ended:
            self._keep(part)
            lines.append(bytes(self._begun))
            self._begun.clear()
        self._keep(begun)
        return lines

    def rest(self) -> list[bytes]:
        """Give what stands behind the last line end."""
        return [bytes(self._begun)] if self._begun else []

    def _keep(self, part: bytes) -> None:
        self._begun += part[: self._bytes_max - len(self._begun)]


def understood(line: bytes) -> types.JSONRPCMessage | None:
    """Make a message of a line, if it is one."""
    try:
        message = _message(line)
    except ValueError:
        return None
    # A request whose id is none would pass for a notification, and its sender wait for an answer.
    has_id = isinstance(message, types.JSONRPCNotification) and b'"id"' in line and "id" in _value(line)
    return None if has_id else message


def refusal_of(line: bytes) -> types.JSONRPCError:
    """Say of a line that it is no message."""
    if len(line) >= LINE_BYTES_MAX:
        return _error(None, types.INVALID_REQUEST, f"A message has at most {LINE_BYTES_MAX} bytes.")
    try:
        value = _value(line)
    except ValueError:
        return _error(None, types.PARSE_ERROR, "This line is not valid JSON.")
    request_id = value.get("id") if isinstance(value, dict) else None
    known = request_id if isinstance(request_id, str | int) and not isinstance(request_id, bool) else None
    return _error(known, types.INVALID_REQUEST, "This line is no JSON-RPC 2.0 message.")


def written(message: types.JSONRPCMessage) -> bytes:
    """Write a message as a line; what UTF-8 has no bytes for is escaped."""
    try:
        return message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
    except PydanticSerializationError:
        return json.dumps(message.model_dump(by_alias=True, exclude_unset=True)).encode() + b"\n"


def _message(line: bytes) -> types.JSONRPCMessage:
    try:
        return types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError:
        if not _has_escapes(line):
            raise
    return types.jsonrpc_message_adapter.validate_python(_value(line), by_name=False)


def _value(line: bytes) -> Any:
    """Read a JSON value, one too in which half a surrogate pair stands: what that is good for, tools say."""
    try:
        return from_json(line)
    except ValueError:
        if not _has_escapes(line):
            raise
    try:
        return json.loads(line.decode(), parse_constant=_refuse)
    except RecursionError:
        raise ValueError("this is too deep") from None


def _has_escapes(line: bytes) -> bool:
    # Half a pair stands in a message only as JavaScript writes it, escaped.
    return b"\\ud" in line.lower()


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON number")


def _error(request_id: types.RequestId | None, code: int, message: str) -> types.JSONRPCError:
    return types.JSONRPCError(jsonrpc="2.0", id=request_id, error=types.ErrorData(code=code, message=message))
