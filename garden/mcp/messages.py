"""Bytes cut into lines, and lines understood as messages, or refused for what they are."""

import mcp_types as types
from pydantic import ValidationError
from pydantic_core import from_json

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
        message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError:
        return None
    # A request whose id is none would pass for a notification, and its sender wait for an answer.
    has_id = isinstance(message, types.JSONRPCNotification) and b'"id"' in line and "id" in from_json(line)
    return None if has_id else message


def refusal_of(line: bytes) -> types.JSONRPCError:
    """Say of a line that it is no message."""
    if len(line) >= LINE_BYTES_MAX:
        return _error(None, types.INVALID_REQUEST, f"A message has at most {LINE_BYTES_MAX} bytes.")
    try:
        value = from_json(line)
    except ValueError:
        return _error(None, types.PARSE_ERROR, "This line is not valid JSON.")
    request_id = value.get("id") if isinstance(value, dict) else None
    known = request_id if isinstance(request_id, str | int) and not isinstance(request_id, bool) else None
    return _error(known, types.INVALID_REQUEST, "This line is no JSON-RPC 2.0 message.")


def _error(request_id: types.RequestId | None, code: int, message: str) -> types.JSONRPCError:
    return types.JSONRPCError(jsonrpc="2.0", id=request_id, error=types.ErrorData(code=code, message=message))
